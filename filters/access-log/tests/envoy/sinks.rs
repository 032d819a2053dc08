//! Where lines go in Envoy.

use portcullis_testkit::envoy::{
    AccessLog, Backend, Behaviour, Cluster, Envoy, EnvoyConfig, HostileServer, PATIENCE, Reply, WasmPlugin,
    h1, h2, wait_for,
};
use serde_json::{Value, json};

use crate::support::{configured, marked};

const PRINTED: &str = "native %RESPONSE_CODE% %FILTER_STATE(wasm.portcullis.access_log:PLAIN)%";

fn native_line(envoy: &Envoy, at: usize) -> String {
    wait_for("a line of Envoy's own logger", PATIENCE, || {
        envoy.stdout_lines().iter().filter_map(|line| line.strip_prefix("native ")).nth(at).map(str::to_owned)
    })
}

/// Envoy calls the log callbacks of filters before its access loggers, whatever became of the request.
#[test]
fn envoy_s_access_loggers_print_the_whole_line_from_the_filter_state() {
    let backend = Backend::replying(Reply::ok("hello"));
    let document = json!({
        "sinks": [{"filter-state": {}}],
        "format": {"text": "%RESPONSE_CODE% %RESPONSE_FLAGS% %BYTES_SENT% %DURATION%"},
    });
    let config = configured(&backend, &document).access_log(AccessLog::Stdout(PRINTED.to_owned()));
    let envoy = Envoy::start(&config);
    assert_eq!(h1::get(envoy.addr(), "/").status, 200);
    assert!(native_line(&envoy, 0).starts_with("200 200 - 5 "), "{}", native_line(&envoy, 0));
    assert_eq!(h2::get(envoy.addr(), "/").status, 200);
    assert!(native_line(&envoy, 1).starts_with("200 200 - 5 "));
    let mut connection = h1::Connection::open(envoy.addr());
    connection.send_raw(b"GET / HTTP/1.1\r\nhost: a\r\ncontent-length: x\r\n\r\n").unwrap();
    assert_eq!(connection.read_response().unwrap().status, 400);
    assert!(native_line(&envoy, 2).starts_with("400 400 DPE "), "{}", native_line(&envoy, 2));
    assert_eq!(
        marked(&envoy, "wasm log access-log: ").iter().filter(|line| line.starts_with("200")).count(),
        0
    );
}

#[test]
fn the_filter_state_holds_the_line_of_a_request_that_was_aborted() {
    let hanging = HostileServer::start(Behaviour::Hang);
    let document =
        json!({"sinks": [{"filter-state": {"key": "our.line"}}], "format": {"text": "%RESPONSE_FLAGS%"}});
    let envoy = Envoy::start(
        &EnvoyConfig::new()
            .cluster(Cluster::http1("b", hanging.addr()))
            .filter(WasmPlugin::module("access-log").json_configuration(&document))
            .access_log(AccessLog::Stdout("native %FILTER_STATE(wasm.our.line:PLAIN)%".to_owned())),
    );
    let mut connection = h1::Connection::open(envoy.addr());
    connection.send("GET", "/", &[], b"").unwrap();
    hanging.wait_for(1, PATIENCE);
    connection.abort();
    assert_eq!(native_line(&envoy, 0), "DC");
}

#[test]
fn a_line_goes_to_several_sinks_at_once() {
    let (backend, collector) = (Backend::start(), Backend::replying(Reply::ok("{}")));
    let document = json!({
        "sinks": ["envoy-log", {"filter-state": {}}, {"otlp": {"cluster": "collector", "flush_interval_ms": 100}}],
        "format": {"text": "@line@ %REQ(:PATH)% %RESPONSE_CODE%"},
    });
    let config = configured(&backend, &document)
        .cluster(Cluster::http1("collector", collector.addr()))
        .access_log(AccessLog::Stdout(PRINTED.to_owned()));
    let envoy = Envoy::start(&config);
    let trace: [(&str, &[u8]); 1] =
        [("traceparent", b"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")];
    assert_eq!(h1::request(envoy.addr(), "GET", "/a?b=c", &trace, b"").status, 200);

    let expected = "/a?[redacted] 200";
    assert_eq!(wait_for("our line", PATIENCE, || marked(&envoy, "@line@ ").into_iter().next()), expected);
    assert_eq!(native_line(&envoy, 0), format!("200 @line@ {expected}"));
    let requests = collector.wait_for(1, PATIENCE);
    let request: Value = serde_json::from_slice(&requests[0].body).unwrap();
    let record = &request["resourceLogs"][0]["scopeLogs"][0]["logRecords"][0];
    assert_eq!(record["body"]["stringValue"], format!("@line@ {expected}"));
    assert_eq!(record["traceId"], "4bf92f3577b34da6a3ce929d0e0e4736");
    assert_eq!(
        record["attributes"],
        json!([
            {"key": "http.request.method", "value": {"stringValue": "GET"}},
            {"key": "http.response.status_code", "value": {"intValue": "200"}},
        ])
    );
}
