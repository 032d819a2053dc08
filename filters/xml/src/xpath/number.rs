//! Numbers and their text (XPath 1.0, sections 4.2 and 4.4).

use std::borrow::Cow;

/// The number that a string stands for: XML white space, `-` or nothing, digits with at most one point among, before or
/// behind them, white space. NaN if it reads otherwise; there are neither exponents nor `+`.
#[must_use]
pub fn parse(text: &str) -> f64 {
    let text = text.trim_matches([' ', '\t', '\r', '\n']);
    let digits = text.strip_prefix('-').unwrap_or(text);
    let mut points = 0_usize;
    let plain = digits.bytes().all(|byte| {
        points = points.saturating_add(usize::from(byte == b'.'));
        byte == b'.' || byte.is_ascii_digit()
    });
    // What is left for the parser to refuse is a lone point, and nothing at all.
    if plain && points < 2 { text.parse().unwrap_or(f64::NAN) } else { f64::NAN }
}

/// The string that stands for a number: never with an exponent, without a point if it is an integer, and else with as
/// many digits behind the point as tell it from all other numbers.
#[must_use]
pub fn format(number: f64) -> Cow<'static, str> {
    if number.is_nan() {
        Cow::Borrowed("NaN")
    } else if number == 0.0 {
        // Negative zero too.
        Cow::Borrowed("0")
    } else if number.is_infinite() {
        Cow::Borrowed(if number > 0.0 { "Infinity" } else { "-Infinity" })
    } else {
        Cow::Owned(number.to_string())
    }
}

/// The closest integer; of two, the one closer to positive infinity. What is rounded to zero keeps its sign.
#[must_use]
pub fn round(number: f64) -> f64 {
    // Not floor(number + 0.5): the sum may itself be rounded up.
    let floor = number.floor();
    if number - floor < 0.5 {
        floor
    } else {
        // NaN and the infinities, for which the difference is NaN, come out as they are.
        (floor + 1.0).copysign(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_become_numbers() {
        for (text, expected) in [
            ("1", 1.0),
            ("-1", -1.0),
            ("1.", 1.0),
            (".5", 0.5),
            ("-.5", -0.5),
            (" \t\r\n12.50 \n", 12.5),
            ("007", 7.0),
            ("9007199254740993", 9_007_199_254_740_992.0),
            ("0.1", 0.1),
        ] {
            assert_eq!(parse(text), expected, "{text:?}");
        }
        assert!(parse("-0").is_sign_negative());
        let nan = [
            "", " ", "-", ".", "-.", "+1", "1e3", "1E3", "0x10", "1 2", "1.2.3", "--1", "- 1", "\u{a0}1",
            "inf", "NaN", "Infinity", "1,5", "١",
        ];
        for text in nan {
            assert!(parse(text).is_nan(), "{text:?}");
        }
    }

    #[test]
    fn a_long_number_is_rounded_and_never_refused() {
        assert_eq!(parse(&"9".repeat(400)), f64::INFINITY);
        assert_eq!(parse(&format!("0.{}1", "0".repeat(400))), 0.0);
    }

    #[test]
    fn numbers_become_strings() {
        for (number, expected) in [
            (0.0, "0"),
            (-0.0, "0"),
            (1.0, "1"),
            (-17.0, "-17"),
            (0.5, "0.5"),
            (-0.1, "-0.1"),
            (0.1 + 0.2, "0.30000000000000004"),
            (1e15, "1000000000000000"),
            (1e21, "1000000000000000000000"),
            (1e-7, "0.0000001"),
            (123456.789, "123456.789"),
            (f64::NAN, "NaN"),
            (f64::INFINITY, "Infinity"),
            (f64::NEG_INFINITY, "-Infinity"),
        ] {
            assert_eq!(format(number), expected);
        }
        assert_eq!(format(f64::MAX).len(), 309);
        assert!(format(f64::MIN_POSITIVE).starts_with("0.000000"));
    }

    #[test]
    fn round_goes_to_the_closest_integer_and_up_from_the_middle() {
        for (number, expected) in [
            (2.5, 3.0),
            (-2.5, -2.0),
            (2.4, 2.0),
            (-2.6, -3.0),
            (0.499_999_999_999_999_94, 0.0),
            (4_503_599_627_370_497.0, 4_503_599_627_370_497.0),
            (1e300, 1e300),
            (f64::INFINITY, f64::INFINITY),
            (f64::NEG_INFINITY, f64::NEG_INFINITY),
        ] {
            assert_eq!(round(number), expected, "{number}");
        }
        assert!(round(f64::NAN).is_nan());
        for zero in [-0.0, -0.3, -0.5] {
            assert!(round(zero) == 0.0 && round(zero).is_sign_negative(), "{zero}");
        }
        assert!(round(0.3).is_sign_positive());
    }
}
