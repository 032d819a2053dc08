//! What is kept of bodies.

use portcullis_access_log::AccessLog;
use portcullis_policy::{Callbacks, Chain, ConfigError, Direction, EndOfStream, Exchange, Flow, Policy};
use portcullis_testkit::inprocess::Worker;
use serde_json::{Value, json};

use crate::support::{lines, worker};

const FORMAT: &str = "%PORTCULLIS(REQUEST_BODY)% %PORTCULLIS(RESPONSE_BODY)%";

fn capturing(more: Value) -> Value {
    let types = json!({"content_types": ["application/json", "text/*"]});
    let mut document = json!({"capture": {"request": types, "response": types}, "format": {"text": FORMAT}});
    document.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    document
}

/// JSON Patch has the names of members as values: `{"op":"add","path":"/password","value":"…"}`.
#[test]
fn what_may_hold_secrets_under_no_name_is_not_kept_unless_it_is_listed() {
    let body = r#"[{"op":"add","path":"/password","value":"hunter2"}]"#;
    for (capture, content_type, shown) in [
        (json!({}), "application/json-patch+json", false),
        (json!({"content_types": ["*/*"]}), "application/json-patch+json; charset=utf-8", false),
        (json!({}), "text/plain", false),
        (json!({}), "application/xml", false),
        (json!({"content_types": ["text/*"]}), "text/plain", true),
    ] {
        let mut worker = worker(&json!({"capture": {"request": capture}}));
        let id = worker.open();
        worker.request_headers(id, [(":path", "/"), ("content-type", content_type)], false);
        worker.body(id, Direction::Request, body.as_bytes(), true);
        worker.finish(id);
        let line = lines(&worker).concat();
        assert_eq!(line.contains("hunter2"), shown, "{line}");
        assert_eq!(line.contains("[not captured: it"), !shown, "{line}");
    }
}

#[test]
fn forms_are_kept_and_redacted() {
    let mut worker = worker(&json!({"capture": {"request": {}}}));
    let id = worker.open();
    let form = ("content-type", "application/x-www-form-urlencoded");
    worker.request_headers(id, [(":path", "/"), form], false);
    let body = b"grant_type=authorization_code&code=hunter2&user[password]=hunt#er;2&x=1";
    worker.body(id, Direction::Request, body, true);
    worker.finish(id);
    let line: Value = serde_json::from_str(&lines(&worker)[0]).unwrap();
    let expected = "grant_type=authorization_code&code=[redacted]&user[password]=[redacted]&x=1";
    assert_eq!(line["request_body"], expected);
}

const JSON: (&str, &str) = ("content-type", "application/json");

#[test]
fn bodies_are_kept_in_pieces_and_go_on_at_once() {
    let mut worker = worker(&capturing(json!({})));
    let id = worker.open();
    worker.request_headers(id, [(":path", "/"), JSON], false);
    for piece in [r#"{"a""#, ":1,", r#""password":"hun"#, r#"ter2"}"#] {
        worker.body(id, Direction::Request, piece.as_bytes(), false);
        assert!(worker.host.passed_body(id, Direction::Request).ends_with(piece.as_bytes()));
    }
    worker.body(id, Direction::Request, b"", true);
    worker.response_headers(id, [(":status", "200"), ("content-type", "text/plain")], false);
    worker.body(id, Direction::Response, b"two", false);
    worker.body(id, Direction::Response, b" lines\n", true);
    worker.finish(id);
    assert_eq!(lines(&worker), [r#"{"a":1,"password":"[redacted]"} two lines\n"#]);
}

#[test]
fn the_default_line_has_fields_for_bodies() {
    let mut worker = worker(&json!({"capture": {"request": {}, "response": {}}}));
    let id = worker.open();
    worker.request_headers(id, [(":path", "/"), JSON], false);
    worker.body(id, Direction::Request, b"{\"a\":1}", true);
    worker.response_headers(id, [(":status", "200"), ("content-type", "image/png")], false);
    worker.body(id, Direction::Response, b"\x89PNG", true);
    worker.finish(id);
    let line: Value = serde_json::from_str(&lines(&worker)[0]).unwrap();
    assert_eq!(line["request_body"], r#"{"a":1}"#);
    assert_eq!(line["response_body"], "[not captured: its content type is not listed]");
    assert_eq!(line.get("phase"), None);
}

#[test]
fn a_message_with_trailers_ends_with_those() {
    let mut worker = worker(&capturing(json!({})));
    let id = worker.open();
    worker.request_headers(id, [(":path", "/"), ("content-type", "text/plain")], false);
    worker.body(id, Direction::Request, b"whole", false);
    worker.trailers(id, Direction::Request);
    worker.finish(id);
    assert_eq!(lines(&worker), ["whole -"]);
}

#[test]
fn a_body_that_breaks_off_is_shown_as_far_as_it_came() {
    let mut worker = worker(&capturing(json!({})));
    let id = worker.open();
    worker.request_headers(id, [(":path", "/"), ("content-type", "text/plain")], false);
    worker.body(id, Direction::Request, b"half", false);
    worker.finish(id);
    assert_eq!(lines(&worker), ["half… -"]);
}

#[test]
fn no_more_of_a_body_is_read_than_is_kept() {
    let request = json!({"max_bytes": 4, "content_types": ["text/plain"]});
    let document = capturing(json!({"capture": {"request": request, "response": {}}}));
    let mut worker = worker(&document);
    let id = worker.open();
    worker.request_headers(id, [(":path", "/"), ("content-type", "text/plain")], false);
    let long = vec![b'x'; 1_000_000];
    for _ in 0..3 {
        worker.body(id, Direction::Request, &long, false);
    }
    assert_eq!(worker.host.passed_body(id, Direction::Request).len(), 3_000_000);
    worker.finish(id);
    assert_eq!(lines(&worker), ["xxxx… -"]);
}

#[test]
fn exchanges_that_get_no_line_keep_no_body() {
    for when in
        [json!({"sample": {"percent": 0}}), json!({"scope": {"only": [{"path_prefix": "/elsewhere"}]}})]
    {
        let mut worker = worker(&capturing(json!({"when": when})));
        let id = worker.open();
        worker.request_headers(id, [(":path", "/a"), ("x-request-id", "1"), JSON], false);
        worker.host.take_reads();
        worker.body(id, Direction::Request, b"{}", true);
        worker.response_headers(id, [(":status", "200"), JSON], false);
        worker.body(id, Direction::Response, b"{}", true);
        worker.finish(id);
        assert_eq!(worker.host.take_reads(), [""; 0]);
        assert_eq!(lines(&worker), [""; 0]);
    }
}

#[test]
fn bodies_of_exchanges_that_always_get_a_line_are_kept() {
    let mut worker = worker(&capturing(json!({"when": {"sample": {"percent": 0, "always": ["5xx"]}}})));
    for (status, id) in [(200u64, "a"), (503, "b")] {
        let id = {
            let exchange = worker.open();
            worker.request_headers(exchange, [(":path", "/"), ("x-request-id", id), JSON], false);
            exchange
        };
        worker.body(id, Direction::Request, format!("{status}").as_bytes(), true);
        worker.host.give_property(id, &["response", "code"], &status.to_le_bytes());
        worker.finish(id);
    }
    assert_eq!(lines(&worker), ["503 -"]);
}

/// Holds the request until its body is whole.
struct Buffering;

impl Policy for Buffering {
    const NAME: &'static str = "buffering";
    const CALLBACKS: Callbacks = Callbacks::REQUEST_HEADERS.and(Callbacks::REQUEST_BODY);
    type Config = ();
    type State = ();

    fn from_config((): ()) -> Result<Self, ConfigError> {
        Ok(Self)
    }

    fn on_request_headers(&mut self, (): &mut (), _: &mut Exchange<'_>, end: EndOfStream) -> Flow {
        if end == EndOfStream::Yes { Flow::Continue } else { Flow::NeedBody }
    }

    fn on_request_body(
        &mut self,
        (): &mut (),
        _: &mut Exchange<'_>,
        body: portcullis_policy::BodyEvent,
    ) -> Flow {
        if body.end == EndOfStream::Yes { Flow::Continue } else { Flow::NeedBody }
    }
}

#[test]
fn a_policy_that_holds_the_body_before_or_behind_does_not_change_what_is_kept() {
    let document = capturing(json!({})).to_string();
    for chain in [
        Chain::new().then(Buffering).then_configured::<AccessLog>(document.as_bytes()).unwrap(),
        Chain::new().then_configured::<AccessLog>(document.as_bytes()).unwrap().then(Buffering),
    ] {
        let mut worker = Worker::start(chain).unwrap();
        let id = worker.open();
        worker.request_headers(id, [(":path", "/"), ("content-type", "text/plain")], false);
        for (piece, end) in [("one ", false), ("two ", false), ("three", true)] {
            worker.body(id, Direction::Request, piece.as_bytes(), end);
        }
        worker.finish(id);
        assert_eq!(lines(&worker), ["one two three -"]);
    }
}

#[test]
fn nothing_of_a_body_that_is_captured_is_changed() {
    let mut worker = worker(&capturing(json!({})));
    let id = worker.open();
    worker.request_headers(id, [(":path", "/"), JSON, ("content-length", "9")], false);
    worker.body(id, Direction::Request, br#"{"a" : 1}"#, true);
    assert_eq!(worker.host.passed_body(id, Direction::Request), br#"{"a" : 1}"#);
    assert_eq!(worker.host.upstream_headers(id).first("content-length"), Some(&b"9"[..]));
    worker.finish(id);
}
