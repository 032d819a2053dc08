//! The auth service down, slow, resetting and talking nonsense.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
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
        assert_held(&worker, id);
        assert_ne!(asked_for(&worker), "acme", "the gateway asks a question of its own");
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

/// Only space and tab are white space around a header's value (RFC 9110, section 5.5). What else looks like it belongs to
/// the value, and no identifier, name or tier may begin or end with it.
#[test]
fn never_merges_identities_by_trimming() {
    let identity = json!({"auth": {"per-request": {"identity": {"client_id": "x-canonical"}}}});
    let answered = |value: &str| {
        let mut worker = worker(&with(per_request(), identity.clone()));
        let id = call(&mut worker, "ACME", "s");
        let token = worker.pending_call().token;
        worker.answer(token, 200, &[("x-canonical", value), ("x-client-tier", value)], b"");
        let tier = upstream(&worker, id, "x-portcullis-client-tier");
        (upstream(&worker, id, "x-portcullis-client-id"), tier)
    };
    let same = |value: &str| Some(value.to_owned());
    assert_eq!(answered(" \tacme \t"), (same("acme"), same("acme")));
    assert_eq!(answered("acme\u{200b}"), (same("acme\u{200b}"), same("acme\u{200b}")));
    for space in ["\u{a0}", "\u{3000}", "\u{2003}", "\u{85}", "\x0b", "\x0c"] {
        assert_eq!(answered(&format!("acme{space}")), (None, None), "{space:?}");
        assert_eq!(answered(&format!(" {space} acme")), (None, None), "{space:?}");
    }
}

#[test]
fn leaves_out_a_tier_that_ends_in_white_space() {
    let mut worker = worker(&per_request());
    let id = call(&mut worker, "acme", "s");
    let token = worker.pending_call().token;
    worker.answer(token, 200, &[("x-client-tier", "gold\u{3000}"), ("x-client-name", "Acme")], b"");
    assert_admitted(&worker, id);
    assert_eq!(upstream(&worker, id, "x-portcullis-client-tier"), None);
    assert_eq!(upstream(&worker, id, "x-portcullis-client-name").as_deref(), Some("Acme"));
}

#[test]
fn is_out_if_the_answer_says_anything_of_the_client_twice() {
    let identity = json!({"auth": {"per-request": {"identity": {"client_id": "x-canonical"}}}});
    for (name, other) in [
        ("x-canonical", "x-canonical"),
        ("x-canonical", "x_canonical"),
        ("x-client-name", "x-client.name"),
        ("x-client-tier", "x_client-tier"),
    ] {
        for value in ["acme", "globex", ""] {
            let mut worker = worker(&with(per_request(), identity.clone()));
            let id = call(&mut worker, "ACME", "s");
            let token = worker.pending_call().token;
            let headers = [("x-canonical", "acme"), ("x-client-name", "acme"), ("x-client-tier", "acme")];
            let headers: Vec<_> = headers.into_iter().chain([(other, value)]).collect();
            worker.answer(token, 200, &headers, b"");
            assert_eq!(status(&worker, id), 503, "{name} {other}: {value:?}");
            assert_eq!(metric(&worker, "auth_status"), 1);
        }
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
fn is_out_at_once_when_there_is_no_such_cluster() {
    let mut worker = worker(&with(per_request(), json!({"on_outage": "open"})));
    worker.host.fail(Fault::UnknownCluster);
    let id = call(&mut worker, "acme", "s");
    assert_admitted(&worker, id);
    assert_eq!(metric(&worker, "auth_unreachable"), 1);
    worker.host.mend(Fault::UnknownCluster);
    let id = call(&mut worker, "acme", "s");
    assert_held(&worker, id);
}

#[test]
fn a_call_that_the_cluster_refuses_is_overload_and_opens_nothing() {
    let at_once: fn(&mut Worker) = |worker| worker.host.fail(Fault::CallOut);
    let after_waiting: fn(&mut Worker) = |_| {};
    for (flood, retries) in [(at_once, 0), (after_waiting, 0), (after_waiting, 3)] {
        let policy = json!({"on_outage": "open", "auth": {"per-request": {"retries": retries}}});
        let mut worker = worker(&with(per_request(), policy));
        flood(&mut worker);
        let id = call(&mut worker, "acme", "wrong");
        for call in worker.pending_calls() {
            worker.answer(call.token, 503, &[("x-envoy-overloaded", "true")], b"");
        }
        assert_eq!((status(&worker, id), details(&worker, id)), (503, "client_id_overload"));
        assert_eq!((metric(&worker, "overload"), metric(&worker, "outage_open")), (1, 0));
        assert!(worker.host.calls_sent() <= 1, "an overload is not added to");
    }
}

#[test]
fn a_second_attempt_that_the_cluster_refuses_is_overload() {
    let policy = json!({"on_outage": "open", "auth": {"per-request": {"retries": 1}}});
    let mut worker = worker(&with(per_request(), policy));
    let id = call(&mut worker, "acme", "wrong");
    worker.host.fail(Fault::CallOut);
    fail_all_calls(&mut worker);
    assert_eq!(details(&worker, id), "client_id_overload");
}

#[test]
fn a_decision_counts_whatever_else_the_service_says_of_itself() {
    for (answered, admitted) in [(200, true), (401, false)] {
        let mut worker = worker(&with(per_request(), json!({"on_outage": "open"})));
        let id = call(&mut worker, "acme", "s");
        let token = worker.pending_call().token;
        worker.answer(token, answered, &[("x-envoy-overloaded", "true")], b"");
        if admitted {
            assert_admitted(&worker, id);
        } else {
            assert_eq!(status(&worker, id), 401);
        }
    }
}

fn asked_for(worker: &Worker) -> String {
    let authorization = worker.pending_call().header("authorization").unwrap();
    let pair = STANDARD.decode(authorization.strip_prefix("Basic ").unwrap()).unwrap();
    String::from_utf8(pair).unwrap().split_once(':').unwrap().0.to_owned()
}

/// Credentials on which the service fails open no gate: it decides on the gateway's own.
#[test]
fn a_question_that_makes_the_service_fail_opens_nothing() {
    for (_, outage) in outages() {
        for decided in [200, 401, 403] {
            let mut worker = worker(&with(per_request(), json!({"on_outage": "open"})));
            let id = call(&mut worker, "acme", "odd");
            outage(&mut worker);
            worker.host.mend(Fault::ReadCallOut);
            assert_held(&worker, id);
            let token = worker.pending_call().token;
            worker.answer(token, decided, &[], b"");
            assert_eq!((status(&worker, id), details(&worker, id)), (503, "client_id_outage"));
            assert_eq!((metric(&worker, "auth_up"), metric(&worker, "outage_open")), (1, 0));
            let outcome = worker.host.property_of(id, &["portcullis.client-id.outcome"]).unwrap();
            assert_eq!(String::from_utf8(outcome).unwrap(), "client-id:failed-closed:auth-up");
        }
    }
}

/// So do those that it is too slow for, while it is fast enough for others.
#[test]
fn a_decision_on_another_question_shows_that_the_service_is_up() {
    let mut worker = worker(&with(per_request(), json!({"on_outage": "open"})));
    let slow = call(&mut worker, "acme", "slow");
    worker.advance(Duration::from_millis(500));
    let fast = call(&mut worker, "acme", "fast");
    let token = worker.pending_calls().iter().map(|call| call.token).max_by_key(|token| token.0).unwrap();
    worker.advance(Duration::from_millis(500));
    assert_held(&worker, slow);
    worker.answer(token, 200, &[], b"");
    assert_admitted(&worker, fast);
    assert_eq!((status(&worker, slow), metric(&worker, "auth_up")), (503, 1));
    fail_all_calls(&mut worker);
    assert_eq!(metric(&worker, "outage_open"), 0);
}

#[test]
fn asks_one_question_of_its_own_for_all_and_believes_the_outage_for_a_second() {
    let mut worker = worker(&with(per_request(), json!({"on_outage": "open"})));
    let ids = ["a", "b", "c"].map(|client| call(&mut worker, client, "s"));
    for call in worker.pending_calls() {
        worker.fail_call(call.token);
    }
    assert_eq!(worker.host.calls_sent(), 4);
    fail_all_calls(&mut worker);
    ids.iter().for_each(|id| assert_admitted(&worker, *id));
    for (after, calls) in [(999, 5), (1, 7)] {
        worker.advance(Duration::from_millis(after));
        let id = call(&mut worker, "d", "s");
        fail_all_calls(&mut worker);
        assert_admitted(&worker, id);
        assert_eq!(worker.host.calls_sent(), calls, "after {after} ms");
    }
}

#[test]
fn gives_up_on_its_own_question_and_forgets_who_has_gone() {
    let mut worker = worker(&with(per_request(), json!({"on_outage": "open"})));
    let [kept, gone] = ["a", "b"].map(|client| call(&mut worker, client, "s"));
    for call in worker.pending_calls() {
        worker.fail_call(call.token);
    }
    worker.abort(gone);
    let own = worker.pending_call().token;
    worker.host.forget_call(own);
    assert_held(&worker, kept);
    worker.advance(Duration::from_secs(3));
    assert_admitted(&worker, kept);
    assert_eq!(metric(&worker, "outage_open"), 1);
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
