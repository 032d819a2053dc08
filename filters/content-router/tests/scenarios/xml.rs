//! Conditions on envelopes, and on XML in general.

use serde_json::{Value, json};

use crate::support::*;

const ROUTING: &str = "<routing xmlns=\"http://someuri\">xadmin;server1;community#1.0##</routing>";

fn routes(condition: Value, headers: &[(&str, &str)], body: &str) -> bool {
    let namespaces = json!({"t": "http://someuri", "x": "http://services.samples/xsd"});
    let config = with(rules(&[condition]), json!({"namespaces": namespaces, "body": {"xpath": "buffered"}}));
    match post(&mut worker(&config), headers, body) {
        Fared::Routed(route) => route == "r1",
        Fared::Refused(404) => false,
        other => panic!("{other:?}"),
    }
}

#[test]
fn header_blocks_are_found_in_both_versions() {
    let block = |value: Value| json!({"soap-header": {"namespace": "http://someuri", "name": "routing", "value": value}});
    for (value, header, expected) in [
        (Value::Null, ROUTING, true),
        (json!({"matches": r"xadmin;server1;community#1\.0##"}), ROUTING, true),
        (json!({"matches": r"xadmin;server1;community#1\.0"}), ROUTING, false),
        (json!({"exact": "a"}), "<t:routing xmlns:t='http://someuri'>&#97;<!-- a --></t:routing>", true),
        (json!({"exact": "a"}), "<routing>a</routing>", false),
        (json!({"exact": "a"}), "<routing xmlns='http://other'>a</routing>", false),
        (json!({"exact": ""}), "", false),
        (Value::Null, "", false),
        // Of several the first counts.
        (
            json!({"exact": "a"}),
            "<routing xmlns='http://someuri'>a</routing><routing xmlns='http://someuri'>b</routing>",
            true,
        ),
        (
            json!({"exact": "b"}),
            "<routing xmlns='http://someuri'>a</routing><routing xmlns='http://someuri'>b</routing>",
            false,
        ),
        // One within another block is none.
        (json!({"exact": "a"}), "<a><routing xmlns='http://someuri'>a</routing></a>", false),
    ] {
        assert_eq!(routes(block(value.clone()), SOAP_11, &soap_11(header, "")), expected, "{value} {header}");
        assert_eq!(routes(block(value.clone()), SOAP_12, &soap_12(header, "")), expected, "{value} {header}");
    }
    let in_body = soap_11("", ROUTING);
    assert!(!routes(block(Value::Null), SOAP_11, &in_body));
    let plain = json!({"soap-header": {"name": "plain", "value": {"exact": "1"}}});
    assert!(routes(plain, SOAP_12, &soap_12("<plain>1</plain>", "")));
}

#[test]
fn operations_are_the_first_element_of_the_body() {
    let operation =
        |namespace: &str, name: &str| json!({"operation": {"namespace": namespace, "name": name}});
    let buy = "<m:buyStocks xmlns:m=\"http://services.samples/xsd\"><a/></m:buyStocks>";
    for (condition, body, expected) in [
        (operation("http://services.samples/xsd", "buyStocks"), buy, true),
        (operation("http://services.samples/xsd", "sellStocks"), buy, false),
        (operation("", "buyStocks"), buy, false),
        (operation("", "a"), buy, false),
        (operation("", "a"), "<a/><b/>", true),
        (operation("", "b"), "<a/><b/>", false),
        (operation("", "a"), "", false),
    ] {
        assert_eq!(
            routes(condition.clone(), SOAP_11, &soap_11(ROUTING, body)),
            expected,
            "{condition} {body}"
        );
    }
    // XML that is no envelope has no operation.
    assert!(!routes(operation("", "a"), &[("content-type", "application/xml")], "<a/>"));
}

#[test]
fn expressions_are_true_or_have_a_value() {
    for (expression, value, expected) in [
        ("/soap11:Envelope/soap11:Header/t:routing", json!({"prefix": "xadmin;"}), true),
        ("/soap11:Envelope/soap11:Header/t:routing", Value::Null, true),
        ("/soap11:Envelope/soap11:Header/t:nothing", json!({"exact": ""}), false),
        ("/soap11:Envelope/soap11:Header/t:nothing", Value::Null, false),
        ("/soap12:Envelope", Value::Null, false),
        ("/*/*/t:routing = 'xadmin;server1;community#1.0##'", Value::Null, true),
        ("/*/*/x:buyStocks/order[2]/symbol", json!({"exact": "B"}), true),
        ("/*/*/x:buyStocks/@id", json!({"exact": "7"}), true),
        // These need the whole body.
        ("//symbol[last()]", json!({"exact": "A"}), true),
        ("count(//order) = 2", Value::Null, true),
        ("count(//order)", json!({"exact": "2"}), true),
        ("//order[symbol = 'B']", Value::Null, true),
        ("//nothing", json!({"exact": ""}), false),
        ("string(//nothing)", json!({"exact": ""}), true),
        ("//@id", json!({"number": {"more_than": 6.5}}), true),
        ("//@id", json!({"number": {"more_than": 7}}), false),
        ("//symbol", json!({"number": {"less_than": 7}}), false),
        ("count(//order) * 100000", json!({"number": {"at_least": 2e5, "at_most": 2e5}}), true),
        ("concat(//order[2]/symbol, '-', //@id)", json!({"exact": "B-7"}), true),
    ] {
        let body = soap_11(
            ROUTING,
            "<m:buyStocks xmlns:m='http://services.samples/xsd' id='7'>\
             <order><symbol>A</symbol></order><order><symbol>B</symbol></order></m:buyStocks>",
        );
        let condition = json!({"xpath": {"expression": expression, "value": value}});
        assert_eq!(routes(condition, SOAP_11, &body), expected, "{expression} {value}");
    }
}

#[test]
fn xml_that_is_no_envelope_can_be_routed_by_expressions() {
    let condition = json!({"xpath": {"expression": "/order/@region", "value": {"exact": "eu"}}});
    for content_type in ["application/xml", "text/xml; charset=utf-8", "application/vnd.order+xml"] {
        assert!(routes(condition.clone(), &[("content-type", content_type)], "<order region='eu'/>"));
    }
}

#[test]
fn a_body_is_read_in_the_encoding_that_its_headers_and_it_itself_say() {
    let condition = json!({"xpath": {"expression": "/a", "value": {"exact": "é"}}});
    let config = rules(&[condition]);
    let utf_16: Vec<u8> = "\u{feff}<a>é</a>".encode_utf16().flat_map(u16::to_le_bytes).collect();
    for (content_type, body) in [
        ("text/xml", "<a>é</a>".as_bytes()),
        ("text/xml; charset=iso-8859-1", b"<a>\xe9</a>"),
        ("text/xml", b"<?xml version='1.0' encoding='ISO-8859-1'?><a>\xe9</a>"),
        ("application/xml; charset=utf-16", &utf_16),
    ] {
        let fared = post(&mut worker(&config), &[("content-type", content_type)], body);
        assert_eq!(fared, to("r1"), "{content_type} {body:?}");
    }
}

#[test]
fn a_decision_is_made_with_the_tag_that_tells_it() {
    let block =
        json!({"soap-header": {"namespace": "http://someuri", "name": "routing", "value": {"prefix": "x"}}});
    let body = soap_11(&format!("<before/>{ROUTING}<after/>"), "<operation/>");
    let after = |needle: &str| body.find(needle).unwrap() + needle.len();
    for (conditions, expected, end) in [
        (vec![block.clone()], to("r1"), after("</routing>")),
        (vec![json!({"operation": {"name": "operation"}})], to("r1"), after("<operation/>") - 1),
        // Not there: known at the Header's end.
        (
            vec![json!({"soap-header": {"name": "no"}}), json!({"soap-header": {"name": "before"}})],
            to("r2"),
            after("</e:Header>"),
        ),
        (vec![json!({"soap-header": {"name": "no"}})], Fared::Refused(404), after("</e:Header>")),
        // The first rule is true whatever the second one would say.
        (vec![block.clone(), json!({"operation": {"name": "operation"}})], to("r1"), after("</routing>")),
        // The second one is true before the first is known not to be, which it has to wait for.
        (vec![json!({"operation": {"name": "other"}}), block.clone()], to("r2"), after("<operation/>") - 1),
        // A conjunction is false as soon as one of its members is.
        (
            vec![json!({"all": [{"not": block.clone()}, {"operation": {"name": "operation"}}]}), block],
            to("r2"),
            after("</routing>"),
        ),
        // No envelope of this version: known with its start tag.
        (
            vec![json!({"xpath": {"expression": "/soap12:Envelope/soap12:Body"}})],
            Fared::Refused(404),
            body.find('>').unwrap() + 1,
        ),
    ] {
        let (fared, sent) = decided_after(&mut worker(&rules(&conditions)), SOAP_11, body.as_bytes());
        // The `/` of an empty element, or the `>` behind it, may be needed to know that the tag is whole.
        assert_eq!((fared, sent.abs_diff(end) <= 1), (expected, true), "{conditions:?}: {sent} for {end}");
    }
}

#[test]
fn rules_that_come_first_spare_the_body() {
    let conditions = [json!({"header": {"name": "x-to"}}), json!({"operation": {"name": "a"}})];
    let mut worker = worker(&rules(&conditions));
    let id = begin(&mut worker, &[SOAP_11, &[("x-to", "")]].concat(), false);
    assert_eq!(fared(&worker, id), to("r1"), "with nothing of the body there");
    let id = begin(&mut worker, SOAP_11, false);
    assert_eq!(fared(&worker, id), Fared::Held);
}
