//! Deciding from a list of clients.

use std::time::Duration;

use portcullis_client_id::ClientId;
use portcullis_policy::Chain;
use portcullis_policy::host::Level;
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

/// Lets time pass until the list is asked for, if that is within an interval.
fn await_question(worker: &mut Worker) {
    for _ in 0..120 {
        if worker.pending_calls().is_empty() {
            worker.advance(Duration::from_millis(100));
        }
    }
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
    assert_eq!(question.timeout, Duration::from_secs(5));
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
    assert_eq!(details(&worker, surplus), "client_id_overload");
    worker.abort(held);
    let next = call(&mut worker, "acme", "s");
    assert_held(&worker, next);
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
    let mut large = list("s");
    large.resize(5 << 20, b' ');
    type Answer = Box<dyn Fn(&mut Worker)>;
    let answers: Vec<(&str, Answer, &str)> = vec![
        ("down", Box::new(|worker| worker.host.fail(Fault::CallOut)), "the request could not be sent: "),
        (
            "slow",
            Box::new(|worker| worker.advance(Duration::from_secs(6))),
            "the answer's status is \"504\"; ",
        ),
        (
            "reset",
            Box::new(|worker| {
                let token = worker.pending_call().token;
                worker.fail_call(token);
            }),
            "the connection failed; ",
        ),
        (
            "lost",
            Box::new(|worker| {
                let token = worker.pending_call().token;
                worker.host.forget_call(token);
                worker.advance(Duration::from_secs(7));
            }),
            "no answer came; ",
        ),
        ("500", Box::new(|worker| serve(worker, 500, "", b"")), "the answer's status is \"500\"; "),
        (
            "garbage",
            Box::new(|worker| serve(worker, 200, "", b"\xff\x00nonsense")),
            "the list is refused: must be a JSON object",
        ),
        (
            "empty",
            Box::new(|worker| serve(worker, 200, "", b"")),
            "the list is refused: not JSON: it ends too early; ",
        ),
        (
            "wrong version",
            Box::new(|worker| serve(worker, 200, "", b"{\"version\":2,\"clients\":[]}")),
            "the list is refused: version: must be 1; ",
        ),
        (
            "too large",
            Box::new(move |worker| serve(worker, 200, "", &large)),
            "the list is refused: it has 5242880 bytes, more than 4194304; ",
        ),
    ];
    for (name, fail, problem) in answers {
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
        let warnings = worker.log_lines(Level::Warn);
        let [warning] = warnings.as_slice() else { panic!("{name}: {warnings:?}") };
        assert!(
            warning.starts_with(&format!("client-id: no new list of clients: {problem}"))
                && warning.ends_with("; the last list, of 2 clients, stays in force"),
            "{name}: {warning}"
        );
        worker.host.mend(Fault::CallOut);
        await_question(&mut worker);
        serve(&mut worker, 200, "\"2\"", &list("new"));
        let new = call(&mut worker, "acme", "new");
        assert_admitted(&worker, new);
        let news = worker.log_lines(Level::Info);
        assert_eq!(
            news[news.len() - 2..],
            ["client-id: took over a list of 2 clients", "client-id: the list of clients can be had again"],
            "{name}"
        );
    }
}

/// Whoever serves the list decides what its members are called and how often it changes, and on nothing else of the log.
#[test]
fn hostile_lists_neither_forge_the_log_nor_flood_it() {
    let forged = "\n[2026-01-31 08:15:30][info][wasm] {\"client_id\":\"forged\"}\u{1b}[2J";
    let hostile = [
        json!({"version": 1, "clients": [{"id": "acme", forged: 1}]}),
        json!({"version": 1, "clients": [], "x".repeat(2_000_000): 1}),
    ];
    let changes = json!({"auth": {"registry": {"interval_ms": 100, "max_bytes": 4 << 20}}});
    let mut worker = worker(&with(config(), changes));
    for at in 0..100 {
        let document = match at % 4 {
            0 => hostile[0].to_string().into_bytes(),
            2 => hostile[1].to_string().into_bytes(),
            _ => list("s"),
        };
        await_question(&mut worker);
        serve(&mut worker, 200, "", &document);
    }
    let warnings = worker.log_lines(Level::Warn);
    let warnings: Vec<_> = warnings.iter().filter(|line| !line.starts_with("client-id: took over")).collect();
    for line in &warnings {
        assert!(line.len() < 500 && !line.contains(char::is_control) && !line.contains('{'), "{line}");
        assert!(line.contains("unknown field"), "{line}");
    }
    assert!(!warnings.is_empty() && warnings.len() <= 2, "{warnings:?}");
    // It is news again when it lasts.
    worker.advance(Duration::from_secs(61));
    for _ in 0..2 {
        await_question(&mut worker);
        serve(&mut worker, 200, "", &hostile[1].to_string().into_bytes());
    }
    assert_eq!(worker.log_lines(Level::Warn).len(), warnings.len() + 1);
}

#[test]
fn tells_the_log_of_lists_and_not_of_answers_that_nothing_has_changed() {
    let mut worker = worker_with_list();
    worker.advance(Duration::from_millis(11_200));
    serve(&mut worker, 304, "\"1\"", b"");
    assert_eq!(worker.log_lines(Level::Info), ["client-id: took over a list of 2 clients"]);
}

#[test]
fn takes_a_list_that_is_just_as_long_as_allowed() {
    let list = list("s");
    for (allowed, expected) in [(list.len(), "registry_updated"), (list.len() - 1, "registry_refused")] {
        let limit = json!({"auth": {"registry": {"max_bytes": allowed}}});
        let mut worker = worker(&with(config(), limit));
        serve(&mut worker, 200, "\"1\"", &list);
        for name in ["registry_updated", "registry_refused"] {
            assert_eq!(metric(&worker, name), i64::from(name == expected), "{allowed}: {name}");
        }
    }
}

#[test]
fn believes_a_list_only_for_as_long_as_told() {
    let mut worker = worker(&with(config(), json!({"auth": {"registry": {"max_age_ms": 30_000}}})));
    serve(&mut worker, 200, "\"1\"", &list("s"));
    worker.advance(Duration::from_millis(11_200));
    serve(&mut worker, 304, "\"1\"", b"");
    worker.host.fail(Fault::CallOut);
    worker.advance(Duration::from_secs(30));
    let id = call(&mut worker, "acme", "s");
    assert_admitted(&worker, id);
    worker.advance(Duration::from_millis(1));
    let id = call(&mut worker, "acme", "s");
    assert_eq!(status(&worker, id), 503);
}

#[test]
fn believes_a_list_no_longer_because_the_clock_is_set_back() {
    let mut worker = worker(&with(config(), json!({"auth": {"registry": {"max_age_ms": 30_000}}})));
    serve(&mut worker, 200, "\"1\"", &list("s"));
    worker.host.fail(Fault::CallOut);
    worker.host.set_time(Timestamp::from_nanos(1_000_000_000));
    worker.advance(Duration::from_secs(20));
    let id = call(&mut worker, "acme", "s");
    assert_admitted(&worker, id);
    worker.advance(Duration::from_secs(15));
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
    assert_eq!(worker.log_lines(Level::Warn).len(), 1, "one line, not one an attempt");
}

#[test]
fn is_not_confused_by_an_unasked_304() {
    let mut worker = worker(&config());
    serve(&mut worker, 304, "", b"");
    let id = call(&mut worker, "acme", "s");
    assert_held(&worker, id);
    assert_eq!(metric(&worker, "registry_failed"), 1);
}

#[test]
fn takes_no_list_that_another_policy_of_the_chain_has_asked_for() {
    let first = with(config(), json!({"upstream_credentials": "keep"})).to_string();
    let second = with(config(), json!({"auth": {"registry": {"path": "/others"}}})).to_string();
    let chain = Chain::new()
        .then_configured::<ClientId>(first.as_bytes())
        .and_then(|chain| chain.then_configured::<ClientId>(second.as_bytes()));
    let mut worker = Worker::start(chain.unwrap()).unwrap();
    let questions = worker.pending_calls();
    let id = call(&mut worker, "acme", "s");
    worker.answer(questions[0].token, 200, &[], &list("s"));
    assert_held(&worker, id);
    worker.answer(questions[1].token, 200, &[], &list("other"));
    assert_eq!(status(&worker, id), 401);
}

#[test]
fn goes_on_asking_when_the_clock_is_set_back() {
    let mut worker = worker_with_list();
    worker.host.set_time(Timestamp::from_nanos(1_000_000_000));
    worker.host.tick_now();
    worker.advance(Duration::from_secs(1));
    assert_eq!(worker.pending_calls().len(), 1);
}

/// A list of so many clients without secrets, named by their number.
fn long_list(clients: usize) -> Vec<u8> {
    let clients: Vec<Value> = (0..clients).map(|at| json!({"id": at.to_string()})).collect();
    json!({"version": 1, "clients": clients}).to_string().into_bytes()
}

#[test]
fn reads_a_long_list_a_part_at_a_time_and_enforces_the_last_one_meanwhile() {
    let mut worker = worker(&with(config(), json!({"secret": "optional"})));
    serve(&mut worker, 200, "\"1\"", &list("s"));
    worker.advance(Duration::from_millis(11_200));
    serve(&mut worker, 200, "\"2\"", &long_list(10_000));
    for updated in [1, 1, 2] {
        assert_eq!(metric(&worker, "registry_updated"), updated);
        let [old, new] = ["acme", "9999"].map(|id| worker.request([(":path", "/"), ("client_id", id)]));
        let (admitted, refused) = if updated == 1 { (old, new) } else { (new, old) };
        assert_admitted(&worker, admitted);
        assert_eq!(status(&worker, refused), 401);
        assert_eq!(worker.host.calls_sent(), 2, "no other list is asked for meanwhile");
        worker.advance(Duration::from_millis(100));
    }
    await_question(&mut worker);
    assert_eq!(worker.pending_call().header("if-none-match").as_deref(), Some("\"2\""));
    // A shorter list after it: the longer one's memory is given back before the next is asked for.
    serve(&mut worker, 200, "\"3\"", &list("s"));
    await_question(&mut worker);
    serve(&mut worker, 200, "\"4\"", &long_list(9_000)[..50_000]);
    await_question(&mut worker);
    assert_eq!((metric(&worker, "registry_updated"), metric(&worker, "registry_refused")), (3, 1));
    let old = call(&mut worker, "acme", "s");
    assert_admitted(&worker, old);
}

#[test]
fn holds_requests_until_the_first_list_is_whole() {
    let mut worker = worker(&with(config(), json!({"secret": "optional"})));
    let held = worker.request([(":path", "/"), ("client_id", "9999")]);
    serve(&mut worker, 200, "", &long_list(10_000));
    let gone = worker.request([(":path", "/"), ("client_id", "9999")]);
    assert_held(&worker, held);
    worker.abort(gone);
    worker.advance(Duration::from_millis(200));
    assert_admitted(&worker, held);
}

#[test]
fn refuses_a_list_that_is_more_than_it_may_be() {
    for (limit, problem) in [
        (json!({"max_clients": 9_999}), "clients: has more than 9999 items (max_clients)"),
        (
            json!({"max_memory_bytes": 1_000_000}),
            "clients: takes more than 1000000 bytes of memory (max_memory_bytes)",
        ),
    ] {
        let mut worker = worker(&with(config(), json!({"auth": {"registry": limit}})));
        serve(&mut worker, 200, "", &list("s"));
        await_question(&mut worker);
        serve(&mut worker, 200, "", &long_list(10_000));
        worker.advance(Duration::from_millis(500));
        assert_eq!((metric(&worker, "registry_refused"), metric(&worker, "registry_failed")), (1, 1));
        let warnings = worker.log_lines(Level::Warn);
        assert!(warnings[0].contains(problem) && warnings.len() == 1, "{warnings:?}");
        let id = call(&mut worker, "acme", "s");
        assert_admitted(&worker, id);
    }
}

#[test]
fn complains_once_a_minute_of_lists_that_are_good_and_bad_in_turn() {
    let mut worker = worker(&config());
    for _ in 0..4 {
        serve(&mut worker, 200, "", &list("s"));
        await_question(&mut worker);
        serve(&mut worker, 200, "", b"{}");
        await_question(&mut worker);
    }
    assert_eq!((metric(&worker, "registry_refused"), worker.log_lines(Level::Warn).len()), (4, 1));
}

#[test]
fn opens_nothing_because_the_request_for_the_list_is_refused() {
    let open = json!({"on_outage": "open", "auth": {"registry": {"before_first_list": "refuse"}}});
    let mut worker = worker(&with(config(), open));
    let token = worker.pending_call().token;
    worker.answer(token, 503, &[("x-envoy-overloaded", "true")], b"");
    let id = call(&mut worker, "acme", "s");
    assert_eq!(details(&worker, id), "client_id_overload");
    worker.host.fail(Fault::CallOut);
    worker.advance(Duration::from_secs(1));
    let id = call(&mut worker, "acme", "s");
    assert_eq!(details(&worker, id), "client_id_overload");
    worker.host.mend(Fault::CallOut);
    await_question(&mut worker);
    let token = worker.pending_call().token;
    worker.fail_call(token);
    let id = call(&mut worker, "acme", "s");
    assert_admitted(&worker, id);
}

/// Status, headers and body of an answer, and what it is.
type Answer = (u16, &'static [(&'static str, &'static str)], &'static [u8], &'static str);

#[test]
fn a_service_that_answers_something_else_than_a_list_opens_nothing() {
    let open = json!({"on_outage": "open", "auth": {"registry": {"before_first_list": "refuse", "max_age_ms": 60_000}}});
    let answers: [Answer; 6] = [
        (404, &[], b"", "auth-status"),
        (401, &[], b"", "auth-status"),
        (200, &[], b"no list", "auth-status"),
        (304, &[], b"", "auth-status"),
        (429, &[], b"", "overload"),
        (503, &[("retry-after", "5")], b"", "overload"),
    ];
    for (answered, headers, body, reason) in answers {
        let mut worker = worker(&with(config(), open.clone()));
        let token = worker.pending_call().token;
        worker.answer(token, answered, headers, body);
        let id = call(&mut worker, "acme", "s");
        assert_eq!(status(&worker, id), 503, "{answered}");
        let outcome = worker.host.property_of(id, &["portcullis.client-id.outcome"]).unwrap();
        assert_eq!(String::from_utf8(outcome).unwrap(), format!("client-id:failed-closed:{reason}"));
        assert_eq!(metric(&worker, "outage_open"), 0);
        await_question(&mut worker);
        let token = worker.pending_call().token;
        worker.answer(token, 500, &[], b"");
        let id = call(&mut worker, "acme", "s");
        assert_admitted(&worker, id);
        assert_eq!(upstream(&worker, id, "x-portcullis-unverified").as_deref(), Some("no-client-list"));
    }
}
