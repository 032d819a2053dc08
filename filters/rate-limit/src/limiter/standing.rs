//! What a limiter answers.

use core::fmt;
use core::time::Duration;

use super::MAX_LIMITS;

/// The answer for one request.
#[derive(Debug, Clone)]
pub struct Taken {
    /// Whether the request may pass.
    pub decision: Decision,
    /// Where the request was counted, or where the count stood that refused it.
    pub counted_in: CountedIn,
    /// How each limit stands after this request.
    pub standings: Standings,
    /// Whether what was in the store could be read.
    pub stored: Stored,
    /// How often another worker was faster, so that the decision had to be made again.
    pub conflicts: u32,
}

/// Whether a request may pass, and whether that was decided by its quota.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// All limits had quota; the request counts against all of them.
    Admitted,
    /// At least one limit had none; the request counts against no limit.
    Refused,
    /// There is no room to count this key, and [`WhenFull::Admit`](super::WhenFull::Admit) lets it pass.
    Uncounted,
    /// There is no room to count this key, and it is refused for that.
    NoRoom,
}

impl Decision {
    /// Whether the request may pass.
    pub const fn passes(self) -> bool {
        matches!(self, Self::Admitted | Self::Uncounted)
    }
}

/// Where a request was counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CountedIn {
    /// In the key's own entry.
    Own,
    /// In the entry that keys share for which there is no room.
    Shared,
    /// In what this worker has taken of the key's quota.
    Lease,
    /// There was no room.
    Nowhere,
}

/// What was found in the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stored {
    /// Nothing, or what a limiter wrote.
    Sound,
    /// Something that no limiter wrote. It was taken for an empty bucket.
    Corrupt,
}

/// How one limit stands for one key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Standing {
    /// What `remaining` counts down from: how many requests a key can make at once that has made none. The quota's
    /// `max`, for a token bucket its `burst`.
    pub max: u64,
    /// The quota's period, as it was configured.
    pub period: Duration,
    /// The time in which this `max` comes back when all of it is used: the period; for a token bucket, that in which
    /// an empty one is full again (`burst * period / max` of its quota), in whole nanoseconds, rounded up. `max` in
    /// each `window` is the rate of the quota.
    pub window: Duration,
    /// How many more requests this limit would admit now.
    pub remaining: u64,
    /// The time until the quota is whole again when no more requests come: the end of the window; for a token bucket,
    /// until it is full.
    pub reset: Duration,
    /// The time until this limit would admit a request; zero when it would now.
    pub retry: Duration,
}

impl Standing {
    const NONE: Self = Self {
        max: 0,
        period: Duration::ZERO,
        window: Duration::ZERO,
        remaining: 0,
        reset: Duration::ZERO,
        retry: Duration::ZERO,
    };
}

/// One [`Standing`] for each limit, in the order of the configuration.
#[derive(Clone, Copy)]
pub struct Standings {
    all: [Standing; MAX_LIMITS],
    len: usize,
}

impl Standings {
    pub(super) const fn new() -> Self {
        Self { all: [Standing::NONE; MAX_LIMITS], len: 0 }
    }

    /// Appends one; there are never more than [`MAX_LIMITS`].
    pub(super) fn push(&mut self, standing: Standing) {
        if let Some(place) = self.all.get_mut(self.len) {
            *place = standing;
            self.len = self.len.saturating_add(1);
        }
    }

    pub(super) const fn clear(&mut self) {
        self.len = 0;
    }

    /// Says of all of them that they admit nothing for so many nanoseconds.
    pub(super) fn close_for(&mut self, nanos: u64) {
        for standing in self.all.iter_mut().take(self.len) {
            standing.remaining = 0;
            standing.retry = Duration::from_nanos(nanos);
            standing.reset = standing.retry;
        }
    }

    /// All of them, in the order of the configuration.
    pub fn as_slice(&self) -> &[Standing] {
        self.all.get(..self.len).unwrap_or_default()
    }
}

impl fmt::Debug for Standings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.as_slice()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn standing(max: u64) -> Standing {
        Standing { max, remaining: 3, ..Standing::NONE }
    }

    #[test]
    fn holds_as_many_as_there_may_be() {
        let mut standings = Standings::new();
        let all: Vec<_> = (1..).take(MAX_LIMITS).map(standing).collect();
        all.iter().for_each(|one| standings.push(*one));
        assert_eq!(standings.as_slice(), all);
        standings.push(standing(99));
        assert_eq!(standings.as_slice(), all);
    }

    #[test]
    fn closes_those_that_it_holds() {
        let mut standings = Standings::new();
        standings.push(standing(5));
        standings.close_for(7);
        let time = Duration::from_nanos(7);
        assert_eq!(
            standings.as_slice(),
            [Standing { remaining: 0, reset: time, retry: time, ..standing(5) }]
        );
        assert_eq!(standings.all.last(), Some(&Standing::NONE));
    }
}
