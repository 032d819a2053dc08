//! The policy as an access logger of the connection manager (`envoy.access_loggers.wasm`).

use portcullis_testkit::envoy::{
    Backend, Cluster, Envoy, EnvoyConfig, PATIENCE, Reply, WasmPlugin, h1, h2, wait_for, wait_until,
};
use serde_json::{Value, json};

use crate::support::{line, lines, marked};

fn logger(backend: &Backend, document: &Value) -> EnvoyConfig {
    EnvoyConfig::new()
        .cluster(Cluster::http1("backend", backend.addr()))
        .wasm_access_log(WasmPlugin::module("access-log").json_configuration(document))
}

#[test]
fn writes_the_same_line_as_a_filter() {
    let backend = Backend::replying(Reply::ok("hello"));
    let envoy = Envoy::start(&logger(&backend, &json!({})));
    assert_eq!(
        h1::request(envoy.addr(), "POST", "/a?b=c", &[("x-request-id", b"mine")], b"12345").status,
        200
    );
    let first = line(&envoy, 0);
    assert_eq!(h2::get(envoy.addr(), "/b").status, 200);
    let second = line(&envoy, 1);
    for (line, method, path, protocol, bytes_in) in
        [(&first, "POST", "/a?[redacted]", "HTTP/1.1", 5), (&second, "GET", "/b", "HTTP/2", 0)]
    {
        assert_eq!(line["method"], method);
        assert_eq!(line["path"], path);
        assert_eq!(line["protocol"], protocol);
        assert_eq!(line["status"], 200);
        assert_eq!(line["bytes_in"], bytes_in);
        assert_eq!(line["bytes_out"], 5);
        assert_eq!(line["upstream"], backend.addr().to_string());
        assert_eq!(line["details"], "via_upstream");
        assert!(line["request_id"].is_string());
    }
    let mut connection = h1::Connection::open(envoy.addr());
    connection.send_raw(b"GET / HTTP/1.1\r\nhost: a\r\ncontent-length: x\r\n\r\n").unwrap();
    assert_eq!(connection.read_response().unwrap().status, 400);
    assert_eq!(line(&envoy, 2)["flags"], "DPE");
    assert_eq!(lines(&envoy).len(), 3);
}

#[test]
fn reads_headers_trailers_and_attributes() {
    let backend = Backend::replying(Reply::ok("x").header("x-answer", "42").trailer("grpc-status", "5"));
    let format = "@line@ %REQ(X-ASK)% %RESP(X-ANSWER)% %TRAILER(GRPC-STATUS)% %GRPC_STATUS% %BYTES_RECEIVED% \
                  %BYTES_SENT% %UPSTREAM_CLUSTER% %PORTCULLIS(PHASE)%";
    let document = json!({"format": {"text": format}});
    let config = EnvoyConfig::new()
        .cluster(Cluster::http2("backend", backend.addr()))
        .wasm_access_log(WasmPlugin::module("access-log").json_configuration(&document));
    let envoy = Envoy::start(&config);
    let headers: [(&str, &[u8]); 3] =
        [("x-ask", b"why"), ("content-type", b"application/grpc"), ("te", b"trailers")];
    assert_eq!(h2::request(envoy.addr(), "POST", "/s/m", &headers, &[b"12345"], &[]).status, 200);
    let line = wait_for("our line", PATIENCE, || marked(&envoy, "@line@ ").into_iter().next());
    assert_eq!(line, "why 42 5 NotFound 5 1 backend end");
}

#[test]
fn sends_lines_to_a_collector() {
    let (backend, collector) = (Backend::start(), Backend::replying(Reply::ok("{}")));
    let document = json!({
        "sinks": ["envoy-log", {"otlp": {"cluster": "collector", "flush_interval_ms": 100}}],
    });
    let config = logger(&backend, &document).cluster(Cluster::http1("collector", collector.addr()));
    let envoy = Envoy::start(&config);
    assert_eq!(h1::get(envoy.addr(), "/a").status, 200);
    let requests = collector.wait_for(1, PATIENCE);
    assert_eq!(requests[0].path, "/v1/logs");
    let request: Value = serde_json::from_slice(&requests[0].body).unwrap();
    let record = &request["resourceLogs"][0]["scopeLogs"][0]["logRecords"][0];
    let body: Value = serde_json::from_str(record["body"]["stringValue"].as_str().unwrap()).unwrap();
    assert_eq!(body, line(&envoy, 0));
    assert_eq!(body["path"], "/a");
}

#[test]
fn holds_conditions_and_redacts() {
    let backend = Backend::start();
    let document = json!({
        "when": {"status": ["404"]},
        "format": {"text": "@line@ %REQ(:PATH)% %REQ(AUTHORIZATION)%"},
        "query": "keep",
    });
    let envoy = Envoy::start(&logger(&backend, &document));
    let secret: [(&str, &[u8]); 1] = [("authorization", b"Bearer hunter2")];
    assert_eq!(h1::request(envoy.addr(), "GET", "/ok", &secret, b"").status, 200);
    backend.reply(Reply::status(404));
    assert_eq!(h1::request(envoy.addr(), "GET", "/none?password=hunter2", &secret, b"").status, 404);
    let line = wait_for("our line", PATIENCE, || marked(&envoy, "@line@ ").into_iter().next());
    assert_eq!(line, "/none?password=[redacted] [redacted]");
    assert!(!envoy.log_lines().iter().any(|line| line.contains("hunter2")));
}

/// There is no exchange whose filter state could be set; a line that is lost is better noticed.
#[test]
fn tells_once_that_an_access_logger_has_no_filter_state() {
    let backend = Backend::start();
    let document = json!({"sinks": [{"filter-state": {}}, "envoy-log"], "format": {"text": "@line@ x"}});
    let envoy = Envoy::start(&logger(&backend, &document));
    for _ in 0..3 {
        assert_eq!(h1::get(envoy.addr(), "/").status, 200);
    }
    wait_until("our lines", PATIENCE, || marked(&envoy, "@line@ ").len() == 3);
    let told = |line: &&String| line.contains("`filter-state` cannot set its object");
    assert_eq!(envoy.log_lines().iter().filter(told).count(), 1);
}
