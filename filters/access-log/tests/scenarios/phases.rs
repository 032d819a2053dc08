//! Lines at several points of an exchange.

use portcullis_access_log::AccessLog;
use portcullis_policy::{Chain, Direction};
use portcullis_testkit::inprocess::Worker;
use serde_json::{Value, json};

use crate::support::{Gate, HEADERS, give_all, lines, worker};

#[test]
fn each_phase_has_its_line_when_its_message_has_come() {
    let mut worker = worker(&json!({
        "phases": ["request", "response", "end"],
        "format": {"text": "%PORTCULLIS(PHASE)% %RESPONSE_CODE% %REQ(:METHOD)% %RESP(X-A)%"},
    }));
    let id = worker.request(HEADERS);
    assert_eq!(lines(&worker), ["request 0 POST -"]);
    worker.response_headers(id, [(":status", "201"), ("x-a", "b")], true);
    assert_eq!(lines(&worker)[1..], ["response 201 POST b"]);
    give_all(&worker, id);
    worker.finish(id);
    assert_eq!(lines(&worker)[2..], ["end 200 POST b"]);
}

#[test]
fn a_phase_may_have_a_format_of_its_own() {
    let mut worker = worker(&json!({
        "phases": ["request", "end"],
        "format": {"text": "all"},
        "phase_formats": {"request": "default"},
    }));
    let id = worker.request([(":method", "GET"), (":path", "/a?b")]);
    worker.finish(id);
    let lines = lines(&worker);
    let request: Value = serde_json::from_str(&lines[0]).unwrap();
    assert_eq!(
        request,
        json!({"time": "2026-01-01T00:00:00.000Z", "method": "GET", "path": "/a?[redacted]", "phase": "request"})
    );
    assert_eq!(lines[1..], ["all"]);
}

#[test]
fn a_message_whose_body_is_captured_has_its_line_when_that_has_come() {
    let mut worker = worker(&json!({
        "phases": ["request", "response"],
        "capture": {
            "request": {"max_bytes": 4, "content_types": ["text/*"]},
            "response": {"content_types": ["text/*"]},
        },
        "format": {"text": "%PORTCULLIS(PHASE)% %RESPONSE_CODE% %PORTCULLIS(REQUEST_BODY)% %PORTCULLIS(RESPONSE_BODY)%"},
    }));
    let text = ("content-type", "text/plain");
    let id = worker.open();
    worker.request_headers(id, [(":path", "/"), text], false);
    worker.body(id, Direction::Request, b"abc", false);
    assert_eq!(lines(&worker), [""; 0]);
    worker.body(id, Direction::Request, b"def", false);
    assert_eq!(lines(&worker), ["request 0 abcd… -"]);
    worker.response_headers(id, [(":status", "200"), text], false);
    worker.body(id, Direction::Response, b"xyz", false);
    assert_eq!(lines(&worker).len(), 1);
    worker.trailers(id, Direction::Response);
    assert_eq!(lines(&worker)[1..], ["response 200 abcd… xyz"]);
    worker.finish(id);
    assert_eq!(lines(&worker).len(), 2);
}

#[test]
fn a_message_that_breaks_off_has_its_line_at_the_end() {
    let mut worker = worker(&json!({
        "phases": ["request", "end"],
        "capture": {"request": {"content_types": ["text/*"]}},
        "format": {"text": "%PORTCULLIS(PHASE)% %PORTCULLIS(REQUEST_BODY)%"},
    }));
    let id = worker.open();
    worker.request_headers(id, [(":path", "/"), ("content-type", "text/plain")], false);
    worker.body(id, Direction::Request, b"half", false);
    worker.finish(id);
    assert_eq!(lines(&worker), ["request half…", "end half…"]);
}

#[test]
fn a_request_that_another_policy_refused_first_has_a_line_at_the_end_only() {
    let document =
        json!({"phases": ["request", "response", "end"], "format": {"text": "%PORTCULLIS(PHASE)%"}});
    let chain =
        Chain::new().then(Gate).then_configured::<AccessLog>(document.to_string().as_bytes()).unwrap();
    let mut worker = Worker::start(chain).unwrap();
    let id = worker.request(HEADERS);
    worker.finish(id);
    assert_eq!(lines(&worker), ["end"]);
}

#[test]
fn conditions_hold_for_every_phase() {
    let document = json!({
        "phases": ["response", "end"],
        "when": {"status": ["5xx"], "scope": {"only": [{"path_prefix": "/api"}]}},
        "format": {"text": "%PORTCULLIS(PHASE)% %REQ(:PATH)%"},
    });
    let mut worker = worker(&document);
    for (path, status) in [("/api/a", "503"), ("/api/b", "200"), ("/web", "503")] {
        let id = worker.request([(":path", path)]);
        worker.response_headers(id, [(":status", status)], true);
        worker.host.give_property(id, &["response", "code"], &status.parse::<u64>().unwrap().to_le_bytes());
        worker.finish(id);
    }
    assert_eq!(lines(&worker), ["response /api/a", "end /api/a"]);
}

/// The plugin may have no capability for requests; what they say is asked for when the response comes.
#[test]
fn conditions_on_the_request_hold_when_only_the_response_comes_to_the_policy() {
    let document = json!({
        "phases": ["response"],
        "when": {"scope": {"only": [{"path_prefix": "/api"}]}},
        "format": {"text": "%REQ(:PATH)%"},
    });
    let mut worker = worker(&document);
    for path in ["/api/a", "/web"] {
        let id = worker.open();
        worker.unseen_headers(id, Direction::Request, [(":path", path)]);
        worker.response_headers(id, [(":status", "200")], true);
        worker.finish(id);
    }
    assert_eq!(lines(&worker), ["/api/a"]);
}
