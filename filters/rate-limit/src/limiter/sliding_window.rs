//! A window that moves with the time, in steps of a tenth of its length.

use core::time::Duration;

use super::limits::{Quota, nanoseconds};
use super::rule::{Base, Rule, put, u64_at};
use super::standing::Standing;

/// A period is this many steps long.
const STEPS: u64 = 10;
/// So many steps a period can touch, and so many are remembered.
const TOUCHED: usize = 11;

/// At most `max` requests in any stretch of time as long as the period. A request is remembered by the step in which it
/// came, and counts until all requests of that step are a period old: up to a step longer than it should, never less.
#[derive(Debug, Clone, Copy)]
pub(super) struct SlidingWindow {
    max: u64,
    period: u64,
    /// Rounded up, so that the steps are never shorter than the period together.
    step: u64,
}

/// The counts of the last steps. Step `n` covers the times from `n * step` to `(n + 1) * step`; its count stands at
/// `n % TOUCHED`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Steps {
    latest: u64,
    counts: [u64; TOUCHED],
}

impl SlidingWindow {
    pub(super) fn new(quota: &Quota) -> Self {
        let period = nanoseconds(quota.period);
        Self { max: quota.max, period, step: period.div_ceil(STEPS) }
    }

    /// When the `age`th-oldest step that is remembered, from 0, will count no longer.
    fn leaves(&self, steps: &Steps, age: usize) -> u64 {
        let age = u64::try_from(age).unwrap_or(u64::MAX);
        steps.latest.saturating_add(1).saturating_add(age).saturating_mul(self.step)
    }
}

impl Steps {
    fn sum(&self) -> u64 {
        self.counts.iter().fold(0, |sum, count| sum.saturating_add(*count))
    }

    /// The counts from the oldest step to the latest.
    fn by_age(&self) -> impl Iterator<Item = u64> {
        let (newer, older) =
            self.counts.split_at_checked(slot(self.latest).saturating_add(1)).unwrap_or_default();
        older.iter().chain(newer).copied()
    }

    fn add(&mut self, step: u64, requests: u64) {
        if let Some(count) = self.counts.get_mut(slot(step)) {
            *count = count.saturating_add(requests);
        }
    }

    /// The counts as they stand `by` steps later.
    fn advance(&mut self, by: u64) {
        if by >= TOUCHED as u64 {
            self.counts = [0; TOUCHED];
        } else {
            for step in 1..=by {
                if let Some(count) = self.counts.get_mut(slot(self.latest.saturating_add(step))) {
                    *count = 0;
                }
            }
        }
        self.latest = self.latest.saturating_add(by);
    }
}

/// Where the count of a step stands.
fn slot(step: u64) -> usize {
    step.checked_rem(TOUCHED as u64).and_then(|slot| usize::try_from(slot).ok()).unwrap_or(0)
}

impl Rule for SlidingWindow {
    type State = Steps;
    /// latest (u64), counts (u64 each)
    const STATE_LEN: usize = 8 + 8 * TOUCHED;

    fn read(&self, bytes: &[u8], now: u64) -> (Steps, Base) {
        let mut steps = Steps { latest: u64_at(bytes, 0), counts: [0; TOUCHED] };
        for (count, bytes) in steps.counts.iter_mut().zip(bytes.chunks_exact(8).skip(1)) {
            *count = u64_at(bytes, 0);
        }
        let step = now.checked_div(self.step).unwrap_or(0);
        match step.checked_sub(steps.latest) {
            Some(by) => steps.advance(by),
            None if steps.latest.saturating_sub(step) <= STEPS => {}
            None => {
                let sum = steps.sum();
                steps = Steps { latest: step, counts: [0; TOUCHED] };
                steps.add(step, sum);
                return (steps, Base::Moved);
            }
        }
        (steps, Base::Kept)
    }

    fn has_room(&self, steps: &Steps) -> bool {
        steps.sum() < self.max
    }

    fn count(&self, steps: &mut Steps) {
        steps.add(steps.latest, 1);
    }

    fn write(&self, steps: &Steps, bytes: &mut [u8]) {
        put(bytes, 0, steps.latest.to_le_bytes());
        for (bytes, count) in bytes.chunks_exact_mut(8).skip(1).zip(steps.counts) {
            put(bytes, 0, count.to_le_bytes());
        }
    }

    fn expires(&self, steps: &Steps) -> u64 {
        let latest = (0..).zip(steps.by_age()).filter(|(_, count)| *count > 0).last();
        latest.map_or(0, |(age, _)| self.leaves(steps, age))
    }

    fn standing(&self, steps: &Steps, now: u64) -> Standing {
        let sum = steps.sum();
        let mut left = sum;
        let mut retry = 0;
        for (age, count) in (0..).zip(steps.by_age()) {
            if left < self.max {
                break;
            }
            // With a max of 0 this ends with the latest step; there is no better answer.
            left = left.saturating_sub(count);
            retry = self.leaves(steps, age).saturating_sub(now);
        }
        Standing {
            max: self.max,
            period: Duration::from_nanos(self.period),
            window: Duration::from_nanos(self.period),
            remaining: self.max.saturating_sub(sum),
            reset: Duration::from_nanos(self.expires(steps).saturating_sub(now)),
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
    const LEN: usize = SlidingWindow::STATE_LEN;

    fn rule(max: u64, period: Duration) -> SlidingWindow {
        SlidingWindow::new(&Quota { max, period, burst: 0 })
    }

    fn seconds(max: u64, period: u64) -> SlidingWindow {
        rule(max, Duration::from_secs(period))
    }

    #[test]
    fn a_request_counts_until_its_step_is_a_period_old() {
        for (came, last) in [(20 * SECOND, 31 * SECOND - 1), (21 * SECOND - 1, 31 * SECOND - 1)] {
            let rules = [seconds(1, 10)];
            let mut state = [0; LEN];
            assert_eq!(admitted(&rules, &mut state, came, 2), 1);
            assert_eq!(admitted(&rules, &mut state, last, 2), 0);
            assert_eq!(admitted(&rules, &mut state, last + 1, 2), 1);
        }
    }

    #[test]
    fn quota_comes_back_step_by_step() {
        let rules = [seconds(6, 10)];
        let mut state = [0; LEN];
        let offers = [(0, 1), (3, 2), (9, 9), (10, 9), (11, 9), (13, 9), (14, 9), (20, 9), (25, 9)];
        let counts = offers.map(|(now, offered)| admitted(&rules, &mut state, now * SECOND, offered));
        assert_eq!(counts, [1, 2, 3, 0, 1, 0, 2, 3, 3]);
    }

    #[test]
    fn a_refused_request_changes_nothing() {
        let rules = [seconds(1, 10), seconds(5, 60)];
        let mut state = [0; 2 * LEN];
        assert_eq!(admitted(&rules, &mut state, 0, 1), 1);
        let before = state;
        let decided = decide(&rules, &mut state, 5 * SECOND);
        assert_eq!((decided.admission, decided.change), (Admission::Refused, Change::None));
        assert_eq!(state, before);
    }

    #[test]
    fn says_how_many_remain_and_when_to_come_back() {
        let rules = [seconds(2, 10)];
        let mut state = [0; LEN];
        for (now, remaining, reset, retry) in [(5, 1, 11, 0), (8, 0, 11, 8), (14, 0, 5, 2), (16, 0, 11, 3)] {
            let standings = standings(&rules, &mut state, now * SECOND);
            let expected = Standing {
                max: 2,
                period: Duration::from_secs(10),
                window: Duration::from_secs(10),
                remaining,
                reset: Duration::from_secs(reset),
                retry: Duration::from_secs(retry),
            };
            assert_eq!(standings.as_slice(), [expected], "at {now} s");
        }
    }

    #[test]
    fn a_max_that_changes_is_held_against_the_running_steps() {
        let mut state = [0; LEN];
        assert_eq!(admitted(&[seconds(5, 10)], &mut state, 0, 4), 4);
        assert_eq!(admitted(&[seconds(5, 10)], &mut state, SECOND, 4), 1);
        let lowered = standings(&[seconds(1, 10)], &mut state, 2 * SECOND);
        assert_eq!(lowered.as_slice()[0].retry, Duration::from_secs(10), "both steps must leave");
        assert_eq!(admitted(&[seconds(7, 10)], &mut state, 2 * SECOND, 9), 2);
    }

    #[test]
    fn a_clock_that_goes_back_neither_gives_quota_back_nor_locks_out_for_long() {
        let rules = [seconds(3, 10)];
        let mut state = [0; LEN];
        assert_eq!(admitted(&rules, &mut state, 1000 * SECOND, 2), 2);
        assert_eq!(admitted(&rules, &mut state, 991 * SECOND, 9), 1, "in the latest step");
        assert_eq!(admitted(&rules, &mut state, 1011 * SECOND - 1, 9), 0);
        let decided = decide(&rules, &mut state, 500 * SECOND);
        assert_eq!((decided.admission, decided.change), (Admission::Refused, Change::Written));
        assert_eq!(admitted(&rules, &mut state, 511 * SECOND - 1, 9), 0);
        assert_eq!(admitted(&rules, &mut state, 511 * SECOND, 9), 3);
    }

    #[test]
    fn admits_no_more_at_the_ends_of_the_scales() {
        let mut state = [0; LEN];
        assert_eq!(admitted(&[rule(3, Duration::MAX)], &mut state, 0, 9), 3);
        assert_eq!(admitted(&[rule(3, Duration::MAX)], &mut state, u64::MAX, 9), 0);
        let mut state = [0; LEN];
        assert_eq!(admitted(&[seconds(3, 1)], &mut state, u64::MAX - 1, 9), 3);
        assert_eq!(admitted(&[seconds(3, 1)], &mut state, u64::MAX, 9), 0);
        assert_eq!(decide(&[seconds(3, 1)], &mut state, u64::MAX).expires, u64::MAX);
        let mut state = [0xFF; LEN];
        assert_eq!(admitted(&[seconds(u64::MAX, 1)], &mut state, 5, 9), 0, "sums do not wrap");
        assert_eq!(admitted(&[seconds(0, 1)], &mut [0; LEN], 5, 9), 0);
        assert_eq!(admitted(&[rule(1, Duration::ZERO)], &mut [0; LEN], 2 * SECOND, 9), 1);
    }
}
