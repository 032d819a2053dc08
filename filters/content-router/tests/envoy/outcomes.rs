//! What becomes of requests that have no route, or on which no rule can decide.

use portcullis_testkit::envoy::{AccessLog, PATIENCE};
use serde_json::json;

use crate::support::*;

#[test]
fn each_is_answered_in_its_own_language_and_goes_nowhere() {
    let mut policy = by_soap_header();
    policy["default"] = json!({"reply": {"status": 500, "detail": "Invalid routing header"}});
    policy["body"] = json!({"max_bytes": 4096});
    policy["undecided"] = json!({"no_body": "refuse"});
    let gateway = Gateway::start(&policy, Flag::True);
    let soap_with = |extra: Fields<'static>| [SOAP, extra].concat();
    let late = String::from_utf8(envelope("blue", 0))
        .unwrap()
        .replace("<routing", &format!("{}<routing", "<x/>".repeat(2000)))
        .into_bytes();
    for http in Http::BOTH {
        for (name, status, headers, body, says) in [
            ("defaulted", 500, SOAP.to_vec(), envelope("nowhere", 0), "Invalid routing header"),
            ("red.matched", 403, SOAP.to_vec(), envelope("red", 0), "Red is closed."),
            (
                "content_type",
                415,
                vec![("content-type", &b"text/plain"[..])],
                envelope("blue", 0),
                "\"status\":415",
            ),
            ("content_type", 415, vec![], envelope("blue", 0), "\"status\":415"),
            ("encoded", 415, soap_with(&[("content-encoding", b"gzip")]), envelope("blue", 0), "Fault"),
            (
                "multipart",
                415,
                vec![("content-type", &b"multipart/related; type=\"application/xop+xml\"; boundary=b"[..])],
                envelope("blue", 0),
                "\"status\":415",
            ),
            ("too_large", 413, SOAP.to_vec(), late.clone(), "Fault"),
            ("malformed", 400, SOAP.to_vec(), b"<a".to_vec(), "Fault"),
            ("malformed", 400, SOAP.to_vec(), b"<!DOCTYPE a [<!ENTITY b 'c'>]><a/>".to_vec(), "Fault"),
            ("no_body", 400, SOAP.to_vec(), Vec::new(), "Fault"),
        ] {
            let before = gateway.count(name);
            let response = http.request(gateway.addr(), "POST", "/", &headers, &body);
            let case = format!("{http:?} {name}: {}", response.text());
            // A SOAP fault may have another status than the problem it stands for (SOAP 1.1, section 6.2).
            assert!(response.status == status || response.status == 500, "{} for {case}", response.status);
            assert!(response.text().contains(says), "{case}");
            assert_eq!(gateway.count(name), before + 1, "{case}");
        }
    }
    assert_eq!(gateway.counts(), [0, 0, 0]);
}

#[test]
fn requests_pass_without_a_route_where_that_is_configured() {
    let mut policy = by_soap_header();
    policy["default"] = json!("pass");
    policy["undecided"] = json!({"malformed": "pass", "content_type": "default"});
    let gateway = Gateway::start(&policy, Flag::True);
    for http in Http::BOTH {
        gateway.clear();
        let forged: Fields = &[("x-portcullis-route", b"blue"), ("X_Portcullis_Route", b"blue")];
        for (headers, body) in [
            ([SOAP, forged].concat(), envelope("nowhere", 0)),
            ([SOAP, forged].concat(), b"<a".to_vec()),
            ([&[("content-type", &b"text/plain"[..])], forged].concat(), envelope("blue", 0)),
            ([SOAP, forged].concat(), Vec::new()),
        ] {
            assert_eq!(http.request(gateway.addr(), "POST", "/", &headers, &body).status, 200);
        }
        assert_eq!(gateway.counts(), [0, 0, 4], "{http:?}");
        for request in gateway.other.requests() {
            assert!(!request.headers.iter().any(|(name, _)| name.contains("portcullis")), "{request:?}");
        }
    }
}

#[test]
fn a_forged_route_header_wins_nothing_on_any_way() {
    let forged: Fields = &[
        ("x-portcullis-route", b"green"),
        ("x_portcullis_route", b"green"),
        ("x-portcullis_route", b"green"),
    ];
    for http in Http::BOTH {
        let gateway = Gateway::start(&by_soap_header(), Flag::True);
        let headers = [SOAP, forged].concat();
        let trailers: Fields = &[("x-portcullis-route", b"green"), ("x-sum", b"1")];
        let mut request = http.begin(gateway.addr(), "POST", "/", &headers, Body::Chunked);
        request.send(&envelope("blue", 0)).unwrap();
        request.end(trailers).unwrap();
        assert_eq!(request.response().unwrap().status, 200);
        let requests = gateway.blue.requests();
        let suite: Vec<_> =
            requests[0].headers.iter().filter(|(name, _)| name.contains("portcullis")).collect();
        assert_eq!(suite, [("x-portcullis-route", &b"blue"[..])], "{http:?}");
        let trailers: Vec<_> = requests[0].trailers.iter().collect();
        assert_eq!(trailers, [("x-sum", &b"1"[..])], "{http:?}");

        for (headers, body, status) in [
            (headers.clone(), envelope("red", 0), 403),
            (headers.clone(), envelope("nowhere", 0), 404),
            (headers.clone(), b"<a".to_vec(), 400),
        ] {
            let response = http.request(gateway.addr(), "POST", "/", &headers, &body);
            assert!([status, 500].contains(&response.status), "{}", response.status);
        }
        assert_eq!(gateway.counts(), [1, 0, 0]);
    }
}

#[test]
fn the_outcome_stands_in_native_access_logs() {
    let gateway = Gateway::start_with(|config| {
        config
            .access_log(AccessLog::Stdout(
                "%FILTER_STATE(wasm.portcullis.content-router.outcome:PLAIN)% %RESPONSE_CODE_DETAILS%"
                    .to_owned(),
            ))
            .filter(plugin(&by_soap_header(), Flag::True))
    });
    for (routing, expected) in [
        ("blue", "content-router:passed:rule"),
        ("red", "content-router:rejected:rule"),
        ("no", "rejected:default"),
    ] {
        Http::One.request(gateway.addr(), "POST", "/", SOAP, &envelope(routing, 0));
        gateway.envoy.wait_for_stdout(PATIENCE, |line| line.contains(expected));
    }
}

#[test]
fn grpc_calls_are_answered_as_such_and_upgrades_are_not_held() {
    let gateway = Gateway::start_with(|config| {
        config
            .merge_connection_manager(json!({"upgrade_configs": [{"upgrade_type": "websocket"}]}))
            .filter(plugin(&by_soap_header(), Flag::True))
    });
    let grpc: Fields = &[("content-type", b"application/grpc"), ("te", b"trailers")];
    let response = Http::Two.request(gateway.addr(), "POST", "/a.B/C", grpc, b"\0\0\0\0\0");
    assert_eq!(response.status, 200);
    assert!(response.headers.contains("grpc-status"), "{response:?}");

    let upgrade: Fields = &[
        ("connection", b"upgrade"),
        ("upgrade", b"websocket"),
        ("sec-websocket-key", b"AAAAAAAAAAAAAAAAAAAAAA=="),
    ];
    let response = Http::One.request(gateway.addr(), "GET", "/", upgrade, b"");
    assert_eq!(response.status, 404, "it has no route, and is told so at once");
    assert_eq!(gateway.count("no_body"), 1);
}
