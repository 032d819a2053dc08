//! At which token an expression is decided.

use portcullis_xml::xpath::stream::{Matcher, Outcome, StreamSet};

use crate::support::{MAX_TEXT, expression, mark, outcome, set};

/// Checks where in a document an expression is found to select something (`^`) and decided (`|`).
fn check<'a>(cases: impl IntoIterator<Item = (&'a str, &'a str, Outcome<'a>)>) {
    for (expression, expected, value) in cases {
        let document = expected.replace(['^', '|'], "");
        let set = set([expression], MAX_TEXT);
        let mut matcher = Matcher::new(&set);
        assert_eq!(mark(&document, &mut matcher), expected, "{expression}");
        assert_eq!(outcome(&matcher, 0), value, "{expression} in {document}");
    }
}

use Outcome::{Boolean, NoMatch, Text};

#[test]
fn a_value_is_known_with_the_last_token_of_its_node() {
    check([
        ("/a", "<a>^1<b>2</b>3</a>|", Text("123")),
        ("/a/b", "<a><b>^1<c>2</c></b>|<b>3</b></a>", Text("12")),
        ("/a/b", "<a><b/>|<b>3</b></a>", Text("")),
        ("/a/b/@c", "<a><b/><b c='d'>|1</b></a>", Text("d")),
        ("/a/text()", "<a><b/>1<c|/>2</a>", Text("1")),
        ("/a/text()", "<a>1<![CDATA[2]]>3</|a>", Text("123")),
        ("/a/text()", "<a>1<!-|-x-->2</a>", Text("1")),
        ("/a/comment()", "<a>1<!--x-->|2</a>", Text("x")),
        ("/a/processing-instruction('u')", "<a><?t 1?><?u 2?>|<?u 3?></a>", Text("2")),
        ("/comment()", "<!--x-->|<a/>", Text("x")),
        ("/comment()", "<a/><!--x-->|", Text("x")),
        ("/a/node()", "<a><b>^1</b>|2</a>", Text("1")),
        ("normalize-space(/a/b)", "<a><b> 1  2 </b>|</a>", Text("1 2")),
        ("string(/a/b)", "<a><b>1</b>|</a>", Text("1")),
    ]);
}

#[test]
fn that_something_is_there_is_known_with_its_first_token() {
    check([
        ("boolean(/a/b)", "<a>1<b>|2</b></a>", Boolean(true)),
        ("not(/a/b)", "<a>1<b>|2</b></a>", Boolean(false)),
        ("boolean(/a/@b)", "<a b=''>|1</a>", Boolean(true)),
        ("/a/b and /a/c", "<a><c/><b>|</b></a>", Boolean(true)),
        ("/a/b or /a/c", "<a><c>|</c><b/></a>", Boolean(true)),
        ("/a/b and not(/a/c)", "<a><b/><c>|</c></a>", Boolean(false)),
        ("/a/b and /a/c/d", "<x>|<b/></x>", Boolean(false)),
    ]);
}

#[test]
fn that_nothing_is_there_is_known_when_nothing_can_come_any_more() {
    check([
        // Another document element.
        ("/a/b/c", "<b>|<b><c/></b></b>", NoMatch),
        ("/p:a", "<a xmlns='urn:q'>|</a>", NoMatch),
        ("/a[@x]/b", "<a>|<b/></a>", NoMatch),
        ("/a/@x", "<a>|<b/></a>", NoMatch),
        // The parent's end.
        ("/a/b", "<a><c><b/></c></a>|", NoMatch),
        ("/a/text()", "<a><b>1</b></a>|", NoMatch),
        ("/a/b/c", "<a><b></b><b/></a>|", NoMatch),
        ("/a/b/@x", "<a><b/><b/></a>|", NoMatch),
        ("/a/*[@x]", "<a><b/><c/></a>|", NoMatch),
        ("/a/comment()", "<a/>|<!--x-->", NoMatch),
        // Outside the document element something may come to the last.
        ("/comment()", "<a/><?t x?>", NoMatch),
        ("/a/b = '1'", "<a><b>2</b><b>3</b></a>|", Boolean(false)),
    ]);
}

#[test]
fn positions_that_have_passed_rule_out_what_comes_later() {
    check([
        ("/a/b[1]/c", "<a><b><d/></b>|<b><c/></b></a>", NoMatch),
        ("/a/b[1]/@x", "<a><c/><b>|</b><b x='1'/></a>", NoMatch),
        ("/a/b[1][@x]", "<a><b>|</b><b x='1'/></a>", NoMatch),
        ("/a/b[@x][1][@y]", "<a><b/><b x='1'>|</b><b x='1' y='2'/></a>", NoMatch),
        ("/a/b[2]", "<a><b>1</b><b>^2</b>|<b>3</b></a>", Text("2")),
        ("/a/b[position() < 3]/@x", "<a><b/><b>|</b><b x='1'/></a>", NoMatch),
        ("/a/b[position() < 2.5]/@x", "<a><b/><b>|</b><b x='1'/></a>", NoMatch),
        ("/a/b[3 > position()]/@x", "<a><b/><b>|</b><b x='1'/></a>", NoMatch),
        ("/a/b[position() <= 2]/@x", "<a><b/><b>|</b><b x='1'/></a>", NoMatch),
        ("/a/b[position() <= 2.5]/@x", "<a><b/><b>|</b><b x='1'/></a>", NoMatch),
        ("/a/b[position() < 2.1]/@x", "<a><b/><b>|</b><b x='1'/></a>", NoMatch),
        ("/a/b[not(position() > 2)]/@x", "<a><b/><b>|</b><b x='1'/></a>", NoMatch),
        ("/a/b[position() = 1 or position() = 2]/@x", "<a><b/><b>|</b><b x='1'/></a>", NoMatch),
        ("/a/b[@y or position() < 2]/@x", "<a><b/><b/><b y='1' x='2'>|</b></a>", Text("2")),
        ("/a/b[@y and position() < 2]/@x", "<a><b>|</b><b y='1' x='2'></b></a>", NoMatch),
        ("/a/b[position() > 1]/@x", "<a><b x='1'/><b/><b x='3'>|</b></a>", Text("3")),
        ("/a/b[1] = '1'", "<a><b>2</b>|<b>1</b></a>", Boolean(false)),
        ("/a/text()[1] = '1'", "<a>2<b|/>1</a>", Boolean(false)),
        ("/a/node()[2] = '1'", "<a>2<!--x-->|1</a>", Boolean(false)),
        // A position counts anew in each parent.
        ("/a/b/c[1]/@x", "<a><b><c/></b><b><c x='1'>|</c></b></a>", Text("1")),
        ("/a/b/text()[1] = '1'", "<a><b>2</b><b>1</|b></a>", Boolean(true)),
        ("/a/b/c[2]", "<a><b><c/></b><b><c/><c>^1</c>|</b></a>", Text("1")),
        ("/a/b[2]/c[1]/@x", "<a><b><c x='1'/></b><b><c>|</c><c x='1'/></b></a>", NoMatch),
    ]);
}

#[test]
fn what_no_document_has_is_known_before_it_begins() {
    check([
        ("/a/b[0]", "|<a><b/></a>", NoMatch),
        ("/a/b[1.5]/c", "|<a><b/></a>", NoMatch),
        ("/a/b[position() = 1.5]", "|<a><b/></a>", NoMatch),
        ("/a/b[@c and position() = 1.5]", "|<a><b/></a>", NoMatch),
        ("/a/b[position() < 1]", "|<a><b/></a>", NoMatch),
        ("/a/b[position() = -1] or /a[0]", "|<a><b/></a>", Boolean(false)),
        ("/a/b[0] and /a/b", "|<a><b/></a>", Boolean(false)),
        ("true()", "|<a/>", Boolean(true)),
        ("string(/a[0])", "|<a/>", Text("")),
    ]);
}

#[test]
fn comparisons_are_decided_by_the_first_node_that_fits() {
    check([
        ("/a/b = '2'", "<a><b>1</b><b>2</b>|<b>3</b></a>", Boolean(true)),
        ("/a/b != '1'", "<a><b>1</b><b>2</b>|<b>3</b></a>", Boolean(true)),
        ("/a/b > 1", "<a><b>1</b><b>x</b><b> 1.5 </b>|<b>3</b></a>", Boolean(true)),
        ("2 < /a/b", "<a><b>2</b><b>3</b>|</a>", Boolean(true)),
        ("2 <= /a/b", "<a><b>1</b><b>2</b>|</a>", Boolean(true)),
        ("2 > /a/b", "<a><b>2</b><b>1</b>|</a>", Boolean(true)),
        ("2 >= /a/b", "<a><b>3</b><b>2</b>|</a>", Boolean(true)),
        ("/a/b/@c = '2'", "<a><b c='1'/><b c='2'>|</b></a>", Boolean(true)),
        ("/a/text() = '2'", "<a>1<b/>2<b|/></a>", Boolean(true)),
        ("/a/@* = '2'", "<a b='1' c='2'>|</a>", Boolean(true)),
        ("/a[@* = '2']", "<a b='1' c='2'>^</a>|", Text("")),
        ("/a[@* != '1']", "<a b='1' c='2'>^</a>|", Text("")),
        // These are about the first node alone.
        ("string(/a/b) = '2'", "<a><b>1</b>|<b>2</b></a>", Boolean(false)),
        ("string(/a/@*) = '2'", "<a b='1' c='2'>|</a>", Boolean(false)),
        ("/a[string(@*) = '2']", "<a b='1' c='2'>|</a>", NoMatch),
        ("starts-with(/a/b, '2')", "<a><b>1</b>|<b>2</b></a>", Boolean(false)),
        ("contains(normalize-space(/a/b), '1 2')", "<a><b>01\n21</b>|</a>", Boolean(true)),
    ]);
}

#[test]
fn a_path_taken_as_a_boolean_is_known_with_its_first_token() {
    for (path, expected) in [
        ("/a/b", "<a>1<b>|2</b></a>"),
        ("/a/b/text()", "<a>1<b>2</|b></a>"),
        ("/a/b/@c", "<a><b/><b c='1'>|</b></a>"),
        ("string(/a/b)", "<a>1<b>2</b>|</a>"),
    ] {
        let set = StreamSet::new([expression(path).into_boolean()], MAX_TEXT);
        let mut matcher = Matcher::new(&set);
        assert_eq!(mark(&expected.replace('|', ""), &mut matcher), expected, "{path}");
        assert_eq!(outcome(&matcher, 0), Boolean(true), "{path}");
    }
}
