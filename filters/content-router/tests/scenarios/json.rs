//! Conditions on JSON documents.

use serde_json::{Value, json};

use crate::support::*;

#[test]
fn members_are_found_and_compared() {
    let member = |pointer: &str, value: Value| json!({"json": {"pointer": pointer, "value": value}});
    let document = r#"{"order":{"region":"eu","lines":[{"sku":"A-1","n":2}],"rush":false,"note":null}}"#;
    for (pointer, value, expected) in [
        ("/order/region", json!({"exact": "eu"}), true),
        ("/order/region", json!({"exact": "us"}), false),
        ("/order/lines/0/sku", json!({"prefix": "A-"}), true),
        ("/order/lines/0/n", json!({"matches": "[0-9]"}), true),
        ("/order/lines/1", Value::Null, false),
        ("/order/rush", json!({"exact": "false"}), true),
        ("/order/note", Value::Null, true),
        ("/order", json!({"prefix": "{"}), false),
        ("", Value::Null, true),
    ] {
        let fared = post(&mut worker(&rules(&[member(pointer, value.clone())])), JSON, document);
        assert_eq!(fared, if expected { to("r1") } else { Fared::Refused(404) }, "{pointer} {value}");
    }
}

#[test]
fn a_document_is_held_until_it_is_whole_however_it_comes() {
    let config = rules(&[json!({"json": {"pointer": "/a", "value": {"exact": "é"}}})]);
    let document = "{\"a\": \"é\", \"b\": [1, 2]}".as_bytes();
    for cut in 0..=document.len() {
        for trailers in [false, true] {
            let (head, tail) = document.split_at(cut);
            let mut worker = worker(&config);
            assert_eq!(post_in_pieces(&mut worker, JSON, &[head, tail], trailers), to("r1"), "{cut}");
        }
    }
    let (fared, sent) = decided_after(&mut worker(&config), JSON, document);
    assert_eq!((fared, sent), (to("r1"), document.len()));
}

#[test]
fn conditions_on_the_other_kind_of_document_are_false() {
    let conditions = [json!({"operation": {"name": "a"}}), json!({"json": {"pointer": "/a"}})];
    let mut worker = worker(&rules(&conditions));
    assert_eq!(post(&mut worker, JSON, r#"{"a":1}"#), to("r2"));
    assert_eq!(post(&mut worker, SOAP_11, soap_11("", "<a/>")), to("r1"));
    assert_eq!(post(&mut worker, SOAP_11, soap_11("", "<b/>")), Fared::Refused(404));
}

#[test]
fn two_members_of_one_name_decide_nothing() {
    let config = rules(&[json!({"json": {"pointer": "/a/b", "value": {"exact": "1"}}})]);
    for document in [r#"{"a":{"b":"1","b":"2"}}"#, r#"{"a":{"b":"1"},"\u0061":{"b":"2"}}"#] {
        let mut worker = worker(&config);
        assert_eq!(post(&mut worker, JSON, document), Fared::Refused(400));
        assert_eq!(count(&worker, "malformed"), 1);
    }
}
