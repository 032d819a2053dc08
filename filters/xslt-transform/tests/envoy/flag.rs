//! `allow_on_headers_stop_iteration`: without it Envoy delivers no body while headers are held. Messages that need it are
//! refused, and nothing hangs or slips through.

use portcullis_testkit::envoy::{PATIENCE, Reply};
use serde_json::json;

use crate::support::*;

#[test]
fn without_the_flag_requests_that_are_to_be_transformed_are_refused() {
    let policy = json!({"request": {"stylesheet": swap()}});
    for http in Http::BOTH {
        let gateway = Gateway::start_with(|config| config.filter(plugin(&policy, Flag::Absent)));
        for _ in 0..2 {
            let response = gateway.post(http, SOAP, b"<a/>");
            assert_eq!(response.status, 500, "{response:?}");
        }
        assert_eq!(gateway.backend.count(), 0);
        assert_eq!(gateway.count("body_withheld"), 2);
        gateway.envoy.wait_for_log(PATIENCE, |line| line.contains("allow_on_headers_stop_iteration: true"));
    }
}

#[test]
fn without_the_flag_responses_that_are_to_be_transformed_are_replaced() {
    let policy = json!({"response": {"stylesheet": swap()}});
    let chunked = Reply::status(200).chunks(["<a>", "</a>"]);
    for (http, reply) in [(Http::One, Reply::ok("<a/>")), (Http::Two, chunked)] {
        let gateway = Gateway::start_with(|config| config.filter(plugin(&policy, Flag::Absent)));
        gateway.backend.reply(reply.header("content-type", "text/xml"));
        for _ in 0..2 {
            let response = gateway.post(http, SOAP, b"<x/>");
            assert_eq!(response.status, 500, "{response:?}");
            assert!(response.text().contains(":Fault>"), "{response:?}");
        }
        assert_eq!(gateway.count("body_withheld"), 2);
        gateway.envoy.wait_for_log(PATIENCE, |line| line.contains("allow_on_headers_stop_iteration: true"));
        // What needs no transformation is not concerned.
        gateway.backend.reply(Reply::status(204));
        assert_eq!(gateway.post(http, SOAP, b"<x/>").status, 204);
    }
}

/// An upstream that takes its time is waited for.
#[test]
fn slow_upstreams_are_waited_for_if_the_flag_is_there() {
    let gateway = Gateway::start(&json!({"response": {"stylesheet": swap()}}));
    let late = Reply::ok("<a/>").header("content-type", "text/xml").delay(std::time::Duration::from_secs(3));
    gateway.backend.reply(late);
    for http in Http::BOTH {
        assert_eq!(gateway.post(http, XML, b"<x/>").text(), "<b/>");
    }
    assert_eq!(gateway.count("body_withheld"), 0);
}
