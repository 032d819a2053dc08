//! `allow_on_headers_stop_iteration`: without it Envoy delivers no body while headers are held. Requests that need it are
//! refused, and nothing hangs or slips through.

use portcullis_testkit::envoy::PATIENCE;
use serde_json::json;

use crate::support::*;

#[test]
fn without_the_flag_requests_that_need_their_body_are_refused() {
    for flag in [Flag::Absent, Flag::False] {
        for http in Http::BOTH {
            let gateway = Gateway::start(&by_soap_header(), flag);
            for _ in 0..3 {
                let response = http.request(gateway.addr(), "POST", "/", SOAP, &envelope("blue", 10_000));
                assert_eq!(response.status, 500, "{http:?} {flag:?}");
                assert!(response.text().contains(":Fault>"), "{}", response.text());
            }
            assert_eq!(gateway.counts(), [0, 0, 0], "{http:?} {flag:?}");
            assert_eq!(gateway.count("body_withheld"), 3);
            let line = gateway
                .envoy
                .wait_for_log(PATIENCE, |line| line.contains("allow_on_headers_stop_iteration: true"));
            assert!(line.contains("content-router"), "{line}");
        }
    }
}

#[test]
fn requests_that_are_decided_by_their_headers_pass_without_the_flag() {
    let policy = json!({"rules": [
        {"when": {"header": {"name": "x-to", "value": {"exact": "blue"}}}, "then": {"route": "blue"}},
        by_soap_header()["rules"][2],
    ]});
    let gateway = Gateway::start(&policy, Flag::Absent);
    for http in Http::BOTH {
        let headers = [SOAP, &[("x-to", b"blue")]].concat();
        assert_eq!(http.request(gateway.addr(), "POST", "/", &headers, b"<a/>").status, 200);
    }
    assert_eq!(gateway.counts(), [2, 0, 0]);
}

/// A client that has sent no body yet is waited for, flag or no flag.
#[test]
fn slow_clients_wait_and_are_served_if_the_flag_is_there() {
    for http in Http::BOTH {
        let gateway = Gateway::start(&by_soap_header(), Flag::True);
        let body = envelope("green", 100);
        let mut slow = http.begin(gateway.addr(), "POST", "/", SOAP, Body::Length(body.len()));
        // Some twelve looks at it.
        std::thread::sleep(std::time::Duration::from_secs(3));
        assert_eq!(gateway.count("body_withheld"), 0);
        slow.send(&body).unwrap();
        slow.finish();
        assert_eq!(slow.response().unwrap().status, 200);
        assert_eq!(gateway.counts(), [0, 1, 0]);
    }
}
