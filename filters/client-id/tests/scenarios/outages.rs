//! The auth service down, slow, resetting and talking nonsense.

use std::collections::BTreeSet;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use portcullis_policy::HeaderList;
use portcullis_testkit::inprocess::{Fault, Worker};
use serde_json::json;

use crate::support::*;

type Outage = (&'static str, fn(&mut Worker));

fn answer(worker: &mut Worker, status: u16) {
    let token = worker.pending_call().token;
    worker.answer(token, status, &[], b"");
}

/// Every way in which the service can answer something that decides nothing, with the word for it.
fn answers_without_a_decision() -> Vec<Outage> {
    vec![
        ("auth-status", |worker| answer(worker, 400)),
        ("auth-status", |worker| answer(worker, 404)),
        ("auth-status", |worker| answer(worker, 302)),
        ("auth-status", |worker| answer(worker, 100)),
        ("auth-status", |worker| answer(worker, 600)),
        ("auth-status", |worker| {
            let token = worker.pending_call().token;
            worker.answer_raw(token, [(":status", "2xx")].into_iter().collect::<HeaderList>(), b"");
        }),
        ("overload", |worker| answer(worker, 429)),
        ("overload", |worker| {
            let token = worker.pending_call().token;
            worker.answer(token, 404, &[("retry-after", "1")], b"");
        }),
    ]
}

/// Every way in which the service can say that it is asked too often.
fn overloads() -> Vec<(u16, &'static [(&'static str, &'static str)])> {
    vec![
        (429, &[]),
        (429, &[("retry-after", "5")]),
        (500, &[("retry-after", "5")]),
        (503, &[("retry-after", "Wed, 21 Oct 2026 07:28:00 GMT")]),
        (503, &[("x-envoy-overloaded", "true")]),
        (504, &[("retry-after", "5")]),
    ]
}

/// Every way in which the service can fail to answer, with the word for it.
fn outages() -> Vec<Outage> {
    vec![
        ("auth-reset", |worker| {
            let token = worker.pending_call().token;
            worker.fail_call(token);
        }),
        ("auth-status", |worker| worker.advance(Duration::from_secs(1))),
        ("auth-status", |worker| answer(worker, 500)),
        ("auth-status", |worker| answer(worker, 503)),
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
    let undecided = answers_without_a_decision().into_iter().filter(|(reason, _)| *reason != "overload");
    for (at, (reason, outage)) in outages().into_iter().chain(undecided).enumerate() {
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
        assert_ne!(asked_for(&worker).0, "acme", "the gateway asks a question of its own");
        prove_outage(&mut worker, outage);
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

/// The identifier and the secret that the service is asked about.
fn asked_for(worker: &Worker) -> (String, String) {
    let authorization = worker.pending_call().header("authorization").unwrap();
    let pair = STANDARD.decode(authorization.strip_prefix("Basic ").unwrap()).unwrap();
    let (id, secret) =
        String::from_utf8(pair).unwrap().split_once(':').map(|(a, b)| (a.into(), b.into())).unwrap();
    (id, secret)
}

/// Neither for a client's question nor for the gateway's own.
#[test]
fn an_answer_that_decides_nothing_opens_nothing_and_serves_nothing_stale() {
    let lenient = json!({"on_outage": "open",
        "cache": {"admit_ttl_ms": 1000, "jitter_percent": 0, "stale_if_error_ms": 600_000}});
    for (at, (reason, answered)) in answers_without_a_decision().into_iter().enumerate() {
        for outage in [None, Some(fail_all_calls_once as fn(&mut Worker))] {
            let mut worker = worker(&with(per_request(), lenient.clone()));
            call(&mut worker, "acme", "s");
            answer(&mut worker, 200);
            worker.advance(Duration::from_secs(2));
            let [known, unknown] = ["s", "wrong"].map(|secret| {
                let id = call(&mut worker, "acme", secret);
                if let Some(outage) = outage {
                    outage(&mut worker);
                    assert_held(&worker, id);
                }
                answered(&mut worker);
                id
            });
            for id in [known, unknown] {
                assert_eq!(status(&worker, id), 503, "{at} {outage:?}");
                let outcome = worker.host.property_of(id, &["portcullis.client-id.outcome"]).unwrap();
                let reason = if outage.is_some() { "auth-up" } else { reason };
                assert_eq!(String::from_utf8(outcome).unwrap(), format!("client-id:failed-closed:{reason}"));
            }
            assert_eq!((metric(&worker, "outage_open"), metric(&worker, "cache_stale")), (0, 0), "{at}");
            assert_eq!(metric(&worker, "outage_closed"), 2);
            assert!(worker.pending_calls().is_empty(), "no answer is asked for again");
        }
    }
}

#[test]
fn a_service_that_is_asked_too_often_is_asked_no_more_and_opens_nothing() {
    for (status_of_service, headers) in overloads() {
        for own in [false, true] {
            let policy = json!({"on_outage": "open", "auth": {"per-request": {"retries": 3}}});
            let policy = if own { json!({"on_outage": "open"}) } else { policy };
            let mut worker = worker(&with(per_request(), policy));
            let id = call(&mut worker, "acme", "wrong");
            if own {
                answer(&mut worker, 500);
                assert_held(&worker, id);
            }
            let token = worker.pending_call().token;
            worker.answer(token, status_of_service, headers, b"");
            assert_eq!(status(&worker, id), 503, "{status_of_service} {headers:?}");
            assert_eq!(metric(&worker, "outage_open"), 0);
            assert_eq!((worker.pending_calls().len(), metric(&worker, "auth_calls")), (0, 1));
            if !own || status_of_service >= 500 {
                assert_eq!(details(&worker, id), "client_id_overload");
                assert_eq!(metric(&worker, "overload"), 1);
            }
        }
    }
}

/// A client cannot have it locked out, nor learn to be exempt by it.
#[test]
fn asks_about_other_credentials_each_time() {
    let mut worker = worker(&with(per_request(), json!({"on_outage": "open"})));
    call(&mut worker, "acme", "odd");
    answer(&mut worker, 500);
    let mut seen = BTreeSet::new();
    for _ in 0..3 {
        let (id, secret) = asked_for(&worker);
        for text in [id, secret] {
            assert!(text.len() == 32 && text.chars().all(|c| c.is_ascii_alphanumeric()), "{text}");
            assert!(seen.insert(text));
        }
        answer(&mut worker, 500);
        worker.advance(TICK);
    }
    assert_eq!(seen.len(), 6);
}

/// Whoever sees the gateway's own credentials and sends them is a client like any other.
#[test]
fn remembers_nothing_of_its_own_question() {
    let mut worker = worker(&with(per_request(), json!({"on_outage": "open"})));
    call(&mut worker, "acme", "odd");
    answer(&mut worker, 500);
    let (id, secret) = asked_for(&worker);
    let own = worker.pending_call().token;
    let same = call(&mut worker, &id, &secret);
    assert_held(&worker, same);
    worker.answer(own, 200, &[], b"");
    assert_held(&worker, same);
    assert_eq!(asked_for(&worker), (id, secret));
    answer(&mut worker, 401);
    assert_eq!(status(&worker, same), 401);
}

/// Over HTTP/2 a question on which the service drops the connection takes along those that are on it.
#[test]
fn asks_its_own_question_when_no_other_is_under_way_and_holds_back_those_that_come() {
    let mut worker = worker(&with(per_request(), json!({"on_outage": "open"})));
    let [first, second] = ["1", "2"].map(|secret| call(&mut worker, "poison", secret));
    let [token_1, token_2] = worker.pending_calls().iter().map(|call| call.token).collect::<Vec<_>>()[..]
    else {
        panic!("two questions")
    };
    worker.answer(token_1, 503, &[], b"");
    assert_eq!(worker.pending_calls().len(), 1, "the second question is still under way");
    let good = call(&mut worker, "acme", "s");
    assert_eq!(worker.pending_calls().len(), 1, "and no other is sent");
    worker.answer(token_2, 503, &[], b"");
    let own = worker.pending_call().token;
    assert_ne!(asked_for(&worker).0, "acme");
    worker.answer(own, 401, &[], b"");
    assert_eq!((status(&worker, first), status(&worker, second)), (503, 503));
    assert_eq!(asked_for(&worker), ("acme".to_owned(), "s".to_owned()));
    answer(&mut worker, 200);
    assert_admitted(&worker, good);
    assert_eq!((metric(&worker, "auth_up"), metric(&worker, "outage_open")), (2, 0));
    assert_eq!(metric(&worker, "auth_calls"), 3);
}

/// One that breaks off meanwhile is sent again only after that.
#[test]
fn holds_back_a_second_attempt_too() {
    let policy = json!({"on_outage": "open", "auth": {"per-request": {"retries": 1}}});
    let mut worker = worker(&with(per_request(), policy));
    let poison = call(&mut worker, "poison", "s");
    fail_all_calls_once(&mut worker);
    let good = call(&mut worker, "acme", "s");
    fail_all_calls_once(&mut worker);
    assert_held(&worker, poison);
    assert_eq!(worker.pending_calls().len(), 1, "the gateway's own");
    answer(&mut worker, 401);
    assert_eq!(status(&worker, poison), 503);
    assert_eq!(asked_for(&worker).0, "acme");
    answer(&mut worker, 200);
    assert_admitted(&worker, good);
    assert_eq!(metric(&worker, "outage_open"), 0);
}

/// The service may drop a connection for what came over it long ago.
#[test]
fn a_question_of_its_own_that_breaks_off_is_asked_three_times() {
    let breaks: [fn(&mut Worker); 4] = [
        fail_all_calls,
        |worker| answer(worker, 500),
        |worker| answer(worker, 502),
        |worker| answer(worker, 503),
    ];
    for fail in breaks {
        for broken in 1..=3 {
            let mut worker = worker(&with(per_request(), json!({"on_outage": "open"})));
            let id = call(&mut worker, "acme", "odd");
            answer(&mut worker, 500);
            for at in 1..=broken {
                fail(&mut worker);
                if at < 3 {
                    assert_held(&worker, id);
                    assert!(worker.pending_calls().is_empty(), "not before the next tick");
                    worker.advance(TICK);
                }
            }
            if broken < 3 {
                answer(&mut worker, 404);
                assert_eq!((status(&worker, id), metric(&worker, "outage_open")), (503, 0));
            } else {
                assert_admitted(&worker, id);
            }
        }
    }
}

#[test]
fn a_question_of_its_own_that_has_no_answer_in_time_is_enough() {
    let mut worker = worker(&with(per_request(), json!({"on_outage": "open"})));
    let id = call(&mut worker, "acme", "s");
    worker.advance(Duration::from_millis(1500));
    assert_held(&worker, id);
    let held_back = call(&mut worker, "globex", "s");
    worker.advance(Duration::from_millis(500));
    assert_admitted(&worker, id);
    assert_admitted(&worker, held_back);
    assert_eq!(upstream(&worker, held_back, "x-portcullis-unverified").as_deref(), Some("auth-status"));
    assert_eq!((worker.host.calls_sent(), metric(&worker, "outage_open")), (2, 2));
}

#[test]
fn holds_back_no_more_than_may_wait_and_forgets_who_has_gone() {
    let mut worker = worker(&with(per_request(), json!({"on_outage": "open", "max_waiting": 3})));
    let poison = call(&mut worker, "poison", "s");
    answer(&mut worker, 500);
    let own = worker.pending_call().token;
    let [kept, gone] = ["a", "b"].map(|client| call(&mut worker, client, "s"));
    let surplus = call(&mut worker, "c", "s");
    assert_eq!(details(&worker, surplus), "client_id_overload");
    for _ in 0..10 {
        let one = call(&mut worker, "d", "s");
        worker.abort(one);
    }
    worker.abort(gone);
    let late = call(&mut worker, "e", "s");
    assert_held(&worker, late);
    worker.answer(own, 401, &[], b"");
    assert_eq!(status(&worker, poison), 503);
    assert_eq!(worker.pending_calls().len(), 2, "nobody asks for the one who has gone");
    for call in worker.pending_calls() {
        worker.answer(call.token, 200, &[], b"");
    }
    assert_admitted(&worker, kept);
    assert_admitted(&worker, late);
}

#[test]
fn an_outage_is_confirmed_by_one_question_while_nothing_is_answered() {
    let mut worker = worker(&with(per_request(), json!({"on_outage": "open"})));
    call(&mut worker, "acme", "s");
    prove_outage(&mut worker, fail_all_calls);
    assert_eq!((worker.host.calls_sent(), metric(&worker, "outage_open")), (4, 1));
    worker.advance(Duration::from_secs(1));
    let id = call(&mut worker, "acme", "s");
    fail_all_calls(&mut worker);
    assert_admitted(&worker, id);
    assert_eq!(worker.host.calls_sent(), 6);
    call(&mut worker, "acme", "s");
    answer(&mut worker, 404);
    let id = call(&mut worker, "acme", "s");
    fail_all_calls(&mut worker);
    assert_held(&worker, id);
}

/// Credentials on which the service fails open no gate: it decides on the gateway's own.
#[test]
fn a_question_that_makes_the_service_fail_opens_nothing() {
    for (_, outage) in outages() {
        for decided in [200, 401, 403, 400, 404, 429, 302] {
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
    for _ in 0..2 {
        fail_all_calls(&mut worker);
        worker.advance(TICK);
    }
    fail_all_calls(&mut worker);
    ids.iter().for_each(|id| assert_admitted(&worker, *id));
    assert_eq!(worker.host.calls_sent(), 6);
    for (after, calls) in [(999, 7), (1, 9)] {
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
