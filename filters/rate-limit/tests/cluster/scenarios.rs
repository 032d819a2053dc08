//! What the policy makes of the service's word, on a host in the test's own process.

use std::time::Duration;

use portcullis_policy::host::{CallToken, Direction};
use portcullis_policy::reply::RenderedReply;
use portcullis_policy::{Chain, ExchangeId};
use portcullis_rate_limit::RateLimit;
use portcullis_testkit::inprocess::{Fate, Fault, Worker};
use serde_json::{Value, json};

use crate::wire::{OK, OVER_LIMIT, field, framed, header, response, status};

/// The policy allows one request per hour by itself. `change` is put over it, `service` over its service.
fn worker(change: Value, service: Value) -> Worker {
    let mut policy = json!({
        "key": [{"header": {"name": "x-tenant"}}],
        "limits": [{"max": 1, "period_ms": 3_600_000}],
        "headers": "envoy",
        "service": {"cluster": "limits", "domain": "shop"},
    });
    let over = |target: &mut Value, change: Value| {
        for (name, value) in change.as_object().unwrap() {
            target[name] = value.clone();
        }
    };
    over(&mut policy, change);
    over(&mut policy["service"], service);
    let chain = Chain::new().then_configured::<RateLimit>(policy.to_string().as_bytes()).unwrap();
    Worker::start(chain).unwrap()
}

/// A request that the service is asked about.
#[track_caller]
fn asked(worker: &mut Worker, tenant: &str) -> (ExchangeId, CallToken) {
    let id = worker.request([(":method", "POST"), (":path", "/"), ("x-tenant", tenant)]);
    assert_eq!(worker.fate(id), Fate::Held);
    (id, worker.pending_call().token)
}

fn answer(worker: &mut Worker, token: CallToken, message: &[u8]) {
    let headers = [("content-type", "application/grpc")];
    worker.answer_with_trailers(token, 200, &headers, &framed(message), &[("grpc-status", "0")]);
}

/// The fate of a request about which the service says this.
#[track_caller]
fn decided(worker: &mut Worker, message: &[u8]) -> ExchangeId {
    let (id, token) = asked(worker, "acme");
    answer(worker, token, message);
    id
}

/// The fate of a request for which the service is out.
#[track_caller]
fn out(worker: &mut Worker) -> ExchangeId {
    let (id, token) = asked(worker, "acme");
    worker.fail_call(token);
    id
}

fn field_of<'a>(reply: &'a RenderedReply, name: &str) -> Option<&'a [u8]> {
    reply.headers.iter().find(|(field, _)| *field == name).map(|(_, value)| value.as_slice())
}

fn metric(worker: &Worker, name: &str) -> i64 {
    worker.host.metric(&format!("portcullis.rate_limit.{name}"))
}

fn outcome(worker: &Worker, id: ExchangeId) -> String {
    let outcome = worker.host.property_of(id, &["portcullis.rate-limit.outcome"]);
    String::from_utf8(outcome.unwrap_or_default()).unwrap()
}

#[test]
fn a_request_is_held_whole_until_the_service_has_decided() {
    let mut worker = worker(json!({}), json!({}));
    let (id, token) = asked(&mut worker, "acme");
    worker.body(id, Direction::Request, b"secret", true);
    assert_eq!(worker.host.passed_body(id, Direction::Request), b"");

    answer(&mut worker, token, &response(OK, &[status(OK, 5, 4, 60)]));

    assert_eq!(worker.fate(id), Fate::Admitted);
    assert_eq!(worker.host.passed_body(id, Direction::Request), b"secret");
    assert_eq!(outcome(&worker, id), "rate-limit:passed:admitted");
    worker.response_headers(id, [(":status", "200")], true);
    let response = worker.host.downstream_headers(id);
    assert_eq!(response.first("x-ratelimit-limit"), Some(&b"5, 5;w=3600"[..]));
    assert_eq!(response.first("x-ratelimit-remaining"), Some(&b"4"[..]));
}

#[test]
fn what_is_over_the_service_s_limit_is_refused_and_told_when_to_come_again() {
    let mut worker = worker(json!({}), json!({}));
    let id =
        decided(&mut worker, &response(OVER_LIMIT, &[status(OK, 9, 4, 9), status(OVER_LIMIT, 5, 0, 60)]));
    let reply = worker.reply(id);
    assert_eq!(reply.status, 429);
    assert_eq!(field_of(&reply, "retry-after"), Some(&b"60"[..]));
    assert_eq!(field_of(&reply, "x-ratelimit-limit"), Some(&b"5, 9;w=3600, 5;w=3600"[..]));
    assert_eq!(outcome(&worker, id), "rate-limit:rejected:quota-exceeded");
    assert_eq!((metric(&worker, "rejected"), metric(&worker, "service_over_limit")), (1, 1));
}

#[test]
fn a_refusal_without_any_status_says_when_to_come_again_all_the_same() {
    let mut worker = worker(json!({}), json!({}));
    let id = decided(&mut worker, &response(OVER_LIMIT, &[]));
    let reply = worker.reply(id);
    assert_eq!(reply.status, 429);
    let after: u64 = String::from_utf8_lossy(field_of(&reply, "retry-after").unwrap()).parse().unwrap();
    assert!(after >= 1);
}

#[test]
fn nothing_is_counted_here_while_the_service_decides() {
    let mut worker = worker(json!({}), json!({}));
    for _ in 0..3 {
        let id = decided(&mut worker, &response(OK, &[status(OK, 5, 4, 60)]));
        assert_eq!(worker.fate(id), Fate::Admitted);
    }
    // The one request that the policy allows by itself is still there.
    let (first, second) = (out(&mut worker), out(&mut worker));
    assert_eq!((worker.fate(first), worker.reply(second).status), (Fate::Admitted, 429));
}

#[test]
fn an_outage_is_what_the_configuration_makes_of_it() {
    for (on_outage, expected, outcomes) in [
        ("local", [200, 429], ["passed:admitted", "rejected:quota-exceeded"]),
        ("open", [200, 200], ["failed-open:service-reset"; 2]),
        ("closed", [503, 503], ["failed-closed:service-reset"; 2]),
    ] {
        let mut worker = worker(json!({}), json!({"on_outage": on_outage}));
        for (status, expected_outcome) in expected.into_iter().zip(outcomes) {
            let id = out(&mut worker);
            match worker.fate(id) {
                Fate::Replied(reply) => assert_eq!(reply.status, status, "{on_outage}"),
                fate => assert_eq!((fate, 200), (Fate::Admitted, status), "{on_outage}"),
            }
            assert_eq!(outcome(&worker, id), format!("rate-limit:{expected_outcome}"));
        }
        assert_eq!(metric(&worker, "service_reset"), 2);
    }
}

/// Whoever sends so many requests would open the gate.
#[test]
fn too_many_that_wait_do_not_open_the_gate() {
    for (on_outage, status) in [("local", None), ("open", Some(503)), ("closed", Some(503))] {
        let mut worker = worker(json!({}), json!({"on_outage": on_outage, "max_waiting": 1}));
        asked(&mut worker, "acme");
        let id = worker.request([(":method", "GET"), (":path", "/"), ("x-tenant", "other")]);
        match (worker.fate(id), status) {
            (Fate::Replied(reply), Some(status)) => assert_eq!(reply.status, status),
            (fate, None) => assert_eq!(fate, Fate::Admitted),
            (fate, Some(_)) => panic!("{on_outage}: {fate:?}"),
        }
        assert_eq!(metric(&worker, "service_overload"), 1);
    }
}

#[test]
fn a_client_that_goes_away_is_forgotten() {
    let mut worker = worker(json!({}), json!({}));
    let (gone, token) = asked(&mut worker, "acme");
    worker.abort(gone);
    answer(&mut worker, token, &response(OVER_LIMIT, &[]));
    assert_eq!(metric(&worker, "rejected"), 0);

    // Whoever comes next is not mistaken for it.
    let id = decided(&mut worker, &response(OK, &[]));
    assert_eq!(worker.fate(id), Fate::Admitted);
}

#[test]
fn an_answer_that_never_comes_is_an_outage_in_the_end() {
    let mut worker = worker(json!({}), json!({"on_outage": "closed"}));
    let (id, token) = asked(&mut worker, "acme");
    worker.host.forget_call(token);
    worker.advance(Duration::from_secs(3));
    assert_eq!(worker.reply(id).status, 503);
    assert_eq!(metric(&worker, "service_timeout"), 1);
}

#[test]
fn requests_that_are_not_counted_are_not_asked_about() {
    let exempt = json!({"scope": {"exempt": [{"path_prefix": "/health"}]}, "missing_key": "skip"});
    let mut worker = worker(exempt, json!({}));
    for fields in [vec![(":path", "/health"), ("x-tenant", "acme")], vec![(":path", "/")]] {
        let id = worker.request([(":method", "GET")].into_iter().chain(fields));
        assert_eq!(worker.fate(id), Fate::Admitted);
    }
    assert_eq!(worker.host.calls_sent(), 0);
}

#[test]
fn in_shadow_mode_everything_passes_with_what_the_service_wants_added() {
    let permitted =
        json!({"on_outage": "closed", "request_headers": ["x-limited"], "response_headers": ["x-told"]});
    let mut worker = worker(json!({"mode": "shadow"}), permitted);
    let wishes = [field(4, &header("x-limited", "yes")), field(3, &header("x-told", "yes")), field(5, b"no")];
    let id = decided(&mut worker, &response(OVER_LIMIT, &wishes));
    assert_eq!(worker.fate(id), Fate::Admitted);
    assert_eq!(worker.host.upstream_headers(id).first("x-limited"), Some(&b"yes"[..]));
    worker.response_headers(id, [(":status", "200")], true);
    assert_eq!(worker.host.downstream_headers(id).first("x-told"), Some(&b"yes"[..]));
    assert_eq!((metric(&worker, "shadow_rejected"), metric(&worker, "rejected")), (1, 0));

    let id = out(&mut worker);
    assert_eq!(worker.fate(id), Fate::Admitted);
}

#[test]
fn a_request_whose_headers_cannot_be_changed_does_not_pass_without_them() {
    let mut worker = worker(json!({}), json!({"request_headers": ["x-limited"]}));
    let (id, token) = asked(&mut worker, "acme");
    worker.host.fail(Fault::WriteHeaders);
    answer(&mut worker, token, &response(OK, &[field(4, &header("x-limited", "yes"))]));
    assert_eq!(worker.reply(id).status, 503);
    assert_eq!(metric(&worker, "host_failed"), 1);
}

#[test]
fn entries_that_the_key_does_not_give_cannot_have_other_names() {
    let policy = json!({
        "key": ["path"],
        "limits": [{"max": 1, "period_ms": 1000}],
        "service": {"cluster": "limits", "domain": "shop", "entry_keys": {"client_id": "client"}},
    });
    let error = Chain::new().then_configured::<RateLimit>(policy.to_string().as_bytes()).err().unwrap();
    assert!(error.to_string().contains("service.entry_keys:"), "{error}");
}
