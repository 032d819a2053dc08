//! Time as a value: policies are told the time, they never ask the system for it.

use core::time::Duration;
use std::io::Write;

/// A point in wall-clock time, in nanoseconds since the Unix epoch (UTC, leap seconds ignored).
///
/// Arithmetic saturates: a clock that jumps, or a duration that is absurdly long, gives a far end of the scale
/// rather than a panic or a wrapped value.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(u64);

impl Timestamp {
    /// The end of time, at which everything has expired and every deadline has passed: what a host that has lost its
    /// clock gives, so that nothing lives on because time stands still.
    pub const END: Self = Self(u64::MAX);

    /// The time that is `nanoseconds` after the Unix epoch.
    pub const fn from_nanos(nanoseconds: u64) -> Self {
        Self(nanoseconds)
    }

    /// Nanoseconds since the Unix epoch.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// The time `delay` later; the end of time when that overflows.
    #[must_use]
    pub fn after(self, delay: Duration) -> Self {
        Self(self.0.saturating_add(u64::try_from(delay.as_nanos()).unwrap_or(u64::MAX)))
    }

    /// How long ago `earlier` was; zero when it lies in the future, as it can after the clock was set back.
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }

    /// Whether a deadline that lay at most `longest` ahead when it was set has been reached. One that lies further
    /// ahead has been reached too: the clock was set back, and nobody shall wait for as long as by that.
    pub fn is_due(self, now: Self, longest: Duration) -> bool {
        self <= now || self.since(now) > longest
    }

    /// Appends the time as an RFC 3339 `date-time` in UTC with milliseconds: `2026-01-31T08:15:30.125Z`.
    pub fn write_rfc3339(self, out: &mut Vec<u8>) {
        let millis = self.0 / 1_000_000;
        let (seconds, millis) = (millis / 1000, millis % 1000);
        let (days, second_of_day) = (seconds / 86_400, seconds % 86_400);
        let (year, month, day) = civil_from_days(days);
        write_padded(out, year, 4);
        out.push(b'-');
        write_padded(out, month, 2);
        out.push(b'-');
        write_padded(out, day, 2);
        out.push(b'T');
        write_padded(out, second_of_day / 3600, 2);
        out.push(b':');
        write_padded(out, second_of_day / 60 % 60, 2);
        out.push(b':');
        write_padded(out, second_of_day % 60, 2);
        out.push(b'.');
        write_padded(out, millis, 3);
        out.push(b'Z');
    }
}

/// A point on the clock that never steps, in nanoseconds since some moment that is the same for all workers of a process
/// and means nothing outside it.
///
/// Arithmetic saturates, as that of [`Timestamp`] does.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MonotonicTime(u64);

impl MonotonicTime {
    /// The point `nanoseconds` after the clock's beginning.
    pub const fn from_nanos(nanoseconds: u64) -> Self {
        Self(nanoseconds)
    }

    /// Nanoseconds since the clock's beginning.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// The point `delay` later.
    #[must_use]
    pub fn after(self, delay: Duration) -> Self {
        Self(self.0.saturating_add(u64::try_from(delay.as_nanos()).unwrap_or(u64::MAX)))
    }

    /// How long ago `earlier` was; zero when it lies ahead, as another worker's reading can by a little.
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }
}

fn write_padded(out: &mut Vec<u8>, value: u64, width: usize) {
    let _ = write!(out, "{value:0width$}");
}

/// The proleptic Gregorian date `days` after 1970-01-01, by the era method: 400 years are 146,097 days, and
/// counting the year from March puts the leap day last (H. Hinnant, "chrono-Compatible Low-Level Date
/// Algorithms", `civil_from_days`).
///
/// A u64 of nanoseconds ends in the year 2554, so none of the sums can overflow.
#[allow(clippy::arithmetic_side_effects)]
fn civil_from_days(days: u64) -> (u64, u64, u64) {
    let shifted = days + 719_468;
    let era = shifted / 146_097;
    let day_of_era = shifted % 146_097;
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rfc3339(nanos: u64) -> String {
        let mut out = Vec::new();
        Timestamp::from_nanos(nanos).write_rfc3339(&mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn writes_dates_of_the_calendar_s_corners() {
        for (seconds, expected) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_399, "2000-02-28T23:59:59.000Z"),
            (951_782_400, "2000-02-29T00:00:00.000Z"),
            (951_868_800, "2000-03-01T00:00:00.000Z"),
            (4_107_542_399, "2100-02-28T23:59:59.000Z"),
            (4_107_542_400, "2100-03-01T00:00:00.000Z"),
            (1_735_689_599, "2024-12-31T23:59:59.000Z"),
        ] {
            assert_eq!(rfc3339(seconds * 1_000_000_000), expected);
        }
        assert_eq!(rfc3339(1_234_567_890_987_654_321), "2009-02-13T23:31:30.987Z");
        assert_eq!(rfc3339(u64::MAX), "2554-07-21T23:34:33.709Z");
    }

    #[test]
    fn is_due_at_the_time_and_when_the_clock_was_set_back() {
        let [early, now, soon, last, late] = [0, 100, 105, 110, 111].map(Timestamp::from_nanos);
        let longest = Duration::from_nanos(10);
        assert!(early.is_due(now, longest) && now.is_due(now, longest) && late.is_due(now, longest));
        assert!(!soon.is_due(now, longest) && !last.is_due(now, longest));
    }

    #[test]
    fn saturates_instead_of_wrapping() {
        let late = Timestamp::from_nanos(u64::MAX - 1);
        assert_eq!(late.after(Duration::from_secs(9)).as_nanos(), u64::MAX);
        assert_eq!(Timestamp::from_nanos(5).since(Timestamp::from_nanos(7)), Duration::ZERO);
        let late = MonotonicTime::from_nanos(u64::MAX - 1);
        assert_eq!(late.as_nanos(), u64::MAX - 1);
        assert_eq!(late.after(Duration::from_secs(9)).as_nanos(), u64::MAX);
    }
}
