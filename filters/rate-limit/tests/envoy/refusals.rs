//! What a refused client is told, and that the backend does not hear of it.

use portcullis_testkit::envoy::{h1, h2};
use serde_json::{Value, json};

use crate::support::*;

/// A gateway whose quota is used up.
fn used_up(members: Value) -> Gateway {
    let gateway = Gateway::start(&two_an_hour(members));
    for http in Http::BOTH {
        assert!(gateway.passes(http, &[]));
    }
    assert_eq!(gateway.backend.count(), 2);
    gateway
}

/// Retry-After, which must be within the hour.
#[track_caller]
fn retry_after(response: &portcullis_testkit::envoy::Response) -> u64 {
    let values = response.headers.all("retry-after");
    assert_eq!(values.len(), 1);
    let seconds = std::str::from_utf8(values[0]).unwrap().parse().unwrap();
    assert!((3_000..=3_600).contains(&seconds), "{seconds}");
    seconds
}

#[test]
fn answers_429_with_a_problem_document_and_when_to_come_again() {
    let gateway = used_up(json!({"name": "hourly", "headers": "ietf"}));
    for http in Http::BOTH {
        let response = http.get(gateway.addr(), &[]);
        assert_eq!(response.status, 429);
        let seconds = retry_after(&response);
        assert_eq!(
            limit_fields(&response)[1..],
            [
                "ratelimit-policy: \"hourly\";q=2;w=3600".to_owned(),
                format!("ratelimit: \"hourly\";r=0;t={seconds}")
            ],
            "{http:?}"
        );
        assert_eq!(response.headers.text("content-type").as_deref(), Some("application/problem+json"));
        let body: Value = serde_json::from_slice(&response.body).unwrap();
        assert_eq!(
            body,
            json!({
                "type": "https://iana.org/assignments/http-problem-types#quota-exceeded",
                "title": "Request cannot be satisfied as assigned quota has been exceeded",
                "status": 429,
                "violated-policies": ["hourly"],
            })
        );
    }
    assert_eq!(gateway.backend.count(), 2);
    assert_eq!((gateway.count("admitted"), gateway.count("rejected")), (2, 2));
    assert_eq!((gateway.count("hourly.admitted"), gateway.count("hourly.rejected")), (2, 2));
}

/// The module's reply comes by it as a response, too: nothing must stand there twice.
#[test]
fn says_everything_once() {
    for (dialect, fields) in [("off", 1), ("mule", 4), ("envoy", 5), ("kong", 6), ("ietf", 3)] {
        let gateway = used_up(json!({"headers": dialect}));
        for http in Http::BOTH {
            let response = http.get(gateway.addr(), &[]);
            assert_eq!(response.status, 429);
            assert_eq!(limit_fields(&response).len(), fields, "{dialect}: {:?}", limit_fields(&response));
        }
    }
}

#[test]
fn answers_with_a_status_and_a_body_of_the_operator_s() {
    let body =
        json!({"text": "{\"message\":\"API rate limit exceeded\"}", "content_type": "application/json"});
    let gateway = used_up_with_503(body);
    for http in Http::BOTH {
        let response = http.get(gateway.addr(), &[]);
        assert_eq!(response.status, 503);
        retry_after(&response);
        assert_eq!(response.headers.all("content-type"), [b"application/json"]);
        assert_eq!(response.text(), "{\"message\":\"API rate limit exceeded\"}");
    }
}

fn used_up_with_503(body: Value) -> Gateway {
    used_up(json!({"rejection": {"status": 503, "body": body}}))
}

#[test]
fn answers_soap_callers_with_a_fault() {
    let gateway = used_up(json!({"rejection": {"body": {"text": "no"}}}));
    let cases: [(Fields, &str, &str); 2] = [
        (
            &[("content-type", b"text/xml; charset=utf-8"), ("SOAPAction", b"\"urn:order\"")],
            "text/xml; charset=utf-8",
            "<soapenv:Fault><faultcode>soapenv:Client</faultcode>",
        ),
        (
            &[("content-type", b"application/soap+xml; action=order")],
            "application/soap+xml; charset=utf-8",
            "<env:Fault><env:Code><env:Value>env:Sender</env:Value>",
        ),
    ];
    for http in Http::BOTH {
        for (headers, content_type, fault) in cases {
            let response = http.request(gateway.addr(), "POST", "/", headers);
            assert_eq!(response.status, 429);
            retry_after(&response);
            assert_eq!(response.headers.text("content-type").as_deref(), Some(content_type));
            assert!(response.text().contains(fault), "{http:?}: {}", response.text());
        }
    }
    assert_eq!(gateway.backend.count(), 2);
}

#[test]
fn answers_grpc_callers_with_trailers_only() {
    let gateway = used_up(json!({}));
    let grpc: Fields = &[("content-type", b"application/grpc+proto"), ("te", b"trailers")];
    let response = h2::request(gateway.addr(), "POST", "/shop.Shop/Order", grpc, &[b"\0\0\0\0\0"], &[]);
    assert_eq!(response.status, 200);
    // UNAVAILABLE, as gRPC maps 429.
    assert_eq!(response.headers.text("grpc-status").as_deref(), Some("14"));
    retry_after(&response);
    assert_eq!(gateway.backend.count(), 2);
}

#[test]
fn keeps_a_connection_whose_request_was_refused() {
    let gateway = used_up(json!({}));
    let mut connection = h1::Connection::open(gateway.addr());
    connection.send("HEAD", "/", &[], b"").unwrap();
    assert_eq!(connection.read_head_response().unwrap().status, 429);
    // Had a body followed, this would not be the next thing that is read.
    for _ in 0..2 {
        connection.send("GET", "/", &[], b"").unwrap();
        assert_eq!(connection.read_response().unwrap().status, 429);
    }
    let connection = h2::Connection::open(gateway.addr());
    let body: &[u8] = b"body";
    for body in [&[][..], &[body]] {
        assert_eq!(connection.request("POST", "/", &[], body, &[]).status, 429);
    }
    assert_eq!(gateway.backend.count(), 2);
}

#[test]
fn refuses_nobody_in_shadow_mode() {
    let gateway = used_up(json!({"mode": "shadow", "headers": "mule"}));
    for http in Http::BOTH {
        let response = http.get(gateway.addr(), &[]);
        assert_eq!(response.status, 200);
        assert!(!response.headers.contains("retry-after"));
        assert_eq!(response.headers.text("x-ratelimit-remaining").as_deref(), Some("0"));
    }
    assert_eq!(gateway.backend.count(), 4);
    assert_eq!((gateway.count("shadow_rejected"), gateway.count("rejected")), (2, 0));
}
