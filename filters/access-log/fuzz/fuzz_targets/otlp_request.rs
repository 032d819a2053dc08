//! Any bytes in any text: the request is JSON of the protocol's form, and says what was put in.
#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use portcullis_access_log::otlp::{AttributeValue, Record, Severity, fuzzing};
use portcullis_policy::time::Timestamp;
use serde_json::Value;

#[derive(Debug, Arbitrary)]
struct Input {
    time: u64,
    observed: u64,
    severity: u8,
    body: Vec<u8>,
    traceparent: Option<Vec<u8>>,
    attributes: Vec<(String, Attribute)>,
}

#[derive(Debug, Arbitrary)]
enum Attribute {
    Text(Vec<u8>),
    Int(i64),
    Double(f64),
    Bool(bool),
}

fn check_text(written: &Value, put: &[u8], limit: usize) {
    let written = written.as_str().expect("text");
    if put.len() <= limit
        && let Ok(put) = core::str::from_utf8(put)
    {
        assert_eq!(written, put);
    }
}

fuzz_target!(|input: Input| {
    let severity = [Severity::Info, Severity::Warn, Severity::Error][usize::from(input.severity % 3)];
    let record = Record {
        time: Timestamp::from_nanos(input.time),
        observed: Timestamp::from_nanos(input.observed),
        severity,
        body: &input.body,
        traceparent: input.traceparent.as_deref(),
    };
    let attributes = input.attributes.iter().map(|(name, value)| {
        let value = match value {
            Attribute::Text(text) => AttributeValue::Text(text),
            Attribute::Int(number) => AttributeValue::Int(*number),
            Attribute::Double(number) => AttributeValue::Double(*number),
            Attribute::Bool(truth) => AttributeValue::Bool(*truth),
        };
        (name.as_str(), value)
    });
    let request = fuzzing::request(&record, attributes);
    assert!(!request.iter().any(u8::is_ascii_control), "on one line");
    let request: Value = serde_json::from_slice(&request).expect("JSON");
    let records = request["resourceLogs"][0]["scopeLogs"][0]["logRecords"].as_array().expect("records");
    let [written] = &records[..] else {
        panic!("{} records", records.len());
    };
    assert_eq!(written["timeUnixNano"], input.time.to_string());
    assert_eq!(written["observedTimeUnixNano"], input.observed.to_string());
    assert_eq!(written["severityNumber"], severity.number());
    check_text(&written["body"]["stringValue"], &input.body, 1 << 16);
    if let Some(id) = written.get("traceId") {
        assert!(
            id.as_str().is_some_and(|id| id.len() == 32 && id.bytes().all(|digit| digit.is_ascii_hexdigit()))
        );
        assert!(written["spanId"].as_str().is_some_and(|id| id.len() == 16));
        assert!(written["flags"].as_u64().is_some_and(|flags| flags < 256));
    }
    let attributes = written["attributes"].as_array().expect("attributes");
    assert_eq!(attributes.len(), input.attributes.len());
    for (attribute, (name, put)) in attributes.iter().zip(&input.attributes) {
        check_text(&attribute["key"], name.as_bytes(), 1 << 10);
        let value = &attribute["value"];
        match put {
            Attribute::Text(put) => check_text(&value["stringValue"], put, 1 << 10),
            Attribute::Int(put) => assert_eq!(value["intValue"], put.to_string()),
            Attribute::Double(put) => assert_eq!(value["doubleValue"].is_number(), put.is_finite()),
            Attribute::Bool(put) => assert_eq!(value["boolValue"], *put),
        }
    }
});
