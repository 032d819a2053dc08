//! `ExportLogsServiceRequest` as OTLP/HTTP has it in JSON, and nothing else: a field that is not here, or is of another
//! JSON type, fails the test.

use std::collections::BTreeMap;

use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct ExportLogsServiceRequest {
    pub(crate) resource_logs: Vec<ResourceLogs>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct ResourceLogs {
    pub(crate) resource: Resource,
    pub(crate) scope_logs: Vec<ScopeLogs>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Resource {
    pub(crate) attributes: Vec<KeyValue>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct ScopeLogs {
    pub(crate) scope: Scope,
    pub(crate) log_records: Vec<LogRecord>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Scope {
    pub(crate) name: String,
    pub(crate) version: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct LogRecord {
    /// A 64-bit integer: text.
    pub(crate) time_unix_nano: String,
    pub(crate) observed_time_unix_nano: String,
    /// An enumeration: a number.
    pub(crate) severity_number: u8,
    pub(crate) severity_text: String,
    pub(crate) body: AnyValue,
    pub(crate) attributes: Vec<KeyValue>,
    #[serde(default)]
    pub(crate) trace_id: Option<String>,
    #[serde(default)]
    pub(crate) span_id: Option<String>,
    #[serde(default)]
    pub(crate) flags: Option<u32>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct KeyValue {
    pub(crate) key: String,
    pub(crate) value: AnyValue,
}

/// A `oneof`: an object with one member.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(crate) enum AnyValue {
    #[serde(rename = "stringValue")]
    Text(String),
    #[serde(rename = "boolValue")]
    Bool(bool),
    /// A 64-bit integer: text.
    #[serde(rename = "intValue")]
    Int(String),
    #[serde(rename = "doubleValue")]
    Double(Double),
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged)]
pub(crate) enum Double {
    Number(f64),
    /// `NaN`, `Infinity`, `-Infinity`.
    Name(String),
}

impl AnyValue {
    pub(crate) fn text(&self) -> &str {
        match self {
            Self::Text(text) => text,
            other => panic!("not text: {other:?}"),
        }
    }
}

/// Reads a request, which has one resource with one scope.
pub(crate) fn read(body: &[u8]) -> (BTreeMap<String, String>, Vec<LogRecord>) {
    let mut request: ExportLogsServiceRequest = serde_json::from_slice(body)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(body)));
    let mut resource_logs = request.resource_logs.pop().expect("a resource");
    let scope_logs = resource_logs.scope_logs.pop().expect("a scope");
    assert!(request.resource_logs.is_empty() && resource_logs.scope_logs.is_empty());
    assert_eq!(scope_logs.scope.name, "portcullis.access-log");
    assert_eq!(scope_logs.scope.version, env!("CARGO_PKG_VERSION"));
    for record in &scope_logs.log_records {
        for number in [&record.time_unix_nano, &record.observed_time_unix_nano] {
            assert!(number.parse::<u64>().is_ok(), "{number}");
        }
        assert_eq!(record.trace_id.is_some(), record.span_id.is_some());
    }
    let resource = resource_logs.resource.attributes;
    let resource = resource.into_iter().map(|pair| (pair.key, pair.value.text().to_owned())).collect();
    (resource, scope_logs.log_records)
}

/// The bodies of a request's records, in order.
pub(crate) fn lines(body: &[u8]) -> Vec<String> {
    read(body).1.iter().map(|record| record.body.text().to_owned()).collect()
}
