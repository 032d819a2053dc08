//! Lawful HTTP that is seldom seen.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Instant;

use portcullis_testkit::envoy::{Behaviour, EnvoyConfig, HostileServer, PATIENCE, h1, http_reply};
use serde_json::json;

use crate::support::{Fields, Gateway, Http, admission, auth_service, per_request, plugin};

const GOOD: Fields = &[("client_id", b"acme"), ("client_secret", b"s3cret")];

#[test]
fn pipelined_requests_are_each_decided_for_themselves() {
    let auth = auth_service();
    let gateway = Gateway::start(&per_request(json!({"cache": {"entries": 0}})), auth.addr());
    let wrong: Fields = &[("client_id", b"acme"), ("client_secret", b"wrong")];
    let mut bytes = Vec::new();
    for (path, headers, body) in [
        ("/1", GOOD, &b""[..]),
        ("/2", &[], b""),
        ("/3", GOOD, b"body of 3"),
        ("/4", wrong, b"body of 4"),
        ("/5", GOOD, b""),
    ] {
        bytes.extend(h1::head("POST", path, headers, body.len()));
        bytes.extend(body);
    }
    let mut connection = h1::Connection::open(gateway.addr());
    connection.send_raw(&bytes).unwrap();
    let statuses: Vec<u16> = (0..5).map(|_| connection.read_response().unwrap().status).collect();
    assert_eq!(statuses, [200, 401, 200, 401, 200]);
    let requests = gateway.backend.requests();
    let paths: Vec<_> = requests.iter().map(|request| request.path.as_str()).collect();
    assert_eq!(paths, ["/1", "/3", "/5"]);
    assert_eq!(requests[1].body, b"body of 3");
}

#[test]
fn a_request_that_comes_byte_by_byte_is_decided_when_its_head_is_whole() {
    let auth = auth_service();
    let gateway = Gateway::start(&per_request(json!({})), auth.addr());
    let mut head = h1::head("POST", "/?client_id=acme&x=1", &[], 4);
    head.extend_from_slice(b"body");
    for (path, headers, status) in
        [("/?client_id=acme&x=1&client_secret=s3cret", &[][..], 200), ("/", GOOD, 200), ("/", &[], 401)]
    {
        let mut connection = h1::Connection::open(gateway.addr());
        let mut bytes = h1::head("POST", path, headers, 4);
        bytes.extend_from_slice(b"body");
        for byte in bytes {
            // The answer may come, and the connection close, before all is sent.
            let _ = connection.send_raw(&[byte]);
        }
        assert_eq!(connection.read_response().unwrap().status, status, "{path} {headers:?}");
    }
    let requests = gateway.backend.requests();
    assert_eq!(requests.len(), 2);
    assert!(requests.iter().all(|request| request.body == b"body"));
    assert_eq!(requests[0].path, "/?x=1");
}

/// The status of the next response, interim ones included.
fn next_status(stream: &mut TcpStream) -> String {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).expect("more of a response head");
        head.extend(byte);
    }
    String::from_utf8_lossy(head.get(9..12).expect("a status line")).into_owned()
}

fn expecting(body_len: usize) -> Vec<u8> {
    let headers = [GOOD, &[("expect", b"100-continue")]].concat();
    h1::head("POST", "/", &headers, body_len)
}

/// By default Envoy itself answers 100 before any filter runs.
#[test]
fn a_body_that_was_asked_for_with_100_waits_for_the_decision() {
    let auth = HostileServer::start(Behaviour::Hang);
    let gateway = Gateway::start(&per_request(json!({"cache": {"entries": 0}})), auth.addr());
    for (answer, status) in [(admission(), "200"), (http_reply(401, &[], b""), "401")] {
        auth.behave(Behaviour::Gate(answer));
        gateway.backend.clear();
        let before = gateway.mark();
        let mut stream = TcpStream::connect(gateway.addr()).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.write_all(&expecting(4)).unwrap();
        assert_eq!(next_status(&mut stream), "100");
        auth.wait_for_held(1, PATIENCE);
        let received = gateway.received();
        stream.write_all(b"body").unwrap();
        gateway.wait_for_received(received.saturating_add(4));
        gateway.assert_backend_untouched_since(&before);
        let decided = Instant::now();
        auth.open_gate();
        assert_eq!(next_status(&mut stream), status);
        for request in gateway.backend.requests() {
            assert!(request.arrived >= decided);
            assert_eq!((request.body.as_slice(), status), (&b"body"[..], "200"));
        }
    }
}

/// With `proxy_100_continue` the backend is who asks for the body, so that a refused client need not send it.
#[test]
fn a_body_is_not_asked_for_before_admission_when_100_is_left_to_the_backend() {
    let auth = HostileServer::start(Behaviour::Hang);
    let policy = per_request(json!({"cache": {"entries": 0}}));
    let gateway = Gateway::start_with(auth.addr(), |config: EnvoyConfig| {
        config.filter(plugin(&policy)).merge_connection_manager(json!({"proxy_100_continue": true}))
    });
    for (answer, statuses) in [(admission(), &["100", "200"][..]), (http_reply(401, &[], b""), &["401"])] {
        auth.behave(Behaviour::Gate(answer));
        let mut stream = TcpStream::connect(gateway.addr()).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.write_all(&expecting(4)).unwrap();
        auth.wait_for_held(1, PATIENCE);
        auth.open_gate();
        for status in statuses {
            assert_eq!(next_status(&mut stream), *status);
            if *status == "100" {
                stream.write_all(b"body").unwrap();
            }
        }
    }
    assert_eq!(gateway.backend.count(), 1);
}

#[test]
fn every_method_is_enforced() {
    let auth = auth_service();
    let gateway = Gateway::start(&per_request(json!({})), auth.addr());
    let before = gateway.mark();
    for http in Http::BOTH {
        for method in ["GET", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "PROPFIND"] {
            assert_eq!(http.request(gateway.addr(), method, "/", &[], b"").status, 401, "{http:?} {method}");
        }
    }
    let preflight: Fields = &[("origin", b"https://a.test"), ("access-control-request-method", b"PUT")];
    assert_eq!(Http::One.request(gateway.addr(), "OPTIONS", "/", preflight, b"").status, 401);
    gateway.assert_backend_untouched_since(&before);
}

#[test]
fn a_request_in_absolute_form_is_enforced_and_cleaned() {
    let auth = auth_service();
    let policy = per_request(json!({"scope": {"exempt": [{"path_prefix": "/public"}]}}));
    let gateway = Gateway::start(&policy, auth.addr());
    for (target, status) in [
        ("http://gateway.test/private?client_id=acme&client_secret=s3cret&x=1", 200),
        ("http://gateway.test/private", 401),
        ("http://gateway.test/public", 200),
    ] {
        assert_eq!(h1::get(gateway.addr(), target).status, status, "{target}");
    }
    let paths: Vec<_> = gateway.backend.requests().into_iter().map(|request| request.path).collect();
    assert_eq!(paths, ["/private?x=1", "/public"]);
}
