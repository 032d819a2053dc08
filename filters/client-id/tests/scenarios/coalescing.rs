//! Many requests, one question.

use std::time::Duration;

use portcullis_policy::ExchangeId;
use serde_json::json;

use crate::support::*;

#[test]
fn asks_once_for_any_number_of_concurrent_requests_of_a_client() {
    let mut worker = worker(&per_request());
    let ids: Vec<ExchangeId> = (0..200).map(|_| call(&mut worker, "acme", "s")).collect();
    assert_eq!(worker.host.calls_sent(), 1);
    assert_eq!(metric(&worker, "coalesced"), 199);
    let token = worker.pending_call().token;
    worker.answer(token, 200, &[], b"");
    for id in ids {
        assert_admitted(&worker, id);
        assert_eq!(upstream(&worker, id, "x-portcullis-client-id").as_deref(), Some("acme"));
    }
}

#[test]
fn asks_about_different_credentials_separately() {
    let mut worker = worker(&per_request());
    let good = call(&mut worker, "acme", "s");
    let bad = call(&mut worker, "acme", "t");
    let calls = worker.pending_calls();
    assert_eq!(calls.len(), 2);
    worker.answer(calls[1].token, 401, &[], b"");
    assert_held(&worker, good);
    assert_eq!(status(&worker, bad), 401);
    worker.answer(calls[0].token, 200, &[], b"");
    assert_admitted(&worker, good);
}

#[test]
fn waiters_outlive_the_request_that_asked() {
    let mut worker = worker(&per_request());
    let leader = call(&mut worker, "acme", "s");
    let waiter = call(&mut worker, "acme", "s");
    worker.abort(leader);
    let late = call(&mut worker, "acme", "s");
    let token = worker.pending_call().token;
    worker.answer(token, 200, &[], b"");
    assert_admitted(&worker, waiter);
    assert_admitted(&worker, late);
    assert_eq!(worker.host.calls_sent(), 1);
}

#[test]
fn an_answer_is_remembered_even_if_everybody_has_left() {
    let mut worker = worker(&per_request());
    let id = call(&mut worker, "acme", "s");
    worker.abort(id);
    let token = worker.pending_call().token;
    worker.answer(token, 200, &[], b"");
    let id = call(&mut worker, "acme", "s");
    assert_admitted(&worker, id);
    assert_eq!(worker.host.calls_sent(), 1);
}

#[test]
fn aborted_waiters_are_not_woken() {
    let mut worker = worker(&per_request());
    let leader = call(&mut worker, "acme", "s");
    let waiter = call(&mut worker, "acme", "s");
    worker.abort(waiter);
    let token = worker.pending_call().token;
    worker.answer(token, 200, &[], b"");
    assert_admitted(&worker, leader);
    assert_held(&worker, waiter);
}

#[test]
fn holds_no_more_requests_than_configured_and_recovers() {
    let mut worker = worker(&with(per_request(), json!({"max_waiting": 2})));
    let held = [call(&mut worker, "acme", "s"), call(&mut worker, "acme", "s")];
    let surplus = call(&mut worker, "acme", "s");
    assert_eq!(status(&worker, surplus), 503);
    assert_eq!(metric(&worker, "overload"), 1);
    worker.abort(held[0]);
    let next = call(&mut worker, "acme", "s");
    assert_held(&worker, next);
    let token = worker.pending_call().token;
    worker.answer(token, 200, &[], b"");
    assert_admitted(&worker, next);
    assert_admitted(&worker, held[1]);
}

#[test]
fn nothing_is_left_behind_by_aborted_requests() {
    let mut worker = worker(&with(per_request(), json!({"max_waiting": 50})));
    for round in 0..50 {
        let id = call(&mut worker, &format!("client-{round}"), "s");
        assert_held(&worker, id);
        worker.abort(id);
    }
    // What they have asked is still being asked, and counts.
    let surplus = call(&mut worker, "one-more", "s");
    assert_eq!(status(&worker, surplus), 503);
    worker.abort(surplus);
    worker.advance(Duration::from_secs(5));
    assert_eq!(worker.open_exchanges(), 0);
    assert!(worker.pending_calls().is_empty());
    let next = call(&mut worker, "next", "s");
    assert_held(&worker, next);
}
