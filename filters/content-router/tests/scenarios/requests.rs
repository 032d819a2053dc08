//! Conditions on what stands in a request's headers, and how they combine.

use portcullis_content_router::ContentRouter;
use portcullis_policy::{Callbacks, Chain, Direction, Next, Policy};
use serde_json::{Value, json};

use crate::support::*;

fn routes(condition: Value, headers: &[(&str, &str)]) -> bool {
    match bare(&mut worker(&rules(&[condition])), headers) {
        Fared::Routed(route) => route == "r1",
        Fared::Refused(404) => false,
        other => panic!("{other:?}"),
    }
}

#[test]
fn numbers_in_headers_and_queries_are_compared_by_their_value() {
    let number = json!({"number": {"at_least": -2.5, "less_than": 10000}});
    let header = json!({"header": {"name": "n", "value": number}});
    let query = json!({"query": {"name": "n", "value": number}});
    for (text, expected) in [
        ("9999.99", true),
        ("-2.50", true),
        ("0", true),
        ("10000", false),
        ("10000.0", false),
        ("-2.51", false),
        // What readers make of these differs: they are no numbers here.
        ("1e2", false),
        ("+5", false),
        ("007", false),
        ("0x10", false),
        ("5 ", false),
        ("5,0", false),
        ("", false),
    ] {
        assert_eq!(routes(header.clone(), &[("n", text)]), expected, "{text:?}");
        let path = format!("/?n={}", text.replace('+', "%2b").replace(' ', "+"));
        assert_eq!(routes(query.clone(), &[(":path", &path)]), expected, "{path}");
    }
    // Of several values all count.
    assert!(routes(query.clone(), &[(":path", "/?n=1&n=%32")]));
    assert!(!routes(query, &[(":path", "/?n=1&n=20000")]));
}

#[test]
fn each_condition_is_true_of_what_it_says() {
    let header = |value: Value| json!({"header": {"name": "X-To", "value": value}});
    for (condition, headers, expected) in [
        (header(json!({"exact": "a"})), &[("x-to", "a")][..], true),
        (header(json!({"exact": "a"})), &[("x-to", "ab")], false),
        (header(json!({"prefix": "a"})), &[("x-to", "ab")], true),
        (header(json!({"matches": "a|b"})), &[("x-to", "b")], true),
        (header(json!({"matches": "a|b"})), &[("x-to", "ab")], false),
        (header(Value::Null), &[("x-to", "")], true),
        (header(Value::Null), &[], false),
        (json!({"method": ["PUT", "POST"]}), &[], true),
        (json!({"method": ["PUT"]}), &[(":method", "put")], false),
        (json!({"path": {"exact": "/a"}}), &[(":path", "/a?b=/c")], true),
        (json!({"path": {"prefix": "/a/"}}), &[(":path", "/a")], false),
        (json!({"host": {"exact": "shop.test"}}), &[(":authority", "SHOP.test:8080")], true),
        (json!({"host": {"matches": r".*\.test"}}), &[(":authority", "shop.test.")], true),
        (json!({"query": {"name": "v", "value": {"exact": "2"}}}), &[(":path", "/?v=%32")], true),
        (json!({"query": {"name": "v", "value": {"exact": "2"}}}), &[(":path", "/?v=2&v=3")], false),
        (
            json!({"query": {"name": "v", "value": {"exact": "2"}, "values": "any"}}),
            &[(":path", "/?v=2&v=3")],
            true,
        ),
        (json!({"query": {"name": "v"}}), &[(":path", "/?v")], true),
        (json!({"action": {"exact": "urn:a"}}), SOAP_11, true),
        (json!({"action": {"prefix": "urn:"}}), SOAP_12, true),
        (json!({"action": {"exact": "urn:b"}}), SOAP_12, false),
    ] {
        assert_eq!(routes(condition.clone(), headers), expected, "{condition} {headers:?}");
    }
}

#[test]
fn conditions_combine() {
    let is = |value: &str| json!({"header": {"name": "x", "value": {"exact": value}, "values": "any"}});
    for (condition, values, expected) in [
        (json!({"all": [is("a"), is("b")]}), &["a", "b"][..], true),
        (json!({"all": [is("a"), is("b")]}), &["a"], false),
        (json!({"any": [is("a"), is("b")]}), &["b"], true),
        (json!({"any": [is("a"), is("b")]}), &["c"], false),
        (json!({"not": is("a")}), &["b"], true),
        (json!({"not": {"any": [is("a"), {"not": is("b")}]}}), &["b"], true),
        (json!({"all": [{"any": [is("a"), is("b")]}, {"not": is("c")}]}), &["a", "c"], false),
    ] {
        let headers: Vec<_> = values.iter().map(|value| ("x", *value)).collect();
        assert_eq!(routes(condition.clone(), &headers), expected, "{condition} {values:?}");
    }
}

#[test]
fn the_first_rule_that_is_true_is_followed() {
    let has = |name: &str| json!({"header": {"name": name}});
    let mut worker = worker(&rules(&[has("a"), has("b"), has("a")]));
    assert_eq!(bare(&mut worker, &[("b", ""), ("a", "")]), to("r1"));
    assert_eq!(bare(&mut worker, &[("b", "")]), to("r2"));
    assert_eq!(bare(&mut worker, &[]), Fared::Refused(404));
    assert_eq!([1, 2, 3].map(|rule| count(&worker, &format!("rule-{rule}.matched"))), [1, 1, 0]);
    assert_eq!(count(&worker, "defaulted"), 1);
}

#[test]
fn headers_that_state_no_one_action_are_undecidable_even_without_interest_in_bodies() {
    let rules =
        rules(&[json!({"not": {"action": {"exact": "urn:admin"}}}), json!({"header": {"name": "b"}})]);
    let differing =
        [("content-type", "text/xml"), ("soapaction", "urn:admin"), ("soapaction", "urn:a"), ("b", "")];
    let mut worker = worker(&rules);
    assert_eq!(bare(&mut worker, &differing), Fared::Refused(415), "a later rule does not rescue it");
    assert_eq!(count(&worker, "content_type"), 1);
    assert_eq!(bare(&mut worker, SOAP_11), to("r1"));
}

/// The scenario that WSO2 measures: an HTTP header decides.
#[test]
fn rules_on_headers_never_touch_the_body() {
    let config = with(
        rules(&[
            json!({"header": {"name": "routing", "value": {"matches": r"xadmin;server1;community#1\.0##"}}}),
        ]),
        json!({"default": {"reply": {"status": 500, "detail": "Invalid routing header"}}}),
    );
    let policy = ContentRouter::from_config(serde_json::from_value(config.clone()).unwrap()).unwrap();
    assert_eq!(policy.callbacks(), Callbacks::REQUEST_HEADERS);
    assert_eq!(policy.tick_period(), None);

    let mut worker = worker(&config);
    let headers = [SOAP_11, &[("routing", "xadmin;server1;community#1.0##")]].concat();
    let id = begin(&mut worker, &headers, false);
    assert_eq!(fared(&worker, id), to("r1"));
    assert_eq!(worker.body(id, Direction::Request, b"not looked at", true), Next::Continue);
    assert_eq!(worker.host.take_reads(), ["RequestHeaders"]);

    let headers = [SOAP_11, &[("routing", "xadmin;server1;community#1.0###")]].concat();
    let id = begin(&mut worker, &headers, false);
    let reply = worker.reply(id);
    assert_eq!(reply.status, 500);
    let body = String::from_utf8(reply.body).unwrap();
    assert!(body.contains(":Server<") && body.contains("Invalid routing header"), "{body}");
}

#[test]
fn copies_of_the_route_header_are_removed_on_every_way_through() {
    let forged = [
        ("x-portcullis-route", "r1"),
        ("x_portcullis_route", "r1"),
        ("x-portcullis-client-id", "root"),
        ("x-own", "1"),
    ];
    let actions = [json!("pass"), json!({"route": "mine"})];
    for (header, action) in ["x-portcullis-route", "x-own"]
        .into_iter()
        .flat_map(|header| actions.iter().map(move |a| (header, a)))
    {
        let config = json!({"header": header, "default": action,
            "rules": [{"when": {"header": {"name": header}}, "then": {"route": "forged"}}]});
        let mut worker = worker(&config);
        let id = begin(&mut worker, &forged, true);
        let headers = worker.host.upstream_headers(id);
        let expected: Vec<&[u8]> = if *action == json!("pass") { vec![] } else { vec![b"mine"] };
        assert_eq!(headers.all(header).collect::<Vec<_>>(), expected, "{header} {action}");
        assert!(!headers.contains("x_portcullis_route") && !headers.contains("x-portcullis-client-id"));
    }
}

#[test]
fn chain_without_bodies_needs_no_tick() {
    let host = portcullis_testkit::inprocess::TestHost::new(Default::default());
    host.fail(portcullis_testkit::inprocess::Fault::Tick);
    let headers_only = rules(&[json!({"method": ["GET"]})]);
    let chain = |config: &Value| {
        Chain::new().then_configured::<ContentRouter>(config.to_string().as_bytes()).unwrap()
    };
    assert!(portcullis_testkit::inprocess::Worker::start_with(chain(&headers_only), host).is_ok());

    let host = portcullis_testkit::inprocess::TestHost::new(Default::default());
    host.fail(portcullis_testkit::inprocess::Fault::Tick);
    let bodies = rules(&[json!({"operation": {"name": "a"}})]);
    let error = portcullis_testkit::inprocess::Worker::start_with(chain(&bodies), host).err().unwrap();
    assert!(error.to_string().contains("tick"), "{error}");
}
