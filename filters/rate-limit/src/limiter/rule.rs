//! What the algorithms have in common: reading, counting and writing the state of one limit.

use super::standing::{Standing, Standings};

/// One limit of an algorithm. Times are nanoseconds of the monotonic clock.
pub(super) trait Rule {
    /// What is remembered of a key, as it stands at the time it was read for.
    type State: Copy;
    /// Its length in the store, in bytes. Zeros are the state of a key that was never seen.
    const STATE_LEN: usize;

    /// The state at `now`, from what was stored for an earlier time. `bytes` can hold anything.
    fn read(&self, bytes: &[u8], now: u64) -> (Self::State, Base);
    /// Whether a request would be admitted.
    fn has_room(&self, state: &Self::State) -> bool;
    /// Counts one request.
    fn count(&self, state: &mut Self::State);
    /// Stores the state.
    fn write(&self, state: &Self::State, bytes: &mut [u8]);
    /// When the state will be that of a key that was never seen; the end of the scale when it lies beyond.
    fn expires(&self, state: &Self::State) -> u64;
    /// What the client may know of it.
    fn standing(&self, state: &Self::State, now: u64) -> Standing;
}

/// What a state goes on from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Base {
    /// From what was stored. If that lies ahead by no more than a period, it waits for its time to come.
    Kept,
    /// From now, with all that was counted; this must be stored, even if the request counts for nothing. What was
    /// stored lies so far ahead that the clock was set back, which shall not lock a key out for longer than two
    /// periods; or it was stored for another rate, which shall not hold any longer.
    Moved,
}

/// What a list of rules says to a request.
pub(super) struct Decided {
    pub(super) admission: Admission,
    pub(super) change: Change,
    /// When the whole state will be that of a key that was never seen.
    pub(super) expires: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Admission {
    Admitted,
    Refused,
}

/// Whether the state is another than before, and must be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Change {
    None,
    Written,
}

/// Counts a request against all rules or, if one of them refuses, against none. Their states follow each other. Says in
/// `standings` how they stand then.
pub(super) fn decide<R: Rule>(
    rules: &[R],
    states: &mut [u8],
    now: u64,
    standings: &mut Standings,
) -> Decided {
    let mut admission = Admission::Admitted;
    let mut change = Change::None;
    for (rule, bytes) in rules.iter().zip(states.chunks_exact_mut(R::STATE_LEN)) {
        let (state, base) = rule.read(bytes, now);
        if base == Base::Moved {
            rule.write(&state, bytes);
            change = Change::Written;
        }
        if !rule.has_room(&state) {
            admission = Admission::Refused;
        }
    }
    let mut expires = 0;
    standings.clear();
    for (rule, bytes) in rules.iter().zip(states.chunks_exact_mut(R::STATE_LEN)) {
        let (mut state, _) = rule.read(bytes, now);
        if admission == Admission::Admitted {
            rule.count(&mut state);
            rule.write(&state, bytes);
            change = Change::Written;
        }
        expires = expires.max(rule.expires(&state));
        standings.push(rule.standing(&state, now));
    }
    Decided { admission, change, expires }
}

/// The `N` bytes at an offset; zeros where there are none.
pub(super) fn bytes_at<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    bytes.get(at..).and_then(|rest| rest.first_chunk().copied()).unwrap_or([0; N])
}

/// The number that is stored at an offset.
pub(super) fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes_at(bytes, at))
}

/// Stores bytes at an offset; nothing, where there is no room for them.
pub(super) fn put<const N: usize>(bytes: &mut [u8], at: usize, value: [u8; N]) {
    if let Some(place) = bytes.get_mut(at..).and_then(|rest| rest.first_chunk_mut()) {
        *place = value;
    }
}

/// What the algorithms' tests do with rules.
#[cfg(test)]
pub(super) mod trial {
    use super::*;

    pub(crate) fn decide<R: Rule>(rules: &[R], state: &mut [u8], now: u64) -> Decided {
        super::decide(rules, state, now, &mut Standings::new())
    }

    pub(crate) fn standings<R: Rule>(rules: &[R], state: &mut [u8], now: u64) -> Standings {
        let mut standings = Standings::new();
        super::decide(rules, state, now, &mut standings);
        standings
    }

    /// How many of `offered` requests at one time are admitted.
    pub(crate) fn admitted<R: Rule>(rules: &[R], state: &mut [u8], now: u64, offered: u64) -> u64 {
        (0..offered).map(|_| u64::from(decide(rules, state, now).admission == Admission::Admitted)).sum()
    }
}
