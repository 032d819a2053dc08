//! What a record looks like on the wire.

use portcullis_access_log::otlp::{AttributeValue, Exporter, OtlpConfig, Record, Severity};
use portcullis_policy::time::Timestamp;
use portcullis_policy::{Callbacks, Chain, ConfigError, Exchange, Policy, Worker};
use portcullis_testkit::inprocess;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::request::{self, AnyValue, Double, LogRecord};
use crate::support::config;

/// A record with attributes that the test owns.
#[derive(Debug, Clone, Default)]
struct Sample {
    time: u64,
    observed: u64,
    severity: Severity,
    body: Vec<u8>,
    traceparent: Option<Vec<u8>>,
    attributes: Vec<(String, Owned)>,
}

#[derive(Debug, Clone)]
enum Owned {
    Text(Vec<u8>),
    Int(i64),
    Double(f64),
    Bool(bool),
}

/// Exports one sample for each exchange.
struct One(Exporter, Sample);

impl Policy for One {
    const NAME: &'static str = "one";
    const CALLBACKS: Callbacks = Callbacks::LOG.and(Callbacks::TICK).and(Callbacks::CALL_OUT);
    type Config = ();
    type State = ();

    fn from_config((): ()) -> Result<Self, ConfigError> {
        Err(ConfigError::new("", "made by the test"))
    }

    fn on_start(&mut self, worker: &mut Worker<'_>) -> Result<(), ConfigError> {
        self.0.start(worker)
    }

    fn tick_period(&self) -> Option<std::time::Duration> {
        Some(self.0.tick_period())
    }

    fn on_tick(&mut self, worker: &mut Worker<'_>) {
        self.0.on_tick(worker);
    }

    fn on_log(&mut self, (): &mut (), exchange: &mut Exchange<'_>) {
        let Self(exporter, sample) = self;
        let record = Record {
            time: Timestamp::from_nanos(sample.time),
            observed: Timestamp::from_nanos(sample.observed),
            severity: sample.severity,
            body: &sample.body,
            traceparent: sample.traceparent.as_deref(),
        };
        let attributes = sample.attributes.iter().map(|(name, value)| {
            let value = match value {
                Owned::Text(text) => AttributeValue::Text(text),
                Owned::Int(number) => AttributeValue::Int(*number),
                Owned::Double(number) => AttributeValue::Double(*number),
                Owned::Bool(truth) => AttributeValue::Bool(*truth),
            };
            (name.as_str(), value)
        });
        exporter.push(&record, attributes, exchange.host());
    }
}

/// The request that exports the sample twice.
fn exported(sample: &Sample, config: OtlpConfig) -> Vec<u8> {
    let policy = One(Exporter::new(config).unwrap(), sample.clone());
    let mut worker = inprocess::Worker::start(Chain::new().then(policy)).unwrap();
    for _ in 0..2 {
        let id = worker.open();
        worker.finish(id);
    }
    worker.advance(std::time::Duration::from_millis(100));
    worker.pending_call().body
}

fn record(sample: &Sample) -> LogRecord {
    let (_, mut records) = request::read(&exported(sample, config()));
    assert_eq!(records.len(), 2);
    records.pop().unwrap()
}

#[test]
fn a_request_is_as_the_protocol_has_it() {
    let text = |text: &str| Owned::Text(text.as_bytes().to_vec());
    let sample = Sample {
        time: 1_769_847_330_125_000_000,
        observed: u64::MAX,
        severity: Severity::Error,
        body: br#"{"time":"now"}"#.to_vec(),
        traceparent: Some(b"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01".to_vec()),
        attributes: vec![
            ("http.request.method".to_owned(), text("GET")),
            ("http.response.status_code".to_owned(), Owned::Int(200)),
            ("least".to_owned(), Owned::Int(i64::MIN)),
            ("half".to_owned(), Owned::Double(0.5)),
            ("tls".to_owned(), Owned::Bool(true)),
        ],
    };
    let record = json!({
        "timeUnixNano": "1769847330125000000",
        "observedTimeUnixNano": "18446744073709551615",
        "severityNumber": 17,
        "severityText": "ERROR",
        "body": {"stringValue": "{\"time\":\"now\"}"},
        "attributes": [
            {"key": "http.request.method", "value": {"stringValue": "GET"}},
            {"key": "http.response.status_code", "value": {"intValue": "200"}},
            {"key": "least", "value": {"intValue": "-9223372036854775808"}},
            {"key": "half", "value": {"doubleValue": 0.5}},
            {"key": "tls", "value": {"boolValue": true}},
        ],
        "traceId": "4bf92f3577b34da6a3ce929d0e0e4736",
        "spanId": "00f067aa0ba902b7",
        "flags": 1,
    });
    let expected = json!({"resourceLogs": [{
        "resource": {"attributes": [{"key": "service.name", "value": {"stringValue": "envoy"}}]},
        "scopeLogs": [{
            "scope": {"name": "portcullis.access-log", "version": env!("CARGO_PKG_VERSION")},
            "logRecords": [record.clone(), record],
        }],
    }]});
    let request: Value = serde_json::from_slice(&exported(&sample, config())).unwrap();
    assert_eq!(request, expected);
}

#[test]
fn a_trace_that_is_not_valid_is_left_out() {
    for traceparent in [None, Some(b"".to_vec()), Some(b"00-0-0-0".to_vec()), Some(b"\"\xff".to_vec())] {
        let record = record(&Sample { traceparent, ..Sample::default() });
        assert_eq!((record.trace_id, record.span_id, record.flags), (None, None, None));
    }
}

#[test]
fn severities_have_the_numbers_of_the_data_model() {
    for (severity, number, text) in
        [(Severity::Info, 9, "INFO"), (Severity::Warn, 13, "WARN"), (Severity::Error, 17, "ERROR")]
    {
        let record = record(&Sample { severity, ..Sample::default() });
        assert_eq!((record.severity_number, record.severity_text.as_str()), (number, text));
    }
}

#[test]
fn numbers_that_json_has_no_way_to_write_are_written_as_names() {
    for (number, name) in [(f64::NAN, "NaN"), (f64::INFINITY, "Infinity"), (f64::NEG_INFINITY, "-Infinity")] {
        let attributes = vec![("n".to_owned(), Owned::Double(number))];
        let record = record(&Sample { attributes, ..Sample::default() });
        assert_eq!(record.attributes[0].value, AnyValue::Double(Double::Name(name.to_owned())));
    }
}

#[test]
fn long_attributes_are_cut_where_configured() {
    let attributes = vec![("url.path".to_owned(), Owned::Text(vec![b'x'; 100]))];
    let sample = Sample { attributes, ..Sample::default() };
    let body = exported(&sample, OtlpConfig { max_attribute_bytes: 16, ..config() });
    let (_, records) = request::read(&body);
    assert_eq!(records[0].attributes[0].value.text(), "xxxxxxxxxxxxxxxx…");
}

#[test]
fn names_of_attributes_are_never_cut() {
    let names = ["a", "b"].map(|last| format!("{}.{last}", "portcullis".repeat(2_000)));
    let attributes = names.iter().map(|name| (name.clone(), Owned::Int(1))).collect();
    let sample = Sample { attributes, ..Sample::default() };
    let (_, records) = request::read(&exported(&sample, OtlpConfig { max_attribute_bytes: 16, ..config() }));
    let written: Vec<_> = records[0].attributes.iter().map(|attribute| &attribute.key).collect();
    assert_eq!(written, names.iter().collect::<Vec<_>>());
}

#[test]
fn a_line_with_two_captured_bodies_of_the_longest_kind_is_still_json() {
    // JSON once escaped in the line, which is escaped again in the record.
    let body = "\"".repeat(65_536);
    let line = json!({"request_body": body, "response_body": body}).to_string();
    let record = record(&Sample { body: line.clone().into_bytes(), ..Sample::default() });
    assert_eq!(record.body.text(), line);
}

#[test]
fn a_record_that_is_too_long_without_its_line_is_dropped_and_counted() {
    let attributes = (0..100).map(|at| (format!("a{at}"), Owned::Text(vec![b'x'; 1_000]))).collect();
    let sample = Sample { attributes, ..Sample::default() };
    let exporter = Exporter::new(OtlpConfig { max_batch_bytes: 65_536, ..config() }).unwrap();
    let mut worker = inprocess::Worker::start(Chain::new().then(One(exporter, sample))).unwrap();
    let id = worker.open();
    worker.finish(id);
    worker.advance(std::time::Duration::from_secs(2));
    assert!(worker.pending_calls().is_empty());
    assert_eq!(worker.host.metric("portcullis.access_log.otlp_dropped_too_long"), 1);
}

fn bytes() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        proptest::collection::vec(any::<u8>(), 0..300),
        any::<String>().prop_map(String::into_bytes),
        "[\\\\\"\\x00-\\x1f\\x7f-\\u{9f}\\u{2028}\\u{d7ff}😀]{0,40}".prop_map(String::into_bytes),
    ]
}

fn value() -> impl Strategy<Value = Owned> {
    prop_oneof![
        bytes().prop_map(Owned::Text),
        any::<i64>().prop_map(Owned::Int),
        proptest::num::f64::ANY.prop_map(Owned::Double),
        any::<bool>().prop_map(Owned::Bool),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_record_is_valid_and_says_what_was_put_in(
        time: u64,
        observed: u64,
        body in bytes(),
        traceparent in proptest::option::of(bytes()),
        attributes in proptest::collection::vec((any::<String>(), value()), 0..8),
    ) {
        let sample = Sample { time, observed, body, traceparent, attributes, ..Sample::default() };
        let record = record(&sample);
        prop_assert_eq!(record.time_unix_nano, time.to_string());
        prop_assert_eq!(record.observed_time_unix_nano, observed.to_string());
        if let Ok(body) = String::from_utf8(sample.body) {
            prop_assert_eq!(record.body.text(), body);
        }
        prop_assert_eq!(record.attributes.len(), sample.attributes.len());
        for (got, (name, put)) in record.attributes.iter().zip(sample.attributes) {
            prop_assert_eq!(&got.key, &name);
            match (&got.value, put) {
                (AnyValue::Text(got), Owned::Text(put)) => {
                    if let Ok(put) = String::from_utf8(put) {
                        prop_assert_eq!(got, &put);
                    }
                }
                (AnyValue::Int(got), Owned::Int(put)) => prop_assert_eq!(got, &put.to_string()),
                (AnyValue::Bool(got), Owned::Bool(put)) => prop_assert_eq!(*got, put),
                (AnyValue::Double(Double::Number(got)), Owned::Double(put)) => {
                    // The reader may err in the last bits.
                    let error = (got - put).abs();
                    prop_assert!(error <= put.abs() * 1e-12 || error < f64::MIN_POSITIVE);
                }
                (AnyValue::Double(Double::Name(_)), Owned::Double(put)) => prop_assert!(!put.is_finite()),
                (got, put) => prop_assert!(false, "{:?} of {:?}", got, put),
            }
        }
    }
}
