//! How much text is kept.

use portcullis_xml::xpath::stream::{Matcher, Outcome, Progress, SoapMatcher};
use portcullis_xml::{Limits, Sink, Tokenizer};

use crate::support::{MAX_TEXT, feed, outcome, set};

#[test]
fn keeps_text_up_to_the_limit_and_no_more() {
    let expressions = ["/a/b", "/a/@c", "/a/text()", "/a/comment()", "string(/a/b)", "contains(/a/b, 'x')"];
    let set = set(expressions, 4);
    for (value, expected) in [("1234", Outcome::Text("1234")), ("12345", Outcome::TooLong)] {
        let document = format!("<a c='{value}'>{value}<b>{value}</b><!--{value}--></a>");
        let mut matcher = Matcher::new(&set);
        feed(&document, &[], &mut matcher);
        for (place, expression) in expressions.iter().enumerate() {
            let expected = match (*expression, expected) {
                ("contains(/a/b, 'x')", Outcome::Text(_)) => Outcome::Boolean(false),
                (_, expected) => expected,
            };
            assert_eq!(outcome(&matcher, place), expected, "{expression} with {value}");
        }
    }
}

#[test]
fn counts_all_text_within_an_element() {
    let set = set(["/a", "/a/b", "/a/b/c", "/a/b/c[2]"], 4);
    let mut matcher = Matcher::new(&set);
    feed("<a>1<b>2<c>345</c><c>6<!---->7<d>8</d></c></b></a>", &[], &mut matcher);
    assert_eq!(outcome(&matcher, 0), Outcome::TooLong);
    assert_eq!(outcome(&matcher, 1), Outcome::TooLong);
    assert_eq!(outcome(&matcher, 2), Outcome::Text("345"));
    assert_eq!(outcome(&matcher, 3), Outcome::Text("678"));
}

#[test]
fn knows_what_is_too_long_as_soon_as_it_is() {
    let set = set(["/a"], 4);
    let mut matcher = Matcher::new(&set);
    feed("<a>123<b/>45<c/>this is not read", &[], &mut matcher);
    assert_eq!(matcher.progress(0), Progress::Decided(Outcome::TooLong));
}

#[test]
fn needs_no_text_to_tell_whether_something_is_there() {
    let set = set(["boolean(/a/b)", "not(/a/@c)"], 0);
    let mut matcher = Matcher::new(&set);
    feed("<a c='123'><b>123</b></a>", &[], &mut matcher);
    assert_eq!(outcome(&matcher, 0), Outcome::Boolean(true));
    assert_eq!(outcome(&matcher, 1), Outcome::Boolean(false));
}

#[test]
fn knows_that_what_is_too_long_is_not_what_is_short() {
    let expressions = [
        ("/a/b = '1234'", Outcome::Boolean(true)),
        ("/a/b = '4321'", Outcome::Boolean(false)),
        ("/a/b[1] != '1234'", Outcome::Boolean(true)),
        ("/a/b = '12345'", Outcome::TooLong),
        ("/a/b > 5 and /a/b > 10000", Outcome::TooLong),
        ("/a/b > 5", Outcome::Boolean(true)),
        ("/a/b > 10000", Outcome::TooLong),
        ("/a/b > 10000 or /a/b = '1234'", Outcome::Boolean(true)),
        ("/a/b > 10000 and /a/b = '4321'", Outcome::Boolean(false)),
        ("/a/b/text() = '1234'", Outcome::Boolean(true)),
        ("/a/b/text() = '4321'", Outcome::Boolean(false)),
        ("/a/b/text() = '54321'", Outcome::TooLong),
        ("string(/a/b) = '1234'", Outcome::TooLong),
    ];
    let set = set(expressions.map(|(text, _)| text), 4);
    let mut matcher = Matcher::new(&set);
    feed("<a><b>12345</b><b>1234</b></a>", &[], &mut matcher);
    for (place, (text, expected)) in expressions.iter().enumerate() {
        assert_eq!(matcher.progress(place), Progress::Decided(*expected), "{text}");
    }
}

#[test]
fn keeps_a_text_once_for_all_that_want_it() {
    const LENGTH: usize = 5_000;
    let value = "x".repeat(LENGTH);
    let paths = ["/a/b", "/a/*", "/*/b", "/a/b[1]", "string(/a/b)", "normalize-space(/*/*)"];
    for times in [1, 50] {
        let expressions: Vec<_> = paths.iter().copied().cycle().take(paths.len() * times).collect();
        let set = set(&expressions, MAX_TEXT);
        let mut matcher = Matcher::new(&set);
        // More is to come, so that nothing of what is kept can go.
        feed_part(&format!("<a><b>{value}</b><c>"), &mut matcher);
        for place in 0..expressions.len() {
            assert_eq!(outcome(&matcher, place), Outcome::Text(&value));
        }
        let kept = matcher.kept();
        // That of the normalized text is another.
        assert!((LENGTH..=2 * LENGTH + 1000).contains(&kept), "{kept} bytes for {}", expressions.len());
    }
}

#[test]
fn keeps_no_more_of_attributes_and_other_nodes() {
    let value = "x".repeat(1000);
    let set = set((0..50).flat_map(|_| ["/a/@b", "/*/@b", "/a/text()", "/a/comment()"]), MAX_TEXT);
    let mut matcher = Matcher::new(&set);
    feed_part(&format!("<a b='{value}'>{value}<!--{value}--><c>"), &mut matcher);
    assert!((3000..=4000).contains(&matcher.kept()), "{}", matcher.kept());
}

#[test]
fn keeps_no_text_that_conditions_have_tested() {
    let value = "x".repeat(5_000);
    let expressions = [
        "contains(/a/b, 'y') or /a/c",
        "starts-with(/a/b, 'x') and /a/c",
        "normalize-space(/a/b) = 'z' or /a/c = 'd'",
        "string(/a/b) and /a/c",
        "/a/b = 'x' or /a/c",
    ];
    let set = set(expressions, MAX_TEXT);
    let mut matcher = Matcher::new(&set);
    feed_part(&format!("<a><b>{value}</b><d>"), &mut matcher);
    assert_eq!(matcher.undecided(), expressions.len());
    assert!(matcher.kept() <= 1000, "{}", matcher.kept());
}

#[test]
fn forgets_what_nobody_wants_to_know_any_more() {
    let value = "x".repeat(5_000);
    let set = set(["/a/b", "/a/b", "/a/c"], MAX_TEXT);
    let mut matcher = SoapMatcher::new(&set);
    feed_part(&format!("<a><b>{value}</b>"), &mut matcher);
    assert_eq!(matcher.undecided(), 1);
    matcher.forget(0);
    matcher.forget(0);
    assert_eq!(matcher.progress(0), Progress::Pending);
    assert_eq!(matcher.progress(1), Progress::Decided(Outcome::Text(&value)));
    assert!(matcher.kept() >= 5_000, "{}", matcher.kept());
    matcher.forget(1);
    assert!(matcher.kept() <= 1000, "{}", matcher.kept());
    assert!(!matcher.is_decided());
    matcher.forget(2);
    assert!(matcher.is_decided());
    matcher.finish();
    assert_eq!(matcher.progress(2), Progress::Pending);
}

#[test]
fn does_not_read_what_nobody_wants_to_know() {
    let value = "x".repeat(4_000);
    let set = set(["/a/b", "/a/b", "/a/b/c"], MAX_TEXT);
    let begun = format!("<a><b>{value}<c>{value}<d/>");
    for (forgotten, kept) in [
        (&[][..], 8_000..=20_000),
        (&[0][..], 8_000..=20_000),
        (&[0, 1][..], 4_000..=20_000),
        (&[0, 1, 2][..], 0..=1000),
    ] {
        let mut matcher = Matcher::new(&set);
        let mut tokenizer = Tokenizer::new(&Limits::default());
        tokenizer.feed(begun.as_bytes(), &mut matcher).unwrap();
        forgotten.iter().for_each(|place| matcher.forget(*place));
        assert!(kept.contains(&matcher.kept()), "{forgotten:?}: {}", matcher.kept());
        tokenizer.feed(b"y</c>z</b><d>", &mut matcher).unwrap();
        for (place, text) in
            [(0, format!("{value}{value}yz")), (1, format!("{value}{value}yz")), (2, format!("{value}y"))]
        {
            let expected = match forgotten.contains(&place) {
                true => Progress::Pending,
                false => Progress::Decided(Outcome::Text(&text)),
            };
            assert_eq!(matcher.progress(place), expected, "{place} of {forgotten:?}");
        }
    }
}

/// Feeds the beginning of a document.
fn feed_part(document: &str, matcher: &mut impl Sink) {
    Tokenizer::new(&Limits::default()).feed(document.as_bytes(), matcher).unwrap();
}
