//! Bodies on which rules cannot decide: what becomes of them is stated.

use portcullis_policy::Direction;
use serde_json::{Value, json};

use crate::support::*;

/// A request on which the rules cannot decide, and what it is called.
type Case = (&'static str, u16, &'static [(&'static str, &'static str)], Vec<u8>);

fn cases() -> Vec<Case> {
    let whole = soap_11("", "<a/>").into_bytes();
    let large = soap_11(&"<x/>".repeat(1000), "<a/>").into_bytes();
    vec![
        ("no_body", 0, SOAP_11, Vec::new()),
        ("content_type", 415, &[("content-type", "text/plain")], whole.clone()),
        ("content_type", 415, &[], whole.clone()),
        ("content_type", 415, &[("content-type", "application/json")], b"{}".to_vec()),
        ("content_type", 415, &[("content-type", "text/xml"), ("content-type", "text/xml")], whole.clone()),
        ("content_type", 415, &[("content-type", "text/xml; charset=x-unknown")], whole.clone()),
        ("encoded", 415, &[("content-type", "text/xml"), ("content-encoding", "gzip")], whole.clone()),
        (
            "multipart",
            415,
            &[("content-type", "multipart/related; type=\"application/xop+xml\"")],
            whole.clone(),
        ),
        ("too_large", 413, SOAP_11, large),
        ("malformed", 400, SOAP_11, b"<a>".to_vec()),
        ("malformed", 400, SOAP_11, b"{}".to_vec()),
        ("malformed", 400, SOAP_11, b"<a/>".to_vec()),
        ("malformed", 400, SOAP_12, whole),
        ("malformed", 400, SOAP_11, soap_11("</e:Body>", "<a/>").into_bytes()),
        ("malformed", 400, SOAP_11, b"<!DOCTYPE a><a/>".to_vec()),
        ("malformed", 400, SOAP_11, b"<?xml version='1.0' encoding='x'?><a/>".to_vec()),
    ]
}

fn config(undecided: Value) -> Value {
    let operation = json!({"operation": {"name": "a"}});
    with(
        rules(&[operation]),
        json!({"undecided": undecided, "body": {"max_bytes": 1024},
        "default": {"route": "default"}}),
    )
}

#[test]
fn each_has_its_outcome_and_is_counted() {
    for (name, status, headers, body) in cases() {
        let name =
            if headers == SOAP_11 && body.ends_with(b"encoding='x'?><a/>") { "content_type" } else { name };
        let status = if name == "content_type" { 415 } else { status };
        for (outcome, expected) in [
            ("refuse", Fared::Refused(if name == "no_body" { 400 } else { status })),
            ("default", to("default")),
            ("pass", Fared::Unrouted),
        ] {
            let mut worker = worker(&config(json!({name: outcome})));
            assert_eq!(post(&mut worker, headers, &body), expected, "{name} {headers:?} {outcome}");
            assert_eq!(count(&worker, name), 1, "{name} {headers:?} {outcome}");
        }
    }
}

#[test]
fn all_are_refused_by_default_but_requests_without_a_body_which_have_the_default_route() {
    for (name, _, headers, body) in cases() {
        let mut worker = worker(&config(json!({})));
        let fared = post(&mut worker, headers, &body);
        assert_eq!(fared == to("default"), name == "no_body", "{name} {headers:?} {fared:?}");
    }
}

#[test]
fn a_request_without_a_body_is_decided_at_once() {
    let mut worker = worker(&config(json!({})));
    assert_eq!(bare(&mut worker, SOAP_11), to("default"));
    assert_eq!(bare(&mut worker, &[(":method", "GET")]), to("default"));
    assert_eq!(bare(&mut worker, &[(":method", "HEAD")]), to("default"));
    for headers in [
        &[(":method", "CONNECT")][..],
        &[(":method", "GET"), ("connection", "upgrade"), ("upgrade", "websocket")],
    ] {
        let id = begin(&mut worker, headers, false);
        assert_eq!(fared(&worker, id), to("default"), "{headers:?}");
    }
    assert_eq!(count(&worker, "no_body"), 5);
}

#[test]
fn an_empty_body_is_none() {
    for trailers in [false, true] {
        let mut worker = worker(&config(json!({})));
        assert_eq!(post_in_pieces(&mut worker, SOAP_11, &[b""], trailers), to("default"));
        assert_eq!(count(&worker, "no_body"), 1);
    }
    let mut worker = worker(&config(json!({})));
    assert_eq!(post_in_pieces(&mut worker, SOAP_11, &[], true), to("default"), "trailers alone");
}

#[test]
fn a_large_body_is_no_matter_once_the_rules_have_decided() {
    let mut worker = worker(&config(json!({})));
    let large = soap_11("", &format!("<a>{}</a>", "x".repeat(1 << 20)));
    assert_eq!(post(&mut worker, SOAP_11, &large), to("r1"));
    let (head, tail) = large.as_bytes().split_at(1024);
    assert_eq!(post_in_pieces(&mut worker, SOAP_11, &[head, tail], false), to("r1"));
}

/// The first byte that may not be read decides, wherever pieces end.
#[test]
fn the_limit_is_the_same_however_the_body_is_cut() {
    // The operation's name ends with byte 1024, or one byte later.
    for (padding, expected) in [(0, to("r1")), (1, Fared::Refused(413))] {
        let head = "<e:Envelope xmlns:e=\"http://schemas.xmlsoap.org/soap/envelope/\">";
        let tail = "<e:Body><a>";
        let spaces = " ".repeat(1024 - head.len() - tail.len() + padding);
        let body = format!("{head}{spaces}{tail}</a></e:Body></e:Envelope>");
        for cut in [0, 1, 1022, 1023, 1024, 1025, 1026, body.len()] {
            let (head, tail) = body.as_bytes().split_at(cut);
            let fared = post_in_pieces(&mut worker(&config(json!({}))), SOAP_11, &[head, tail], false);
            assert_eq!(fared, expected, "{padding} {cut}");
        }
    }
}

#[test]
fn nothing_of_the_body_is_read_behind_the_decision() {
    let mut worker = worker(&config(json!({})));
    let body = soap_11("", "<a>");
    let id = begin(&mut worker, SOAP_11, false);
    worker.body(id, Direction::Request, body.as_bytes(), false);
    assert_eq!(fared(&worker, id), to("r1"));
    worker.host.take_reads();
    worker.body(id, Direction::Request, b"</b> no XML at all", false);
    worker.body(id, Direction::Request, b"<", true);
    assert_eq!(worker.host.take_reads(), [""; 0]);
    assert_eq!(fared(&worker, id), to("r1"));
}

#[test]
fn a_json_document_larger_than_the_limit_is_refused_with_the_first_byte_too_many() {
    let config = with(rules(&[json!({"json": {"pointer": "/a"}})]), json!({"body": {"max_bytes": 1024}}));
    let document = |length: usize| format!("{{\"a\":\"{}\"}}", "x".repeat(length - 8));
    let mut worker = worker(&config);
    assert_eq!(post(&mut worker, JSON, document(1024)), to("r1"));
    assert_eq!(post(&mut worker, JSON, document(1025)), Fared::Refused(413));
    let (fared, sent) = decided_after(&mut worker, JSON, document(5000).as_bytes());
    assert_eq!((fared, sent), (Fared::Refused(413), 1025));
}

#[test]
fn a_text_that_is_too_long_to_be_kept_decides_nothing() {
    let condition = json!({"soap-header": {"name": "r", "value": {"matches": "x*"}}});
    let mut worker = worker(&rules(&[condition]));
    let body = |length: usize| soap_11(&format!("<r>{}</r>", "x".repeat(length)), "");
    assert_eq!(post(&mut worker, SOAP_11, body(64 << 10)), to("r1"));
    assert_eq!(post(&mut worker, SOAP_11, body((64 << 10) + 1)), Fared::Refused(413));
}

#[test]
fn an_expression_that_takes_too_long_on_this_document_decides_nothing() {
    let expression = "count(//a[count(//a) > 5]) > 5";
    let config =
        with(rules(&[json!({"xpath": {"expression": expression}})]), json!({"body": {"xpath": "buffered"}}));
    let mut worker = worker(&config);
    let body = |n: usize| format!("<r>{}</r>", "<a/>".repeat(n));
    let xml = &[("content-type", "application/xml")];
    assert_eq!(post(&mut worker, xml, body(10)), to("r1"));
    assert_eq!(post(&mut worker, xml, body(10_000)), Fared::Refused(413));
}

#[test]
fn what_is_too_large_for_a_rule_matters_only_if_that_is_to_decide() {
    let block = json!({"soap-header": {"name": "r", "value": {"exact": "x"}}});
    let elsewhere = json!({"path": {"exact": "/elsewhere"}});
    let here = json!({"path": {"exact": "/"}});
    let operation = |name: &str| json!({"operation": {"name": name}});
    let long = format!("<r>{}</r>", "x".repeat((64 << 10) + 1));
    for (conditions, expected) in [
        // The headers have made it false, whatever the block is.
        (vec![json!({"all": [elsewhere, block]}), operation("a")], to("r2")),
        (vec![json!({"all": [block, elsewhere]}), operation("a")], to("r2")),
        (vec![json!({"not": {"any": [block, here]}}), operation("a")], to("r2")),
        // A rule before it is true.
        (vec![operation("a"), block.clone()], to("r1")),
        // What comes behind the block makes it false, or true.
        (vec![json!({"all": [block, operation("b")]}), operation("a")], to("r2")),
        (vec![json!({"any": [block, operation("a")]})], to("r1")),
        (vec![json!({"not": {"all": [block, operation("b")]}})], to("r1")),
        // It is needed.
        (vec![block.clone(), operation("a")], Fared::Refused(413)),
        (vec![operation("b"), block.clone()], Fared::Refused(413)),
        (vec![json!({"all": [block, operation("a")]})], Fared::Refused(413)),
        (vec![json!({"any": [block, operation("b")]}), operation("a")], Fared::Refused(413)),
        (vec![json!({"not": block})], Fared::Refused(413)),
    ] {
        let mut worker = worker(&rules(&conditions));
        assert_eq!(post(&mut worker, SOAP_11, soap_11(&long, "<a/>")), expected, "{conditions:?}");
        let short = post(&mut worker, SOAP_11, soap_11("<r>y</r>", "<a/>"));
        assert!(!matches!(short, Fared::Refused(413)), "{conditions:?}");
    }
}

/// An expression may hold 64 MiB of texts at once, whatever the message has room for.
#[test]
fn an_expression_that_takes_too_much_memory_is_too_large() {
    const TEXT: usize = 700_000;
    let body = format!("<a>{}</a>", "x".repeat(TEXT));
    for (copies, expected) in [(80, to("r1")), (110, Fared::Refused(413))] {
        let parts = vec!["string(/)"; copies].join(", ");
        let expression = format!("string-length(concat({parts})) = {}", copies * TEXT);
        let config = with(
            rules(&[json!({"xpath": {"expression": expression}})]),
            json!({"body": {"xpath": "buffered"}}),
        );
        let xml = &[("content-type", "application/xml")];
        assert_eq!(post(&mut worker(&config), xml, body.clone()), expected, "{copies} copies");
    }
}

#[test]
fn a_rule_that_waits_for_nothing_but_what_is_too_large_is_refused_at_once() {
    let block = json!({"soap-header": {"name": "r", "value": {"exact": "x"}}});
    let long = format!("<r>{}</r>", "x".repeat((64 << 10) + 1));
    let body = soap_11(&long, "<a/>");
    let (fared, sent) = decided_after(&mut worker(&rules(&[block])), SOAP_11, body.as_bytes());
    assert_eq!(fared, Fared::Refused(413));
    assert!(sent <= body.find("</e:Header>").unwrap(), "{sent} of {}", body.len());
}

#[test]
fn an_expression_is_evaluated_on_the_whole_body_only_if_it_is_needed() {
    let slow = json!({"xpath": {"expression": "count(//a[count(//a) > 5]) > 5"}});
    let quick = json!({"xpath": {"expression": "count(/r/b) = 1"}});
    let elsewhere = json!({"path": {"exact": "/elsewhere"}});
    let xml = &[("content-type", "application/xml")];
    let body = format!("<r>{}<b/></r>", "<a/>".repeat(10_000));
    for (conditions, expected) in [
        (vec![json!({"all": [slow, elsewhere]}), quick.clone()], to("r2")),
        (vec![json!({"all": [elsewhere, slow]}), quick.clone()], to("r2")),
        (vec![json!({"all": [{"not": quick}, slow]}), quick.clone()], to("r2")),
        (vec![quick.clone(), slow.clone()], to("r1")),
        (vec![json!({"any": [quick, slow]})], to("r1")),
        (vec![slow.clone(), quick.clone()], Fared::Refused(413)),
        (vec![json!({"all": [quick, slow]}), quick.clone()], Fared::Refused(413)),
    ] {
        let config = with(rules(&conditions), json!({"body": {"xpath": "buffered"}}));
        assert_eq!(post(&mut worker(&config), xml, &body), expected, "{conditions:?}");
    }
}

#[test]
fn json_that_only_an_irrelevant_rule_cannot_read_is_routed() {
    // Half of a surrogate pair is no text (RFC 8259, section 8.2).
    let body = "{\"a\":\"\\ud800\",\"b\":1}";
    let a = json!({"json": {"pointer": "/a", "value": {"exact": "x"}}});
    let b = json!({"json": {"pointer": "/b", "value": {"exact": "1"}}});
    let elsewhere = json!({"path": {"exact": "/elsewhere"}});
    let mut irrelevant = worker(&rules(&[json!({"all": [elsewhere, a]}), b.clone()]));
    assert_eq!(post(&mut irrelevant, JSON, body), to("r2"));
    let mut needed = worker(&rules(&[a, b]));
    assert_eq!(post(&mut needed, JSON, body), Fared::Refused(400));
}
