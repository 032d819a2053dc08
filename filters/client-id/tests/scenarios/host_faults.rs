//! A host that refuses what is asked of it.

use portcullis_testkit::inprocess::{Fault, SharedData, TestHost, Worker};
use serde_json::json;

use crate::support::*;

#[test]
fn refuses_requests_that_it_cannot_read_or_clean_even_when_open() {
    for fault in [Fault::ReadHeaders, Fault::WriteHeaders] {
        let mut worker = worker(&with(per_request(), json!({"on_outage": "open"})));
        worker.host.fail(fault);
        let id = worker.request([(":path", "/"), ("x-portcullis-client-id", "root")]);
        assert_eq!(status(&worker, id), 503, "{fault:?}");
        assert_eq!(metric(&worker, "host_failed"), 1);
    }
}

#[test]
fn refuses_an_admitted_request_whose_credentials_it_cannot_remove() {
    let mut worker = worker(&per_request());
    let id = call(&mut worker, "acme", "s");
    worker.host.fail(Fault::WriteHeaders);
    let token = worker.pending_call().token;
    worker.answer(token, 200, &[], b"");
    assert_eq!(status(&worker, id), 503);
}

#[test]
fn does_without_metrics_filter_state_and_shared_data() {
    let config = with(per_request(), json!({"cache": {"shared_slots": 4}}));
    let host = TestHost::new(SharedData::default());
    for fault in [Fault::DefineMetric, Fault::WriteProperty, Fault::ReadShared, Fault::WriteShared] {
        host.fail(fault);
    }
    let mut worker = Worker::start_with(chain(&config).unwrap(), host).unwrap();
    let id = call(&mut worker, "acme", "s");
    let token = worker.pending_call().token;
    worker.answer(token, 200, &[], b"");
    assert_admitted(&worker, id);
}

#[test]
fn remembers_nothing_while_time_stands_still() {
    let mut worker = worker(&per_request());
    call(&mut worker, "acme", "s");
    let token = worker.pending_call().token;
    worker.answer(token, 200, &[], b"");
    worker.host.fail(Fault::Clock);
    for _ in 0..2 {
        let id = call(&mut worker, "acme", "s");
        assert_held(&worker, id);
        let token = worker.pending_call().token;
        worker.answer(token, 403, &[], b"");
        assert_eq!(status(&worker, id), 401);
    }
}

#[test]
fn does_not_start_without_a_clock() {
    let host = TestHost::new(SharedData::default());
    host.fail(Fault::Clock);
    let error = Worker::start_with(chain(&per_request()).unwrap(), host).err().unwrap();
    assert!(error.to_string().contains("time"), "{error}");
}

#[test]
fn does_not_start_without_a_tick() {
    let host = TestHost::new(SharedData::default());
    host.fail(Fault::Tick);
    let error = Worker::start_with(chain(&per_request()).unwrap(), host).err().unwrap();
    assert!(error.to_string().contains("tick"), "{error}");
}
