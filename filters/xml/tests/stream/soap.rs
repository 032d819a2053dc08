//! What the order of an envelope's parts rules out.

use portcullis_xml::soap::Violation;
use portcullis_xml::xpath::stream::{Matcher, Outcome, SoapMatcher};

use crate::support::{MAX_TEXT, V1_1, V1_2, feed, mark, outcome, set};
use Outcome::{Boolean, NoMatch, Text};

/// Checks where in an envelope's content an expression is found to select something (`^`) and decided (`|`). `s:` stands
/// for the version's namespace in both.
fn check<'a>(namespace: &str, cases: impl IntoIterator<Item = (&'a str, &'a str, Outcome<'a>)>) {
    for (expression, content, value) in cases {
        let expression = match namespace {
            V1_2 => expression.replace("s:", "t:"),
            _ => expression.to_owned(),
        };
        let expected = format!("<s:Envelope xmlns:s='{namespace}'>{content}</s:Envelope>");
        let document = expected.replace(['^', '|'], "");
        let set = set([&expression], MAX_TEXT);
        let mut matcher = SoapMatcher::new(&set);
        assert_eq!(mark(&document, &mut matcher), expected, "{expression}");
        assert_eq!(outcome(&matcher, 0), value, "{expression} in {document}");
        let mut without_order = Matcher::new(&set);
        feed(&document, &[], &mut without_order);
        assert_eq!(outcome(&without_order, 0), value, "{expression} in {document} as plain XML");
    }
}

#[test]
fn what_a_header_lacks_is_known_behind_it() {
    for namespace in [V1_1, V1_2] {
        check(
            namespace,
            [
                ("/s:Envelope/s:Header/r", "<s:Header><r>^1</r>|</s:Header><s:Body/>", Text("1")),
                ("/s:Envelope/s:Header/r", "<s:Header><q/></s:Header>|<s:Body><r/></s:Body>", NoMatch),
                ("/*/s:Header/r", "<s:Header/>|<s:Body><r/></s:Body>", NoMatch),
                ("/s:Envelope/s:Header/@r", "<s:Header>|</s:Header><s:Body/>", NoMatch),
                ("/s:Envelope/s:Header[@r]/q", "<s:Header>|<q/></s:Header><s:Body/>", NoMatch),
                ("/s:Envelope/s:Header/r = '1'", "<s:Header><r/></s:Header>|<s:Body/>", Boolean(false)),
            ],
        );
    }
}

#[test]
fn that_there_is_no_header_is_known_when_the_body_begins() {
    for namespace in [V1_1, V1_2] {
        check(
            namespace,
            [
                ("/s:Envelope/s:Header/r", "<s:Body>|<r/></s:Body>", NoMatch),
                ("not(/s:Envelope/s:Header)", "<!--x--> <s:Body>|<r/></s:Body>", Boolean(true)),
            ],
        );
    }
}

#[test]
fn what_a_body_lacks_is_known_behind_it() {
    for namespace in [V1_1, V1_2] {
        check(
            namespace,
            [
                ("/s:Envelope/s:Body/r", "<s:Header/><s:Body><q/></s:Body>|", NoMatch),
                ("/s:Envelope/s:Body/*", "<s:Header><r/></s:Header><s:Body/>|<!--x-->", NoMatch),
                ("/s:Envelope/s:Body[@r]/*", "<s:Header/><s:Body>|<q/></s:Body>", NoMatch),
                ("/s:Envelope/s:Body/@r", "<s:Body>|<q/></s:Body>", NoMatch),
                ("/s:Envelope/s:Body/*[1]/r", "<s:Body><o/>|<o><r/></o></s:Body>", NoMatch),
            ],
        );
    }
}

#[test]
fn what_no_envelope_has_is_known_when_it_begins() {
    check(
        V1_2,
        [
            ("/s:Envelope/r", "|<s:Header/><s:Body/>", NoMatch),
            ("/s:Envelope/s:Other/r", "|<s:Header/><s:Body/>", NoMatch),
            ("/*/p:a", "|<s:Header/><s:Body/>", NoMatch),
            ("/*/p:*", "|<s:Header/><s:Body/>", NoMatch),
            ("/*/s:*/r", "<s:Header/><s:Body><q/></s:Body>|<!--x-->", NoMatch),
            ("/*/*[3]", "<s:Header/><s:Body>|</s:Body>", NoMatch),
            ("/*/*/r", "<s:Header/><s:Body><q/></s:Body>|<!--x-->", NoMatch),
        ],
    );
    check(
        V1_1,
        [
            ("/s:Envelope/r", "|<s:Header/><s:Body/>", NoMatch),
            ("/s:Envelope/s:Other/r", "<s:Body/><s:Other/><s:Other><r>^1</r>|</s:Other>", Text("1")),
        ],
    );
}

#[test]
fn soap_1_1_allows_more_behind_the_body() {
    check(
        V1_1,
        [
            ("/*/p:a", "<s:Body/><p:a xmlns:p='urn:p'>^1</p:a>|", Text("1")),
            ("/*/*/@r", "<s:Header/><s:Body/><a xmlns='urn:p' r='1'>|</a>", Text("1")),
        ],
    );
}

#[test]
fn what_comes_against_the_rules_is_as_if_it_were_not_there_and_is_reported() {
    let set = set(["/s:Envelope/s:Header/r", "/s:Envelope/s:Body/r", "/s:Envelope/s:Body/q"], MAX_TEXT);
    let mut matcher = SoapMatcher::new(&set);
    let document = format!(
        "<s:Envelope xmlns:s='{V1_1}'><s:Body><r>1</r></s:Body><s:Header><r>2</r></s:Header></s:Envelope>"
    );
    feed(&document, &[], &mut matcher);
    assert_eq!([0, 1, 2].map(|place| outcome(&matcher, place)), [NoMatch, Text("1"), NoMatch]);
    // All was decided with the Body's end, and nothing had to be read behind it.
    assert_eq!(matcher.outline().violation(), None);

    let set = crate::support::set(["/s:Envelope/comment()", "/s:Envelope/s:Header/r"], MAX_TEXT);
    let mut matcher = SoapMatcher::new(&set);
    feed(&document, &[], &mut matcher);
    assert_eq!([0, 1].map(|place| outcome(&matcher, place)), [NoMatch, NoMatch]);
    assert_eq!(matcher.outline().violation(), Some(Violation::HeaderAfterBody));
}

#[test]
fn other_documents_are_followed_as_they_are() {
    let set = set(["/a/b", "/Envelope/Header/r", "/Envelope/r"], MAX_TEXT);
    for (document, expected) in [
        ("<a><b>1</b></a>", [Text("1"), NoMatch, NoMatch]),
        ("<Envelope><Body/><Header><r>1</r></Header><r>2</r></Envelope>", [NoMatch, Text("1"), Text("2")]),
    ] {
        let mut matcher = SoapMatcher::new(&set);
        feed(document, &[], &mut matcher);
        assert_eq!([0, 1, 2].map(|place| outcome(&matcher, place)), expected, "{document}");
    }
}
