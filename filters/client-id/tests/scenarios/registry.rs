//! Deciding from a list of clients.

use std::time::Duration;

use portcullis_policy::time::Timestamp;
use portcullis_testkit::inprocess::{Fault, Worker};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::support::*;

fn config() -> Value {
    json!({"auth": {"registry": {"cluster": "auth", "authority": "auth.internal", "interval_ms": 10_000}}})
}

fn list(secret: &str) -> Vec<u8> {
    let salt = b"\x01\x02\x03\x04\x05\x06\x07\x08";
    let digest = hex::encode(Sha256::new().chain_update(salt).chain_update(secret).finalize());
    json!({"version": 1, "clients": [
        {"id": "acme", "name": "Acme", "tier": "gold", "secrets": [{"salt": hex::encode(salt), "sha256": digest}]},
        {"id": "out", "disabled": true, "secrets": [{"salt": hex::encode(salt), "sha256": digest}]},
    ]})
    .to_string()
    .into_bytes()
}

fn serve(worker: &mut Worker, status: u16, etag: &str, body: &[u8]) {
    let token = worker.pending_call().token;
    worker.answer(token, status, &[("etag", etag)], body);
}

fn worker_with_list() -> Worker {
    let mut worker = worker(&config());
    serve(&mut worker, 200, "\"1\"", &list("s"));
    worker
}

#[test]
fn asks_for_the_list_at_once_and_decides_without_asking_again() {
    let mut worker = worker(&config());
    let question = worker.pending_call();
    assert_eq!(question.header(":path").as_deref(), Some("/clients"));
    assert_eq!(question.header(":authority").as_deref(), Some("auth.internal"));
    assert_eq!(question.header("if-none-match"), None);
    serve(&mut worker, 200, "\"1\"", &list("s"));
    let good = call(&mut worker, "acme", "s");
    assert_admitted(&worker, good);
    assert_eq!(upstream(&worker, good, "x-portcullis-client-name").as_deref(), Some("Acme"));
    assert_eq!(upstream(&worker, good, "x-portcullis-client-tier").as_deref(), Some("gold"));
    for (id, secret, reason) in
        [("acme", "t", "invalid"), ("nobody", "s", "invalid"), ("out", "s", "disabled")]
    {
        let bad = call(&mut worker, id, secret);
        assert_eq!(status(&worker, bad), 401);
        let outcome = worker.host.property_of(bad, &["portcullis.client-id.outcome"]).unwrap();
        assert_eq!(String::from_utf8(outcome).unwrap(), format!("client-id:rejected:{reason}"));
    }
    assert_eq!(worker.host.calls_sent(), 1);
}

#[test]
fn holds_requests_for_the_first_list() {
    let mut worker = worker(&config());
    let good = call(&mut worker, "acme", "s");
    let bad = call(&mut worker, "acme", "t");
    let gone = call(&mut worker, "acme", "s");
    worker.abort(gone);
    assert_held(&worker, good);
    serve(&mut worker, 200, "\"1\"", &list("s"));
    assert_admitted(&worker, good);
    assert_eq!(status(&worker, bad), 401);
}

#[test]
fn gives_up_holding_in_time() {
    let mut worker =
        worker(&with(config(), json!({"auth": {"registry": {"hold_ms": 1000, "timeout_ms": 60_000}}})));
    let id = call(&mut worker, "acme", "s");
    worker.advance(Duration::from_millis(900));
    assert_held(&worker, id);
    worker.advance(Duration::from_millis(200));
    assert_eq!(status(&worker, id), 503);
}

#[test]
fn refuses_or_opens_before_the_first_list_if_told_to() {
    let refuse = json!({"auth": {"registry": {"before_first_list": "refuse"}}});
    let mut closed = worker(&with(config(), refuse.clone()));
    let id = call(&mut closed, "acme", "s");
    assert_eq!(status(&closed, id), 503);
    let mut open = worker(&with(with(config(), refuse), json!({"on_outage": "open"})));
    let id = call(&mut open, "acme", "s");
    assert_admitted(&open, id);
    assert_eq!(upstream(&open, id, "x-portcullis-unverified").as_deref(), Some("no-client-list"));
}

#[test]
fn holds_no_more_requests_than_configured() {
    let mut worker = worker(&with(config(), json!({"max_waiting": 1})));
    let held = call(&mut worker, "acme", "s");
    let surplus = call(&mut worker, "acme", "s");
    assert_held(&worker, held);
    assert_eq!(status(&worker, surplus), 503);
}

#[test]
fn asks_again_after_the_interval_and_honours_the_etag() {
    let mut worker = worker_with_list();
    worker.advance(Duration::from_millis(11_200));
    let question = worker.pending_call();
    assert_eq!(question.header("if-none-match").as_deref(), Some("\"1\""));
    serve(&mut worker, 304, "\"1\"", b"");
    assert_eq!(metric(&worker, "registry_unchanged"), 1);
    let id = call(&mut worker, "acme", "s");
    assert_admitted(&worker, id);
    worker.advance(Duration::from_millis(11_200));
    serve(&mut worker, 200, "\"2\"", &list("new"));
    let old = call(&mut worker, "acme", "s");
    assert_eq!(status(&worker, old), 401);
    let new = call(&mut worker, "acme", "new");
    assert_admitted(&worker, new);
    worker.advance(Duration::from_millis(11_200));
    assert_eq!(worker.pending_call().header("if-none-match").as_deref(), Some("\"2\""));
}

#[test]
fn keeps_enforcing_the_last_list_whatever_becomes_of_the_service() {
    let large = [&list("s")[..], &vec![b' '; 5 << 20]].concat();
    type Answer = Box<dyn Fn(&mut Worker)>;
    let answers: Vec<(&str, Answer)> = vec![
        ("down", Box::new(|worker| worker.host.fail(Fault::CallOut))),
        ("slow", Box::new(|worker| worker.advance(Duration::from_secs(6)))),
        (
            "reset",
            Box::new(|worker| {
                let token = worker.pending_call().token;
                worker.fail_call(token);
            }),
        ),
        ("500", Box::new(|worker| serve(worker, 500, "", b""))),
        ("garbage", Box::new(|worker| serve(worker, 200, "", b"\xff\x00nonsense"))),
        ("empty", Box::new(|worker| serve(worker, 200, "", b""))),
        ("wrong version", Box::new(|worker| serve(worker, 200, "", b"{\"version\":2,\"clients\":[]}"))),
        ("too large", Box::new(move |worker| serve(worker, 200, "", &large))),
    ];
    for (name, fail) in answers {
        let mut worker = worker_with_list();
        if name == "down" {
            fail(&mut worker);
        }
        worker.advance(Duration::from_millis(11_200));
        if name != "down" {
            fail(&mut worker);
        }
        assert!(metric(&worker, "registry_failed") >= 1, "{name}");
        let good = call(&mut worker, "acme", "s");
        assert_admitted(&worker, good);
        let bad = call(&mut worker, "acme", "t");
        assert_eq!(status(&worker, bad), 401, "{name}");
        let warnings = worker.log_lines(portcullis_policy::host::Level::Warn);
        assert!(
            warnings.iter().any(|line| line.contains("the last list, of 2 clients, stays")),
            "{name}: {warnings:?}"
        );
        worker.host.mend(Fault::CallOut);
        while worker.pending_calls().is_empty() {
            worker.advance(Duration::from_millis(100));
        }
        serve(&mut worker, 200, "\"2\"", &list("new"));
        let new = call(&mut worker, "acme", "new");
        assert_admitted(&worker, new);
    }
}

#[test]
fn believes_a_list_only_for_as_long_as_told() {
    let mut worker = worker(&with(config(), json!({"auth": {"registry": {"max_age_ms": 30_000}}})));
    serve(&mut worker, 200, "\"1\"", &list("s"));
    worker.advance(Duration::from_millis(11_200));
    serve(&mut worker, 304, "\"1\"", b"");
    worker.host.fail(Fault::CallOut);
    worker.advance(Duration::from_secs(29));
    let id = call(&mut worker, "acme", "s");
    assert_admitted(&worker, id);
    worker.advance(Duration::from_secs(2));
    let id = call(&mut worker, "acme", "s");
    assert_eq!(status(&worker, id), 503);
}

#[test]
fn asks_more_often_while_there_is_no_list_but_ever_less_so() {
    let mut worker = worker(&config());
    worker.host.fail(Fault::CallOut);
    let token = worker.pending_call().token;
    worker.fail_call(token);
    let mut attempts = Vec::new();
    for _ in 0..40 {
        worker.advance(Duration::from_secs(1));
        attempts.push(metric(&worker, "registry_failed"));
    }
    assert!(attempts[0] >= 3, "{attempts:?}");
    let last = attempts[attempts.len() - 1];
    assert!((6..=14).contains(&last), "{attempts:?}");
    assert_eq!(
        worker.log_lines(portcullis_policy::host::Level::Warn).len(),
        1,
        "one line, not one an attempt"
    );
}

#[test]
fn is_not_confused_by_an_unasked_304_or_a_stranger_s_answer() {
    let mut worker = worker(&config());
    serve(&mut worker, 304, "", b"");
    let id = call(&mut worker, "acme", "s");
    assert_held(&worker, id);
    assert_eq!(metric(&worker, "registry_failed"), 1);
}

#[test]
fn goes_on_asking_when_the_clock_is_set_back() {
    let mut worker = worker_with_list();
    worker.host.set_time(Timestamp::from_nanos(1_000_000_000));
    worker.host.tick_now();
    worker.advance(Duration::from_secs(1));
    assert_eq!(worker.pending_calls().len(), 1);
}
