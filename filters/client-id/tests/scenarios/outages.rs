//! The auth service down, slow, resetting and talking nonsense.

use std::time::Duration;

use portcullis_policy::HeaderList;
use portcullis_testkit::inprocess::{Fault, Worker};
use serde_json::json;

use crate::support::*;

type Outage = (&'static str, fn(&mut Worker));

/// Every way in which the service can fail to answer, with the word for it.
fn outages() -> Vec<Outage> {
    fn answer(worker: &mut Worker, status: u16) {
        let token = worker.pending_call().token;
        worker.answer(token, status, &[], b"");
    }
    vec![
        ("auth-reset", |worker| {
            let token = worker.pending_call().token;
            worker.fail_call(token);
        }),
        ("auth-status", |worker| worker.advance(Duration::from_secs(1))),
        ("auth-status", |worker| answer(worker, 500)),
        ("auth-status", |worker| answer(worker, 404)),
        ("auth-status", |worker| answer(worker, 302)),
        ("auth-status", |worker| answer(worker, 100)),
        ("auth-status", |worker| {
            let token = worker.pending_call().token;
            worker.answer_raw(token, [(":status", "2xx")].into_iter().collect::<HeaderList>(), b"");
        }),
        ("auth-reset", |worker| {
            let token = worker.pending_call().token;
            worker.answer_raw(token, [("x", "no status")].into_iter().collect::<HeaderList>(), b"");
        }),
        ("auth-reset", |worker| {
            worker.host.fail(Fault::ReadCallOut);
            answer(worker, 200);
        }),
    ]
}

#[test]
fn refuses_with_503_in_every_outage() {
    for (at, (reason, outage)) in outages().into_iter().enumerate() {
        let mut worker = worker(&per_request());
        let id = call(&mut worker, "acme", "s");
        outage(&mut worker);
        assert_eq!(status(&worker, id), 503, "{at}: {reason}");
        assert_eq!(details(&worker, id), "client_id_outage");
        assert_eq!(reply_header(&worker, id, "retry-after").as_deref(), Some("1"));
        assert_eq!(metric(&worker, "outage_closed"), 1);
        assert_eq!(metric(&worker, &reason.replace('-', "_")), 1, "{at}: {reason}");
        let outcome = worker.host.property_of(id, &["portcullis.client-id.outcome"]).unwrap();
        assert_eq!(String::from_utf8(outcome).unwrap(), format!("client-id:failed-closed:{reason}"));
    }
}

#[test]
fn lets_requests_through_marked_and_nameless_in_every_outage_if_told_to() {
    for (reason, outage) in outages() {
        let mut worker = worker(&with(per_request(), json!({"on_outage": "open"})));
        let id = call(&mut worker, "acme", "s");
        outage(&mut worker);
        assert_admitted(&worker, id);
        assert_eq!(upstream(&worker, id, "x-portcullis-unverified").as_deref(), Some(reason));
        assert_eq!(upstream(&worker, id, "x-portcullis-client-id"), None);
        assert_eq!(upstream(&worker, id, "client_secret"), None);
        assert_eq!(metric(&worker, "outage_open"), 1);
    }
}

#[test]
fn does_not_open_because_too_many_are_waiting() {
    let mut worker = worker(&with(per_request(), json!({"on_outage": "open", "max_waiting": 3})));
    for junk in ["a", "b", "c"] {
        call(&mut worker, junk, "s");
    }
    let id = call(&mut worker, "acme", "wrong");
    assert_eq!(status(&worker, id), 503);
    assert_eq!(details(&worker, id), "client_id_overload");
    assert_eq!(metric(&worker, "overload"), 1);
}

#[test]
fn is_out_if_the_answer_lacks_the_identifier_that_it_must_have() {
    let identity = json!({"auth": {"per-request": {"identity": {"client_id": "x-canonical"}}}});
    for (name, value) in [("x-other", "acme"), ("x-canonical", ""), ("x-canonical", "a:b")] {
        let mut worker = worker(&with(per_request(), identity.clone()));
        let id = call(&mut worker, "ACME", "s");
        let token = worker.pending_call().token;
        worker.answer(token, 200, &[(name, value)], b"");
        assert_eq!(status(&worker, id), 503, "{name}: {value}");
    }
}

#[test]
fn still_refuses_missing_credentials_while_open() {
    let mut worker = worker(&with(per_request(), json!({"on_outage": "open"})));
    worker.host.fail(Fault::CallOut);
    let id = worker.request([(":path", "/")]);
    assert_eq!(status(&worker, id), 401);
}

#[test]
fn is_out_at_once_when_the_host_cannot_send() {
    let mut worker = worker(&per_request());
    worker.host.fail(Fault::CallOut);
    let id = call(&mut worker, "acme", "s");
    assert_eq!(status(&worker, id), 503);
    assert_eq!(metric(&worker, "auth_unreachable"), 1);
    worker.host.mend(Fault::CallOut);
    let id = call(&mut worker, "acme", "s");
    assert_held(&worker, id);
}

#[test]
fn asks_again_after_a_reset_and_then_gives_up() {
    let mut worker = worker(&with(per_request(), json!({"auth": {"per-request": {"retries": 2}}})));
    let id = call(&mut worker, "acme", "s");
    for _ in 0..2 {
        let token = worker.pending_call().token;
        worker.fail_call(token);
        assert_held(&worker, id);
    }
    let token = worker.pending_call().token;
    worker.fail_call(token);
    assert_eq!(status(&worker, id), 503);
    assert_eq!(worker.host.calls_sent(), 3);
    assert_eq!(metric(&worker, "auth_reset"), 3);
}

#[test]
fn asks_again_when_the_host_reports_a_broken_connection_by_a_status() {
    for (answered, calls) in [(503, 3), (502, 3), (500, 1), (504, 1)] {
        let mut worker = worker(&with(per_request(), json!({"auth": {"per-request": {"retries": 2}}})));
        let id = call(&mut worker, "acme", "s");
        for _ in 0..calls {
            let token = worker.pending_call().token;
            worker.answer(token, answered, &[], b"");
        }
        assert_eq!(status(&worker, id), 503, "{answered}");
        assert_eq!(worker.host.calls_sent(), calls, "{answered}");
        assert_eq!(metric(&worker, "auth_calls"), metric(&worker, "auth_status"), "{answered}");
    }
}

#[test]
fn admits_when_the_second_attempt_succeeds() {
    let mut worker = worker(&with(per_request(), json!({"auth": {"per-request": {"retries": 1}}})));
    let id = call(&mut worker, "acme", "s");
    let token = worker.pending_call().token;
    worker.fail_call(token);
    let token = worker.pending_call().token;
    worker.answer(token, 200, &[], b"");
    assert_admitted(&worker, id);
}

#[test]
fn gives_up_on_an_answer_that_got_lost() {
    let config = with(per_request(), json!({"auth": {"per-request": {"timeout_ms": 60_000}}}));
    let mut worker = worker(&config);
    let id = call(&mut worker, "acme", "s");
    // The host's own timeout is passed over by setting the clock, as if its reply had been lost.
    let late = portcullis_policy::host::Clock::now(&*worker.host).after(Duration::from_secs(62));
    let token = worker.pending_call().token;
    worker.host.forget_call(token);
    worker.host.set_time(late);
    worker.advance(Duration::from_secs(1));
    assert_eq!(status(&worker, id), 503);
    assert_eq!(metric(&worker, "auth_no_answer"), 1);
}
