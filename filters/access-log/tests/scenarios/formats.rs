//! Lines of text and JSON.

use portcullis_access_log::AccessLog;
use portcullis_policy::{Chain, ExchangeId};
use portcullis_testkit::inprocess::Worker;
use serde_json::{Value, json};

use crate::support::{Gate, HEADERS, give_all, give_number, lines, worker};

/// The line that a format gives for the usual exchange, after `prepare`.
fn formatted(document: &Value, prepare: impl FnOnce(&mut Worker, ExchangeId)) -> String {
    let mut worker = worker(document);
    let id = worker.request(HEADERS);
    worker.response_headers(id, [(":status", "200"), ("x-answer", "42")], true);
    give_all(&worker, id);
    prepare(&mut worker, id);
    worker.finish(id);
    let [line] = lines(&worker).try_into().unwrap();
    line
}

fn text(format: &str) -> String {
    let mut document = json!({"format": {"text": format}, "query": "keep"});
    if format.contains("BODY") {
        document["capture"] = json!({"request": {}, "response": {}});
    }
    formatted(&document, |_, _| {})
}

#[test]
fn text_shows_values_and_a_dash_for_what_is_not_there() {
    for (format, expected) in [
        (
            "[%START_TIME%] \"%REQ(:METHOD)% %REQ(X-NONE?:PATH)%\"",
            "[2026-01-31T08:15:30.125Z] \"POST /orders?id=7\"",
        ),
        ("%RESPONSE_CODE% %DURATION% %BYTES_SENT%", "200 12 1024"),
        ("%REQ(:PATH):4% %REQ(X-NONE)% %RESP(X-ANSWER)%", "/ord - 42"),
        ("%UPSTREAM_HOST% %RESPONSE_FLAGS% %PORTCULLIS(UPSTREAM_DURATION)%", "10.0.0.7:8080 - 9"),
        ("%UPSTREAM_CLUSTER%%ROUTE_NAME%%CONNECTION_ID%", "--0"),
        ("%PORTCULLIS(CLIENT_ID)% %PORTCULLIS(OUTCOMES)% %PORTCULLIS(VIOLATION)%", "- - -"),
        (
            "%PORTCULLIS(PHASE)% %PORTCULLIS(ANSWERED_BY)% %PORTCULLIS(RECEIVED_PATH)%",
            "end upstream /orders?id=7",
        ),
        ("%PORTCULLIS(REQUEST_BODY)% %PORTCULLIS(RESPONSE_BODY)%", "- -"),
        ("%EMIT_TIME(%s)% %%", "1767225600 %"),
        ("%PROTOCOL%\n", "HTTP/1.1"),
    ] {
        assert_eq!(text(format), expected, "{format}");
    }
}

#[test]
fn omitted_values_leave_nothing_in_text() {
    let document = json!({"format": {"text": "<%REQ(X-NONE)%|%RESPONSE_FLAGS%>"}, "empty_values": "omitted"});
    assert_eq!(formatted(&document, |_, _| {}), "<|->");
}

#[test]
fn json_keeps_types_and_sorts_members() {
    let format = json!({
        "status": "%RESPONSE_CODE%",
        "path": "%REQ(:PATH)%",
        "mixed": "%REQ(:METHOD)%: %RESPONSE_CODE%",
        "none": "%REQ(X-NONE)%",
        "list": ["%DURATION%", {"deep": "%REQ(X-NONE)%"}, null, true, "x"],
        "outcomes": "%PORTCULLIS(OUTCOMES)%",
    });
    let shown = formatted(&json!({"format": {"json": format}}), |_, _| {});
    assert_eq!(
        shown,
        concat!(
            r#"{"list":[12,{"deep":null},null,true,"x"],"mixed":"POST: 200","none":null,"outcomes":null,"#,
            r#""path":"/orders?[redacted]","status":200}"#
        )
    );
    let omitted = formatted(&json!({"format": {"json": format}, "empty_values": "omitted"}), |_, _| {});
    assert_eq!(
        omitted,
        r#"{"list":[12,true,"x"],"mixed":"POST: 200","path":"/orders?[redacted]","status":200}"#
    );
    let nothing = json!({"format": {"json": {"a": {"b": "%REQ(X-NONE)%"}}}, "empty_values": "omitted"});
    assert_eq!(formatted(&nothing, |_, _| {}), "{}");
    let empty = json!({"format": {"json": {"a": {}, "b": []}}, "empty_values": "omitted"});
    assert_eq!(formatted(&empty, |_, _| {}), r#"{"b":[]}"#);
    let shown = json!({"format": {"json": {"a": {}, "b": []}}});
    assert_eq!(formatted(&shown, |_, _| {}), r#"{"a":{},"b":[]}"#);
}

#[test]
fn policies_of_the_chain_tell_their_outcomes() {
    let document = json!({"format": {"json": {
        "all": "%PORTCULLIS(OUTCOMES)%",
        "gate": "%PORTCULLIS(OUTCOME:gate)%",
        "other": "%PORTCULLIS(OUTCOME:other)%",
        "violation": "%PORTCULLIS(VIOLATION)%",
        "policy": "%PORTCULLIS(VIOLATION_POLICY)%",
        "reason": "%PORTCULLIS(VIOLATION_REASON)%",
        "client": "%PORTCULLIS(CLIENT_ID)%",
        "by": "%PORTCULLIS(ANSWERED_BY)%",
    }}});
    let chain =
        Chain::new().then(Gate).then_configured::<AccessLog>(document.to_string().as_bytes()).unwrap();
    let mut worker = Worker::start(chain).unwrap();
    let refused = worker.request([(":path", "/")]);
    give_number(&worker, refused, &["response", "code"], 401);
    worker.finish(refused);
    let admitted = worker.request([(":path", "/"), ("who", "me")]);
    worker.finish(admitted);
    let lines: Vec<Value> = lines(&worker).iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(
        lines[0],
        json!({
            "all": ["gate:rejected:missing"], "gate": "rejected:missing", "other": null, "client": null,
            "violation": "gate:missing", "policy": "gate", "reason": "missing", "by": "policy",
        })
    );
    assert_eq!(
        lines[1],
        json!({
            "all": ["gate:passed:verified"], "gate": "passed:verified", "other": null, "client": "o\"r\n",
            "violation": null, "policy": null, "reason": null, "by": "nobody",
        })
    );
}

#[test]
fn a_policy_in_a_filter_of_its_own_tells_its_outcome() {
    let document = json!({"format": {"text":
        "%PORTCULLIS(OUTCOMES)% %PORTCULLIS(OUTCOME:client-id)% %PORTCULLIS(VIOLATION)% %PORTCULLIS(CLIENT_ID)%"}});
    let shown = formatted(&document, |worker, id| {
        worker.host.give_property(id, &["portcullis.client-id.outcome"], b"client-id:rejected:invalid");
        worker.host.give_property(id, &["portcullis.client_id"], b"acme");
    });
    assert_eq!(shown, "client-id:rejected:invalid rejected:invalid client-id:invalid acme");
}

#[test]
fn filter_state_and_metadata_are_shown_if_they_are_there() {
    let document = json!({"format": {"text":
        "%FILTER_STATE(a:PLAIN)% %FILTER_STATE(a:PLAIN):2% %FILTER_STATE(b:PLAIN)% %DYNAMIC_METADATA(f:k)%"}});
    let shown = formatted(&document, |worker, id| {
        worker.host.give_property(id, &["filter_state", "a"], b"text");
        worker.host.give_property(id, &["filter_state", "b"], &[0; 4]);
        worker.host.give_property(id, &["metadata"], b"no such message");
    });
    assert_eq!(shown, "text te - -");
}

#[test]
fn whatever_comes_makes_one_line() {
    let hostile: Vec<u8> = (0..=255).collect();
    for format in [
        json!({"text": "%REQ(:PATH)% %REQ(X-A)% %UPSTREAM_HOST% %FILTER_STATE(a:PLAIN)% %PORTCULLIS(REQUEST_BODY)%"}),
        json!({"json": {"a": "%REQ(:PATH)%", "b": "%REQ(X-A)% %UPSTREAM_HOST%", "c": "%FILTER_STATE(a:PLAIN)%",
                        "d": "%PORTCULLIS(REQUEST_BODY)%"}}),
    ] {
        let document = json!({
            "format": format, "query": "keep",
            "capture": {"request": {"content_types": ["*/*"]}},
        });
        let mut worker = worker(&document);
        let id = worker.open();
        let headers = [(":path", &hostile), ("x-a", &hostile), ("content-type", &b"a/b".to_vec())];
        worker.request_headers(id, headers, false);
        worker.body(id, portcullis_policy::Direction::Request, &hostile, true);
        worker.host.give_property(id, &["upstream", "address"], &hostile);
        worker.host.give_property(id, &["filter_state", "a"], &hostile);
        worker.finish(id);
        let [line] = lines(&worker).try_into().unwrap();
        assert!(!line.contains(char::is_control), "{line:?}");
        if format.get("json").is_some() {
            serde_json::from_str::<Value>(&line).unwrap();
        }
    }
}

#[test]
fn a_value_has_a_greatest_length_and_a_body_its_own() {
    let document = json!({
        "format": {"text": "%REQ(X-LONG)% %PORTCULLIS(REQUEST_BODY)%"}, "max_field_bytes": 16,
        "capture": {"request": {"max_bytes": 20, "content_types": ["*/*"]}},
    });
    let mut worker = worker(&document);
    let id = worker.open();
    let long = "x".repeat(100);
    worker.request_headers(id, [("x-long", long.as_str()), ("content-type", "text/plain")], false);
    worker.body(id, portcullis_policy::Direction::Request, long.as_bytes(), true);
    worker.finish(id);
    assert_eq!(lines(&worker), [format!("{}… {}…", "x".repeat(16), "x".repeat(20))]);
}

#[test]
fn a_format_that_cannot_be_had_is_refused_with_its_place() {
    for (document, expected) in [
        (
            json!({"format": {"text": "%HOSTNAME%"}}),
            "format.text: at byte 0: HOSTNAME is not to be had: a module does not know it",
        ),
        (
            json!({"format": {"json": {"a": {"b": ["x", "%secret%"]}}}}),
            "format.json.a.b[1]: at byte 0: not an operator",
        ),
        (
            json!({"format": {"json": {"a b": "%REQ%"}}}),
            "format.json.*: at byte 0: takes the name of a header",
        ),
        (
            json!({"phases": ["request"], "phase_formats": {"request": {"text": "%PORTCULLIS(X)%"}}}),
            "phase_formats.request.text: at byte 0: PORTCULLIS takes one of CLIENT_ID",
        ),
        (
            json!({"otlp_attributes": {"a": "%REQ%"}}),
            "otlp_attributes.a: at byte 0: takes the name of a header",
        ),
    ] {
        let built = Chain::new().then_configured::<AccessLog>(document.to_string().as_bytes());
        let error = built.err().unwrap().to_string();
        assert!(error.starts_with(expected), "{error}");
        assert!(!error.contains("secret"), "{error}");
    }
    let deep = format!("{}{}{}", r#"{"format":{"json":{"a":"#, "[".repeat(40), "]".repeat(40)) + "}}}";
    let error = Chain::new().then_configured::<AccessLog>(deep.as_bytes()).err().unwrap().to_string();
    assert!(error.contains("nested 32 levels"), "{error}");
}
