//! What the tests in Envoy have in common.

use portcullis_testkit::envoy::{Backend, Cluster, Envoy, EnvoyConfig, PATIENCE, WasmPlugin, wait_for};
use serde_json::{Value, json};

/// The log lines of the policy in its default format so far; what is no JSON after Envoy's prefix fails the test.
pub(crate) fn lines(envoy: &Envoy) -> Vec<Value> {
    envoy
        .log_lines()
        .iter()
        .filter_map(|line| line.split_once("{\"time\":").map(|(_, rest)| format!("{{\"time\":{rest}")))
        .map(|json| serde_json::from_str(&json).unwrap_or_else(|error| panic!("{error}: {json}")))
        .collect()
}

/// The line at this place, from 0, as soon as it is there.
pub(crate) fn line(envoy: &Envoy, at: usize) -> Value {
    wait_for("a log line", PATIENCE, || lines(envoy).into_iter().nth(at))
}

/// What follows `mark` in the lines of Envoy's log that have it.
pub(crate) fn marked(envoy: &Envoy, mark: &str) -> Vec<String> {
    let after = |line: &String| line.split_once(mark).map(|(_, rest)| rest.to_owned());
    envoy.log_lines().iter().filter_map(after).collect()
}

/// The access log as the only filter before this backend.
pub(crate) fn alone(backend: &Backend) -> EnvoyConfig {
    configured(backend, &json!({}))
}

/// The same with this configuration.
pub(crate) fn configured(backend: &Backend, document: &Value) -> EnvoyConfig {
    EnvoyConfig::new()
        .cluster(Cluster::http1("backend", backend.addr()))
        .filter(WasmPlugin::module("access-log").json_configuration(document))
}
