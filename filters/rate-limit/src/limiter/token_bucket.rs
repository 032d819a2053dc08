//! A bucket of tokens that fills steadily, kept as what is missing in it.
//!
//! This is the generic cell rate algorithm (ITU-T I.371, annex A) in the form of the continuous-state leaky bucket,
//! which decides as virtual scheduling does. Unlike the times of virtual scheduling, what is missing depends on neither
//! rate nor burst: limits that differ in these go on with each other's state, and nothing is gained or lost by that.
//! It is exact: a token has as many parts as the period has nanoseconds, so that `max` parts come in each of these,
//! and the decision is that of rational numbers.

use core::time::Duration;

use super::limits::{Quota, nanoseconds};
use super::rule::{Base, Rule, bytes_at, put, u64_at};
use super::standing::Standing;

/// Admits a request while the bucket holds a token; it holds `burst` of them, and gets a new one in each interval of
/// `period / max`.
#[derive(Debug, Clone, Copy)]
pub(super) struct TokenBucket {
    /// How many parts of a token come in a nanosecond.
    max: u64,
    burst: u64,
    /// How many parts a token has, and how many nanoseconds the period.
    period: u64,
    /// The parts that an empty bucket lacks.
    depth: u128,
    /// The parts that a bucket with one token in it lacks.
    tolerance: u128,
}

/// What a bucket lacks at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Debt {
    /// Parts of tokens. 128 bits hold the most there can be, `burst * period`.
    parts: u128,
    /// Now, or later if the clock went back by a little.
    at: u64,
}

/// How often a number is contained in another, begun times included; the end of the scale when it is more often.
fn times(parts: u128, by: u64) -> u64 {
    match u64::try_from(parts) {
        // Almost always, for the long division is a slow one.
        Ok(parts) => parts.div_ceil(by),
        Err(_) => u64::try_from(parts.div_ceil(by.into())).unwrap_or(u64::MAX),
    }
}

impl TokenBucket {
    pub(super) fn new(quota: &Quota) -> Self {
        let period = nanoseconds(quota.period);
        // Without tokens to come there are none to start with either.
        let burst = if quota.max == 0 { 0 } else { quota.burst };
        let parts = |tokens: u64| u128::from(tokens).saturating_mul(period.into());
        Self {
            max: quota.max.max(1),
            burst,
            period,
            depth: parts(burst),
            tolerance: parts(burst.saturating_sub(1)),
        }
    }

    /// The nanoseconds in which so many parts come.
    fn fill(&self, parts: u128) -> u64 {
        times(parts, self.max)
    }
}

impl Rule for TokenBucket {
    type State = Debt;
    /// parts (u128), at (u64), and the `max` of the limit that wrote it (u64): at this rate they have come since.
    const STATE_LEN: usize = 32;

    fn read(&self, bytes: &[u8], now: u64) -> (Debt, Base) {
        let stored = Debt { parts: u128::from_le_bytes(bytes_at(bytes, 0)), at: u64_at(bytes, 16) };
        let max = u64_at(bytes, 24);
        let base = if max == self.max { Base::Kept } else { Base::Moved };
        match now.checked_sub(stored.at) {
            Some(elapsed) => {
                let came = u128::from(elapsed).saturating_mul(max.into());
                let parts = stored.parts.saturating_sub(came);
                // A full bucket is that of a key that was never seen.
                (Debt { parts, at: now }, if parts == 0 { Base::Kept } else { base })
            }
            None if stored.at.saturating_sub(now) <= self.period => (stored, base),
            None => (Debt { at: now, ..stored }, Base::Moved),
        }
    }

    fn has_room(&self, debt: &Debt) -> bool {
        self.burst > 0 && debt.parts <= self.tolerance
    }

    fn count(&self, debt: &mut Debt) {
        debt.parts = debt.parts.saturating_add(self.period.into());
    }

    fn write(&self, debt: &Debt, bytes: &mut [u8]) {
        put(bytes, 0, debt.parts.to_le_bytes());
        put(bytes, 16, debt.at.to_le_bytes());
        put(bytes, 24, self.max.to_le_bytes());
    }

    fn expires(&self, debt: &Debt) -> u64 {
        debt.at.saturating_add(self.fill(debt.parts))
    }

    fn standing(&self, debt: &Debt, now: u64) -> Standing {
        let since = |parts| self.fill(parts).saturating_add(debt.at.saturating_sub(now));
        let (window, retry) = match debt.parts.checked_sub(self.tolerance) {
            // It never holds a token, and never fills.
            _ if self.burst == 0 => (self.period, self.fill(self.period.into())),
            None | Some(0) => (self.fill(self.depth), 0),
            Some(excess) => (self.fill(self.depth), since(excess)),
        };
        Standing {
            max: self.burst,
            period: Duration::from_nanos(self.period),
            window: Duration::from_nanos(window),
            remaining: self.burst.saturating_sub(times(debt.parts, self.period)),
            reset: Duration::from_nanos(since(debt.parts)),
            retry: Duration::from_nanos(retry),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::rule::trial::{admitted, decide, standings};
    use super::super::rule::{Admission, Change};
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    fn rule(max: u64, period: Duration, burst: u64) -> TokenBucket {
        TokenBucket::new(&Quota { max, period, burst })
    }

    fn per_second(max: u64, burst: u64) -> TokenBucket {
        rule(max, Duration::from_secs(1), burst)
    }

    #[test]
    fn a_full_bucket_admits_its_burst_and_then_one_in_each_interval() {
        let rules = [per_second(4, 6)];
        let mut state = [0; 32];
        assert_eq!(admitted(&rules, &mut state, 5 * SECOND, 9), 6);
        assert_eq!(admitted(&rules, &mut state, 5 * SECOND + SECOND / 4 - 1, 9), 0);
        assert_eq!(admitted(&rules, &mut state, 5 * SECOND + SECOND / 4, 9), 1);
        assert_eq!(admitted(&rules, &mut state, 6 * SECOND, 9), 3);
        assert_eq!(admitted(&rules, &mut state, 99 * SECOND, 9), 6, "and holds no more");
    }

    #[test]
    fn intervals_that_are_no_whole_nanoseconds_add_up_exactly() {
        for max in [3, 7, 80_000, 999_999_937] {
            let rules = [per_second(max, 2)];
            let mut state = [0; 32];
            assert_eq!(admitted(&rules, &mut state, 0, 9), 2);
            for tokens in 1..10_000 {
                let due = (tokens * SECOND).div_ceil(max);
                assert_eq!(admitted(&rules, &mut state, due - 1, 9), 0, "{max}: {tokens}");
                assert_eq!(admitted(&rules, &mut state, due, 9), 1, "{max}: {tokens}");
            }
        }
    }

    #[test]
    fn a_refused_request_changes_nothing_in_any_of_the_limits() {
        let rules = [per_second(1, 1), per_second(5, 5)];
        let mut state = [0; 64];
        assert_eq!(admitted(&rules, &mut state, 0, 1), 1);
        let before = state;
        let decided = decide(&rules, &mut state, SECOND / 2);
        assert_eq!((decided.admission, decided.change), (Admission::Refused, Change::None));
        assert_eq!(state, before);
        let standings = standings(&rules, &mut state, SECOND / 2);
        let remaining: Vec<_> = standings.as_slice().iter().map(|one| one.remaining).collect();
        assert_eq!(remaining, [0, 5], "the second is full again");
    }

    #[test]
    fn says_how_many_remain_and_when_to_come_back() {
        let rules = [per_second(2, 3)];
        let mut state = [0; 32];
        for (now, remaining, reset, retry) in
            [(0, 2, 500, 0), (100, 1, 900, 0), (100, 0, 1400, 400), (499, 0, 1001, 1), (500, 0, 1500, 500)]
        {
            let standings = standings(&rules, &mut state, SECOND + now * 1_000_000);
            let expected = Standing {
                max: 3,
                period: Duration::from_secs(1),
                window: Duration::from_millis(1500),
                remaining,
                reset: Duration::from_millis(reset),
                retry: Duration::from_millis(retry),
            };
            assert_eq!(standings.as_slice(), [expected], "at {now} ms");
        }
    }

    #[test]
    fn the_burst_comes_back_in_a_window_of_its_own() {
        for (max, burst, nanos) in [
            (600, 20, 2 * SECOND),
            (600, 600, 60 * SECOND),
            (10, 100, 600 * SECOND),
            (7, 1, 8_571_428_572),
            (1, u64::MAX, u64::MAX),
            (600, 0, 60 * SECOND),
            (0, 20, 60 * SECOND),
        ] {
            let standings = standings(&[rule(max, Duration::from_secs(60), burst)], &mut [0; 32], SECOND);
            let standing = standings.as_slice()[0];
            let expected = (Duration::from_secs(60), Duration::from_nanos(nanos));
            assert_eq!((standing.period, standing.window), expected, "{max} {burst}");
        }
    }

    #[test]
    fn a_rate_or_burst_that_changes_goes_on_from_what_is_missing() {
        let mut state = [0; 32];
        assert_eq!(admitted(&[per_second(3, 10)], &mut state, 0, 4), 4);
        // A third of a second is no whole nanoseconds: of the token that comes in it, the last part is not there yet.
        assert_eq!(admitted(&[per_second(1, 4)], &mut state, SECOND / 3, 9), 0);
        assert_eq!(admitted(&[per_second(1, 4)], &mut state, SECOND / 3 + 1, 9), 1);
        assert_eq!(admitted(&[per_second(3, 10)], &mut state, SECOND / 3 + 1, 9), 6);
    }

    #[test]
    fn a_refusal_stores_another_rate_once_and_another_burst_never() {
        let mut state = [0; 32];
        assert_eq!(admitted(&[per_second(1, 1000)], &mut state, 0, 1000), 1000);
        for (max, change) in
            [(1, Change::None), (2, Change::Written), (2, Change::None), (1, Change::Written)]
        {
            let decided = decide(&[per_second(max, 10)], &mut state, 0);
            assert_eq!((decided.admission, decided.change), (Admission::Refused, change), "{max}");
        }
        assert_eq!(decide(&[per_second(5, 0)], &mut [0; 32], 0).change, Change::None, "nothing is missing");
        assert_eq!(admitted(&[per_second(1, 1000)], &mut state, SECOND, 9), 1);
    }

    #[test]
    fn a_clock_that_goes_back_neither_gives_tokens_back_nor_locks_out_for_long() {
        let rules = [per_second(1, 3)];
        let mut state = [0; 32];
        assert_eq!(admitted(&rules, &mut state, 1000 * SECOND, 3), 3);
        assert_eq!(admitted(&rules, &mut state, 999 * SECOND, 9), 0);
        assert_eq!(admitted(&rules, &mut state, 1001 * SECOND, 9), 1);
        let decided = decide(&rules, &mut state, 500 * SECOND);
        assert_eq!((decided.admission, decided.change), (Admission::Refused, Change::Written));
        assert_eq!(admitted(&rules, &mut state, 501 * SECOND - 1, 9), 0);
        assert_eq!(admitted(&rules, &mut state, 501 * SECOND, 9), 1);
    }

    #[test]
    fn what_waits_for_its_time_says_for_how_long() {
        let rules = [per_second(2, 3)];
        let mut state = [0; 32];
        assert_eq!(admitted(&rules, &mut state, 1000 * SECOND, 3), 3);
        let standings = standings(&rules, &mut state, 1000 * SECOND - SECOND / 4);
        let standing = standings.as_slice()[0];
        let expected = (Duration::from_millis(750), Duration::from_millis(1750));
        assert_eq!((standing.retry, standing.reset), expected);
        assert_eq!(admitted(&rules, &mut state, 1000 * SECOND + SECOND / 2 - 1, 9), 0);
        assert_eq!(admitted(&rules, &mut state, 1000 * SECOND + SECOND / 2, 9), 1);
    }

    #[test]
    fn a_clock_that_goes_back_under_a_smaller_burst_gives_nothing_back() {
        let mut state = [0; 32];
        assert_eq!(admitted(&[per_second(1, 1000)], &mut state, 1000 * SECOND, 1000), 1000);
        let decided = decide(&[per_second(1, 10)], &mut state, 500 * SECOND);
        assert_eq!((decided.admission, decided.change), (Admission::Refused, Change::Written));
        assert_eq!(decided.expires, 1500 * SECOND);
        assert_eq!(admitted(&[per_second(1, 1000)], &mut state, 501 * SECOND, 9), 1);
    }

    #[test]
    fn admits_no_more_at_the_ends_of_the_scales() {
        for (max, burst, now, expected) in [
            (1, 3, 0, 3),
            (1, 3, u64::MAX, 3),
            (1, u64::MAX, u64::MAX, 9),
            (u64::MAX, 1, u64::MAX, 1),
            (u64::MAX, u64::MAX, 0, 9),
            (0, 5, 0, 0),
            (5, 0, 0, 0),
        ] {
            for period in [Duration::MAX, Duration::from_secs(1)] {
                let rules = [rule(max, period, burst)];
                let mut state = [0; 32];
                let offered = if expected < 9 { 99 } else { 9 };
                // A period of 2^64 ns and as many requests in it are one for each nanosecond.
                assert_eq!(
                    admitted(&rules, &mut state, now, offered),
                    expected,
                    "{max} {burst} {now} {period:?}"
                );
                decide(&rules, &mut state, now / 2);
                decide(&rules, &mut state, 0);
            }
        }
        for max in [1, 7, u64::MAX] {
            let mut state = [0xFF; 32];
            assert_eq!(admitted(&[per_second(max, 1)], &mut state, 5, 9), 0, "empty, not full");
        }
    }

    #[test]
    fn counts_missing_tokens_in_any_width() {
        for (max, burst, taken) in [(80_000, 80_000, 3), (u64::MAX, u64::MAX, 4), (1, u64::MAX, 5), (3, 9, 9)]
        {
            for period in [Duration::from_millis(6000), Duration::MAX] {
                let rules = [rule(max, period, burst)];
                let mut state = [0; 32];
                assert_eq!(admitted(&rules, &mut state, 77, taken), taken);
                let fill = rules[0].read(&state, 77).0;
                assert_eq!(rules[0].standing(&fill, 77).remaining, burst - taken, "{max} {burst} {period:?}");
            }
        }
    }
}
