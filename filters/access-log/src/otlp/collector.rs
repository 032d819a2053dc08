//! How the collector fares, and when it may be asked again.

use core::time::Duration;

use portcullis_policy::time::MonotonicTime;

/// The longest pause that a collector is granted.
const MAX_RETRY_AFTER: Duration = Duration::from_secs(300);

/// The collector as this worker knows it. Its failures are its own and not a batch's: while it is left alone no batch is
/// sent, and the next batch does not begin anew with the shortest pause.
///
/// Two pauses run side by side, and both must be over: the backoff, which this worker takes by itself after a failure
/// and which any answer ends, and the pause that the collector asked for, which stays as long as it said.
#[derive(Debug)]
pub(crate) struct Collector {
    initial: Duration,
    max: Duration,
    /// How many failures in a row there have been: since the last answer that was no failure.
    failures: u32,
    epoch: Epoch,
    /// When the backoff ends.
    backoff_until: MonotonicTime,
    /// When the pause ends that the collector asked for.
    asked_until: MonotonicTime,
}

/// A stretch of time between two failures that counted. A request belongs to the one in which it was sent: one that was
/// sent before a failure and fails after it tells nothing that is not known already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Epoch(u64);

impl Collector {
    pub(crate) fn new(initial: Duration, max: Duration) -> Self {
        Self {
            initial,
            max,
            failures: 0,
            epoch: Epoch(0),
            backoff_until: MonotonicTime::from_nanos(0),
            asked_until: MonotonicTime::from_nanos(0),
        }
    }

    /// Whether requests may be sent.
    pub(crate) fn is_open(&self, now: MonotonicTime) -> bool {
        self.backoff_until <= now && self.asked_until <= now
    }

    /// The epoch of a request that is sent now.
    pub(crate) fn epoch(&self) -> Epoch {
        self.epoch
    }

    /// It answered, and that was no failure: the backoff ends. A pause that it asked for does not, for the answer may be
    /// to a request that was under way already when it asked.
    pub(crate) fn answered(&mut self) {
        self.failures = 0;
        self.backoff_until = MonotonicTime::from_nanos(0);
    }

    /// Ends both pauses: there is no time left to wait.
    pub(crate) fn end_pauses(&mut self) {
        self.answered();
        self.asked_until = MonotonicTime::from_nanos(0);
    }

    /// A request that was sent in `sent_in` failed, and the answer asked for a pause or not. The backoff is the initial
    /// one, doubled for each failure before this one, of which `jitter` takes off up to a half.
    pub(crate) fn failed(
        &mut self,
        now: MonotonicTime,
        sent_in: Epoch,
        retry_after: Option<Duration>,
        jitter: u8,
    ) {
        if sent_in == self.epoch {
            let doubled = 1u32.checked_shl(self.failures).unwrap_or(u32::MAX);
            let pause = self.initial.saturating_mul(doubled).min(self.max);
            let off = pause.saturating_mul(jitter.into()).checked_div(510).unwrap_or_default();
            self.failures = self.failures.saturating_add(1);
            self.backoff_until = now.after(pause.saturating_sub(off));
            self.epoch = Epoch(self.epoch.0.saturating_add(1));
        }
        if let Some(retry_after) = retry_after {
            self.asked_until = self.asked_until.max(now.after(retry_after.min(MAX_RETRY_AFTER)));
        }
    }
}

/// Something that differs from worker to worker and from time to time: the last digits of the clock, mixed as SplitMix64
/// does (Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators").
pub(crate) fn jitter(now: MonotonicTime) -> u8 {
    let mut mixed = now.as_nanos().wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    let [least, ..] = (mixed ^ (mixed >> 31)).to_le_bytes();
    least
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    /// How long the pause is after a request that was sent just now has failed.
    fn pause(
        collector: &mut Collector,
        now: MonotonicTime,
        retry_after: Option<Duration>,
        jitter: u8,
    ) -> Duration {
        collector.failed(now, collector.epoch(), retry_after, jitter);
        collector.backoff_until.max(collector.asked_until).since(now)
    }

    #[test]
    fn pauses_double_up_to_the_longest_and_begin_anew_after_an_answer() {
        let mut collector = Collector::new(ms(100), ms(1_500));
        let mut now = MonotonicTime::from_nanos(7);
        for expected in [100, 200, 400, 800, 1_500, 1_500] {
            assert!(collector.is_open(now));
            assert_eq!(pause(&mut collector, now, None, 0), ms(expected));
            assert!(!collector.is_open(now));
            now = now.after(ms(expected));
        }
        for _ in 0..100 {
            now = now.after(pause(&mut collector, now, None, 0));
        }
        assert_eq!(pause(&mut collector, now, None, 0), ms(1_500));
        collector.answered();
        assert!(collector.is_open(now));
        assert_eq!(pause(&mut collector, now, None, 0), ms(100));
    }

    #[test]
    fn jitter_takes_off_up_to_a_half() {
        let mut collector = Collector::new(ms(1_000), ms(1_000));
        let now = MonotonicTime::from_nanos(0);
        assert_eq!(pause(&mut collector, now, None, 255), ms(500));
        collector.answered();
        assert_eq!(pause(&mut collector, now, None, 51), ms(900));
    }

    #[test]
    fn requests_that_were_sent_before_a_failure_do_not_count_again_whenever_they_fail() {
        let mut collector = Collector::new(ms(100), ms(1_500));
        let now = MonotonicTime::from_nanos(0);
        let sent_in = collector.epoch();
        for after in [0, 0, 99, 100, 5_000] {
            collector.failed(now.after(ms(after)), sent_in, None, 0);
            assert_eq!(collector.backoff_until, now.after(ms(100)), "{after}");
        }
        assert_eq!(pause(&mut collector, now.after(ms(5_000)), None, 0), ms(200));
    }

    #[test]
    fn a_pause_that_was_asked_for_is_kept_within_reason() {
        let now = MonotonicTime::from_nanos(0);
        for (asked, expected) in [(0, 100), (99, 100), (5_000, 5_000), (3_600_000, 300_000)] {
            let mut collector = Collector::new(ms(100), ms(1_500));
            assert_eq!(pause(&mut collector, now, Some(ms(asked)), 0), ms(expected), "{asked}");
        }
    }

    #[test]
    fn a_pause_that_was_asked_for_outlives_answers_and_shorter_wishes() {
        let mut collector = Collector::new(ms(100), ms(1_500));
        let now = MonotonicTime::from_nanos(0);
        let sent_in = collector.epoch();
        collector.failed(now, sent_in, Some(ms(5_000)), 0);
        collector.answered();
        collector.failed(now, sent_in, Some(ms(1_000)), 0);
        assert!(!collector.is_open(now.after(ms(4_999))) && collector.is_open(now.after(ms(5_000))));
        collector.failed(now, sent_in, Some(ms(6_000)), 0);
        assert!(!collector.is_open(now.after(ms(5_999))), "a late failure may ask for more");
        collector.end_pauses();
        assert!(collector.is_open(now));
    }
}
