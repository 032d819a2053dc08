//! Which messages are transformed.

use portcullis_policy::{Direction, outcome_property};
use serde_json::{Value, json};

use crate::support::*;

fn when(condition: &Value) -> Value {
    json!({"stylesheet": a_to_b(), "when": condition})
}

fn is_transformed(config: &Value, request: &[(&str, &str)], response: Option<&[(&str, &str)]>) -> bool {
    let mut worker = worker(config);
    let id = worker.open();
    let mut headers =
        vec![(":method", "POST"), (":path", "/orders?kind=new"), (":authority", "Shop.test:80")];
    headers.extend(request);
    let (at, body) = match response {
        None => {
            worker.request_headers(id, headers, false);
            (Direction::Request, worker.body(id, Direction::Request, b"<a/>", true))
        }
        Some(response) => {
            worker.request_headers(id, headers, true);
            worker.response_headers(id, response.iter().copied(), false);
            (Direction::Response, worker.body(id, Direction::Response, b"<a/>", true))
        }
    };
    assert_eq!(body, portcullis_policy::Next::Continue);
    match &*worker.host.passed_body(id, at) {
        b"<b/>" => true,
        b"<a/>" => false,
        other => panic!("{other:?}"),
    }
}

#[test]
fn requests_are_picked_by_their_headers() {
    for (condition, expected) in [
        (json!({"header": {"name": "X-Partner", "value": {"exact": "acme"}}}), true),
        (json!({"header": {"name": "x-partner", "value": {"exact": "evil"}}}), false),
        (json!({"media-type": {"exact": "text/xml"}}), true),
        (json!({"media-type": {"prefix": "application/"}}), false),
        (json!({"method": ["PUT", "POST"]}), true),
        (json!({"path": {"exact": "/orders"}}), true),
        (json!({"path": {"prefix": "/order/"}}), false),
        (json!({"host": {"exact": "shop.test"}}), true),
        (json!({"query": {"name": "kind", "value": {"matches": "n.w"}}}), true),
        (json!({"not": {"query": {"name": "kind"}}}), false),
        (json!({"all": [{"method": ["POST"]}, {"not": {"header": {"name": "x-none"}}}]}), true),
        (json!({"any": [{"method": ["GET"]}, {"header": {"name": "x-none"}}]}), false),
    ] {
        let config = json!({"request": when(&condition)});
        let headers = [("content-type", "Text/XML; charset=utf-8"), ("x-partner", "acme")];
        assert_eq!(is_transformed(&config, &headers, None), expected, "{condition}");
    }
}

#[test]
fn responses_are_picked_by_their_own_headers_and_by_what_the_request_was() {
    for (condition, expected) in [
        (json!({"status": ["2xx"]}), false),
        (json!({"status": ["404", "500-503"]}), true),
        (json!({"header": {"name": "x-kind", "value": {"exact": "fault"}}}), true),
        (json!({"header": {"name": "x-partner"}}), false),
        (json!({"request-header": {"name": "x-partner"}}), true),
        (json!({"media-type": {"exact": "text/xml"}}), true),
        (json!({"path": {"exact": "/orders"}}), true),
        (json!({"all": [{"status": ["500"]}, {"method": ["GET"]}]}), false),
        (json!({"any": [{"status": ["200"]}, {"query": {"name": "kind"}}]}), true),
    ] {
        let config = json!({"response": when(&condition)});
        let response = [(":status", "500"), ("content-type", "text/xml"), ("x-kind", "fault")];
        assert_eq!(
            is_transformed(&config, &[("x-partner", "acme")], Some(&response)),
            expected,
            "{condition}"
        );
    }
}

#[test]
fn what_the_condition_leaves_out_may_be_anything() {
    let mut worker = worker(&both(&when(&json!({"media-type": {"exact": "text/xml"}}))));
    for at in BOTH {
        for headers in [
            &[("content-type", "application/json")][..],
            &[],
            &[("content-type", "application/json"), ("content-encoding", "gzip")],
        ] {
            assert_eq!(send(&mut worker, at, headers, "{}"), passed("{}"));
        }
    }
    assert_eq!(
        (count(&worker, "request.exempt"), count(&worker, "response.exempt")),
        (3 + 3, 3),
        "with plain requests"
    );
}

#[test]
fn replies_of_envoy_and_of_policies_are_not_the_upstream_s() {
    let mut worker = worker(&json!({"response": {"stylesheet": a_to_b()}}));
    for (details, expected) in
        [("via_upstream", "<b/>"), ("direct_response", "<a/>"), ("content_router_no_route", "<a/>")]
    {
        let id = worker.request([(":method", "GET"), (":path", "/")]);
        worker.host.give_property(id, &["response", "code_details"], details.as_bytes());
        worker.response_headers(id, [(":status", "200"), ("content-type", "text/xml")], false);
        worker.body(id, Direction::Response, b"<a/>", true);
        assert_eq!(worker.host.passed_body(id, Direction::Response), expected.as_bytes(), "{details}");
    }
}

#[test]
fn outcomes_say_what_was_done_to_each_message() {
    let mut worker = worker(&both(&json!({"stylesheet": a_to_b()})));
    let id = worker.open();
    worker.request_headers(id, [(":method", "POST"), (":path", "/"), ("content-type", "text/xml")], false);
    worker.body(id, Direction::Request, b"<a/>", true);
    let property = [&*outcome_property("xslt-transform")].map(str::to_owned);
    let read = |worker: &portcullis_testkit::inprocess::Worker| {
        String::from_utf8(worker.host.property_of(id, &[&property[0]]).unwrap()).unwrap()
    };
    assert_eq!(read(&worker), "xslt-transform:passed:request-transformed");
    worker.response_headers(id, [(":status", "200"), ("content-type", "text/xml")], false);
    worker.body(id, Direction::Response, b"<a>", true);
    assert_eq!(read(&worker), "xslt-transform:failed-closed:response-malformed");
}

/// Whoever reads it otherwise than this policy would get it untransformed.
#[test]
fn a_media_type_that_cannot_be_read_fails_where_the_condition_depends_on_it() {
    let xml = json!({"media-type": {"exact": "text/xml"}});
    let unreadable = [
        &[("content-type", "text/xml;charset")][..],
        &[("content-type", "text/xml; charset=utf-8; charset=utf-8")],
        &[("content-type", "text/xml"), ("content-type", "text/xml")],
        &[("content-type", "text/xml, text/plain")],
        &[("content-type", "")],
    ];
    for (condition, refused) in [
        (xml.clone(), true),
        (json!({"not": xml}), true),
        (json!({"all": [xml, {"path": {"prefix": "/"}}]}), true),
        (json!({"all": [xml, {"path": {"exact": "/other"}}]}), false),
    ] {
        for at in BOTH {
            let mut worker = worker(&both(&when(&condition)));
            for headers in unreadable {
                let status = if at == Direction::Request { 415 } else { 502 };
                let expected = if refused { Fared::Refused(status) } else { passed("<a/>") };
                assert_eq!(send(&mut worker, at, headers, "<a/>"), expected, "{condition} {headers:?}");
            }
            let failed = if refused { 5 } else { 0 };
            assert_eq!(count(&worker, &format!("{}.content_type", word(at))), failed);
        }
        // Without any, it is none of those that the condition names.
        let mut worker = worker(&json!({"request": when(&json!({"media-type": {"exact": "text/xml"}}))}));
        assert_eq!(send(&mut worker, Direction::Request, &[], "<a/>"), passed("<a/>"));
    }
}

/// The request's headers say enough.
#[test]
fn headers_of_responses_that_the_request_rules_out_are_not_read() {
    let mut worker = worker(&json!({"response": when(&json!({"path": {"exact": "/orders"}}))}));
    let id = worker.request([(":method", "GET"), (":path", "/other")]);
    worker.host.take_reads();
    worker.response_headers(id, [(":status", "200"), ("content-type", "text/xml")], false);
    assert_eq!(worker.host.take_reads(), Vec::<String>::new());
    assert_eq!(count(&worker, "response.exempt"), 1);
}
