//! The suite's policies, in modules of their own and as links of a chain.

use portcullis_testkit::envoy::{FailurePolicy, WasmPlugin};
use serde_json::{Value, json};

/// A policy and its document.
pub(super) struct Policy {
    name: &'static str,
    document: Value,
}

impl Policy {
    /// In a module of its own.
    pub(super) fn alone(&self) -> WasmPlugin {
        plugin(self.name, &self.document)
    }
}

/// Several, as one chain in one module.
pub(super) fn chain(policies: &[&Policy]) -> WasmPlugin {
    let links: Vec<Value> = policies.iter().map(|policy| json!({ policy.name: policy.document })).collect();
    plugin("gateway", &json!({"policies": links}))
}

pub(super) fn no_op() -> WasmPlugin {
    plugin("no-op", &json!({}))
}

/// One client, whose admission stays in the cache.
pub(super) fn client_id() -> Policy {
    let document =
        json!({"auth": {"per-request": {"cluster": "auth"}}, "cache": {"admit_ttl_ms": 3_600_000}});
    Policy { name: "client-id", document }
}

/// One key, and a limit that is never reached: what is measured is the counting.
pub(super) fn rate_limit(further: Value) -> Policy {
    let mut document = json!({"limits": [{"max": 1_000_000_000, "period_ms": 6000}]});
    extend(&mut document, further);
    Policy { name: "rate-limit", document }
}

pub(super) fn access_log(document: Value) -> Policy {
    Policy { name: "access-log", document }
}

fn extend(document: &mut Value, further: Value) {
    if let (Value::Object(document), Value::Object(further)) = (document, further) {
        document.extend(further);
    }
}

fn plugin(module: &str, document: &Value) -> WasmPlugin {
    WasmPlugin::module(module).json_configuration(document).failure_policy(FailurePolicy::FailClosed)
}
