//! Requests reach the upstream that the rules name, by every kind of condition, however their bodies come.

use portcullis_testkit::envoy::{FailurePolicy, WasmPlugin, concurrently};
use serde_json::{Value, json};

use crate::support::*;

/// How a body comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    Length,
    Chunks,
    Trailers,
}

impl Shape {
    const ALL: [Self; 3] = [Self::Length, Self::Chunks, Self::Trailers];

    fn body(self, length: usize) -> Body {
        match self {
            Self::Length => Body::Length(length),
            Self::Chunks | Self::Trailers => Body::Chunked,
        }
    }

    fn trailers(self) -> Fields<'static> {
        if self == Self::Trailers { &[("x-sum", b"1")] } else { &[] }
    }
}

/// Sends a request with its body in pieces; gives the status.
#[track_caller]
fn send(gateway: &Gateway, http: Http, path: &str, headers: Fields, pieces: &[&[u8]], shape: Shape) -> u16 {
    let length = pieces.iter().map(|piece| piece.len()).sum();
    let mut request = http.begin(gateway.addr(), "POST", path, headers, shape.body(length));
    for piece in pieces.iter().filter(|piece| !piece.is_empty()) {
        request.send(piece).unwrap();
    }
    match shape {
        Shape::Length => request.finish(),
        Shape::Chunks | Shape::Trailers => {
            request.end(shape.trailers()).unwrap();
        }
    }
    request.response().unwrap().status
}

const SOAP_12: Fields = &[("content-type", b"application/soap+xml; action=\"urn:buyStocks\"")];
const JSON: Fields = &[("content-type", b"application/json; charset=utf-8")];
const XML: Fields = &[("content-type", b"application/xml")];

/// A request that a condition is true of: the condition, path, headers, body.
type Case = (Value, &'static str, Vec<(&'static str, &'static [u8])>, Vec<u8>);

fn cases() -> Vec<Case> {
    let soap_12 = String::from_utf8(envelope("x", 0))
        .unwrap()
        .replace("http://schemas.xmlsoap.org/soap/envelope/", "http://www.w3.org/2003/05/soap-envelope")
        .into_bytes();
    let with = |extra: Fields<'static>| [SOAP, extra].concat();
    let header = |value: Value| json!({"header": {"name": "routing", "value": value}});
    let routing =
        |value: Value| json!({"soap-header": {"namespace": ROUTING, "name": "routing", "value": value}});
    let buy = json!({"operation": {"namespace": "http://services.samples/xsd", "name": "buyStocks"}});
    let xpath = |text: &str, value: Value| json!({"xpath": {"expression": text, "value": value}});
    vec![
        (header(json!({"exact": "a"})), "/", with(&[("routing", b"a")]), envelope("x", 0)),
        (
            header(json!({"matches": "a+"})),
            "/",
            with(&[("routing", b"a"), ("routing", b"aa")]),
            envelope("x", 0),
        ),
        (json!({"method": ["POST"]}), "/", SOAP.to_vec(), envelope("x", 0)),
        (json!({"path": {"prefix": "/a"}}), "/a/b?c", SOAP.to_vec(), envelope("x", 0)),
        (json!({"query": {"name": "c", "value": {"exact": "d"}}}), "/?c=d", SOAP.to_vec(), envelope("x", 0)),
        (json!({"action": {"exact": "urn:buyStocks"}}), "/", SOAP.to_vec(), envelope("x", 0)),
        (json!({"action": {"exact": "urn:buyStocks"}}), "/", SOAP_12.to_vec(), soap_12.clone()),
        (routing(json!({"matches": "[a-z]"})), "/", SOAP.to_vec(), envelope("x", 1000)),
        (routing(json!({"exact": "x"})), "/", SOAP_12.to_vec(), soap_12.clone()),
        (buy.clone(), "/", SOAP.to_vec(), envelope("x", 1000)),
        (buy, "/", SOAP_12.to_vec(), soap_12),
        (
            xpath("/soap11:Envelope/soap11:Header/r:routing", json!({"exact": "x"})),
            "/",
            SOAP.to_vec(),
            envelope("x", 0),
        ),
        (xpath("count(//order) > 3", Value::Null), "/", SOAP.to_vec(), envelope("x", 1000)),
        (xpath("/order/@id", json!({"exact": "7"})), "/", XML.to_vec(), b"<order id='7'/>".to_vec()),
        (
            json!({"json": {"pointer": "/order/0/id", "value": {"exact": "7"}}}),
            "/",
            JSON.to_vec(),
            br#"{"order":[{"id":7}]}"#.to_vec(),
        ),
        (
            json!({"json": {"pointer": "/total", "value": {"number": {"at_least": 10000}}}}),
            "/",
            JSON.to_vec(),
            br#"{"total": 1E+5}"#.to_vec(),
        ),
        (
            json!({"query": {"name": "n", "value": {"number": {"more_than": -1, "at_most": 2.5}}}}),
            "/?n=2.50",
            SOAP.to_vec(),
            envelope("x", 0),
        ),
        (header(json!({"number": {"less_than": 1}})), "/", with(&[("routing", b"0.999")]), envelope("x", 0)),
    ]
}

/// The rules for all cases: a request says in a header which of them it is, and gets `blue` if its condition is true,
/// `green` if it is not.
fn rules_for_all_cases() -> Value {
    let mut rules = Vec::new();
    for (number, (condition, ..)) in cases().into_iter().enumerate() {
        for (case, condition) in
            [(number.to_string(), condition.clone()), (format!("not-{number}"), json!({"not": condition}))]
        {
            let is_case = json!({"header": {"name": "x-case", "value": {"exact": case}}});
            rules.push(json!({"when": {"all": [is_case, condition]}, "then": {"route": "blue"}}));
            rules.push(json!({"when": is_case, "then": {"route": "green"}}));
        }
    }
    json!({"rules": rules, "namespaces": {"r": ROUTING}, "body": {"xpath": "buffered"}})
}

#[test]
fn every_condition_finds_its_upstream_however_the_body_comes() {
    let gateway = Gateway::start(&rules_for_all_cases(), Flag::True);
    for (number, (condition, path, headers, body)) in cases().into_iter().enumerate() {
        for (case, name) in [(number.to_string(), "blue"), (format!("not-{number}"), "green")] {
            let mut headers = headers.clone();
            headers.push(("x-case", case.as_bytes()));
            let backend = if name == "blue" { &gateway.blue } else { &gateway.green };
            for http in Http::BOTH {
                for shape in Shape::ALL {
                    gateway.clear();
                    let (head, tail) = body.split_at(body.len() / 3);
                    assert_eq!(
                        send(&gateway, http, path, &headers, &[head, tail], shape),
                        200,
                        "{condition}"
                    );
                    let requests = backend.requests();
                    assert_eq!(requests.len(), 1, "{condition} {http:?} {shape:?}: {:?}", gateway.counts());
                    assert_eq!(requests[0].body, body, "{condition} {http:?} {shape:?}");
                    assert_eq!(requests[0].headers.all("x-portcullis-route"), [name.as_bytes()]);
                    assert_eq!(requests[0].trailers.contains("x-sum"), shape == Shape::Trailers);
                    assert_eq!(gateway.counts().iter().sum::<usize>(), 1);
                }
            }
        }
    }
}

/// With a configuration as Envoy's own, in which every number is a double.
#[test]
fn small_orders_alone_go_the_short_way_whatever_a_reader_makes_of_the_others() {
    let small =
        json!({"json": {"pointer": "/total", "value": {"number": {"at_least": 0, "less_than": 10000.5}}}});
    let policy = json!({
        "rules": [{"when": small, "then": {"route": "blue"}}],
        "default": {"route": "green"},
    });
    let plugin = WasmPlugin::module("content-router")
        .struct_configuration(policy)
        .failure_policy(FailurePolicy::FailClosed)
        .allow_on_headers_stop_iteration(true);
    let gateway = Gateway::start_with(|config| config.filter(plugin));
    for http in Http::BOTH {
        for (body, status, counts) in [
            (r#"{"total": 10000}"#, 200, [1, 0, 0]),
            (r#"{"total": 1e4}"#, 200, [1, 0, 0]),
            (r#"{"total": 100000e-1}"#, 200, [1, 0, 0]),
            (r#"{"total": 1e5}"#, 200, [0, 1, 0]),
            (r#"{"total": 10000.5}"#, 200, [0, 1, 0]),
            (r#"{"total": "10"}"#, 200, [0, 1, 0]),
            (r#"{}"#, 200, [0, 1, 0]),
            (r#"{"total": 1, "Total": 1e5}"#, 400, [0, 0, 0]),
            (r#"{"Total": 1e5}"#, 400, [0, 0, 0]),
            (r#"{"total": 10000.49999999999999999999999}"#, 400, [0, 0, 0]),
        ] {
            gateway.clear();
            let sent = send(&gateway, http, "/", JSON, &[body.as_bytes()], Shape::Length);
            assert_eq!((sent, gateway.counts()), (status, counts), "{http:?} {body}");
        }
    }
    assert_eq!(gateway.count("malformed"), 2 * 3);
}

#[test]
fn a_body_that_is_cut_at_any_byte_up_to_the_decision_finds_its_upstream() {
    let gateway = Gateway::start(&by_soap_header(), Flag::True);
    for http in Http::BOTH {
        for (route, place) in [("blue", 0), ("green", 1)] {
            let body = envelope(route, 0);
            let end = String::from_utf8(body.clone()).unwrap().find("</soapenv:Header>").unwrap() + 18;
            gateway.clear();
            for cut in 0..=end {
                let (head, tail) = body.split_at(cut);
                let shape = Shape::ALL[cut % 3];
                assert_eq!(send(&gateway, http, "/", SOAP, &[head, tail], shape), 200, "{http:?} {cut}");
            }
            assert_eq!(gateway.counts()[place], end + 1, "{http:?} {route}");
            let backend = if place == 0 { &gateway.blue } else { &gateway.green };
            assert!(backend.requests().iter().all(|request| request.body == body));
        }
    }
    assert_eq!(gateway.other.count(), 0);
}

#[test]
fn a_body_in_single_bytes_finds_its_upstream() {
    let gateway = Gateway::start(&by_soap_header(), Flag::True);
    let body = envelope("green", 0);
    let pieces: Vec<&[u8]> = body.chunks(1).collect();
    for http in Http::BOTH {
        assert_eq!(send(&gateway, http, "/", SOAP, &pieces, Shape::Trailers), 200);
    }
    assert_eq!(gateway.counts(), [0, 2, 0]);
    assert!(gateway.green.requests().iter().all(|request| request.body == body));
}

#[test]
fn two_workers_route_alike() {
    let gateway =
        Gateway::start_with(|config| config.workers(2).filter(plugin(&by_soap_header(), Flag::True)));
    for http in Http::BOTH {
        concurrently(40, |n| {
            let body = envelope(if n % 2 == 0 { "blue" } else { "green" }, 5000);
            assert_eq!(http.request(gateway.addr(), "POST", "/", SOAP, &body).status, 200);
        });
    }
    assert_eq!(gateway.counts(), [40, 40, 0]);
    let rules = ["blue", "green"].map(|rule| gateway.count(&format!("{rule}.matched")));
    assert_eq!(rules, [40, 40]);
    assert!(gateway.envoy.connections_by_worker().iter().all(|connections| *connections > 0));
}
