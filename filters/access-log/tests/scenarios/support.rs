//! What the scenarios have in common.

use portcullis_access_log::AccessLog;
use portcullis_policy::host::Level;
use portcullis_policy::{
    Callbacks, Chain, ConfigError, EndOfStream, Exchange, ExchangeId, Flow, Identity, Outcome, Policy, Reply,
    SecretName, Verdict,
};
use portcullis_testkit::inprocess::Worker;
use serde_json::Value;

/// 2026-01-31T08:15:30.125Z.
pub(crate) const BEGAN: u64 = 1_769_847_330_125_000_000;

pub(crate) const PROPERTIES: [(&[&str], &[u8]); 10] = [
    (&["request", "time"], &BEGAN.to_le_bytes()),
    (&["request", "protocol"], b"HTTP/1.1"),
    (&["request", "duration"], &12_345_678u64.to_le_bytes()),
    (&["request", "size"], &5u64.to_le_bytes()),
    (&["response", "code"], &200u64.to_le_bytes()),
    (&["response", "size"], &1024u64.to_le_bytes()),
    (&["response", "flags"], &0u64.to_le_bytes()),
    (&["response", "code_details"], b"via_upstream"),
    (&["response", "backend_latency"], &9_000_000u64.to_le_bytes()),
    (&["upstream", "address"], b"10.0.0.7:8080"),
];

pub(crate) const HEADERS: [(&str, &str); 4] =
    [(":method", "POST"), (":path", "/orders?id=7"), (":authority", "shop"), ("x-request-id", "11-22")];

/// What a policy before the access log does: identifies the caller, or refuses it, and takes secrets out of the
/// path.
pub(crate) struct Gate;

impl Policy for Gate {
    const NAME: &'static str = "gate";
    const CALLBACKS: Callbacks = Callbacks::REQUEST_HEADERS;
    type Config = ();
    type State = ();

    fn from_config((): ()) -> Result<Self, ConfigError> {
        Ok(Self)
    }

    fn secret_names(&self) -> Vec<SecretName> {
        vec![SecretName::Header("x-own-key".to_owned()), SecretName::Parameter("own_key".to_owned())]
    }

    fn on_request_headers(&mut self, (): &mut (), exchange: &mut Exchange<'_>, _: EndOfStream) -> Flow {
        let outcome = |verdict, reason| Outcome { policy: Self::NAME, verdict, reason };
        if exchange.request_headers().is_ok_and(|headers| headers.contains("who")) {
            let _ = exchange.set_request_header(":path", b"/orders?id=7");
            exchange.set_identity(Identity { client_id: "o\"r\n".to_owned(), ..Identity::default() }.into());
            exchange.record(outcome(Verdict::Passed, "verified"));
            return Flow::Continue;
        }
        exchange.record(outcome(Verdict::Rejected, "missing"));
        Flow::Reply(Box::new(Reply::new(401, "Unauthorized", "gate_missing")))
    }
}

pub(crate) fn access_log(document: &str) -> Chain {
    Chain::new().then_configured::<AccessLog>(document.as_bytes()).unwrap()
}

pub(crate) fn give_all(worker: &Worker, id: ExchangeId) {
    for (path, value) in PROPERTIES {
        worker.host.give_property(id, path, value);
    }
}

/// The only line that has been written, which must be one line of JSON.
pub(crate) fn line(worker: &Worker) -> Value {
    let lines = worker.log_lines(Level::Info);
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(!lines[0].contains(char::is_control), "{lines:?}");
    serde_json::from_str(&lines[0]).unwrap()
}

pub(crate) fn names(line: &Value) -> Vec<&str> {
    line.as_object().unwrap().keys().map(String::as_str).collect()
}

/// A worker with this policy alone.
pub(crate) fn worker(document: &Value) -> Worker {
    Worker::start(access_log(&document.to_string())).unwrap()
}

/// All lines so far.
pub(crate) fn lines(worker: &Worker) -> Vec<String> {
    worker.log_lines(Level::Info)
}

/// Gives an exchange a number as an attribute.
pub(crate) fn give_number(worker: &Worker, id: ExchangeId, path: &[&str], number: u64) {
    worker.host.give_property(id, path, &number.to_le_bytes());
}
