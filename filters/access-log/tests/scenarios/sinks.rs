//! Where lines go.

use std::time::Duration;

use portcullis_policy::host::Level;
use portcullis_testkit::inprocess::{Fault, Worker};
use serde_json::{Value, json};

use crate::support::{BEGAN, HEADERS, access_log, give_all, give_number, lines, worker};

fn record(body: &[u8]) -> Value {
    let request: Value = serde_json::from_slice(body).unwrap();
    request["resourceLogs"][0]["scopeLogs"][0]["logRecords"][0].clone()
}

#[test]
fn a_filter_state_object_holds_the_line() {
    let mut worker = worker(&json!({
        "sinks": [{"filter-state": {}}, {"filter-state": {"key": "other"}}],
        "format": {"text": "%REQ(:METHOD)%"},
    }));
    let id = worker.request(HEADERS);
    worker.log(id);
    assert_eq!(worker.host.property_of(id, &["portcullis.access_log"]).as_deref(), Some(&b"POST"[..]));
    assert_eq!(worker.host.property_of(id, &["other"]).as_deref(), Some(&b"POST"[..]));
    assert_eq!(lines(&worker), [""; 0]);
}

#[test]
fn a_sink_that_fails_takes_nothing_from_the_others() {
    let mut worker = worker(&json!({"sinks": [{"filter-state": {}}, "envoy-log"], "format": {"text": "x"}}));
    worker.host.fail(Fault::WriteProperty);
    for _ in 0..2 {
        let id = worker.request(HEADERS);
        worker.finish(id);
    }
    let shown = lines(&worker);
    assert_eq!(shown.iter().filter(|line| *line == "x").count(), 2, "{shown:?}");
    // As in an access logger, which has no exchange to set an object on. It is told, and once.
    let warnings = worker.log_lines(Level::Warn);
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(warnings[0].contains("filter-state"), "{warnings:?}");
}

#[test]
fn a_collector_gets_a_record_with_attributes_and_a_trace() {
    let mut worker = worker(&json!({
        "sinks": [{"otlp": {"cluster": "collector"}}],
        "format": {"text": "%REQ(:PATH)%"},
        "otlp_attributes": {
            "http.response.status_code": "%RESPONSE_CODE%",
            "method": "%REQ(:METHOD)%",
            "mixed": "%REQ(:METHOD)% %PROTOCOL%",
            "none": "%REQ(X-NONE)%",
        },
    }));
    let id = worker.request(
        HEADERS
            .into_iter()
            .chain([("traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")]),
    );
    give_all(&worker, id);
    worker.finish(id);
    worker.advance(Duration::from_secs(5));
    let record = record(&worker.pending_call().body);
    assert_eq!(record["timeUnixNano"], BEGAN.to_string());
    assert_eq!(record["severityText"], "INFO");
    assert_eq!(record["body"]["stringValue"], "/orders?[redacted]");
    assert_eq!(record["traceId"], "4bf92f3577b34da6a3ce929d0e0e4736");
    assert_eq!(
        record["attributes"],
        json!([
            {"key": "http.response.status_code", "value": {"intValue": "200"}},
            {"key": "method", "value": {"stringValue": "POST"}},
            {"key": "mixed", "value": {"stringValue": "POST HTTP/1.1"}},
        ])
    );
    assert_eq!(worker.log_lines(Level::Info), [""; 0]);
}

/// Envoy prints 0 for a status that there is not, which in a record would be one.
#[test]
fn an_attribute_whose_number_is_not_known_is_left_out() {
    let mut worker = worker(&json!({
        "sinks": [{"otlp": {"cluster": "collector"}}],
        "otlp_attributes": {
            "http.response.status_code": "%RESPONSE_CODE%",
            "sent": "%BYTES_SENT%",
            "text": "<%RESPONSE_CODE%>",
        },
    }));
    let id = worker.request(HEADERS);
    give_number(&worker, id, &["response", "code"], 0);
    worker.finish(id);
    worker.advance(Duration::from_secs(5));
    assert_eq!(
        record(&worker.pending_call().body)["attributes"],
        json!([{"key": "text", "value": {"stringValue": "<0>"}}])
    );
}

#[test]
fn failures_have_a_severity_of_their_own() {
    for (status, expected) in
        [(200u64, "INFO"), (302, "INFO"), (404, "WARN"), (503, "ERROR"), (0, "WARN"), (100, "WARN")]
    {
        let mut worker = worker(&json!({"sinks": [{"otlp": {"cluster": "collector"}}]}));
        let id = worker.request(HEADERS);
        worker.host.give_property(id, &["response", "code"], &status.to_le_bytes());
        worker.finish(id);
        worker.advance(Duration::from_secs(5));
        assert_eq!(record(&worker.pending_call().body)["severityText"], expected, "{status}");
    }
}

#[test]
fn what_is_left_is_sent_when_the_plugin_ends() {
    let mut worker =
        worker(&json!({"sinks": [{"otlp": {"cluster": "collector"}}], "format": {"text": "last"}}));
    let id = worker.request(HEADERS);
    worker.finish(id);
    assert_eq!(worker.pending_calls().len(), 0);
    assert_eq!(worker.shut_down(), portcullis_policy::Shutdown::Pending);
    let call = worker.pending_call();
    assert_eq!(record(&call.body)["body"]["stringValue"], "last");
    worker.answer(call.token, 200, &[], b"{}");
    assert_eq!(worker.host.shutdowns_completed(), 1);
}

#[test]
fn what_an_exporter_refuses_is_told_with_its_place() {
    let document = r#"{"sinks":["envoy-log",{"otlp":{"cluster":""}}]}"#;
    let built = portcullis_policy::Chain::new()
        .then_configured::<portcullis_access_log::AccessLog>(document.as_bytes());
    let error = built.err().unwrap().to_string();
    assert!(error.starts_with("sinks[1].otlp.cluster: "), "{error}");
    let host = portcullis_testkit::inprocess::TestHost::new(Default::default());
    host.fail(Fault::Clock);
    let chain = access_log(r#"{"sinks":[{"otlp":{"cluster":"c"}}]}"#);
    assert!(Worker::start_with(chain, host).is_err());
}
