//! A host that refuses what is asked of it.

use portcullis_policy::Direction;
use portcullis_testkit::inprocess::{BodyDelivery, Fault};
use serde_json::json;
use std::time::Duration;

use crate::support::*;

#[test]
fn a_message_that_cannot_be_read_or_changed_is_refused() {
    for at in BOTH {
        for fault in [Fault::ReadHeaders, Fault::ReadBody, Fault::ReplaceBody, Fault::WriteHeaders] {
            let mut worker =
                worker(&both(&json!({"stylesheet": a_to_b(), "on_error": {"stylesheet": "pass"}})));
            let id = worker.open();
            let length = [("content-type", "text/xml"), ("content-length", "4")];
            let sent = Sent { at, id };
            if at == Direction::Response {
                worker.request_headers(id, [(":method", "GET"), (":path", "/")], true);
            }
            worker.host.fail(fault);
            match at {
                Direction::Request => worker.request_headers(
                    id,
                    [&[(":method", "POST"), (":path", "/")], &length[..]].concat(),
                    false,
                ),
                Direction::Response => {
                    worker.response_headers(id, [&[(":status", "200")], &length[..]].concat(), false)
                }
            };
            if fared(&worker, &sent) == Fared::Held {
                worker.body(id, at, b"<a/>", true);
            }
            let status = if at == Direction::Request { 503 } else { 502 };
            assert_eq!(fared(&worker, &sent), Fared::Refused(status), "{at:?} {fault:?}");
            assert_eq!(count(&worker, "host_failed"), 1);
        }
    }
}

#[test]
fn a_request_from_which_range_cannot_be_removed_is_refused() {
    let mut worker = worker(&json!({"response": {"stylesheet": a_to_b()}}));
    worker.host.fail(Fault::WriteHeaders);
    let id = worker.request([(":method", "GET"), (":path", "/"), ("range", "bytes=0-1")]);
    assert_eq!(worker.reply(id).status, 503);
}

#[test]
fn a_message_whose_body_is_withheld_is_refused_and_counted() {
    for at in BOTH {
        let mut worker = worker(&both(&json!({"stylesheet": a_to_b()})));
        worker.host.deliver_bodies(BodyDelivery::AfterHeaders);
        let sent = begin(&mut worker, at, XML);
        worker.body(sent.id, at, b"<a/>", true);
        assert_eq!(fared(&worker, &sent), Fared::Held);
        worker.advance(Duration::from_secs(2));
        assert_eq!(fared(&worker, &sent), Fared::Refused(500), "{at:?}");
        assert_eq!(count(&worker, "body_withheld"), 1);
    }
}

#[test]
fn does_without_metrics_and_filter_state() {
    let mut worker = worker(&both(&json!({"stylesheet": a_to_b()})));
    worker.host.fail(Fault::WriteProperty);
    assert_eq!(send(&mut worker, Direction::Request, XML, "<a/>"), passed("<b/>"));
}
