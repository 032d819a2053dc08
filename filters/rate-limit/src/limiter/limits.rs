//! The limits of a policy, ready to decide.

use core::time::Duration;

use super::fixed_window::FixedWindow;
use super::rule::{Decided, Rule, decide};
use super::sliding_window::SlidingWindow;
use super::standing::Standings;
use super::token_bucket::TokenBucket;

/// How many limits a list has at most.
pub const MAX_LIMITS: usize = 8;

/// How many requests may come in how much time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quota {
    /// How many requests; 0 admits none.
    pub max: u64,
    /// In how much time. Counted in nanoseconds: what is longer than 2^64 of them (584 years) is taken for that, zero
    /// for one.
    pub period: Duration,
    /// Token bucket: how many requests a key that has paused for long can make at once. The others ignore it.
    pub burst: u64,
}

/// How requests are counted against a quota.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Algorithm {
    /// A window of the quota's period opens with the key's first request and admits `max`; the next one opens with
    /// the first request after its end.
    FixedWindow,
    /// No stretch of time as long as the period ever contains more than `max` requests. Requests are remembered by
    /// tenths of the period, so that quota comes back up to a tenth of the period late.
    SlidingWindow,
    /// `burst` requests at once, and one more for each `period / max` that has passed: the generic cell rate algorithm
    /// (ITU-T I.371, annex A).
    TokenBucket,
}

/// A list of limits. A request must find quota in all of them, and counts against all of them or none.
///
/// What is stored for a key depends on the algorithm and the list of periods, which are the limits' *layout*, and not
/// on `max` and `burst`: limits that differ in these alone go on with each other's counts. A token bucket has the same
/// number of tokens missing then: until the first request that finds another `max`, it has filled at the former rate.
/// Where more are missing than a smaller `burst` holds, requests are refused until fewer are.
#[derive(Debug, Clone)]
pub struct Limits {
    rules: Rules,
    layout: Vec<u8>,
}

#[derive(Debug, Clone)]
pub(super) enum Rules {
    FixedWindow(Vec<FixedWindow>),
    SlidingWindow(Vec<SlidingWindow>),
    TokenBucket(Vec<TokenBucket>),
}

impl Limits {
    /// Prepares a list of limits; `None` when there are more than [`MAX_LIMITS`]. An empty list admits everything.
    pub fn new(algorithm: Algorithm, quotas: &[Quota]) -> Option<Self> {
        if quotas.len() > MAX_LIMITS {
            return None;
        }
        let rules = match algorithm {
            Algorithm::FixedWindow => Rules::FixedWindow(quotas.iter().map(FixedWindow::new).collect()),
            Algorithm::SlidingWindow => Rules::SlidingWindow(quotas.iter().map(SlidingWindow::new).collect()),
            Algorithm::TokenBucket => Rules::TokenBucket(quotas.iter().map(TokenBucket::new).collect()),
        };
        let mut layout = vec![
            match algorithm {
                Algorithm::FixedWindow => 0,
                Algorithm::SlidingWindow => 1,
                Algorithm::TokenBucket => 2,
            },
            u8::try_from(quotas.len()).ok()?,
        ];
        layout.extend(quotas.iter().flat_map(|quota| nanoseconds(quota.period).to_le_bytes()));
        Some(Self { rules, layout })
    }

    /// Bytes that tell this layout from all others; none is the beginning of another.
    pub(super) fn layout(&self) -> &[u8] {
        &self.layout
    }

    pub(super) const fn rules(&self) -> &Rules {
        &self.rules
    }

    /// How long the state of a key is, in bytes. All zero, it is that of a key that was never seen.
    pub(super) fn state_len(&self) -> usize {
        match &self.rules {
            Rules::FixedWindow(rules) => len(rules),
            Rules::SlidingWindow(rules) => len(rules),
            Rules::TokenBucket(rules) => len(rules),
        }
    }

    /// Counts one request in the state of a key, if all limits admit it, and says how they stand then.
    pub(super) fn decide(&self, state: &mut [u8], now: u64, standings: &mut Standings) -> Decided {
        match &self.rules {
            Rules::FixedWindow(rules) => decide(rules, state, now, standings),
            Rules::SlidingWindow(rules) => decide(rules, state, now, standings),
            Rules::TokenBucket(rules) => decide(rules, state, now, standings),
        }
    }

    /// Says how the limits stand for a key that was never seen.
    pub(super) fn untouched(&self, now: u64, standings: &mut Standings) {
        match &self.rules {
            Rules::FixedWindow(rules) => untouched(rules, now, standings),
            Rules::SlidingWindow(rules) => untouched(rules, now, standings),
            Rules::TokenBucket(rules) => untouched(rules, now, standings),
        }
    }
}

fn untouched<R: Rule>(rules: &[R], now: u64, standings: &mut Standings) {
    standings.clear();
    for rule in rules {
        standings.push(rule.standing(&rule.read(&[], now).0, now));
    }
}

fn len<R: Rule>(rules: &[R]) -> usize {
    rules.len().saturating_mul(R::STATE_LEN)
}

/// A period as the rules count it: between one nanosecond and 2^64 of them.
pub(super) fn nanoseconds(period: Duration) -> u64 {
    u64::try_from(period.as_nanos()).unwrap_or(u64::MAX).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALGORITHMS: [Algorithm; 3] =
        [Algorithm::FixedWindow, Algorithm::SlidingWindow, Algorithm::TokenBucket];

    fn quota(max: u64, seconds: u64) -> Quota {
        Quota { max, period: Duration::from_secs(seconds), burst: max }
    }

    #[test]
    fn a_layout_is_the_algorithm_and_the_periods_and_nothing_else() {
        let layout = |algorithm, quotas: &[Quota]| Limits::new(algorithm, quotas).unwrap().layout;
        let fixed = layout(Algorithm::FixedWindow, &[quota(1, 1), quota(5, 60)]);
        assert_eq!(fixed, layout(Algorithm::FixedWindow, &[quota(2, 1), quota(9, 60)]));
        for (algorithm, quotas) in [
            (Algorithm::FixedWindow, [quota(1, 60), quota(5, 1)].as_slice()),
            (Algorithm::FixedWindow, &[quota(1, 1)]),
            (Algorithm::SlidingWindow, &[quota(1, 1), quota(5, 60)]),
            (Algorithm::TokenBucket, &[quota(1, 1), quota(5, 60)]),
        ] {
            assert_ne!(fixed, layout(algorithm, quotas), "{algorithm:?} {quotas:?}");
        }
    }

    #[test]
    fn a_key_takes_as_much_memory_as_is_documented() {
        for (algorithm, bytes) in ALGORITHMS.into_iter().zip([16, 96, 32]) {
            for limits in 0..=MAX_LIMITS {
                let quotas = vec![quota(1, 1); limits];
                assert_eq!(Limits::new(algorithm, &quotas).unwrap().state_len(), limits * bytes);
            }
        }
    }

    /// When another worker was faster, for one.
    #[test]
    fn says_how_the_limits_stand_once_however_often_it_decides() {
        for algorithm in ALGORITHMS {
            let limits = Limits::new(algorithm, &[quota(5, 1), quota(9, 60)]).unwrap();
            let mut standings = Standings::new();
            let remaining = |standings: &Standings| -> Vec<u64> {
                standings.as_slice().iter().map(|standing| standing.remaining).collect()
            };
            for _ in 0..2 {
                limits.decide(&mut vec![0; limits.state_len()], 7, &mut standings);
                assert_eq!(remaining(&standings), [4, 8], "{algorithm:?}");
            }
            limits.untouched(7, &mut standings);
            assert_eq!(remaining(&standings), [5, 9], "{algorithm:?}");
        }
    }

    #[test]
    fn takes_as_many_limits_as_there_may_be_and_no_more() {
        for algorithm in ALGORITHMS {
            assert!(Limits::new(algorithm, &[quota(1, 1); MAX_LIMITS]).is_some());
            assert!(Limits::new(algorithm, &[quota(1, 1); MAX_LIMITS + 1]).is_none());
        }
    }
}
