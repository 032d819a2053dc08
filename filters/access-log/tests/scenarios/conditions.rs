//! Which exchanges get a line.

use portcullis_access_log::AccessLog;
use portcullis_policy::Chain;
use portcullis_testkit::inprocess::Worker;
use serde_json::{Value, json};

use crate::support::{Gate, give_number, lines, worker};

/// Whether an exchange with this status, duration (ms) and details gets a line.
fn logged(when: &Value, status: u64, milliseconds: u64, details: &str) -> bool {
    let mut worker = worker(&json!({"when": when}));
    let id = worker.request([(":method", "GET"), (":path", "/api/a"), ("x-request-id", "one")]);
    give_number(&worker, id, &["response", "code"], status);
    give_number(&worker, id, &["request", "duration"], milliseconds.saturating_mul(1_000_000));
    worker.host.give_property(id, &["response", "code_details"], details.as_bytes());
    worker.finish(id);
    lines(&worker).len() == 1
}

#[test]
fn all_conditions_must_hold() {
    let via = "via_upstream";
    for (when, status, milliseconds, details, expected) in [
        (json!({}), 200, 1, via, true),
        (json!({"status": ["5xx", "404"]}), 503, 1, via, true),
        (json!({"status": ["5xx", "404"]}), 404, 1, via, true),
        (json!({"status": ["5xx", "404"]}), 403, 1, via, false),
        (json!({"status": ["5xx"]}), 0, 1, "downstream_remote_disconnect", false),
        (json!({"status": ["none"]}), 0, 1, "downstream_remote_disconnect", true),
        // What a client was told that left before the response proper.
        (json!({"status": ["none"]}), 100, 1, "", true),
        (json!({"status": ["1xx"]}), 103, 1, "", false),
        (json!({"status": ["1xx"]}), 101, 1, via, true),
        (json!({"min_duration_ms": 500}), 200, 500, via, true),
        (json!({"min_duration_ms": 500}), 200, 499, via, false),
        (json!({"status": ["5xx"], "min_duration_ms": 500}), 503, 499, via, false),
        (json!({"answered_by": ["upstream"]}), 200, 1, via, true),
        (json!({"answered_by": ["upstream"]}), 404, 1, "route_not_found", false),
        (json!({"answered_by": ["envoy"]}), 404, 1, "route_not_found", true),
        (json!({"answered_by": ["envoy", "nobody"]}), 0, 1, "downstream_remote_disconnect", true),
        (json!({"answered_by": ["policy"]}), 200, 1, via, false),
        (json!({"scope": {"only": [{"path_prefix": "/api"}]}}), 200, 1, via, true),
        (json!({"scope": {"only": [{"path_prefix": "/web"}]}}), 200, 1, via, false),
        (json!({"scope": {"exempt": [{"path_prefix": "/api", "methods": ["GET"]}]}}), 200, 1, via, false),
        (json!({"sample": {"percent": 100}}), 200, 1, via, true),
        (json!({"sample": {"percent": 0}}), 200, 1, via, false),
        (json!({"sample": {"percent": 0, "always": ["5xx"]}}), 200, 1, via, false),
        (json!({"sample": {"percent": 0, "always": ["5xx"]}}), 503, 1, via, true),
        (json!({"sample": {"percent": 0, "always": ["5xx"]}, "status": ["503"]}), 502, 1, via, false),
    ] {
        assert_eq!(logged(&when, status, milliseconds, details), expected, "{when} {status} {milliseconds}");
    }
}

#[test]
fn tells_what_policies_refused_from_what_others_answered() {
    let document = json!({"when": {"answered_by": ["policy"]}});
    let chain =
        Chain::new().then(Gate).then_configured::<AccessLog>(document.to_string().as_bytes()).unwrap();
    let mut worker = Worker::start(chain).unwrap();
    for headers in [&[(":path", "/refused")][..], &[(":path", "/admitted"), ("who", "me")]] {
        let id = worker.request(headers.iter().copied());
        give_number(&worker, id, &["response", "code"], 401);
        worker.host.give_property(id, &["response", "code_details"], b"via_upstream");
        worker.finish(id);
    }
    let lines = lines(&worker);
    assert_eq!(lines.len(), 1);
    assert!(lines[0].contains("/refused"), "{lines:?}");
}

#[test]
fn two_workers_take_the_same_requests() {
    let document = json!({"when": {"sample": {"percent": 30}}, "format": {"text": "%REQ(X-REQUEST-ID)%"}});
    let taken = || {
        let mut worker = worker(&document);
        for n in 0..200 {
            let id = worker.request([(":path", "/"), ("x-request-id", &format!("request-{n}"))]);
            worker.finish(id);
        }
        lines(&worker)
    };
    let (one, other) = (taken(), taken());
    assert_eq!(one, other);
    assert!((30..=90).contains(&one.len()), "{}", one.len());
}

#[test]
fn a_request_whose_headers_cannot_be_read_gets_a_line() {
    let document = json!({"when": {"sample": {"percent": 0}, "scope": {"only": [{"path_prefix": "/api"}]}}});
    let mut worker = worker(&document);
    let id = worker.open();
    worker.host.fail(portcullis_testkit::inprocess::Fault::ReadHeaders);
    worker.finish(id);
    assert_eq!(lines(&worker).len(), 1);
}
