//! What the scenarios have in common.

use std::time::Duration;

use portcullis_client_id::ClientId;
use portcullis_policy::host::Direction;
use portcullis_policy::{Chain, ConfigError, ExchangeId};
use portcullis_testkit::inprocess::{Fate, SharedData, TestHost, Worker};
use serde_json::{Value, json};

pub(crate) fn per_request() -> Value {
    json!({"auth": {"per-request": {"cluster": "auth", "retries": 0,
        "identity": {"name": "x-client-name", "tier": "x-client-tier"}}}})
}

/// `base` with the members of `change` put over it, objects recursively.
pub(crate) fn with(mut base: Value, change: Value) -> Value {
    fn merge(base: &mut Value, change: Value) {
        match (base, change) {
            (Value::Object(base), Value::Object(change)) => {
                for (key, value) in change {
                    merge(base.entry(key).or_insert(Value::Null), value);
                }
            }
            (base, change) => *base = change,
        }
    }
    merge(&mut base, change);
    base
}

pub(crate) fn chain(config: &Value) -> Result<Chain, ConfigError> {
    Chain::new().then_configured::<ClientId>(config.to_string().as_bytes())
}

pub(crate) fn worker(config: &Value) -> Worker {
    Worker::start(chain(config).unwrap()).unwrap()
}

pub(crate) fn worker_sharing(config: &Value, data: &SharedData) -> Worker {
    Worker::start_with(chain(config).unwrap(), TestHost::new(data.clone())).unwrap()
}

/// A GET with credentials in headers.
pub(crate) fn call(worker: &mut Worker, id: &str, secret: &str) -> ExchangeId {
    worker.request([(":method", "GET"), (":path", "/a"), ("client_id", id), ("client_secret", secret)])
}

/// How often the policy looks after what is overdue.
pub(crate) const TICK: Duration = Duration::from_millis(500);

/// The upstream's view of a header.
pub(crate) fn upstream(worker: &Worker, id: ExchangeId, name: &str) -> Option<String> {
    let headers = worker.host.upstream_headers(id);
    headers.first(name).map(|value| String::from_utf8_lossy(value).into_owned())
}

pub(crate) fn status(worker: &Worker, id: ExchangeId) -> u16 {
    worker.reply(id).status
}

/// What Envoy's log shows as `%RESPONSE_CODE_DETAILS%`.
pub(crate) fn details(worker: &Worker, id: ExchangeId) -> &'static str {
    worker.reply(id).code_details
}

pub(crate) fn reply_header(worker: &Worker, id: ExchangeId, name: &str) -> Option<String> {
    let reply = worker.reply(id);
    reply
        .headers
        .iter()
        .find(|(header, _)| *header == name)
        .map(|(_, value)| String::from_utf8(value.clone()).unwrap())
}

pub(crate) fn body(worker: &Worker, id: ExchangeId) -> String {
    String::from_utf8(worker.reply(id).body).unwrap()
}

pub(crate) fn assert_admitted(worker: &Worker, id: ExchangeId) {
    assert_eq!(worker.fate(id), Fate::Admitted);
}

pub(crate) fn assert_held(worker: &Worker, id: ExchangeId) {
    assert_eq!(worker.fate(id), Fate::Held);
    assert_eq!(worker.host.passed_body(id, Direction::Request), b"");
}

pub(crate) fn metric(worker: &Worker, name: &str) -> i64 {
    worker.host.metric(&format!("portcullis.client_id.{name}"))
}

/// Lets all call-outs fail that are under way, and those that take their place.
pub(crate) fn fail_all_calls(worker: &mut Worker) {
    while let Some(call) = worker.pending_calls().first() {
        worker.fail_call(call.token);
    }
}

/// Lets all call-outs fail that are under way, and not those that take their place.
pub(crate) fn fail_all_calls_once(worker: &mut Worker) {
    for call in worker.pending_calls() {
        worker.fail_call(call.token);
    }
}

/// Lets the gateway's own questions fail in this way until it takes the service to be out.
pub(crate) fn prove_outage(worker: &mut Worker, fail: fn(&mut Worker)) {
    while !worker.pending_calls().is_empty() {
        fail(worker);
        worker.advance(TICK);
    }
}
