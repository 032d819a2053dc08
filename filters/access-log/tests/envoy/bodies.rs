//! Bodies and phases in Envoy.

use portcullis_testkit::envoy::{Backend, Envoy, PATIENCE, Reply, h1, h2, wait_for, wait_until};
use serde_json::json;

use crate::support::{configured, marked};

fn our_lines(envoy: &Envoy, count: usize) -> Vec<String> {
    wait_until("our lines", PATIENCE, || marked(envoy, "@line@ ").len() >= count);
    marked(envoy, "@line@ ")
}

#[test]
fn a_line_for_each_phase_shows_what_is_known_by_then() {
    let backend = Backend::replying(Reply::ok(r#"{"answer":42}"#).header("content-type", "application/json"));
    let document = json!({
        "phases": ["request", "response", "end"],
        "capture": {"request": {}, "response": {}},
        "format": {"text": "@line@ %PORTCULLIS(PHASE)% %REQ(:METHOD)% %REQ(:PATH)% %RESPONSE_CODE% \
                            %RESP(CONTENT-TYPE)% %PORTCULLIS(REQUEST_BODY)% %PORTCULLIS(RESPONSE_BODY)%"},
    });
    let envoy = Envoy::start(&configured(&backend, &document));
    let json_type: [(&str, &[u8]); 1] = [("content-type", b"application/json")];
    let body = br#"{"user": "a", "password": "hunter2"}"#;
    assert_eq!(h1::request(envoy.addr(), "POST", "/a", &json_type, body).status, 200);
    let shown = r#"{"user":"a","password":"[redacted]"}"#;
    let expected = [
        format!("request POST /a 0 - {shown} -"),
        format!("response POST /a 200 application/json {shown} {{\"answer\":42}}"),
        format!("end POST /a 200 application/json {shown} {{\"answer\":42}}"),
    ];
    assert_eq!(our_lines(&envoy, 3), expected);
    assert_eq!(backend.wait_for(1, PATIENCE)[0].body, body);

    assert_eq!(h2::get(envoy.addr(), "/b").status, 200);
    assert_eq!(our_lines(&envoy, 6)[3], "request GET /b 0 - - -");
    assert!(!envoy.log_lines().iter().any(|line| line.contains("hunter2")));
}

/// The upstream gets each piece of a body while the next has not been sent yet.
#[test]
fn a_body_that_is_captured_is_not_held_back() {
    let backend = Backend::start();
    let document = json!({
        "capture": {"request": {"max_bytes": 4, "content_types": ["*/*"]}},
        "format": {"text": "@line@ %PORTCULLIS(REQUEST_BODY)%"},
    });
    let envoy = Envoy::start(&configured(&backend, &document));
    let mut connection = h1::Connection::open(envoy.addr());
    let head = b"POST / HTTP/1.1\r\nhost: a\r\ncontent-type: text/plain\r\ncontent-length: 9\r\n\r\n";
    connection.send_raw(head).unwrap();
    for (piece, so_far) in [("abc", "abc"), ("def", "abcdef"), ("ghi", "abcdefghi")] {
        connection.send_raw(piece.as_bytes()).unwrap();
        wait_for("the piece at the backend", PATIENCE, || {
            let requests = backend.requests();
            requests.first().filter(|request| request.body == so_far.as_bytes()).map(|_| ())
        });
    }
    assert_eq!(connection.read_response().unwrap().status, 200);
    assert_eq!(our_lines(&envoy, 1), ["abcd…"]);
}

#[test]
fn the_captures_of_concurrent_exchanges_do_not_mix() {
    let backend = Backend::start();
    backend.reply_with(|request| Reply::ok(request.body.clone()).header("content-type", "text/plain"));
    let document = json!({
        "capture": {"request": {"content_types": ["*/*"]}, "response": {"content_types": ["*/*"]}},
        "format": {"text": "@line@ %REQ(:PATH)% %PORTCULLIS(REQUEST_BODY)% %PORTCULLIS(RESPONSE_BODY)%"},
    });
    let envoy = Envoy::start(&configured(&backend, &document).workers(2));
    let statuses = portcullis_testkit::envoy::concurrently(40, |at| {
        let body = format!("body-{at}");
        let plain: [(&str, &[u8]); 1] = [("content-type", b"text/plain")];
        h1::request(envoy.addr(), "POST", &format!("/{at}"), &plain, body.as_bytes()).status
    });
    assert!(statuses.iter().all(|status| *status == 200));
    let mut lines = our_lines(&envoy, 40);
    lines.sort_unstable();
    let mut expected: Vec<_> = (0..40).map(|at| format!("/{at} body-{at} body-{at}")).collect();
    expected.sort_unstable();
    assert_eq!(lines, expected);
}
