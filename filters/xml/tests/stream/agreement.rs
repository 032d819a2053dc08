//! Whatever is accepted yields what the whole document yields.

use portcullis_xml::xpath::stream::{Matcher, Outcome, SoapMatcher, StreamSet};
use portcullis_xml::xpath::{Budget, Value};
use portcullis_xml::{Document, Limits, NodeId};
use proptest::prelude::*;

use crate::documents::{document, envelope, envelope_expression, expression};
use crate::support::{self, AnyMatcher, MAX_TEXT, feed, outcome, set, xpath};

/// Compares what a matcher comes to for each expression with what the whole document has.
fn compare(text: &str, expressions: &[String], cuts: &[usize], matcher: &mut impl AnyMatcher) {
    let document = Document::parse(text.as_bytes(), &Limits::default()).unwrap();
    feed(text, cuts, matcher);
    for (place, expression) in expressions.iter().enumerate() {
        let xpath = xpath(expression);
        let value = xpath.evaluate(&document, NodeId::ROOT, &mut Budget::new(u64::MAX)).unwrap();
        let expected = match &value {
            Value::Nodes(nodes) => match nodes.first() {
                Some(first) => Outcome::Text(document.string_value(*first)),
                None => Outcome::NoMatch,
            },
            Value::String(text) => Outcome::Text(text),
            Value::Boolean(value) => Outcome::Boolean(*value),
            Value::Number(number) => panic!("{expression} is the number {number}"),
        };
        assert_eq!(outcome(matcher, place), expected, "{expression} in {text}");
    }
}

fn cuts() -> impl Strategy<Value = Vec<usize>> {
    prop::collection::vec(0..400_usize, 0..8).prop_map(|mut cuts| {
        cuts.sort_unstable();
        cuts
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_stream_yields_what_the_whole_document_yields(
        document in document(),
        expressions in prop::collection::vec(expression(), 1..6),
        cuts in cuts(),
    ) {
        let set = set(&expressions, MAX_TEXT);
        compare(&document, &expressions, &cuts, &mut Matcher::new(&set));
        compare(&document, &expressions, &cuts, &mut SoapMatcher::new(&set));
    }

    #[test]
    fn an_envelope_yields_what_the_whole_document_yields(
        envelope in envelope(),
        expressions in prop::collection::vec(envelope_expression(), 1..6),
        cuts in cuts(),
    ) {
        let set = set(&expressions, MAX_TEXT);
        compare(&envelope, &expressions, &cuts, &mut SoapMatcher::new(&set));
        compare(&envelope, &expressions, &cuts, &mut Matcher::new(&set));
    }

    #[test]
    fn as_a_boolean_a_stream_yields_what_the_whole_document_does(
        text in document(),
        expression in expression(),
    ) {
        let document = Document::parse(text.as_bytes(), &Limits::default()).unwrap();
        let compiled = xpath(&expression);
        let expected = compiled.matches(&document, NodeId::ROOT, &mut Budget::new(u64::MAX)).unwrap();
        let set = StreamSet::new([support::expression(&expression).into_boolean()], MAX_TEXT);
        let mut matcher = Matcher::new(&set);
        feed(&text, &[], &mut matcher);
        prop_assert_eq!(outcome(&matcher, 0), Outcome::Boolean(expected), "{} in {}", expression, text);
    }
}
