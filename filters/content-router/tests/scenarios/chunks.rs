//! The decision does not depend on how a body is cut into pieces.

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::support::*;

fn config() -> Value {
    with(
        rules(&[
            json!({"soap-header": {"namespace": "http://someuri", "name": "routing", "value": {"exact": "blue"}}}),
            json!({"all": [{"operation": {"name": "a"}}, {"not": {"soap-header": {"name": "plain"}}}]}),
            json!({"xpath": {"expression": "/*/*/b/@id", "value": {"matches": "[0-9]+"}}}),
            json!({"xpath": {"expression": "count(//c) = 2"}}),
        ]),
        json!({"body": {"xpath": "buffered", "max_bytes": 1024}}),
    )
}

fn bodies() -> Vec<String> {
    let routing = "<routing xmlns='http://someuri'>blue</routing>";
    vec![
        soap_11(routing, "<x/>"),
        soap_11("", "<a>é&amp;</a>"),
        soap_11("<plain/>", "<a/>"),
        soap_11("", "<b id='12'/>"),
        soap_11("", "<d><c/><c/></d>"),
        soap_11("", "<d><c/><c></d>"),
        soap_11(&"<x/>".repeat(220), "<a/>"),
        "not XML".to_owned(),
    ]
}

#[test]
fn a_body_in_two_pieces_is_decided_as_in_one_wherever_it_is_cut() {
    for body in bodies() {
        let mut worker = worker(&config());
        let whole = post(&mut worker, SOAP_11, &body);
        for cut in 0..=body.len() {
            let (head, tail) = body.as_bytes().split_at(cut);
            for trailers in [false, true] {
                let fared = post_in_pieces(&mut worker, SOAP_11, &[head, tail], trailers);
                assert_eq!(fared, whole, "{body}: cut at {cut}");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]
    #[test]
    fn a_body_in_any_pieces_is_decided_as_in_one(
        body in prop::sample::select(bodies()),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
    ) {
        let mut worker = worker(&config());
        let whole = post(&mut worker, SOAP_11, &body);
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(body.len() + 1)).collect();
        cuts.extend([0, body.len()]);
        cuts.sort_unstable();
        let pieces: Vec<&[u8]> = cuts.windows(2).map(|cut| &body.as_bytes()[cut[0]..cut[1]]).collect();
        prop_assert_eq!(post_in_pieces(&mut worker, SOAP_11, &pieces, false), whole);
    }
}
