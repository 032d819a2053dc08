//! Windows that open with a key's first request.

use core::time::Duration;

use super::limits::{Quota, nanoseconds};
use super::rule::{Base, Rule, put, u64_at};
use super::standing::Standing;

/// At most `max` requests in a window; the next window opens with the first request after the end of one.
#[derive(Debug, Clone, Copy)]
pub(super) struct FixedWindow {
    max: u64,
    period: u64,
}

/// A window that is open, or none when nothing is counted in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Window {
    pub(super) start: u64,
    pub(super) count: u64,
}

impl FixedWindow {
    pub(super) fn new(quota: &Quota) -> Self {
        Self { max: quota.max, period: nanoseconds(quota.period) }
    }

    /// How many requests the window would still admit.
    pub(super) fn room(&self, window: &Window) -> u64 {
        self.max.saturating_sub(window.count)
    }

    /// When the window ends: the first time that no longer belongs to it.
    pub(super) fn end(&self, window: &Window) -> u64 {
        window.start.saturating_add(self.period)
    }
}

impl Rule for FixedWindow {
    type State = Window;
    /// start (u64), count (u64)
    const STATE_LEN: usize = 16;

    fn read(&self, bytes: &[u8], now: u64) -> (Window, Base) {
        let Window { start, count } = Window { start: u64_at(bytes, 0), count: u64_at(bytes, 8) };
        match now.checked_sub(start) {
            Some(age) if count > 0 && age < self.period => (Window { start, count }, Base::Kept),
            None if count > 0 && start.saturating_sub(now) <= self.period => {
                (Window { start, count }, Base::Kept)
            }
            None if count > 0 => (Window { start: now, count }, Base::Moved),
            _ => (Window { start: now, count: 0 }, Base::Kept),
        }
    }

    fn has_room(&self, window: &Window) -> bool {
        window.count < self.max
    }

    fn count(&self, window: &mut Window) {
        window.count = window.count.saturating_add(1);
    }

    fn write(&self, window: &Window, bytes: &mut [u8]) {
        put(bytes, 0, window.start.to_le_bytes());
        put(bytes, 8, window.count.to_le_bytes());
    }

    fn expires(&self, window: &Window) -> u64 {
        if window.count == 0 { 0 } else { self.end(window) }
    }

    fn standing(&self, window: &Window, now: u64) -> Standing {
        let remaining = self.room(window);
        let left = self.end(window).saturating_sub(now);
        Standing {
            max: self.max,
            period: Duration::from_nanos(self.period),
            window: Duration::from_nanos(self.period),
            remaining,
            reset: Duration::from_nanos(if window.count == 0 { 0 } else { left }),
            retry: Duration::from_nanos(if remaining > 0 { 0 } else { left }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::rule::trial::{admitted, decide, standings};
    use super::super::rule::{Admission, Change};
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    fn rule(max: u64, period: Duration) -> FixedWindow {
        FixedWindow::new(&Quota { max, period, burst: 0 })
    }

    fn seconds(max: u64, period: u64) -> FixedWindow {
        rule(max, Duration::from_secs(period))
    }

    #[test]
    fn a_window_opens_with_the_first_request_and_ends_a_period_later() {
        let rules = [seconds(3, 10)];
        let mut state = [0; 16];
        assert_eq!(admitted(&rules, &mut state, 7 * SECOND, 1), 1);
        assert_eq!(admitted(&rules, &mut state, 17 * SECOND - 1, 9), 2, "the window's last nanosecond");
        assert_eq!(admitted(&rules, &mut state, 17 * SECOND, 9), 3, "the next window's first");
        assert_eq!(admitted(&rules, &mut state, 27 * SECOND - 1, 9), 0);
        assert_eq!(admitted(&rules, &mut state, 999 * SECOND, 9), 3, "opens when it is needed");
        assert_eq!(admitted(&rules, &mut state, 1009 * SECOND - 1, 9), 0);
    }

    #[test]
    fn a_refused_request_changes_nothing() {
        let rules = [seconds(1, 10), seconds(5, 60)];
        let mut state = [0; 32];
        assert_eq!(admitted(&rules, &mut state, 0, 1), 1);
        let before = state;
        let decided = decide(&rules, &mut state, SECOND);
        assert_eq!((decided.admission, decided.change), (Admission::Refused, Change::None));
        assert_eq!(state, before);
    }

    #[test]
    fn a_request_counts_against_all_limits_or_none() {
        let rules = [seconds(2, 1), seconds(5, 10)];
        let mut state = [0; 32];
        let by_second: Vec<_> =
            (0..12).map(|second| admitted(&rules, &mut state, second * SECOND, 4)).collect();
        // The third second's window opens for the one request that the ten seconds still admit.
        assert_eq!(by_second, [2, 2, 1, 0, 0, 0, 0, 0, 0, 0, 2, 2]);
        let standings = standings(&rules, &mut state, 12 * SECOND);
        let [short, long] = standings.as_slice() else { panic!("{standings:?}") };
        assert_eq!((short.remaining, short.reset), (1, Duration::from_secs(1)));
        assert_eq!((long.remaining, long.reset), (0, Duration::from_secs(8)));
        assert_eq!((short.retry, long.retry), (Duration::ZERO, Duration::from_secs(8)));
    }

    #[test]
    fn says_how_many_remain_and_when_to_come_back() {
        let rules = [seconds(2, 10)];
        let mut state = [0; 16];
        for (now, remaining, reset, retry) in [(5, 1, 10, 0), (8, 0, 7, 7), (14, 0, 1, 1), (15, 1, 10, 0)] {
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
    fn a_max_that_changes_is_held_against_the_running_window() {
        let mut state = [0; 16];
        assert_eq!(admitted(&[seconds(5, 10)], &mut state, 0, 4), 4);
        assert_eq!(admitted(&[seconds(3, 10)], &mut state, SECOND, 9), 0);
        assert_eq!(standings(&[seconds(3, 10)], &mut state, SECOND).as_slice()[0].remaining, 0);
        assert_eq!(admitted(&[seconds(7, 10)], &mut state, SECOND, 9), 3);
        assert_eq!(admitted(&[seconds(3, 10)], &mut state, 10 * SECOND, 9), 3);
    }

    #[test]
    fn a_clock_that_goes_back_neither_gives_quota_back_nor_locks_out_for_long() {
        let rules = [seconds(3, 10)];
        let mut state = [0; 16];
        assert_eq!(admitted(&rules, &mut state, 1000 * SECOND, 2), 2);
        assert_eq!(admitted(&rules, &mut state, 995 * SECOND, 9), 1, "in the window that is open");
        assert_eq!(admitted(&rules, &mut state, 1010 * SECOND - 1, 9), 0);
        let decided = decide(&rules, &mut state, 500 * SECOND);
        assert_eq!((decided.admission, decided.change), (Admission::Refused, Change::Written));
        assert_eq!(admitted(&rules, &mut state, 510 * SECOND - 1, 9), 0);
        assert_eq!(admitted(&rules, &mut state, 510 * SECOND, 9), 3);
    }

    #[test]
    fn admits_no_more_at_the_ends_of_the_scales() {
        let mut state = [0; 16];
        assert_eq!(admitted(&[rule(3, Duration::MAX)], &mut state, 0, 9), 3);
        assert_eq!(admitted(&[rule(3, Duration::MAX)], &mut state, u64::MAX - 1, 9), 0);
        let mut state = [0; 16];
        assert_eq!(admitted(&[seconds(3, 1)], &mut state, u64::MAX - 1, 9), 3);
        assert_eq!(admitted(&[seconds(3, 1)], &mut state, u64::MAX, 9), 0);
        assert_eq!(decide(&[seconds(3, 1)], &mut state, u64::MAX).expires, u64::MAX);
        let mut state = [0; 16];
        state[8..].copy_from_slice(&(u64::MAX - 2).to_le_bytes());
        assert_eq!(admitted(&[seconds(u64::MAX, 1)], &mut state, 5, 9), 2);
        assert_eq!(admitted(&[seconds(0, 1)], &mut [0; 16], 5, 9), 0);
        assert_eq!(admitted(&[rule(1, Duration::ZERO)], &mut state, 2 * SECOND, 9), 1);
    }
}
