//! What is measured.

use std::net::SocketAddr;

use portcullis_testkit::envoy::{Cluster, EnvoyConfig, FailurePolicy, WasmPlugin, workspace_root};
use serde_json::{Value, json};

/// An Envoy with something in its chain of filters.
pub struct Variant {
    pub name: &'static str,
    pub title: &'static str,
    pub config: EnvoyConfig,
}

/// Every variant, the baseline first.
pub fn all(echo: SocketAddr, auth: SocketAddr) -> Vec<Variant> {
    let bare = || {
        EnvoyConfig::new()
            .cluster(Cluster::http1("echo", echo))
            .cluster(Cluster::http1("auth", auth))
            .workers(1)
            .argument("--log-path")
            .argument("/dev/null")
    };
    let module = |name: &str, config: Value| {
        WasmPlugin::module(name).json_configuration(&config).failure_policy(FailurePolicy::FailClosed)
    };
    let client_id =
        || json!({"auth": {"per-request": {"cluster": "auth"}}, "cache": {"admit_ttl_ms": 3_600_000}});
    let sdk = WasmPlugin::at("sdk-no-op", workspace_root().join("dist/bench/sdk-no-op.wasm"));
    let variant = |name, title, config| Variant { name, title, config };
    vec![
        variant("bare", "bare Envoy", bare()),
        variant("sdk-no-op", "no-op, raw SDK", bare().filter(sdk)),
        variant("no-op", "no-op, ours", bare().filter(module("no-op", json!({})))),
        variant("client-id", "client-id, cached", bare().filter(module("client-id", client_id()))),
        variant("access-log", "access-log", bare().filter(module("access-log", json!({})))),
        variant(
            "two-filters",
            "client-id and access-log, two filters",
            bare().filter(module("client-id", client_id())).filter(module("access-log", json!({}))),
        ),
        variant(
            "one-chain",
            "client-id and access-log, one chain",
            bare().filter(module(
                "gateway",
                json!({"policies": [{"client-id": client_id()}, {"access-log": {}}]}),
            )),
        ),
        variant("native-ext-authz", "native ext_authz over HTTP", bare().native_filter(ext_authz(auth))),
        variant("native-log", "native JSON access log", bare().merge_connection_manager(json_log())),
        variant(
            "native-both",
            "native ext_authz and JSON access log",
            bare().native_filter(ext_authz(auth)).merge_connection_manager(json_log()),
        ),
    ]
}

fn ext_authz(auth: SocketAddr) -> Value {
    json!({
        "name": "envoy.filters.http.ext_authz",
        "typed_config": {
            "@type": "type.googleapis.com/envoy.extensions.filters.http.ext_authz.v3.ExtAuthz",
            "http_service": {
                "server_uri": {"uri": format!("http://{auth}"), "cluster": "auth", "timeout": "1s"},
                "path_prefix": "/verify",
                "authorization_request": {"headers_to_add": [
                    {"key": "authorization", "value": "Basic YWNtZTphY21lLXNlY3JldC0x"},
                ]},
            },
        },
    })
}

/// The fields of our own log line, as far as Envoy has them.
fn json_log() -> Value {
    json!({"access_log": [{
        "name": "envoy.access_loggers.file",
        "typed_config": {
            "@type": "type.googleapis.com/envoy.extensions.access_loggers.file.v3.FileAccessLog",
            "path": "/dev/null",
            "log_format": {"json_format": {
                "time": "%START_TIME%", "method": "%REQ(:METHOD)%", "path": "%REQ(:PATH)%",
                "protocol": "%PROTOCOL%", "status": "%RESPONSE_CODE%", "duration_ms": "%DURATION%",
                "bytes_in": "%BYTES_RECEIVED%", "bytes_out": "%BYTES_SENT%", "upstream": "%UPSTREAM_HOST%",
                "request_id": "%REQ(X-REQUEST-ID)%", "flags": "%RESPONSE_FLAGS%",
                "details": "%RESPONSE_CODE_DETAILS%",
            }},
        },
    }]})
}
