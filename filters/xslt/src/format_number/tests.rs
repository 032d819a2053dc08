use super::picture::PictureError;
use super::*;

fn written_with(format: &DecimalFormat, pattern: &str, number: f64) -> String {
    let mut out = String::new();
    Picture::parse(pattern, format).unwrap().write(&mut out, number, format);
    out
}

fn written(pattern: &str, number: f64) -> String {
    written_with(&DecimalFormat::default(), pattern, number)
}

#[test]
fn writes_digits_as_the_pattern_asks() {
    for (pattern, number, expected) in [
        ("0", 0.0, "0"),
        ("0", 1234.0, "1234"),
        ("000", 7.0, "007"),
        ("#", 0.0, "0"),
        ("#", 12.0, "12"),
        ("##", 0.4, "0"),
        ("0.00", 1.0, "1.00"),
        ("0.00", 1.234, "1.23"),
        ("0.0#", 1.0, "1.0"),
        ("0.0#", 1.25, "1.25"),
        ("0.##", 1.5, "1.5"),
        ("#.##", 0.5, "0.5"),
        ("#.00", 0.5, ".50"),
        (".00", 0.5, ".50"),
        (".##", 0.0, ".0"),
        ("#.#", 0.0, "0"),
        ("0.", 3.0, "3."),
        ("#.", 3.4, "3."),
        ("00000.00", 239_236.588, "239236.59"),
        ("###,##0.00", 1_234_567.891, "1,234,567.89"),
        ("#,##0", 999.0, "999"),
        ("#,##0", 1000.0, "1,000"),
        ("#,##,##0", 1_234_567.0, "1,234,567"),
        ("###,##0,00.00", 987_654_321.0, "9,87,65,43,21.00"),
        ("000,000", 12.0, "000,012"),
        ("#,###", 0.0, "0"),
        ("0", 1e21, "1000000000000000000000"),
        ("0.######################", 1e-7, "0.0000001"),
        ("0.0", f64::MAX, &format!("{}.0", f64::MAX)),
    ] {
        assert_eq!(written(pattern, number), expected, "{pattern} {number}");
    }
}

#[test]
fn rounds_halves_to_the_even_digit() {
    for (pattern, number, expected) in [
        ("0", 0.5, "0"),
        ("0", 1.5, "2"),
        ("0", 2.5, "2"),
        ("0.0", 0.25, "0.2"),
        // The digits that are written are rounded, not the binary value, which is a little less.
        ("0.0", 0.35, "0.4"),
        ("0.00", 1.005, "1.00"),
        ("0.00", 1.015, "1.02"),
        ("0", 9.5, "10"),
        ("#,##0", 999.9, "1,000"),
    ] {
        assert_eq!(written(pattern, number), expected, "{pattern} {number}");
    }
}

#[test]
fn writes_negative_numbers_with_the_second_half_or_a_minus_sign() {
    for (pattern, number, expected) in [
        ("0", -3.0, "-3"),
        ("$0.00", -3.0, "-$3.00"),
        ("0;(0)", -3.0, "(3)"),
        ("0;(0)", 3.0, "3"),
        // Of the second half, only what is around the number counts.
        ("#,##0.00;[#]", -1234.5, "[1,234.50]"),
        ("+0;-0", 3.0, "+3"),
        ("+0;-0", -3.0, "-3"),
        ("0;0", -3.0, "-3"),
        ("-0", -3.0, "--3"),
        ("0", -0.0, "0"),
        ("0", -0.4, "-0"),
    ] {
        assert_eq!(written(pattern, number), expected, "{pattern} {number}");
    }
}

#[test]
fn multiplies_for_percent_and_per_mille() {
    for (pattern, number, expected) in [
        ("#0.##%", 0.4857, "48.57%"),
        ("%0", 0.07, "%7"),
        ("0\u{2030}", 0.4857, "486\u{2030}"),
        ("0'%'", 0.5, "0%"),
        ("0%", 1.1, "110%"),
        ("0.0%", 0.0005, "0.0%"),
    ] {
        assert_eq!(written(pattern, number), expected, "{pattern} {number}");
    }
}

#[test]
fn writes_what_is_no_finite_number() {
    for (pattern, number, expected) in [
        ("0.00", f64::NAN, "NaN"),
        ("$0.00", f64::NAN, "NaN"),
        ("$0.00", f64::INFINITY, "$Infinity"),
        ("0 kg;(0) kg", f64::NEG_INFINITY, "(Infinity) kg"),
        ("0", f64::NEG_INFINITY, "-Infinity"),
    ] {
        assert_eq!(written(pattern, number), expected, "{pattern} {number}");
    }
}

#[test]
fn takes_text_around_the_number_and_quoted_text() {
    for (pattern, number, expected) in [
        ("PREFIX##00.000###SUFFIX", 185.2812, "PREFIX185.2812SUFFIX"),
        ("'#'0", 5.0, "#5"),
        ("0'.,;0'", 5.0, "5.,;0"),
        ("o''clock 0", 5.0, "o'clock 5"),
        ("0 ''", 5.0, "5 '"),
        ("\u{a4}0", 5.0, "\u{a4}5"),
        ("0 €", 5.0, "5 €"),
    ] {
        assert_eq!(written(pattern, number), expected, "{pattern} {number}");
    }
}

#[test]
fn uses_the_characters_of_the_decimal_format_in_patterns_and_numbers() {
    let german =
        DecimalFormat { decimal_separator: ',', grouping_separator: '.', ..DecimalFormat::default() };
    assert_eq!(written_with(&german, "#.##0,00", 1_234_567.5), "1.234.567,50");

    let letters = DecimalFormat { digit: '!', zero_digit: 'a', ..DecimalFormat::default() };
    assert_eq!(written_with(&letters, "#!!!,!!!,aaa.aaaaaa0", 4_030_201.050_6), "#e,ada,cab.afagaa0");

    let words = DecimalFormat {
        infinity: "huge".into(),
        nan: "none".into(),
        minus_sign: '_',
        percent: 'c',
        pattern_separator: '|',
        ..DecimalFormat::default()
    };
    assert_eq!(written_with(&words, "0.0|(0)", -2.0), "(2.0)");
    assert_eq!(written_with(&words, "-0", -2.0), "_-2");
    assert_eq!(written_with(&words, "0c", 0.5), "50c");
    assert_eq!(written_with(&words, "0;", 5.0), "5;");
    assert_eq!(written_with(&words, "0", f64::NEG_INFINITY), "_huge");
    assert_eq!(written_with(&words, "0", f64::NAN), "none");

    let arabic = DecimalFormat { zero_digit: '\u{660}', ..DecimalFormat::default() };
    assert_eq!(written_with(&arabic, "\u{660}\u{660}.#", 7.25), "\u{660}\u{667}.\u{662}");

    // Where grouping and decimal separator are the same, it groups.
    let same = DecimalFormat { decimal_separator: '!', grouping_separator: '!', ..DecimalFormat::default() };
    assert_eq!(written_with(&same, "###!###!###", 931.4857), "931");
}

#[test]
fn refuses_what_is_no_pattern() {
    for (pattern, error) in [
        ("", PictureError::NoDigits),
        ("abc", PictureError::NoDigits),
        (";0", PictureError::NoDigits),
        ("0;", PictureError::NoDigits),
        (".", PictureError::NoDigits),
        ("0.0.0", PictureError::SecondDecimalSeparator),
        ("0#", PictureError::DigitOrder),
        ("0#0", PictureError::DigitOrder),
        ("0.#0", PictureError::DigitOrder),
        ("#.#0", PictureError::DigitOrder),
        ("0,", PictureError::Grouping),
        ("#,.0", PictureError::Grouping),
        ("0.0,0", PictureError::Grouping),
        ("0 0", PictureError::SpecialCharacter),
        ("0 kg.", PictureError::SpecialCharacter),
        ("0%%", PictureError::SecondScale),
        ("%0\u{2030}", PictureError::SecondScale),
        ("0;0;0", PictureError::ThirdHalf),
        ("'0", PictureError::Apostrophe),
        ("0'x", PictureError::Apostrophe),
    ] {
        assert_eq!(Picture::parse(pattern, &DecimalFormat::default()), Err(error), "{pattern}");
    }
}
