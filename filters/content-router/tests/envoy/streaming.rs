//! A body is held until the rules have decided, and no longer.

use portcullis_testkit::envoy::{PATIENCE, Progress, wait_until};

use crate::support::*;

/// A message of WSO2's benchmark: some 100 KB, and the header block at its beginning decides.
#[test]
fn the_upstream_has_the_first_bytes_before_the_client_has_sent_the_last() {
    let gateway = Gateway::start(&by_soap_header(), Flag::True);
    for http in Http::BOTH {
        for shape in [Body::Length(0), Body::Chunked] {
            let body = envelope("green", 100_000);
            let shape = if shape == Body::Chunked { shape } else { Body::Length(body.len()) };
            gateway.clear();
            let mut request = http.begin(gateway.addr(), "POST", "/", SOAP, shape);
            let (most, last) = body.split_at(body.len() - 1);
            for piece in most.chunks(8192) {
                request.send(piece).unwrap();
            }
            let arriving = gateway.green.wait_for_headers(1, PATIENCE);
            assert_eq!(arriving[0].progress, Progress::Arriving, "{http:?} {shape:?}");
            wait_until("the body so far", PATIENCE, || {
                gateway.green.requests().first().is_some_and(|request| request.body.len() == most.len())
            });
            request.send(last).unwrap();
            request.finish();
            assert_eq!(request.response().unwrap().status, 200);
            assert_eq!(gateway.green.requests()[0].body, body);
        }
    }
}

#[test]
fn nothing_goes_on_before_the_decision() {
    let gateway = Gateway::start(&by_soap_header(), Flag::True);
    let body = envelope("green", 1000);
    let end = String::from_utf8(body.clone()).unwrap().find("</routing>").unwrap() + "</routing>".len();
    let (before, after) = body.split_at(end - 1);
    for http in Http::BOTH {
        gateway.clear();
        let received = gateway.received();
        let mut request = http.begin(gateway.addr(), "POST", "/", SOAP, Body::Length(body.len()));
        request.send(before).unwrap();
        gateway.wait_for_received(received + before.len() as u64);
        assert_eq!(gateway.counts(), [0, 0, 0]);
        let (last_of_tag, rest) = after.split_at(1);
        request.send(last_of_tag).unwrap();
        gateway.green.wait_for_headers(1, PATIENCE);
        request.send(rest).unwrap();
        request.finish();
        assert_eq!(request.response().unwrap().status, 200);
    }
}

/// A message that is much larger than what Envoy holds goes through once the rules have decided.
#[test]
fn messages_larger_than_the_buffers_pass() {
    let gateway = Gateway::start_with(|config| {
        config.buffer_limit(16 << 10).filter(plugin(&by_soap_header(), Flag::True))
    });
    for http in Http::BOTH {
        let body = envelope("green", 3 << 20);
        gateway.clear();
        let mut request = http.begin(gateway.addr(), "POST", "/", SOAP, Body::Length(body.len()));
        for piece in body.chunks(4096) {
            request.send(piece).unwrap();
        }
        request.finish();
        assert_eq!(request.response().unwrap().status, 200, "{http:?}");
        assert!(gateway.green.requests()[0].body == body);
    }
}

/// Clients that leave while their request is held leave nothing behind.
#[test]
fn clients_may_leave_while_held() {
    let gateway = Gateway::start(&by_soap_header(), Flag::True);
    for http in Http::BOTH {
        for _ in 0..5 {
            let mut request = http.begin(gateway.addr(), "POST", "/", SOAP, Body::Chunked);
            request.send(b"<soapenv:Envelope").unwrap();
            request.abort();
        }
        wait_until("no active requests", PATIENCE, || {
            gateway.envoy.counter("http.ingress.downstream_rq_active") == 0
        });
        assert_eq!(http.request(gateway.addr(), "POST", "/", SOAP, &envelope("blue", 0)).status, 200);
    }
    assert_eq!(gateway.counts(), [2, 0, 0]);
    assert!(!gateway.envoy.log_lines().iter().any(|line| line.contains("panic")));
}
