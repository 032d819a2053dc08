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

/// Go's encoding/json takes the last member whose name is the same but for case, Jackson and .NET do if they are told to.
#[test]
fn a_member_that_only_some_readers_take_for_the_one_asked_for_decides_nothing() {
    let config = rules(&[json!({"json": {"pointer": "/order/op", "value": {"exact": "user"}}})]);
    for document in [
        r#"{"order":{"op":"user","OP":"admin"}}"#,
        r#"{"order":{"OP":"admin","op":"user"}}"#,
        r#"{"order":{"Op":"user"}}"#,
        r#"{"order":{"op":"user","\u004fp":"admin"}}"#,
        r#"{"order":{"op":"user","op\u0000":"admin"}}"#,
        r#"{"order":{"op":"user"},"ORDER":{"op":"admin"}}"#,
        // Readers that put U+FFFD in place of what is no character.
        r#"{"order":{"op":"user","\ud800":1}}"#,
    ] {
        let mut worker = worker(&config);
        assert_eq!(post(&mut worker, JSON, document), Fared::Refused(400), "{document}");
        assert_eq!(count(&worker, "malformed"), 1);
    }
    for document in [
        r#"{"order":{"op":"user","operation":"admin","o-p":1,"o_p":2,"__proto__":{"op":"admin"}}}"#,
        r#"{"OP":"admin","order":{"op":"user"}}"#,
        r#"{"order":{"op":"user","x":{"OP":"admin"}}}"#,
    ] {
        assert_eq!(post(&mut worker(&config), JSON, document), to("r1"), "{document}");
    }
    // Letters beyond ASCII that are a `k` and an `s` to readers that fold case by Unicode.
    let config = rules(&[json!({"json": {"pointer": "/kinds"}})]);
    for name in ["\u{212a}inds", "kind\u{17f}", r"kind\u017f"] {
        let document = format!(r#"{{"kinds":1,"{name}":2}}"#);
        assert_eq!(post(&mut worker(&config), JSON, document), Fared::Refused(400), "{name}");
    }
}

#[test]
fn rules_may_ask_for_a_name_in_two_spellings_and_a_document_has_one() {
    let name = |pointer: &str| json!({"json": {"pointer": pointer}});
    let config = rules(&[name("/id"), name("/ID")]);
    assert_eq!(post(&mut worker(&config), JSON, r#"{"id":1}"#), to("r1"));
    assert_eq!(post(&mut worker(&config), JSON, r#"{"ID":1}"#), to("r2"));
    for document in [r#"{"id":1,"ID":2}"#, r#"{"Id":1}"#] {
        assert_eq!(post(&mut worker(&config), JSON, document), Fared::Refused(400), "{document}");
    }
}

/// What the reference shows: only what is understood to be small goes the short way.
#[test]
fn numbers_are_compared_by_their_value_however_they_are_written() {
    let small =
        json!({"json": {"pointer": "/total", "value": {"number": {"at_least": 0, "less_than": 10000}}}});
    let large = json!({"json": {"pointer": "/total", "value": {"number": {"at_least": 10000}}}});
    let config = with(rules(&[small, large]), json!({"default": {"route": "unknown"}}));
    for (total, route) in [
        ("9999.99", "r1"),
        ("0", "r1"),
        ("-0.0", "r1"),
        ("99999e-1", "r1"),
        ("10000", "r2"),
        ("10000.0", "r2"),
        ("1e4", "r2"),
        ("1E+5", "r2"),
        ("0.1e6", "r2"),
        ("1e400", "r2"),
        ("123456789012345678901234567890", "r2"),
        ("-1", "unknown"),
        ("\"20000\"", "unknown"),
        ("\"20\"", "unknown"),
        ("true", "unknown"),
        ("null", "unknown"),
        ("[20000]", "unknown"),
    ] {
        let document = format!(r#"{{"total": {total}}}"#);
        assert_eq!(post(&mut worker(&config), JSON, document), to(route), "{total}");
    }
    // A double of this is 10000.
    let document = format!(r#"{{"total": 9999.{}}}"#, "9".repeat(30));
    assert_eq!(post(&mut worker(&config), JSON, document), Fared::Refused(400));
}
