//! A host that refuses what is asked of it.

use portcullis_policy::Direction;
use portcullis_testkit::inprocess::{BodyDelivery, Fault};
use serde_json::json;
use std::time::Duration;

use crate::support::*;

#[test]
fn a_request_that_cannot_be_read_or_marked_is_refused() {
    for (fault, headers) in [
        (Fault::ReadHeaders, &[("x", "")][..]),
        (Fault::WriteHeaders, &[("x", "")]),
        (Fault::WriteHeaders, &[("x-portcullis-route", "forged")]),
    ] {
        let mut worker =
            worker(&with(rules(&[json!({"header": {"name": "x"}})]), json!({"default": "pass"})));
        worker.host.fail(fault);
        assert_eq!(bare(&mut worker, headers), Fared::Refused(503), "{fault:?} {headers:?}");
        assert_eq!(count(&worker, "host_failed"), 1);
    }
}

#[test]
fn a_request_whose_body_is_withheld_is_refused_and_counted() {
    let mut worker = worker(&rules(&[json!({"operation": {"name": "a"}})]));
    worker.host.deliver_bodies(BodyDelivery::AfterHeaders);
    let id = begin(&mut worker, SOAP_11, false);
    worker.body(id, Direction::Request, soap_11("", "<a/>").as_bytes(), true);
    assert_eq!(fared(&worker, id), Fared::Held);
    worker.advance(Duration::from_secs(2));
    assert_eq!(fared(&worker, id), Fared::Refused(500));
    assert_eq!(count(&worker, "body_withheld"), 1);
}

#[test]
fn does_without_metrics_and_filter_state() {
    let mut worker = worker(&rules(&[json!({"header": {"name": "x"}})]));
    worker.host.fail(Fault::WriteProperty);
    assert_eq!(bare(&mut worker, &[("x", "")]), to("r1"));
}
