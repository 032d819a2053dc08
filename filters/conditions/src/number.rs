//! Tests of numbers.
//!
//! Numbers are compared by their value, digit by digit, whatever their length: nothing is rounded. Readers that keep
//! numbers as IEEE 754 doubles, as most do (RFC 8259, section 6), round them. That changes the outcome of a comparison
//! only where a number is not the bound and becomes the same double. Of such a number nobody can tell on which side a
//! reader sees it.

use core::cmp::Ordering;

use portcullis_policy::ConfigError;
use serde_json::Number;

use crate::NumberTest;

/// How many digits a bound may have. Decimals of that many digits survive the way through a double, in which a host may
/// hand over the configuration (C's `DBL_DIG`).
const MAX_DIGITS: usize = 15;

/// Exponents are cut here. A number whose digits fit into memory lies on the same side of every bound beyond it.
const MAX_EXPONENT: i64 = 1 << 60;

/// A compiled test of a number.
#[derive(Debug)]
pub struct NumberMatcher {
    lower: Option<Bound>,
    upper: Option<Bound>,
}

#[derive(Debug)]
struct Bound {
    text: Box<str>,
    double: f64,
    itself: Itself,
}

/// Whether a bound itself is within the bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Itself {
    Within,
    Outside,
}

/// How numbers may be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Notation {
    /// As in JSON (RFC 8259, section 6).
    Json,
    /// As in JSON, but without an exponent: of `1e5` many readers of a text take the `1`.
    Plain,
}

impl NumberMatcher {
    /// Compiles a test.
    ///
    /// # Errors
    /// If there is no bound, two on the same side, one with too many digits, or nothing between them.
    pub(crate) fn compile(test: &NumberTest) -> Result<Self, ConfigError> {
        let NumberTest { at_least, more_than, at_most, less_than } = test;
        let lower = side(("at_least", at_least), ("more_than", more_than))?;
        let upper = side(("at_most", at_most), ("less_than", less_than))?;
        let refused = |problem| Err(ConfigError::new("", problem));
        match (&lower, &upper) {
            (None, None) => refused("must have `at_least`, `more_than`, `at_most` or `less_than`"),
            (Some(lower), Some(upper)) => {
                let both_within = lower.itself == Itself::Within && upper.itself == Itself::Within;
                match lower.cmp(upper) {
                    Ordering::Less => Ok(()),
                    Ordering::Equal if both_within => Ok(()),
                    Ordering::Equal | Ordering::Greater => {
                        refused("must have bounds with a number between them")
                    }
                }
            }
            _ => Ok(()),
        }?;
        Ok(Self { lower, upper })
    }

    /// Whether a text is a number within the bounds. `None` if readers disagree on that; `Some(false)` if it is no number
    /// in this notation.
    pub(crate) fn passes(&self, text: &[u8], notation: Notation) -> Option<bool> {
        let text = core::str::from_utf8(text).unwrap_or_default();
        let Some(number) = Decimal::parse(text, notation) else { return Some(false) };
        // Each JSON number is one to Rust too.
        let double: f64 = text.parse().unwrap_or(f64::NAN);
        let is_within = |bound: &Option<Bound>, inner: Ordering| match bound {
            None => Some(true),
            Some(bound) => bound.admits(&number, double, inner),
        };
        Some(is_within(&self.lower, Ordering::Greater)? && is_within(&self.upper, Ordering::Less)?)
    }
}

/// The bound on one side, of which there is one at the most.
fn side(
    (inclusive, within): (&str, &Option<Number>),
    (exclusive, outside): (&str, &Option<Number>),
) -> Result<Option<Bound>, ConfigError> {
    match (within, outside) {
        (None, None) => Ok(None),
        (Some(number), None) => Bound::compile(inclusive, number, Itself::Within).map(Some),
        (None, Some(number)) => Bound::compile(exclusive, number, Itself::Outside).map(Some),
        (Some(_), Some(_)) => {
            Err(ConfigError::new(exclusive, format!("must not stand beside `{inclusive}`")))
        }
    }
}

impl Bound {
    fn compile(field: &str, number: &Number, itself: Itself) -> Result<Self, ConfigError> {
        let text: Box<str> = number.to_string().into();
        let digits = Decimal::parse(&text, Notation::Json).map_or(usize::MAX, |number| number.digit_count());
        match text.parse::<f64>() {
            Ok(double) if digits <= MAX_DIGITS && double.is_finite() => Ok(Self { text, double, itself }),
            _ => Err(ConfigError::new(field, format!("must be a number of at most {MAX_DIGITS} digits"))),
        }
    }

    /// Whether a number lies on the inner side of this bound, or is the bound and may be. `None` if readers disagree.
    fn admits(&self, number: &Decimal<'_>, double: f64, inner: Ordering) -> Option<bool> {
        match number.cmp(&self.decimal()) {
            Ordering::Equal => Some(self.itself == Itself::Within),
            _ if double.total_cmp(&self.double).is_eq() => None,
            ordering => Some(ordering == inner),
        }
    }

    fn cmp(&self, other: &Self) -> Ordering {
        self.decimal().cmp(&other.decimal())
    }

    fn decimal(&self) -> Decimal<'_> {
        // It has been parsed before.
        Decimal::parse(&self.text, Notation::Json).unwrap_or_default()
    }
}

/// A number as it is written: a sign, digits before and after the point, and a power of ten.
#[derive(Debug, Default, Clone, Copy)]
struct Decimal<'t> {
    is_negative: bool,
    whole: &'t [u8],
    fraction: &'t [u8],
    exponent: i64,
}

impl<'t> Decimal<'t> {
    /// `-? (0 | [1-9][0-9]*) (\. [0-9]+)?`, and `([eE] [+-]? [0-9]+)?` in JSON.
    fn parse(text: &'t str, notation: Notation) -> Option<Self> {
        let text = text.as_bytes();
        let (is_negative, rest) = match text.strip_prefix(b"-") {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (whole, rest) = digits(rest)?;
        if whole.len() > 1 && whole.starts_with(b"0") {
            return None;
        }
        let (fraction, rest) = match rest.strip_prefix(b".") {
            Some(rest) => digits(rest)?,
            None => (&[][..], rest),
        };
        let exponent = match rest.split_first() {
            None => 0,
            Some((b'e' | b'E', rest)) if notation == Notation::Json => exponent(rest)?,
            Some(_) => return None,
        };
        Some(Self { is_negative, whole, fraction, exponent })
    }

    /// All digits but the zeros that lead.
    fn digits(&self) -> impl Iterator<Item = u8> + Clone {
        self.whole.iter().chain(self.fraction).copied().skip_while(|digit| *digit == b'0')
    }

    /// How many digits there are between the first and the last that are not zero, both included.
    fn digit_count(&self) -> usize {
        let last = self.digits().enumerate().filter(|(_, digit)| *digit != b'0').last();
        last.map_or(0, |(at, _)| at.saturating_add(1))
    }

    /// -1, 0 or 1.
    fn sign(&self) -> i8 {
        match (self.digits().next(), self.is_negative) {
            (None, _) => 0,
            (Some(_), true) => -1,
            (Some(_), false) => 1,
        }
    }

    /// Where the point stands, counted from the first digit that is not zero.
    fn magnitude(&self) -> i64 {
        let count = |length: usize| i64::try_from(length).unwrap_or(MAX_EXPONENT);
        // Zeros that lead have no weight: what is left of the digits, less those behind the point.
        let behind = count(self.fraction.len());
        count(self.digits().count()).saturating_sub(behind).saturating_add(self.exponent)
    }

    fn cmp(&self, other: &Self) -> Ordering {
        let sign = self.sign();
        sign.cmp(&other.sign()).then_with(|| {
            if sign == 0 {
                return Ordering::Equal;
            }
            let size = self.magnitude().cmp(&other.magnitude()).then_with(|| {
                let (mut own, mut others) = (self.digits(), other.digits());
                loop {
                    match (own.next(), others.next()) {
                        (None, None) => break Ordering::Equal,
                        // Behind the last digit there are zeros.
                        (own, other) => match own.unwrap_or(b'0').cmp(&other.unwrap_or(b'0')) {
                            Ordering::Equal => {}
                            unequal => break unequal,
                        },
                    }
                }
            });
            if self.is_negative { size.reverse() } else { size }
        })
    }
}

/// The digits that a text begins with, at least one, and what follows.
fn digits(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = text.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(text.len());
    text.split_at_checked(end).filter(|(digits, _)| !digits.is_empty())
}

/// An exponent, which ends the text.
fn exponent(text: &[u8]) -> Option<i64> {
    let (is_negative, rest) = match text.split_first() {
        Some((b'-', rest)) => (true, rest),
        Some((b'+', rest)) => (false, rest),
        _ => (false, text),
    };
    let (digits, rest) = digits(rest)?;
    let value = digits.iter().fold(0_i64, |value, digit| {
        let digit = i64::from(digit.saturating_sub(b'0'));
        value.saturating_mul(10).saturating_add(digit).min(MAX_EXPONENT)
    });
    rest.is_empty().then(|| if is_negative { value.saturating_neg() } else { value })
}

#[cfg(test)]
#[allow(clippy::arithmetic_side_effects)]
mod tests {
    use proptest::prelude::*;
    use serde_json::value::RawValue;

    use super::*;

    fn test(document: &str) -> Result<NumberMatcher, ConfigError> {
        NumberMatcher::compile(&serde_json::from_str(document).unwrap())
    }

    fn passes(document: &str, text: &str, notation: Notation) -> Option<bool> {
        test(document).unwrap().passes(text.as_bytes(), notation)
    }

    #[test]
    fn compares_the_value_and_not_how_it_is_written() {
        for (bounds, text, expected) in [
            (r#"{"at_least": 10000}"#, "1e4", true),
            (r#"{"at_least": 10000}"#, "1E+4", true),
            (r#"{"at_least": 10000}"#, "10000.000", true),
            (r#"{"at_least": 10000}"#, "0.00001e9", true),
            (r#"{"at_least": 10000}"#, "99999e-1", false),
            (r#"{"at_least": 10000}"#, "1e400", true),
            (r#"{"at_least": 10000}"#, "-1e400", false),
            (r#"{"at_least": 10000}"#, "1e99999999999999999999999", true),
            (r#"{"less_than": 10000}"#, "1e-99999999999999999999999", true),
            (r#"{"less_than": 10000}"#, "0e99999999999999999999999", true),
            (r#"{"less_than": 10000}"#, "9999.99", true),
            (r#"{"less_than": 10000}"#, "1e4", false),
            (r#"{"at_most": 0.1}"#, "1e-1", true),
            (r#"{"more_than": 0.1}"#, "0.10", false),
            (r#"{"more_than": 0.1}"#, "0.11", true),
            (r#"{"at_least": 0, "at_most": 0}"#, "-0.0e5", true),
            (r#"{"at_least": -5, "less_than": 1e2}"#, "-5", true),
            (r#"{"at_least": -5, "less_than": 1e2}"#, "-5.1", false),
            (r#"{"at_least": -5, "less_than": 1e2}"#, "100", false),
            (r#"{"more_than": 1e300}"#, "1e300", false),
            (r#"{"more_than": 9007199254740.99}"#, "9007199254741", true),
        ] {
            assert_eq!(passes(bounds, text, Notation::Json), Some(expected), "{bounds} {text}");
        }
    }

    #[test]
    fn what_is_no_number_passes_no_bounds() {
        let all = r#"{"more_than": -1e300}"#;
        for text in [
            "", " 1", "1 ", "+1", "01", "-01", "00", ".5", "5.", "-", "--1", "1e", "1e+", "1.e1", "e1",
            "0x10", "1_000", "1,5", "1 000", "\u{661}", "Infinity", "NaN", "inf", "nan", "true", "null",
            "1\0", "1e5.0",
        ] {
            for notation in [Notation::Json, Notation::Plain] {
                assert_eq!(passes(all, text, notation), Some(false), "{text:?} {notation:?}");
            }
        }
        assert_eq!(test(all).unwrap().passes(b"1\xff", Notation::Json), Some(false));
        for text in ["1e5", "1E5", "1.0e-5"] {
            assert_eq!(passes(all, text, Notation::Plain), Some(false), "{text}");
        }
        for text in ["0", "-0", "10", "-12.50", "0.00"] {
            assert_eq!(passes(all, text, Notation::Plain), Some(true), "{text}");
        }
    }

    /// To a reader with doubles these are the bound, which they are not.
    #[test]
    fn nobody_knows_on_which_side_a_number_is_that_rounding_moves_onto_the_bound() {
        let nines = format!("9999.{}", "9".repeat(20));
        let above = format!("1{}1e-20", "0".repeat(23));
        for text in [nines.as_str(), &above] {
            for bounds in [r#"{"less_than": 10000}"#, r#"{"at_least": 10000}"#, r#"{"more_than": 10000}"#] {
                assert_eq!(passes(bounds, text, Notation::Json), None, "{bounds} {text}");
            }
        }
        assert_eq!(passes(r#"{"more_than": 0}"#, "1e-400", Notation::Json), None);
        // Rounded too, but not onto the bound.
        assert_eq!(
            passes(r#"{"less_than": 9007199254740990}"#, "9007199254740993", Notation::Json),
            Some(false)
        );
        assert_eq!(passes(r#"{"less_than": 10000}"#, "9999.99999999", Notation::Json), Some(true));
    }

    #[test]
    fn refuses_bounds_that_make_no_sense() {
        for (document, path) in [
            ("{}", ""),
            (r#"{"at_least": 1, "more_than": 1}"#, "more_than"),
            (r#"{"at_most": 1, "less_than": 1}"#, "less_than"),
            (r#"{"at_least": 2, "at_most": 1}"#, ""),
            (r#"{"at_least": 1, "less_than": 1.0}"#, ""),
            (r#"{"more_than": 1, "at_most": 1}"#, ""),
            (r#"{"at_least": 1234567890123456}"#, "at_least"),
            (r#"{"less_than": 0.12345678901234567}"#, "less_than"),
        ] {
            assert_eq!(test(document).unwrap_err().path(), path, "{document}");
        }
        for document in [
            r#"{"at_least": 1, "at_most": 1e0}"#,
            r#"{"more_than": 1, "less_than": 1.1}"#,
            r#"{"at_least": 1000000000000000000}"#,
            r#"{"at_least": -1e-300}"#,
        ] {
            assert!(test(document).is_ok(), "{document}");
        }
    }

    #[test]
    fn a_megabyte_of_digits_is_a_number_like_others() {
        let million = 1 << 20;
        let zeros = "0".repeat(million);
        for (text, expected) in [
            (format!("1{zeros}"), true),
            (format!("1{zeros}e-{million}"), false),
            (format!("2{zeros}e-{million}"), true),
            (format!("0.{zeros}1"), false),
            (format!("0.{zeros}2e{}", million + 1), true),
            (format!("1e{zeros}1"), true),
            (format!("-1{zeros}"), false),
        ] {
            assert_eq!(
                passes(r#"{"more_than": 1}"#, &text, Notation::Json),
                Some(expected),
                "{}",
                text.len()
            );
        }
    }

    /// `digits` times ten to the power of `scale`, written in one of many ways.
    fn write(digits: i64, scale: i32, shift: i32, zeros: usize) -> String {
        let sign = if digits < 0 { "-" } else { "" };
        let plain = digits.unsigned_abs().to_string() + &"0".repeat(zeros);
        let exponent = scale - i32::try_from(zeros).unwrap();
        // The point moves `shift` digits to the left.
        let point = usize::try_from(shift).unwrap().min(plain.len() - 1);
        let (whole, fraction) = plain.split_at(plain.len() - point);
        let fraction = if fraction.is_empty() { String::new() } else { format!(".{fraction}") };
        format!("{sign}{whole}{fraction}e{}", exponent + i32::try_from(point).unwrap())
    }

    proptest! {
        /// Against integers: both sides are multiplied by the same power of ten.
        #[test]
        fn agrees_with_integers(
            (own, own_scale) in (-99_999_999_i64..=99_999_999, -9_i32..=9),
            (bound, bound_scale) in (-99_999_999_i64..=99_999_999, -9_i32..=9),
            near in -2_i64..=2,
            is_near in any::<bool>(),
            shift in 0_i32..12,
            zeros in 0_usize..12,
        ) {
            let (own, own_scale) = if is_near { (bound + near, bound_scale) } else { (own, own_scale) };
            let scaled = |digits: i64, scale: i32| i128::from(digits) * 10_i128.pow(u32::try_from(scale + 9).unwrap());
            let expected = scaled(own, own_scale).cmp(&scaled(bound, bound_scale));
            let text = write(own, own_scale, shift, zeros);
            for (field, is_true) in [
                ("at_least", expected.is_ge()),
                ("more_than", expected.is_gt()),
                ("at_most", expected.is_le()),
                ("less_than", expected.is_lt()),
            ] {
                let bounds = format!(r#"{{"{field}": {}}}"#, write(bound, bound_scale, 0, 0));
                prop_assert_eq!(passes(&bounds, &text, Notation::Json), Some(is_true), "{} {}", bounds, text);
            }
        }

        /// Against texts of equal length, which compare as numbers do: any number of digits, no exponent.
        #[test]
        fn agrees_with_aligned_digits(own in "(0|[1-9][0-9]{0,40})\\.[0-9]{1,40}", bound in "(0|[1-9][0-9]{0,6})\\.[0-9]{1,6}") {
            let aligned = |text: &str| {
                let (whole, fraction) = text.split_once('.').unwrap();
                format!("{whole:0>41}.{fraction:0<40}")
            };
            let expected = aligned(&own).cmp(&aligned(&bound));
            let outcome = passes(&format!(r#"{{"less_than": {bound}}}"#), &own, Notation::Plain);
            let is_rounded_onto_it = expected.is_ne() && own.parse::<f64>() == bound.parse::<f64>();
            prop_assert_eq!(outcome, (!is_rounded_onto_it).then_some(expected.is_lt()));
        }

        /// A number is what serde_json takes for one: it passes one of two tests that leave nothing out.
        #[test]
        fn knows_the_numbers_of_json(text in "\\PC*|-?[0-9]{0,5}\\.?[0-9]{0,5}[eE]?[+-]?[0-9]{0,3}") {
            let is_json = serde_json::from_str::<&RawValue>(&text).is_ok_and(|value| value.get() == text)
                && text.starts_with(|first: char| first == '-' || first.is_ascii_digit());
            let passing = [r#"{"more_than": 0}"#, r#"{"at_most": 0}"#]
                .map(|bounds| passes(bounds, &text, Notation::Json))
                .into_iter()
                .filter(|outcome| *outcome != Some(false));
            prop_assert_eq!(passing.count() > 0, is_json);
        }
    }
}
