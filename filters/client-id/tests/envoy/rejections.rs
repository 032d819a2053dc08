//! What a refused caller is told, in its own language.

use portcullis_testkit::envoy::{ClosedPort, h1, h2};
use serde_json::{Value, json};

use crate::support::{Fields, Gateway, Http, auth_service, per_request};

fn gateway() -> (portcullis_testkit::envoy::Backend, Gateway) {
    let auth = auth_service();
    let gateway = Gateway::start(&per_request(json!({"rejection": {"realm": "the \"shop\""}})), auth.addr());
    (auth, gateway)
}

#[test]
fn challenges_with_a_problem_document() {
    let (_auth, gateway) = gateway();
    for http in Http::BOTH {
        let response = http.get(gateway.addr(), "/", &[]);
        assert_eq!(response.status, 401);
        let challenge: &[u8] = br#"Basic realm="the \"shop\"", charset="UTF-8""#;
        assert_eq!(response.headers.all("www-authenticate"), [challenge], "{http:?}");
        assert_eq!(response.headers.text("content-type").as_deref(), Some("application/problem+json"));
        let body: Value = serde_json::from_slice(&response.body).unwrap();
        assert_eq!(body, json!({"type": "about:blank", "title": "Unauthorized", "status": 401}));
        assert_eq!(
            response.headers.text("content-length"),
            Some(response.body.len().to_string()),
            "{http:?}"
        );
    }
}

#[test]
fn answers_soap_callers_with_a_fault() {
    let (_auth, gateway) = gateway();
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
    let before = gateway.mark();
    for http in Http::BOTH {
        for (headers, content_type, fault) in cases {
            let response = http.request(gateway.addr(), "POST", "/", headers, b"<order/>");
            assert_eq!(response.status, 401, "{http:?} {content_type}");
            assert_eq!(response.headers.text("content-type").as_deref(), Some(content_type), "{http:?}");
            assert!(response.headers.contains("www-authenticate"));
            assert!(response.text().contains(fault), "{http:?}: {}", response.text());
        }
    }
    gateway.assert_backend_untouched_since(&before);
}

#[test]
fn answers_head_without_a_body() {
    let (_auth, gateway) = gateway();
    let mut connection = h1::Connection::open(gateway.addr());
    for _ in 0..3 {
        connection.send("HEAD", "/", &[], b"").unwrap();
        let response = connection.read_head_response().unwrap();
        assert_eq!(response.status, 401);
        assert!(response.headers.contains("www-authenticate"));
    }
    // Had a body followed, this would not be the next thing that is read.
    connection.send("GET", "/", &[], b"").unwrap();
    let response = connection.read_response().unwrap();
    assert!(response.text().contains("Unauthorized"));

    let response = h2::request(gateway.addr(), "HEAD", "/", &[], &[], &[]);
    assert_eq!((response.status, response.body.len()), (401, 0));
}

/// gRPC over HTTP/2: "Trailers-Only" is one HEADERS frame with status 200 and the gRPC status.
#[test]
fn answers_grpc_callers_with_trailers_only() {
    let auth = auth_service();
    let port = ClosedPort::reserve();
    let gateway = Gateway::start(&per_request(json!({})), auth.addr());
    let out = Gateway::start(&per_request(json!({})), port.addr());
    let grpc: Fields = &[("content-type", b"application/grpc+proto"), ("te", b"trailers")];
    let good: Fields = &[("client_id", b"acme"), ("client_secret", b"s3cret")];
    let frame: &[u8] = b"\0\0\0\0\0";
    for (gateway, headers, status, message) in [
        // UNAUTHENTICATED and UNAVAILABLE, as gRPC maps 401 and 503.
        (&gateway, grpc.to_vec(), "16", "Unauthorized"),
        (&out, [grpc, good].concat(), "14", "The client cannot be verified at the moment."),
    ] {
        for body in [&[][..], &[frame]] {
            let response = h2::request(gateway.addr(), "POST", "/shop.Shop/Order", &headers, body, &[]);
            assert_eq!(response.status, 200);
            assert_eq!(response.headers.text("grpc-status").as_deref(), Some(status));
            let text = response.headers.text("grpc-message").unwrap_or_default();
            assert_eq!(text.replace("%20", " "), message);
            assert_eq!(response.headers.text("content-type").as_deref(), Some("application/grpc"));
            assert!(response.body.is_empty() && response.trailers.is_empty());
        }
        assert_eq!(gateway.backend.count(), 0);
    }
}

#[test]
fn keeps_a_connection_whose_request_was_refused() {
    let (_auth, gateway) = gateway();
    let good: Fields = &[("client_id", b"acme"), ("client_secret", b"s3cret")];
    let malformed: Fields = &[("authorization", b"Basic ?")];
    let mut connection = h1::Connection::open(gateway.addr());
    for (headers, status) in [(&[][..], 401), (good, 200), (&[], 401), (malformed, 400)] {
        connection.send("GET", "/", headers, b"").unwrap();
        assert_eq!(connection.read_response().unwrap().status, status);
    }
    // Envoy takes any 400 over HTTP/1.1 for a sign that the peers disagree on where messages end.
    assert_eq!(connection.read_to_end().unwrap(), b"");

    let connection = h2::Connection::open(gateway.addr());
    for (headers, status) in [(&[][..], 401), (good, 200), (malformed, 400), (good, 200)] {
        assert_eq!(connection.request("GET", "/", headers, &[], &[]).status, status);
    }
}
