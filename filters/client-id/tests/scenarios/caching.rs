//! What is remembered, for how long, and what never is.

use std::time::Duration;

use portcullis_policy::time::Timestamp;
use portcullis_testkit::inprocess::{Fault, SharedData, Worker};
use serde_json::json;

use crate::support::*;

fn answer_next(worker: &mut Worker, status: u16) {
    let token = worker.pending_call().token;
    worker.answer(token, status, &[("x-client-tier", "gold")], b"");
}

#[test]
fn asks_once_and_remembers_an_admission_for_its_time() {
    let mut worker = worker(&with(per_request(), json!({"cache": {"jitter_percent": 0}})));
    call(&mut worker, "acme", "s");
    answer_next(&mut worker, 200);
    worker.advance(Duration::from_millis(59_999));
    let id = call(&mut worker, "acme", "s");
    assert_admitted(&worker, id);
    assert_eq!(upstream(&worker, id, "x-portcullis-client-tier").as_deref(), Some("gold"));
    assert_eq!(worker.host.calls_sent(), 1);
    worker.advance(Duration::from_millis(1));
    let id = call(&mut worker, "acme", "s");
    assert_held(&worker, id);
    assert_eq!(worker.host.calls_sent(), 2);
    assert_eq!((metric(&worker, "cache_hit"), metric(&worker, "cache_miss")), (1, 2));
}

#[test]
fn remembers_a_refusal_for_its_own_time() {
    let mut worker =
        worker(&with(per_request(), json!({"cache": {"jitter_percent": 0, "deny_ttl_ms": 2000}})));
    call(&mut worker, "acme", "wrong");
    answer_next(&mut worker, 401);
    let id = call(&mut worker, "acme", "wrong");
    assert_eq!(status(&worker, id), 401);
    let right = call(&mut worker, "acme", "right");
    assert_held(&worker, right);
    answer_next(&mut worker, 200);
    worker.advance(Duration::from_secs(2));
    let id = call(&mut worker, "acme", "wrong");
    assert_held(&worker, id);
}

#[test]
fn never_remembers_an_outage() {
    let mut worker = worker(&per_request());
    for answer in [500, 404, 302, 504] {
        let id = call(&mut worker, "acme", "s");
        answer_next(&mut worker, answer);
        assert_eq!(status(&worker, id), 503, "{answer}");
    }
    assert_eq!(worker.host.calls_sent(), 4);
    let id = call(&mut worker, "acme", "s");
    answer_next(&mut worker, 200);
    assert_admitted(&worker, id);
}

#[test]
fn remembers_nothing_when_told_so() {
    for cache in [json!({"entries": 0}), json!({"admit_ttl_ms": 0})] {
        let mut worker = worker(&with(per_request(), json!({"cache": cache})));
        for _ in 0..2 {
            call(&mut worker, "acme", "s");
            answer_next(&mut worker, 200);
        }
        assert_eq!(worker.host.calls_sent(), 2);
    }
}

#[test]
fn forgets_the_least_recently_used_client_when_full() {
    let mut worker = worker(&with(per_request(), json!({"cache": {"entries": 2}})));
    for id in ["a", "b", "a", "c"] {
        call(&mut worker, id, "s");
        if !worker.pending_calls().is_empty() {
            answer_next(&mut worker, 200);
        }
    }
    assert_eq!(worker.host.calls_sent(), 3);
    let again = call(&mut worker, "a", "s");
    assert_admitted(&worker, again);
    let forgotten = call(&mut worker, "b", "s");
    assert_held(&worker, forgotten);
}

#[test]
fn does_not_believe_entries_from_the_future() {
    let mut worker = worker(&per_request());
    call(&mut worker, "acme", "s");
    answer_next(&mut worker, 200);
    worker.host.set_time(Timestamp::from_nanos(1_700_000_000_000_000_000));
    let id = call(&mut worker, "acme", "s");
    assert_held(&worker, id);
}

#[test]
fn serves_a_decision_after_its_time_only_while_the_service_is_out_and_only_if_told_to() {
    let config = with(per_request(), json!({"cache": {"jitter_percent": 0, "stale_if_error_ms": 30_000}}));
    for (config, after, expected) in
        [(&config, 61, None), (&config, 88, None), (&config, 90, Some(503)), (&per_request(), 61, Some(503))]
    {
        let mut worker = worker(config);
        call(&mut worker, "acme", "s");
        answer_next(&mut worker, 200);
        worker.advance(Duration::from_secs(after));
        let id = call(&mut worker, "acme", "s");
        assert_held(&worker, id);
        prove_outage(&mut worker, fail_all_calls);
        match expected {
            None => {
                assert_admitted(&worker, id);
                assert_eq!(metric(&worker, "cache_stale"), 1);
            }
            Some(expected) => assert_eq!(status(&worker, id), expected, "{after} s"),
        }
    }
}

#[test]
fn a_refusal_ends_an_admission_even_if_refusals_are_not_remembered() {
    let cache = json!({"cache": {"deny_ttl_ms": 0, "stale_if_error_ms": 3_600_000, "shared_slots": 8}});
    let mut worker = worker(&with(per_request(), cache));
    call(&mut worker, "acme", "s");
    answer_next(&mut worker, 200);
    worker.advance(Duration::from_secs(60));
    call(&mut worker, "acme", "s");
    answer_next(&mut worker, 403);
    let id = call(&mut worker, "acme", "s");
    prove_outage(&mut worker, fail_all_calls);
    assert_eq!(status(&worker, id), 503);
}

/// A client that is locked out can flood as well as any other.
#[test]
fn serves_no_decision_after_its_time_that_the_client_s_own_requests_bring_about() {
    let cache = json!({"cache": {"jitter_percent": 0, "stale_if_error_ms": 3_600_000}, "max_waiting": 2});
    let refused_at_once: fn(&mut Worker) = |worker| worker.host.fail(Fault::CallOut);
    let too_many: fn(&mut Worker) = |worker| {
        call(worker, "junk", "1");
        call(worker, "junk", "2");
    };
    for flood in [refused_at_once, too_many] {
        let mut worker = worker(&with(per_request(), cache.clone()));
        call(&mut worker, "acme", "s");
        answer_next(&mut worker, 200);
        worker.advance(Duration::from_secs(61));
        flood(&mut worker);
        let id = call(&mut worker, "acme", "s");
        assert_eq!((status(&worker, id), details(&worker, id)), (503, "client_id_overload"));
        assert_eq!((metric(&worker, "overload"), metric(&worker, "cache_stale")), (1, 0));
    }
    let mut worker = worker(&with(per_request(), cache));
    call(&mut worker, "acme", "s");
    answer_next(&mut worker, 200);
    worker.advance(Duration::from_secs(61));
    let id = call(&mut worker, "acme", "s");
    let token = worker.pending_call().token;
    worker.answer(token, 503, &[("x-envoy-overloaded", "true")], b"");
    assert_eq!((status(&worker, id), details(&worker, id)), (503, "client_id_overload"));
    assert_eq!(metric(&worker, "cache_stale"), 0);
}

#[test]
fn guesses_do_not_push_out_those_who_are_admitted() {
    let mut worker = worker(&with(per_request(), json!({"cache": {"entries": 4}})));
    call(&mut worker, "acme", "s");
    answer_next(&mut worker, 200);
    for guess in 0..100 {
        call(&mut worker, "acme", &format!("guess {guess}"));
        answer_next(&mut worker, 401);
    }
    let id = call(&mut worker, "acme", "s");
    assert_admitted(&worker, id);
}

#[test]
fn does_not_believe_shared_decisions_for_longer_than_its_own_time() {
    let config = |ttl: u32| {
        with(per_request(), json!({"cache": {"shared_slots": 8, "jitter_percent": 0, "admit_ttl_ms": ttl}}))
    };
    let data = SharedData::default();
    let mut patient = worker_sharing(&config(3_600_000), &data);
    call(&mut patient, "acme", "s");
    answer_next(&mut patient, 200);
    let mut hasty = worker_sharing(&config(1000), &data);
    let id = call(&mut hasty, "acme", "s");
    assert_admitted(&hasty, id);
    let mut later = worker_sharing(&config(1000), &data);
    later.advance(Duration::from_secs(1));
    let id = call(&mut later, "acme", "s");
    assert_held(&later, id);
}

#[test]
fn shares_decisions_between_workers_if_told_to() {
    let config = with(per_request(), json!({"cache": {"shared_slots": 64, "jitter_percent": 0}}));
    let data = SharedData::default();
    let [mut one, mut two] = [(); 2].map(|()| worker_sharing(&config, &data));
    call(&mut one, "acme", "s3cret-of-acme");
    answer_next(&mut one, 200);
    let id = call(&mut two, "acme", "s3cret-of-acme");
    assert_admitted(&two, id);
    assert_eq!(upstream(&two, id, "x-portcullis-client-tier").as_deref(), Some("gold"));
    assert_eq!(two.host.calls_sent(), 0);
    assert_eq!(metric(&two, "cache_shared_hit"), 1);
    let other = call(&mut two, "acme", "another");
    assert_held(&two, other);
    two.advance(Duration::from_secs(60));
    let late = call(&mut two, "acme", "s3cret-of-acme");
    assert_held(&two, late);
}

#[test]
fn keeps_decisions_of_different_auth_services_apart_in_the_shared_level() {
    let shared = with(per_request(), json!({"cache": {"shared_slots": 1}}));
    let data = SharedData::default();
    let mut one = worker_sharing(&shared, &data);
    let mut two = worker_sharing(&with(shared, json!({"auth": {"per-request": {"path": "/other"}}})), &data);
    call(&mut one, "acme", "s");
    answer_next(&mut one, 200);
    let id = call(&mut two, "acme", "s");
    assert_held(&two, id);
}

#[test]
fn stores_neither_secrets_nor_unbounded_keys_in_the_shared_level() {
    let config = with(per_request(), json!({"cache": {"shared_slots": 8}}));
    let data = SharedData::default();
    let mut worker = worker_sharing(&config, &data);
    for client in 0..100 {
        call(&mut worker, &format!("client-{client}"), "s3cret-of-theirs");
        answer_next(&mut worker, if client % 2 == 0 { 200 } else { 401 });
    }
    assert!(data.len() <= 9, "{} keys", data.len());
    let dump = data.dump();
    assert!(!dump.windows(16).any(|window| window == b"s3cret-of-theirs"));
}
