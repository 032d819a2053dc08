//! What the scenarios have in common.

use portcullis_policy::{Chain, ConfigError, ExchangeId};
use portcullis_rate_limit::RateLimit;
use portcullis_testkit::inprocess::{Fate, SharedData, TestHost, Worker};
use serde_json::{Value, json};

/// Two requests a minute, all counted together, with these members added or put in place of others.
pub(crate) fn two_a_minute(members: Value) -> Value {
    let mut config = json!({"limits": [{"max": 2, "period_ms": 60_000}]});
    for (name, value) in members.as_object().unwrap() {
        config[name] = value.clone();
    }
    config
}

pub(crate) fn chain(config: &Value) -> Result<Chain, ConfigError> {
    Chain::new().then_configured::<RateLimit>(config.to_string().as_bytes())
}

pub(crate) fn worker(config: &Value) -> Worker {
    Worker::start(chain(config).unwrap()).unwrap()
}

/// A worker that shares its data with others, on a clock of its own that stands where theirs begins.
pub(crate) fn worker_sharing(config: &Value, data: &SharedData) -> Worker {
    Worker::start_with(chain(config).unwrap(), TestHost::new(data.clone())).unwrap()
}

/// A GET of `/` with these headers.
pub(crate) fn get(worker: &mut Worker, headers: &[(&str, &str)]) -> ExchangeId {
    let mut all = vec![(":method", "GET"), (":path", "/"), (":authority", "shop.test")];
    all.retain(|(name, _)| headers.iter().all(|(other, _)| other != name));
    all.extend(headers);
    worker.request(all)
}

/// Whether a GET with these headers passes.
#[track_caller]
pub(crate) fn passes(worker: &mut Worker, headers: &[(&str, &str)]) -> bool {
    let id = get(worker, headers);
    is_admitted(worker, id)
}

/// Whether the request has passed; anything else must be a refusal for lack of quota.
#[track_caller]
pub(crate) fn is_admitted(worker: &Worker, id: ExchangeId) -> bool {
    match worker.fate(id) {
        Fate::Admitted => true,
        Fate::Replied(reply) => {
            assert_eq!(reply.status, 429);
            false
        }
        Fate::Held => panic!("held"),
    }
}

pub(crate) fn status(worker: &Worker, id: ExchangeId) -> u16 {
    worker.reply(id).status
}

pub(crate) fn reply_header(worker: &Worker, id: ExchangeId, name: &str) -> Option<String> {
    let reply = worker.reply(id);
    let mut values = reply.headers.iter().filter(|(header, _)| *header == name);
    let value = values.next().map(|(_, value)| String::from_utf8(value.clone()).unwrap());
    assert!(values.next().is_none(), "two {name}");
    value
}

pub(crate) fn outcome(worker: &Worker, id: ExchangeId) -> String {
    let outcome = worker.host.property_of(id, &["portcullis.rate-limit.outcome"]);
    String::from_utf8(outcome.unwrap_or_default()).unwrap()
}

pub(crate) fn metric(worker: &Worker, name: &str) -> i64 {
    worker.host.metric(&format!("portcullis.rate_limit.{name}"))
}
