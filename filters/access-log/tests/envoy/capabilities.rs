//! What the module needs to be allowed.

use portcullis_testkit::envoy::{
    Backend, Cluster, Envoy, EnvoyConfig, PATIENCE, Reply, WasmPlugin, h1, wait_until,
};
use serde_json::{Value, json};

use crate::support::{line, lines, marked};

/// What a line at the end needs; the page on the policy names the callbacks that may be left out.
const LEAST: [&str; 14] = [
    "proxy_on_configure",
    "proxy_on_context_create",
    "proxy_on_delete",
    "proxy_on_log",
    "proxy_on_vm_start",
    "proxy_get_buffer_bytes",
    "proxy_get_current_time_nanoseconds",
    "proxy_get_header_map_pairs",
    "proxy_get_property",
    "proxy_log",
    "proxy_set_effective_context",
    "environ_get",
    "environ_sizes_get",
    "fd_write",
];

fn restricted(backend: &Backend, document: &Value, capabilities: &[&str]) -> EnvoyConfig {
    let plugin = WasmPlugin::module("access-log")
        .json_configuration(document)
        .capabilities(capabilities.iter().copied());
    EnvoyConfig::new().cluster(Cluster::http1("backend", backend.addr())).filter(plugin)
}

#[test]
fn the_log_callback_alone_gives_the_whole_default_line() {
    let backend = Backend::replying(Reply::ok("hello"));
    let envoy = Envoy::start(&restricted(&backend, &json!({}), &LEAST));
    let body = vec![b'x'; 100_000];
    assert_eq!(h1::request(envoy.addr(), "POST", "/a?b", &[], &body).status, 200);
    let line = line(&envoy, 0);
    let mut names: Vec<&str> = line.as_object().unwrap().keys().map(String::as_str).collect();
    names.sort_unstable();
    let mut expected = [
        "time",
        "method",
        "path",
        "protocol",
        "status",
        "duration_ms",
        "upstream_ms",
        "bytes_in",
        "bytes_out",
        "upstream",
        "request_id",
        "details",
    ];
    expected.sort_unstable();
    assert_eq!(names, expected);
    assert_eq!(line["bytes_in"], 100_000);
}

#[test]
fn a_line_without_what_is_not_allowed_is_written_all_the_same() {
    let backend = Backend::start();
    let allowed: Vec<&str> = LEAST.into_iter().filter(|name| *name != "proxy_get_property").collect();
    let envoy = Envoy::start(&restricted(&backend, &json!({}), &allowed));
    assert_eq!(h1::get(envoy.addr(), "/a").status, 200);
    let line = line(&envoy, 0);
    assert_eq!((&line["method"], &line["path"]), (&json!("GET"), &json!("/a")));
    assert_eq!(line.get("status"), None);
    assert_eq!(lines(&envoy).len(), 1);
}

/// Envoy has the request's headers no more when the response comes: what they say cannot be held against it then.
#[test]
fn without_the_callback_for_requests_conditions_on_them_hold_at_the_end_only() {
    let backend = Backend::start();
    let document = json!({
        "phases": ["response", "end"],
        "when": {"scope": {"only": [{"path_prefix": "/api"}]}},
        "format": {"text": "@line@ %PORTCULLIS(PHASE)% %RESPONSE_CODE%"},
    });
    for (more, expected) in [
        (&["proxy_on_response_headers"][..], &["response 200", "response 200", "end 200"][..]),
        (&["proxy_on_request_headers", "proxy_on_response_headers"], &["response 200", "end 200"]),
    ] {
        let allowed = [&LEAST[..], more].concat();
        let envoy = Envoy::start(&restricted(&backend, &document, &allowed));
        assert_eq!(h1::get(envoy.addr(), "/web").status, 200);
        assert_eq!(h1::get(envoy.addr(), "/api").status, 200);
        wait_until("our lines", PATIENCE, || marked(&envoy, "@line@ ").len() >= expected.len());
        assert_eq!(marked(&envoy, "@line@ "), expected);
    }
}
