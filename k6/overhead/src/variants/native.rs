//! Envoy's own filters and loggers that do the like.

use std::net::SocketAddr;

use serde_json::{Value, json};

pub(super) fn ext_authz(auth: SocketAddr) -> Value {
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

/// A bucket that is never empty: what is measured is the counting.
pub(super) fn local_rate_limit(further: &Value) -> Value {
    let always = json!({"default_value": {"numerator": 100, "denominator": "HUNDRED"}});
    let mut config = json!({
        "@type": "type.googleapis.com/envoy.extensions.filters.http.local_ratelimit.v3.LocalRateLimit",
        "stat_prefix": "local_rate_limit",
        "token_bucket": {"max_tokens": 1_000_000_000, "tokens_per_fill": 1_000_000_000, "fill_interval": "6s"},
        "filter_enabled": always,
        "filter_enforced": always,
    });
    if let (Value::Object(config), Value::Object(further)) = (&mut config, further) {
        config.extend(further.clone());
    }
    json!({"name": "envoy.filters.http.local_ratelimit", "typed_config": config})
}

/// Three response headers such as a rate limit has, but always the same: the least that any such headers cost.
pub(super) fn constant_headers() -> Value {
    let header = |name, value| json!({"header": {"key": name, "value": value}});
    json!({"route_config": {"response_headers_to_add": [
        header("x-ratelimit-limit", "1000000000"),
        header("x-ratelimit-remaining", "999999999"),
        header("x-ratelimit-reset", "5999"),
    ]}})
}

/// The same decision as content-router's by an HTTP header, in the route table.
pub(super) fn header_routes() -> [Value; 2] {
    let matches = json!({"name": "routing", "string_match": {"safe_regex": {"regex": super::ours::ROUTING}}});
    [
        json!({"match": {"prefix": "/", "headers": [matches]}, "route": {"cluster": "echo"}}),
        json!({"match": {"prefix": "/"}, "direct_response": {"status": 404}}),
    ]
}

/// The fields of our own log line, as far as Envoy has them.
pub(super) fn json_log() -> Value {
    file_log(&json!({"json_format": own_fields()}))
}

/// The same, and what client-id and rate-limit have reported in the filter state.
pub(super) fn report_log() -> Value {
    let mut fields = own_fields();
    for (name, state) in [
        ("client_id", "client_id"),
        ("client_id_outcome", "client-id.outcome"),
        ("rate_limit_outcome", "rate-limit.outcome"),
    ] {
        fields[name] = format!("%FILTER_STATE(wasm.portcullis.{state}:PLAIN)%").into();
    }
    file_log(&json!({"json_format": fields}))
}

fn own_fields() -> Value {
    json!({
        "time": "%START_TIME%", "method": "%REQ(:METHOD)%", "path": "%REQ(:PATH)%",
        "protocol": "%PROTOCOL%", "status": "%RESPONSE_CODE%", "duration_ms": "%DURATION%",
        "bytes_in": "%BYTES_RECEIVED%", "bytes_out": "%BYTES_SENT%", "upstream": "%UPSTREAM_HOST%",
        "request_id": "%REQ(X-REQUEST-ID)%", "flags": "%RESPONSE_FLAGS%",
        "details": "%RESPONSE_CODE_DETAILS%",
    })
}

/// The line that access-log has left in the filter state.
pub(super) fn state_log() -> Value {
    file_log(&json!({"text_format_source": {
        "inline_string": "%FILTER_STATE(wasm.portcullis.access_log:PLAIN)%\n",
    }}))
}

fn file_log(format: &Value) -> Value {
    json!({"access_log": [{
        "name": "envoy.access_loggers.file",
        "typed_config": {
            "@type": "type.googleapis.com/envoy.extensions.access_loggers.file.v3.FileAccessLog",
            "path": "/dev/null",
            "log_format": format,
        },
    }]})
}
