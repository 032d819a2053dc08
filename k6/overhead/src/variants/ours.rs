//! The suite's policies, in modules of their own and as links of a chain.

use portcullis_testkit::envoy::{FailurePolicy, WasmPlugin};
use portcullis_transform_workloads::Sheet;
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

/// What a message is routed by, as a regular expression.
pub(super) const ROUTING: &str = r"xadmin;server1;community#1\.0##";

/// By an HTTP header, with a fault for what has no route.
pub(super) fn transport_routing() -> Policy {
    content_router(&json!({"header": {"name": "routing", "value": {"matches": ROUTING}}}))
}

/// By an element in the Header of a SOAP envelope.
pub(super) fn soap_routing() -> Policy {
    content_router(&json!({"xpath": {
        "expression": "/soap11:Envelope/soap11:Header/t:routing", "value": {"matches": ROUTING},
    }}))
}

/// Replies, by a stylesheet.
pub(super) fn xslt_transform(sheet: &Sheet) -> Policy {
    let parameters: serde_json::Map<_, _> =
        sheet.parameters.iter().map(|(name, value)| ((*name).to_owned(), json!({"text": value}))).collect();
    let document = json!({"response": {"stylesheet": {"inline": sheet.text}, "parameters": parameters}});
    Policy { name: "xslt-transform", document }
}

fn content_router(condition: &Value) -> Policy {
    let document = json!({
        "namespaces": {"t": "http://someuri"},
        "rules": [{"name": "server1", "when": condition, "then": {"route": "server1"}}],
        "default": {"reply": {"status": 500, "detail": "Invalid routing header"}},
    });
    Policy { name: "content-router", document }
}

/// The route that content-router has named; what has none goes nowhere.
pub(super) fn routes() -> [Value; 2] {
    [
        json!({
            "match": {"prefix": "/", "headers": [{"name": "x-portcullis-route", "string_match": {"exact": "server1"}}]},
            "route": {"cluster": "echo"},
        }),
        json!({"match": {"prefix": "/"}, "direct_response": {"status": 404}}),
    ]
}

/// The plugin with bodies delivered while it holds the headers.
pub(super) fn holding(plugin: WasmPlugin) -> WasmPlugin {
    plugin.allow_on_headers_stop_iteration(true)
}

fn extend(document: &mut Value, further: Value) {
    if let (Value::Object(document), Value::Object(further)) = (document, further) {
        document.extend(further);
    }
}

fn plugin(module: &str, document: &Value) -> WasmPlugin {
    WasmPlugin::module(module).json_configuration(document).failure_policy(FailurePolicy::FailClosed)
}

/// What every module may call, and what Envoy must call in each.
const ALWAYS: &str = "proxy_on_configure proxy_on_context_create proxy_on_delete proxy_on_vm_start \
    proxy_add_header_map_value proxy_continue_stream proxy_define_metric proxy_done proxy_get_buffer_bytes \
    proxy_get_current_time_nanoseconds proxy_get_header_map_pairs proxy_get_property proxy_get_shared_data \
    proxy_http_call proxy_increment_metric proxy_log proxy_record_metric proxy_remove_header_map_value \
    proxy_replace_header_map_value proxy_send_local_response proxy_set_buffer_bytes \
    proxy_set_effective_context proxy_set_property proxy_set_shared_data proxy_set_tick_period_milliseconds \
    clock_time_get environ_get environ_sizes_get fd_write proc_exit random_get";

/// The plugin with these callbacks and no others: Envoy does not enter the VM for what the capabilities leave out.
pub(super) fn granting(plugin: WasmPlugin, callbacks: &str) -> WasmPlugin {
    let callbacks: Vec<String> =
        callbacks.split_whitespace().map(|callback| format!("proxy_on_{callback}")).collect();
    plugin.capabilities(ALWAYS.split_whitespace().chain(callbacks.iter().map(String::as_str)))
}
