//! `ExportLogsServiceRequest`, as OTLP/HTTP has it in JSON: what is not in the protocol, or is of another JSON type than
//! the protocol has it, is refused. Real collectors are more lenient; this one is there to find mistakes.

use serde::Deserialize;
use serde_json::value::RawValue;

/// A request that has been found good.
pub(crate) struct Request {
    /// Its records as they came, in order.
    pub(crate) records: Vec<Box<RawValue>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ExportLogsServiceRequest {
    #[serde(default)]
    resource_logs: Vec<ResourceLogs>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ResourceLogs {
    #[serde(default)]
    resource: Resource,
    #[serde(default)]
    scope_logs: Vec<ScopeLogs>,
    #[serde(default, rename = "schemaUrl")]
    _schema_url: String,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Resource {
    #[serde(default)]
    attributes: Vec<KeyValue>,
    #[serde(default, rename = "droppedAttributesCount")]
    _dropped_attributes_count: u32,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ScopeLogs {
    #[serde(default)]
    scope: Scope,
    #[serde(default)]
    log_records: Vec<Box<RawValue>>,
    #[serde(default, rename = "schemaUrl")]
    _schema_url: String,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Scope {
    #[serde(default, rename = "name")]
    _name: String,
    #[serde(default, rename = "version")]
    _version: String,
    #[serde(default)]
    attributes: Vec<KeyValue>,
    #[serde(default, rename = "droppedAttributesCount")]
    _dropped_attributes_count: u32,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct LogRecord {
    /// A 64-bit integer: text.
    #[serde(default)]
    time_unix_nano: Option<String>,
    #[serde(default)]
    observed_time_unix_nano: Option<String>,
    /// An enumeration: a number.
    #[serde(default)]
    severity_number: u8,
    #[serde(default, rename = "severityText")]
    _severity_text: String,
    #[serde(default)]
    body: Option<AnyValue>,
    #[serde(default)]
    attributes: Vec<KeyValue>,
    #[serde(default, rename = "droppedAttributesCount")]
    _dropped_attributes_count: u32,
    #[serde(default, rename = "flags")]
    _flags: u32,
    #[serde(default)]
    trace_id: String,
    #[serde(default)]
    span_id: String,
    #[serde(default, rename = "eventName")]
    _event_name: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct KeyValue {
    key: String,
    #[serde(default)]
    value: Option<AnyValue>,
}

/// A `oneof`: an object with one member. Of texts and truths their type is all that matters.
#[derive(Deserialize)]
enum AnyValue {
    #[serde(rename = "stringValue")]
    Text(#[allow(dead_code)] String),
    #[serde(rename = "boolValue")]
    Bool(#[allow(dead_code)] bool),
    #[serde(rename = "intValue")]
    Int(String),
    #[serde(rename = "doubleValue")]
    Double(Double),
    #[serde(rename = "arrayValue")]
    Array(Values<AnyValue>),
    #[serde(rename = "kvlistValue")]
    Pairs(Values<KeyValue>),
    #[serde(rename = "bytesValue")]
    Bytes(String),
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Double {
    Number(#[allow(dead_code, reason = "its being a number is all that matters")] f64),
    Name(String),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Values<T> {
    #[serde(default = "Vec::new")]
    values: Vec<T>,
}

impl Request {
    /// Reads a request's body.
    ///
    /// # Errors
    /// Says what is wrong, and where.
    pub(crate) fn read(body: &[u8]) -> Result<Self, String> {
        let request: ExportLogsServiceRequest = parse("request", body)?;
        let mut records = Vec::new();
        for resource_logs in request.resource_logs {
            check_attributes("resource.attributes", &resource_logs.resource.attributes)?;
            for scope_logs in resource_logs.scope_logs {
                check_attributes("scope.attributes", &scope_logs.scope.attributes)?;
                for (at, record) in scope_logs.log_records.into_iter().enumerate() {
                    let place = format!("logRecords[{at}]");
                    let read: LogRecord = parse(&place, record.get().as_bytes())?;
                    read.check().map_err(|problem| format!("{place}.{problem}"))?;
                    records.push(record);
                }
            }
        }
        Ok(Self { records })
    }
}

fn parse<'a, T: Deserialize<'a>>(place: &str, json: &'a [u8]) -> Result<T, String> {
    // serde would also take an array for a structure, member by member.
    if json.trim_ascii_start().first() != Some(&b'{') {
        return Err(format!("{place}: expected an object"));
    }
    let mut deserializer = serde_json::Deserializer::from_slice(json);
    let value = serde_path_to_error::deserialize(&mut deserializer)
        .map_err(|error| format!("{place}.{}: {}", error.path(), error.inner()))?;
    deserializer.end().map_err(|error| format!("{place}: {error}"))?;
    Ok(value)
}

impl LogRecord {
    fn check(&self) -> Result<(), String> {
        for (field, time) in
            [("timeUnixNano", &self.time_unix_nano), ("observedTimeUnixNano", &self.observed_time_unix_nano)]
        {
            if time.as_ref().is_some_and(|time| time.parse::<u64>().is_err()) {
                return Err(format!("{field}: expected nanoseconds, as text"));
            }
        }
        if self.severity_number > 24 {
            return Err("severityNumber: expected 0 to 24".to_owned());
        }
        for (field, id, digits) in [("traceId", &self.trace_id, 32), ("spanId", &self.span_id, 16)] {
            let is_id = id.len() == digits
                && id.bytes().all(|digit| digit.is_ascii_hexdigit())
                && id.bytes().any(|digit| digit != b'0');
            if !id.is_empty() && !is_id {
                return Err(format!("{field}: expected {digits} hexadecimal digits, not all zero"));
            }
        }
        if let Some(body) = &self.body {
            body.check().map_err(|problem| format!("body.{problem}"))?;
        }
        check_attributes("attributes", &self.attributes)
    }
}

fn check_attributes(field: &str, attributes: &[KeyValue]) -> Result<(), String> {
    for (at, KeyValue { key, value }) in attributes.iter().enumerate() {
        if key.is_empty() {
            return Err(format!("{field}[{at}].key: expected a name"));
        }
        if attributes.iter().take(at).any(|earlier| earlier.key == *key) {
            return Err(format!("{field}[{at}].key: stands in the list already"));
        }
        if let Some(value) = value {
            value.check().map_err(|problem| format!("{field}[{at}].value.{problem}"))?;
        }
    }
    Ok(())
}

impl AnyValue {
    fn check(&self) -> Result<(), String> {
        match self {
            Self::Int(text) if text.parse::<i64>().is_err() => {
                Err("intValue: expected a 64-bit integer, as text".to_owned())
            }
            Self::Double(Double::Name(name))
                if !["NaN", "Infinity", "-Infinity"].contains(&name.as_str()) =>
            {
                Err("doubleValue: expected a number".to_owned())
            }
            Self::Bytes(text) => {
                use base64::Engine as _;
                let decoded = base64::engine::general_purpose::STANDARD.decode(text);
                decoded.map(|_| ()).map_err(|_| "bytesValue: expected Base64".to_owned())
            }
            Self::Array(Values { values }) => values.iter().try_for_each(Self::check),
            Self::Pairs(Values { values }) => check_attributes("kvlistValue.values", values),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_record(record: &str) -> String {
        format!(r#"{{"resourceLogs":[{{"scopeLogs":[{{"logRecords":[{record}]}}]}}]}}"#)
    }

    #[test]
    fn takes_what_the_protocol_has() {
        for record in [
            "{}",
            r#"{"timeUnixNano":"18446744073709551615","observedTimeUnixNano":"0","severityNumber":24,"severityText":"x"}"#,
            r#"{"body":{"stringValue":"a"},"attributes":[{"key":"a","value":{"intValue":"-9223372036854775808"}}]}"#,
            r#"{"attributes":[{"key":"a","value":{"doubleValue":1.5}},{"key":"b","value":{"doubleValue":"NaN"}}]}"#,
            r#"{"body":{"arrayValue":{"values":[{"boolValue":true},{"bytesValue":"AAE="}]}}}"#,
            r#"{"body":{"kvlistValue":{"values":[{"key":"a","value":{"stringValue":"b"}}]}}}"#,
            r#"{"traceId":"4bf92f3577b34da6a3ce929d0e0e4736","spanId":"00F067AA0BA902B7","flags":1}"#,
        ] {
            let request = Request::read(with_record(record).as_bytes());
            assert_eq!(request.map(|request| request.records.len()), Ok(1), "{record}");
        }
        assert_eq!(Request::read(b"{}").map(|request| request.records.len()), Ok(0));
    }

    #[test]
    fn refuses_what_it_has_not_and_says_where() {
        for (record, problem) in [
            (r#"{"time_unix_nano":"1"}"#, "logRecords[0].time_unix_nano: unknown field"),
            (r#"{"timeUnixNano":1}"#, "logRecords[0].timeUnixNano: invalid type"),
            (r#"{"timeUnixNano":"now"}"#, "logRecords[0].timeUnixNano: expected nanoseconds"),
            (r#"{"severityNumber":"SEVERITY_NUMBER_INFO"}"#, "logRecords[0].severityNumber: invalid type"),
            (r#"{"severityNumber":25}"#, "logRecords[0].severityNumber: expected 0 to 24"),
            (r#"{"body":"text"}"#, "logRecords[0].body: unknown variant"),
            (r#"{"body":{"intValue":1}}"#, "logRecords[0].body.intValue: invalid type"),
            (r#"{"body":{"intValue":"1.5"}}"#, "logRecords[0].body.intValue: expected a 64-bit integer"),
            (r#"{"body":{"doubleValue":"much"}}"#, "logRecords[0].body.doubleValue: expected a number"),
            (r#"{"body":{"bytesValue":"-"}}"#, "logRecords[0].body.bytesValue: expected Base64"),
            (
                r#"{"traceId":"AAECAwQFBgcICQoLDA0ODw=="}"#,
                "logRecords[0].traceId: expected 32 hexadecimal digits",
            ),
            (
                r#"{"spanId":"0000000000000000"}"#,
                "logRecords[0].spanId: expected 16 hexadecimal digits, not all zero",
            ),
            (r#"{"attributes":[{"key":""}]}"#, "logRecords[0].attributes[0].key: expected a name"),
            (
                r#"{"attributes":[{"key":"a"},{"key":"a"}]}"#,
                "logRecords[0].attributes[1].key: stands in the list",
            ),
            (r#"{"attributes":{"a":"b"}}"#, "logRecords[0].attributes: invalid type"),
        ] {
            let said = Request::read(with_record(record).as_bytes()).err().unwrap_or_default();
            assert!(said.starts_with(problem), "{record}: {said}");
        }
        for body in ["", "[]", "{", "{} {}", r#"{"resource_logs":[]}"#] {
            assert!(Request::read(body.as_bytes()).is_err(), "{body}");
        }
    }
}
