use super::*;

fn written(format: &str, numbers: &[u64]) -> String {
    let mut out = String::new();
    NumberFormat::parse(format).write(&mut out, numbers, None);
    out
}

#[test]
fn writes_each_sequence() {
    for (format, number, expected) in [
        ("1", 1, "1"),
        ("1", 12_345, "12345"),
        ("01", 7, "07"),
        ("01", 107, "107"),
        ("0001", 42, "0042"),
        ("A", 1, "A"),
        ("A", 26, "Z"),
        ("A", 27, "AA"),
        ("A", 52, "AZ"),
        ("A", 702, "ZZ"),
        ("A", 703, "AAA"),
        ("a", 28, "ab"),
        ("i", 1, "i"),
        ("i", 4, "iv"),
        ("i", 9, "ix"),
        ("i", 14, "xiv"),
        ("I", 1999, "MCMXCIX"),
        ("I", 2444, "MMCDXLIV"),
        ("I", 4999, "MMMMCMXCIX"),
        // Beyond what a sequence has, decimal numbers.
        ("I", 5000, "5000"),
        ("I", 0, "0"),
        ("a", 0, "0"),
        ("A", u64::MAX, "GKGWBYLWRXTLPO"),
        // Other digits.
        ("\u{661}", 203, "\u{662}\u{660}\u{663}"),
        ("\u{e50}\u{e51}", 4, "\u{e50}\u{e54}"),
        ("\u{ff11}", 9, "\u{ff19}"),
        // Tokens that are not known.
        ("2", 5, "5"),
        ("11", 5, "5"),
        ("10", 5, "5"),
        ("0", 5, "5"),
        ("AA", 5, "5"),
        ("x", 5, "5"),
        ("\u{3b1}", 5, "5"),
        // Digits of two scripts.
        ("0\u{661}", 5, "5"),
    ] {
        assert_eq!(written(format, &[number]), expected, "{format} {number}");
    }
}

#[test]
fn takes_separators_from_the_format() {
    for (format, numbers, expected) in [
        ("1", &[1, 2, 3][..], "1.2.3"),
        ("", &[1, 2], "1.2"),
        ("1.a", &[1, 2, 3], "1.b.c"),
        ("1-a", &[1, 2, 3], "1-b-c"),
        ("1.A-i", &[4, 5, 6, 7], "4.E-vi-vii"),
        ("(1)", &[3], "(3)"),
        ("(1)", &[3, 4], "(3.4)"),
        ("[1:a] ", &[3], "[3] "),
        ("[1:a] ", &[3, 2], "[3:b] "),
        ("1), a", &[1, 2, 3], "1), b), c"),
        ("Chapter 1", &[1, 2], "1 2"),
        ("#", &[9], "#9"),
        ("#", &[9, 8], "#9.8"),
        ("--", &[1], "--1"),
        (".1.", &[1], ".1."),
        ("1", &[], ""),
        ("(1)", &[], "()"),
        ("é1", &[5], "5"),
    ] {
        assert_eq!(written(format, numbers), expected, "{format:?} {numbers:?}");
    }
}

#[test]
fn groups_decimal_digits_from_the_right() {
    let grouping = |separator: &str, size| Grouping { separator: separator.into(), size };
    for (format, number, grouping, expected) in [
        ("1", 1_234_567, grouping(",", 3), "1,234,567"),
        ("1", 123, grouping(",", 3), "123"),
        ("1", 1234, grouping("'", 1), "1'2'3'4"),
        ("1", 1234, grouping("", 3), "1234"),
        ("1", 1234, grouping(",", 0), "1234"),
        ("000001", 12, grouping(".", 3), "000.012"),
        ("1", u64::MAX, grouping("\u{a0}", 4), "1844\u{a0}6744\u{a0}0737\u{a0}0955\u{a0}1615"),
        ("i", 1500, grouping(",", 1), "md"),
        ("A", 703, grouping(",", 1), "AAA"),
    ] {
        let mut out = String::new();
        NumberFormat::parse(format).write(&mut out, &[number], Some(&grouping));
        assert_eq!(out, expected, "{format} {number} {grouping:?}");
    }
}

#[test]
fn rounds_values_and_leaves_those_that_cannot_number_anything() {
    for (format, value, expected) in [
        ("1", 3.4, "3"),
        ("1", 3.5, "4"),
        ("1", 0.5, "1"),
        ("I", 4.49, "IV"),
        ("(1)", 0.4, "(0.4)"),
        ("1", 0.0, "0"),
        ("A", -3.0, "-3"),
        ("[1]", f64::NAN, "[NaN]"),
        ("1", f64::INFINITY, "Infinity"),
        ("1", 1e15, "1000000000000000"),
        ("A", 1e21, "1000000000000000000000"),
    ] {
        let mut out = String::new();
        NumberFormat::parse(format).write_value(&mut out, value, None);
        assert_eq!(out, expected, "{format} {value}");
    }
}

#[test]
fn numbers_with_one_where_no_format_is_given() {
    let mut out = String::new();
    NumberFormat::default().write(&mut out, &[1, 10], None);
    assert_eq!(out, "1.10");
}
