//! What lines cost: what the host is asked for.

use portcullis_access_log::AccessLog;
use portcullis_policy::{Callbacks, Chain, Policy};
use portcullis_testkit::inprocess::Worker;
use serde_json::{Value, json};

use crate::support::{Gate, HEADERS, give_all, give_number, lines, worker};

/// What is read for the usual exchange with this status.
fn reads(document: &Value, status: u64) -> Vec<String> {
    let mut worker = worker(document);
    let id = worker.request(HEADERS);
    worker.response_headers(id, [(":status", "200")], true);
    give_all(&worker, id);
    give_number(&worker, id, &["response", "code"], status);
    worker.host.take_reads();
    worker.finish(id);
    worker.host.take_reads()
}

fn callbacks(document: &Value) -> Callbacks {
    let config = serde_json::from_value(document.clone()).unwrap();
    AccessLog::from_config(config).unwrap().callbacks()
}

#[test]
fn a_format_reads_what_it_shows_and_nothing_twice() {
    for (format, expected) in [
        ("static", &[][..]),
        ("%PROTOCOL% %PROTOCOL%", &["request.protocol"]),
        ("%REQ(A)% %REQ(B?C)% %REQUEST_HEADERS_BYTES%", &["RequestHeaders"]),
        ("%RESPONSE_FLAGS% %RESPONSE_FLAGS_LONG%", &["response.flags"]),
        (
            "%PORTCULLIS(OUTCOMES)% %PORTCULLIS(VIOLATION)%",
            &["portcullis.client-id.outcome", "portcullis.rate-limit.outcome"],
        ),
        (
            "%DURATION% %RESP(A)% %TRAILER(B)% %TRAILER(C)%",
            &["request.duration", "ResponseHeaders", "ResponseTrailers"],
        ),
        ("%FILTER_STATE(a:PLAIN)% %FILTER_STATE(a:PLAIN):2%", &["filter_state.a"]),
        ("%DYNAMIC_METADATA(a:b)% %DYNAMIC_METADATA(a:c)%", &["metadata"]),
    ] {
        assert_eq!(reads(&json!({"format": {"text": format}}), 200), expected, "{format}");
    }
}

#[test]
fn the_default_line_reads_twelve_attributes_and_the_headers() {
    let expected = [
        "request.time",
        "request.protocol",
        "request.duration",
        "response.size",
        "response.flags",
        "response.code_details",
        "upstream.address",
        "response.backend_latency",
        "response.code",
        "portcullis.client-id.outcome",
        "portcullis.rate-limit.outcome",
        "RequestHeaders",
        "request.size",
    ];
    assert_eq!(reads(&json!({}), 200), expected);
}

#[test]
fn an_announced_length_an_outcome_and_known_headers_need_not_be_read() {
    let chain = Chain::new().then(Gate).then_configured::<AccessLog>(b"").unwrap();
    let mut worker = Worker::start(chain).unwrap();
    let id = worker.request([(":path", "/"), ("who", "me"), ("content-length", "5")]);
    give_all(&worker, id);
    worker.host.take_reads();
    worker.finish(id);
    let reads = worker.host.take_reads();
    assert_eq!(reads.len(), 9, "{reads:?}");
    assert!(
        !reads.iter().any(|read| read.starts_with("portcullis") || read == "RequestHeaders"),
        "{reads:?}"
    );
    assert!(lines(&worker)[0].contains("\"bytes_in\":5,"));
}

#[test]
fn an_exchange_that_gets_no_line_is_asked_for_what_decides() {
    for (when, expected) in [
        (json!({"status": ["5xx"]}), &["response.code"][..]),
        (json!({"min_duration_ms": 50}), &["request.duration"]),
        (json!({"status": ["5xx"], "min_duration_ms": 50, "answered_by": ["envoy"]}), &["response.code"]),
        (
            json!({"answered_by": ["envoy"]}),
            &["portcullis.client-id.outcome", "portcullis.rate-limit.outcome", "response.code_details"],
        ),
        (json!({"sample": {"percent": 0}}), &["RequestHeaders"]),
        (json!({"sample": {"percent": 0}, "status": ["5xx"]}), &["response.code"]),
        (json!({"sample": {"percent": 0}, "status": ["2xx"]}), &["response.code", "RequestHeaders"]),
        (json!({"scope": {"only": [{"path_prefix": "/x"}]}, "answered_by": ["envoy"]}), &["RequestHeaders"]),
    ] {
        assert_eq!(reads(&json!({"when": when}), 200), expected, "{when}");
    }
}

/// Headers that another policy has read rule an exchange out before anything else is asked for.
#[test]
fn an_exchange_that_known_headers_rule_out_is_asked_for_nothing() {
    let document = json!({"when": {"sample": {"percent": 0}, "status": ["2xx"], "min_duration_ms": 1}});
    let chain =
        Chain::new().then(Gate).then_configured::<AccessLog>(document.to_string().as_bytes()).unwrap();
    let mut worker = Worker::start(chain).unwrap();
    let id = worker.request([(":path", "/"), ("who", "me"), ("x-request-id", "1")]);
    give_all(&worker, id);
    worker.host.take_reads();
    worker.finish(id);
    assert_eq!(worker.host.take_reads(), [""; 0]);
    assert_eq!(lines(&worker), [""; 0]);
}

#[test]
fn what_a_condition_has_read_the_line_does_not_read_again() {
    let document = json!({"when": {"status": ["2xx"]}, "format": {"text": "%RESPONSE_CODE% %PROTOCOL%"}});
    assert_eq!(reads(&document, 200), ["response.code", "request.protocol"]);
}

#[test]
fn a_log_that_is_off_asks_for_nothing() {
    let document = json!({"sinks": [], "phases": ["request", "response", "end"], "capture": {"request": {}}});
    assert_eq!(reads(&document, 200), [""; 0]);
    assert_eq!(callbacks(&document), Callbacks::NONE);
}

#[test]
fn only_callbacks_that_the_configuration_needs_are_asked_for() {
    let (request, response) = (Callbacks::REQUEST_HEADERS, Callbacks::RESPONSE_HEADERS);
    let otlp = Callbacks::CALL_OUT.and(Callbacks::TICK).and(Callbacks::SHUTDOWN);
    for (document, expected) in [
        (json!({}), Callbacks::LOG),
        (json!({"format": {"text": "%REQ(A)% %RESP(B)%"}, "when": {"status": ["5xx"]}}), Callbacks::LOG),
        (json!({"phases": ["request"]}), request.and(Callbacks::LOG)),
        (json!({"phases": ["response"]}), request.and(response).and(Callbacks::LOG)),
        (json!({"capture": {"request": {}}}), request.and(Callbacks::REQUEST_BODY).and(Callbacks::LOG)),
        (
            json!({"capture": {"response": {}}}),
            request.and(response).and(Callbacks::RESPONSE_BODY).and(Callbacks::LOG),
        ),
        (json!({"sinks": [{"otlp": {"cluster": "c"}}]}), otlp.and(Callbacks::LOG)),
    ] {
        assert_eq!(callbacks(&document), expected, "{document}");
        assert!(AccessLog::CALLBACKS.contains(expected), "{document}");
    }
}
