//! How much text is kept.

use portcullis_xml::xpath::stream::{Matcher, Outcome, Progress};

use crate::support::{feed, outcome, set};

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
