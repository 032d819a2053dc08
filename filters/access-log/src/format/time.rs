//! Times as a format string has them written: a part of what Abseil's `FormatTime` and Envoy's `DateFormatter` take.

use std::io::Write;

use portcullis_policy::time::Timestamp;

/// A compiled format of a time.
#[derive(Debug)]
pub(crate) struct TimeFormat {
    /// None is RFC 3339 with milliseconds, Envoy's default.
    pieces: Option<Vec<Piece>>,
}

#[derive(Debug)]
enum Piece {
    Literal(String),
    /// Fields of the date as they stand in RFC 3339: `2026-01-31T08:15:30`.
    Year,
    ShortYear,
    Month,
    MonthName(Length),
    Day,
    SpacePaddedDay,
    DayOfYear,
    WeekdayName(Length),
    /// From 1, Monday, to 7.
    IsoWeekday,
    /// From 0, Sunday, to 6.
    Weekday,
    Hour,
    TwelveHour,
    Minute,
    Second,
    AmPm,
    EpochSeconds,
    /// The fraction of the second, this many digits.
    Fraction(usize),
}

#[derive(Debug, Clone, Copy)]
enum Length {
    Short,
    Full,
}

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
/// The epoch began on a Thursday.
const WEEKDAYS: [&str; 7] = ["Thursday", "Friday", "Saturday", "Sunday", "Monday", "Tuesday", "Wednesday"];

const SUPPORTED: &str = "a time's format takes %Y %y %m %b %B %d %e %j %a %A %u %w %H %I %M %S %p %F %T %R %D %s %f, \
    %1f to %9f, %E1S to %E9S, %E1f to %E9f, %z %Ez %Z, %%";

impl TimeFormat {
    /// Compiles a format; none is Envoy's default.
    ///
    /// # Errors
    /// What formats there are.
    pub(crate) fn compile(format: Option<&str>) -> Result<Self, String> {
        let Some(format) = format else {
            return Ok(Self { pieces: None });
        };
        let mut pieces = Vec::new();
        let mut rest = format;
        while let Some((before, specifier)) = rest.split_once('%') {
            literal(&mut pieces, before);
            rest = read_specifier(specifier, &mut pieces).ok_or_else(|| SUPPORTED.to_owned())?;
        }
        literal(&mut pieces, rest);
        Ok(Self { pieces: Some(pieces) })
    }

    /// Appends the time.
    pub(crate) fn write(&self, time: Timestamp, out: &mut Vec<u8>) {
        match &self.pieces {
            None => time.write_rfc3339(out),
            Some(pieces) => {
                let moment = Moment::of(time);
                for piece in pieces {
                    moment.write(piece, out);
                }
            }
        }
    }
}

fn literal(pieces: &mut Vec<Piece>, text: &str) {
    match pieces.last_mut() {
        _ if text.is_empty() => {}
        Some(Piece::Literal(last)) => last.push_str(text),
        _ => pieces.push(Piece::Literal(text.to_owned())),
    }
}

/// Reads what follows a percent sign, and gives what follows that.
fn read_specifier<'a>(text: &'a str, pieces: &mut Vec<Piece>) -> Option<&'a str> {
    let (first, after) = split_first(text)?;
    let several = |pieces: &mut Vec<Piece>, format: &str| -> Option<()> {
        let mut rest = format;
        while let Some((before, specifier)) = rest.split_once('%') {
            literal(pieces, before);
            rest = read_specifier(specifier, pieces)?;
        }
        Some(())
    };
    match first {
        'F' => several(pieces, "%Y-%m-%d")?,
        'T' => several(pieces, "%H:%M:%S")?,
        'R' => several(pieces, "%H:%M")?,
        'D' => several(pieces, "%m/%d/%y")?,
        '%' => literal(pieces, "%"),
        'z' => literal(pieces, "+0000"),
        'Z' => literal(pieces, "UTC"),
        '1'..='9' => {
            pieces.push(Piece::Fraction(usize::try_from(first.to_digit(10)?).ok()?));
            return after.strip_prefix('f');
        }
        'E' => return read_extension(after, pieces),
        _ => pieces.push(match first {
            'Y' => Piece::Year,
            'y' => Piece::ShortYear,
            'm' => Piece::Month,
            'b' | 'h' => Piece::MonthName(Length::Short),
            'B' => Piece::MonthName(Length::Full),
            'd' => Piece::Day,
            'e' => Piece::SpacePaddedDay,
            'j' => Piece::DayOfYear,
            'a' => Piece::WeekdayName(Length::Short),
            'A' => Piece::WeekdayName(Length::Full),
            'u' => Piece::IsoWeekday,
            'w' => Piece::Weekday,
            'H' => Piece::Hour,
            'I' => Piece::TwelveHour,
            'M' => Piece::Minute,
            'S' => Piece::Second,
            'p' => Piece::AmPm,
            's' => Piece::EpochSeconds,
            'f' => Piece::Fraction(9),
            _ => return None,
        }),
    }
    Some(after)
}

/// Abseil's extensions: `%E3S` is the second with three digits of its fraction.
fn read_extension<'a>(text: &'a str, pieces: &mut Vec<Piece>) -> Option<&'a str> {
    if let Some(after) = text.strip_prefix('z') {
        literal(pieces, "+00:00");
        return Some(after);
    }
    let (digit, after) = split_first(text)?;
    let digits = digit.to_digit(10).filter(|digits| (1..=9).contains(digits))?;
    let (what, after) = split_first(after)?;
    match what {
        'S' => {
            pieces.push(Piece::Second);
            literal(pieces, ".");
        }
        'f' => {}
        _ => return None,
    }
    pieces.push(Piece::Fraction(usize::try_from(digits).ok()?));
    Some(after)
}

fn split_first(text: &str) -> Option<(char, &str)> {
    let mut characters = text.chars();
    Some((characters.next()?, characters.as_str()))
}

/// A time with its date worked out.
struct Moment {
    /// `2026-01-31T08:15:30.125Z`.
    rfc3339: Vec<u8>,
    nanoseconds: u64,
}

impl Moment {
    fn of(time: Timestamp) -> Self {
        let mut rfc3339 = Vec::with_capacity(24);
        time.write_rfc3339(&mut rfc3339);
        Self { rfc3339, nanoseconds: time.as_nanos() }
    }

    fn seconds(&self) -> u64 {
        self.nanoseconds / 1_000_000_000
    }

    /// Days since the epoch.
    fn days(&self) -> u64 {
        self.seconds() / 86_400
    }

    fn digits(&self, from: usize, to: usize) -> &[u8] {
        self.rfc3339.get(from..to).unwrap_or_default()
    }

    fn number(&self, from: usize, to: usize) -> u64 {
        let digits = core::str::from_utf8(self.digits(from, to)).unwrap_or_default();
        digits.parse().unwrap_or_default()
    }

    fn write(&self, piece: &Piece, out: &mut Vec<u8>) {
        match piece {
            Piece::Literal(text) => out.extend_from_slice(text.as_bytes()),
            Piece::Year => out.extend_from_slice(self.digits(0, 4)),
            Piece::ShortYear => out.extend_from_slice(self.digits(2, 4)),
            Piece::Month => out.extend_from_slice(self.digits(5, 7)),
            Piece::MonthName(length) => name(out, MONTHS, self.number(5, 7).wrapping_sub(1), *length),
            Piece::Day => out.extend_from_slice(self.digits(8, 10)),
            Piece::SpacePaddedDay => padded(out, self.number(8, 10), b' ', 2),
            Piece::DayOfYear => padded(out, self.day_of_year(), b'0', 3),
            Piece::WeekdayName(length) => name(out, WEEKDAYS, self.days() % 7, *length),
            Piece::IsoWeekday => padded(out, iso_weekday(self.days()), b'0', 1),
            Piece::Weekday => padded(out, iso_weekday(self.days()) % 7, b'0', 1),
            Piece::Hour => out.extend_from_slice(self.digits(11, 13)),
            Piece::TwelveHour => padded(out, twelve(self.number(11, 13)), b'0', 2),
            Piece::Minute => out.extend_from_slice(self.digits(14, 16)),
            Piece::Second => out.extend_from_slice(self.digits(17, 19)),
            Piece::AmPm => out.extend_from_slice(if self.number(11, 13) < 12 { b"AM" } else { b"PM" }),
            Piece::EpochSeconds => padded(out, self.seconds(), b'0', 1),
            Piece::Fraction(digits) => {
                let fraction = format!("{:09}", self.nanoseconds % 1_000_000_000);
                out.extend_from_slice(fraction.as_bytes().get(..*digits).unwrap_or_default());
            }
        }
    }

    fn day_of_year(&self) -> u64 {
        let (year, month, day) = (self.number(0, 4), self.number(5, 7), self.number(8, 10));
        let is_leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
        let before = match month {
            2 => 31,
            3 => 59,
            4 => 90,
            5 => 120,
            6 => 151,
            7 => 181,
            8 => 212,
            9 => 243,
            10 => 273,
            11 => 304,
            12 => 334,
            _ => 0u64,
        };
        before.saturating_add(day).saturating_add(u64::from(is_leap && month > 2))
    }
}

/// 1 is Monday. The epoch began on a Thursday, 4.
fn iso_weekday(days: u64) -> u64 {
    (days.saturating_add(3) % 7).saturating_add(1)
}

fn twelve(hour: u64) -> u64 {
    match hour % 12 {
        0 => 12,
        hour => hour,
    }
}

fn name<const N: usize>(out: &mut Vec<u8>, names: [&str; N], at: u64, length: Length) {
    let name = usize::try_from(at).ok().and_then(|at| names.get(at)).copied().unwrap_or_default();
    let name = match length {
        Length::Short => name.get(..3).unwrap_or(name),
        Length::Full => name,
    };
    out.extend_from_slice(name.as_bytes());
}

fn padded(out: &mut Vec<u8>, number: u64, with: u8, width: usize) {
    let _ = match with {
        b'0' => write!(out, "{number:0width$}"),
        _ => write!(out, "{number:width$}"),
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(format: Option<&str>, seconds: u64, nanoseconds: u64) -> String {
        let mut out = Vec::new();
        let time = Timestamp::from_nanos(nanoseconds).after(core::time::Duration::from_secs(seconds));
        TimeFormat::compile(format).unwrap().write(time, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn writes_every_specifier() {
        // Sat Jan 31 08:05:03.001234567 2026.
        let at = |format| written(Some(format), 1_769_846_703, 1_234_567);
        for (format, expected) in [
            ("%Y %y %m %b %B %h", "2026 26 01 Jan January Jan"),
            ("%d %e %j %a %A %u %w", "31 31 031 Sat Saturday 6 6"),
            ("%H %I %M %S %p", "08 08 05 03 AM"),
            ("%F %T %R %D", "2026-01-31 08:05:03 08:05 01/31/26"),
            ("%s %f %1f %3f %6f %9f", "1769846703 001234567 0 001 001234 001234567"),
            ("%s.%3f", "1769846703.001"),
            ("%E3S %E9S %E6f", "03.001 03.001234567 001234"),
            ("%z %Ez %Z %%", "+0000 +00:00 UTC %"),
            ("[é]", "[é]"),
            ("%Y/%m/%dT%H:%M:%S%z %s", "2026/01/31T08:05:03+0000 1769846703"),
        ] {
            assert_eq!(at(format), expected, "{format}");
        }
        assert_eq!(written(None, 1_769_846_703, 1_234_567), "2026-01-31T08:05:03.001Z");
    }

    #[test]
    fn knows_the_calendar_s_corners() {
        for (seconds, format, expected) in [
            (0, "%A %j %u %w %I%p %e", "Thursday 001 4 4 12AM  1"),
            (951_782_400, "%F %j %a", "2000-02-29 060 Tue"),
            (978_220_800, "%F %j %a", "2000-12-31 366 Sun"),
            (4_107_542_400, "%F %j", "2100-03-01 060"),
            (1_735_732_800, "%I%p %u %w", "12PM 3 3"),
            (1_735_430_400, "%a %u %w", "Sun 7 0"),
        ] {
            assert_eq!(written(Some(format), seconds, 0), expected, "{seconds}");
        }
    }

    #[test]
    fn refuses_what_it_does_not_know() {
        for format in ["%", "%n", "%c", "%Q", "%0f", "%3", "%3x", "%E", "%E0S", "%E3x", "%E*S", "%é"] {
            assert_eq!(TimeFormat::compile(Some(format)).unwrap_err(), SUPPORTED, "{format}");
        }
    }
}
