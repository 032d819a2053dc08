//! Writing an `ExportLogsServiceRequest` in the proto3 JSON mapping as OTLP/HTTP wants it: lower-camel-case names, 64-bit
//! integers as text, identifiers in hexadecimal, enumerations as integers.
//!
//! A request is an envelope around records. Records are written once, when they come, each with the comma that
//! separates it from the next; a batch is the envelope's head, a run of records less the last comma, and the tail.
//!
//! A record's line comes last, where what the rest of the record leaves of a batch is known. The order of members means
//! nothing in JSON.

use std::io::Write;

use portcullis_policy::json;

use super::record::{AttributeValue, Record};
use super::trace_context::TraceContext;

/// What a batch ends with.
pub(crate) const TAIL: &[u8] = b"]}]}]}";

/// What each batch begins with: everything up to the first record.
pub(crate) fn head<'a>(resource: impl IntoIterator<Item = (&'a str, &'a str)>) -> Vec<u8> {
    let mut out = b"{\"resourceLogs\":[{\"resource\":{\"attributes\":[".to_vec();
    let resource = resource.into_iter().map(|(name, text)| (name, AttributeValue::Text(text.as_bytes())));
    attributes(&mut out, resource, usize::MAX);
    out.extend_from_slice(b"]},\"scopeLogs\":[{\"scope\":{\"name\":\"portcullis.access-log\",\"version\":\"");
    out.extend_from_slice(env!("CARGO_PKG_VERSION").as_bytes());
    out.extend_from_slice(b"\"},\"logRecords\":[");
    out
}

/// How long a record and its texts may be.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// The whole record in bytes as it is encoded, the comma after it included.
    pub(crate) record: usize,
    /// The text of an attribute, in bytes before they are escaped.
    pub(crate) attribute: usize,
}

/// How a record fits its limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub(crate) enum Fit {
    /// It has all of its line.
    Whole,
    /// Its line is cut, and ends in `…`.
    LineCut,
    /// What it has besides its line is too long. Nothing was written.
    TooLong,
}

/// Appends a record and the comma after it.
pub(crate) fn record<'a>(
    out: &mut Vec<u8>,
    record: &Record<'_>,
    of_record: impl IntoIterator<Item = (&'a str, AttributeValue<'a>)>,
    limits: Limits,
) -> Fit {
    const END: &[u8] = b"}},";
    let begin = out.len();
    let (time, observed) = (record.time.as_nanos(), record.observed.as_nanos());
    let (number, text) = (record.severity.number(), record.severity.text());
    let _ = write!(
        out,
        "{{\"timeUnixNano\":\"{time}\",\"observedTimeUnixNano\":\"{observed}\",\
         \"severityNumber\":{number},\"severityText\":\"{text}\",\"attributes\":["
    );
    attributes(out, of_record, limits.attribute);
    out.push(b']');
    if let Some(trace) = record.traceparent.and_then(TraceContext::parse) {
        let TraceContext { trace_id, span_id, flags } = trace;
        let _ = write!(out, ",\"traceId\":\"{trace_id}\",\"spanId\":\"{span_id}\",\"flags\":{flags}");
    }
    out.extend_from_slice(b",\"body\":{\"stringValue\":");
    let without_line = out.len().saturating_sub(begin).saturating_add(END.len());
    let fit = line(out, record.body, limits.record.saturating_sub(without_line));
    match fit {
        Fit::Whole | Fit::LineCut => out.extend_from_slice(END),
        Fit::TooLong => out.truncate(begin),
    }
    fit
}

/// Appends a line as a JSON string that takes up `room` at the most, quotes included.
fn line(out: &mut Vec<u8>, line: &[u8], room: usize) -> Fit {
    const CUT: &[u8] = "…\"".as_bytes();
    let begin = out.len();
    // No byte gets shorter by being escaped: more than that is not worth escaping.
    json::write_string(out, line, room);
    if out.len().saturating_sub(begin) <= room {
        return Fit::Whole;
    }
    let text = begin.saturating_add(1);
    let Some(kept) = room.checked_sub(CUT.len().saturating_add(1)) else {
        return Fit::TooLong;
    };
    let kept = whole_characters(out.get(text..).unwrap_or_default(), kept);
    out.truncate(text.saturating_add(kept));
    out.extend_from_slice(CUT);
    Fit::LineCut
}

/// How many bytes of the inside of a JSON string are at most `limit`, and cut no character and no escape sequence in two.
fn whole_characters(text: &[u8], limit: usize) -> usize {
    let mut end = 0usize;
    while let Some(first) = text.get(end) {
        let length = match first {
            b'\\' if text.get(end.saturating_add(1)) == Some(&b'u') => 6,
            b'\\' | 0xc0..=0xdf => 2,
            0xe0..=0xef => 3,
            0xf0.. => 4,
            _ => 1,
        };
        let next = end.saturating_add(length);
        if next > limit {
            break;
        }
        end = next;
    }
    end
}

/// Appends attributes. Their names come from the configuration and are never cut: two that differ must not become one,
/// for OTLP forbids an attribute twice.
fn attributes<'a>(
    out: &mut Vec<u8>,
    attributes: impl IntoIterator<Item = (&'a str, AttributeValue<'a>)>,
    limit: usize,
) {
    for (at, (name, value)) in attributes.into_iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        out.extend_from_slice(b"{\"key\":");
        json::write_string(out, name.as_bytes(), usize::MAX);
        out.extend_from_slice(b",\"value\":{");
        match value {
            AttributeValue::Text(text) => {
                out.extend_from_slice(b"\"stringValue\":");
                json::write_string(out, text, limit);
            }
            AttributeValue::Int(number) => drop(write!(out, "\"intValue\":\"{number}\"")),
            AttributeValue::Double(number) => double(out, number),
            AttributeValue::Bool(truth) => drop(write!(out, "\"boolValue\":{truth}")),
        }
        out.extend_from_slice(b"}}");
    }
}

fn double(out: &mut Vec<u8>, number: f64) {
    let name = match number {
        number if number.is_nan() => "\"NaN\"",
        f64::INFINITY => "\"Infinity\"",
        f64::NEG_INFINITY => "\"-Infinity\"",
        // Hundreds of digits are not what every parser takes.
        number if number != 0.0 && !(1e-5..1e16).contains(&number.abs()) => {
            return drop(write!(out, "\"doubleValue\":{number:e}"));
        }
        number => return drop(write!(out, "\"doubleValue\":{number}")),
    };
    out.extend_from_slice(b"\"doubleValue\":");
    out.extend_from_slice(name.as_bytes());
}

#[cfg(test)]
mod tests {
    use portcullis_policy::time::Timestamp;
    use proptest::prelude::*;

    use super::super::record::Severity;
    use super::*;

    #[test]
    fn numbers_are_as_short_as_they_can_be() {
        for (number, expected) in [
            (0.0, "0"),
            (-0.0, "-0"),
            (0.5, "0.5"),
            (-3.0, "-3"),
            (1e-5, "0.00001"),
            (9e-6, "9e-6"),
            (9_999_999_999_999_998.0, "9999999999999998"),
            (1e16, "1e16"),
            (f64::MAX, "1.7976931348623157e308"),
            (f64::MIN, "-1.7976931348623157e308"),
            (f64::MIN_POSITIVE, "2.2250738585072014e-308"),
        ] {
            let mut out = Vec::new();
            double(&mut out, number);
            let text = String::from_utf8(out).unwrap();
            assert_eq!(text.strip_prefix("\"doubleValue\":"), Some(expected));
            assert_eq!(serde_json::from_str::<f64>(expected).unwrap(), number);
        }
    }

    /// How this line fits a record of so many bytes, and what is written of it.
    fn written(body: &[u8], limit: usize) -> (Fit, usize, Option<String>) {
        let (time, observed) = (Timestamp::from_nanos(1), Timestamp::from_nanos(2));
        let sample = Record { time, observed, severity: Severity::Info, body, traceparent: None };
        let mut out = b"before".to_vec();
        let of_record = [("a", AttributeValue::Int(1))];
        let fit = record(&mut out, &sample, of_record, Limits { record: limit, attribute: 16 });
        let record = out.strip_prefix(b"before").unwrap();
        let text = record.strip_suffix(b",").map(|json| {
            let json: serde_json::Value = serde_json::from_slice(json).unwrap();
            json["body"]["stringValue"].as_str().unwrap().to_owned()
        });
        (fit, record.len(), text)
    }

    /// How long a record with an empty line is.
    fn least() -> usize {
        written(b"", usize::MAX).1
    }

    #[test]
    fn a_line_may_take_all_that_the_rest_of_the_record_leaves() {
        let line = "0123456789".repeat(10);
        let whole = least() + line.len();
        assert_eq!(written(line.as_bytes(), whole), (Fit::Whole, whole, Some(line.clone())));
        let cut = Some(format!("{}012345…", "0123456789".repeat(9)));
        assert_eq!(written(line.as_bytes(), whole - 1), (Fit::LineCut, whole - 1, cut));
        assert_eq!(written(line.as_bytes(), least() + 3), (Fit::LineCut, least() + 3, Some("…".to_owned())));
        for limit in [0, 1, least() - 1, least() + 2] {
            assert_eq!(written(line.as_bytes(), limit), (Fit::TooLong, 0, None), "{limit}");
        }
        assert_eq!(written(b"", least()), (Fit::Whole, least(), Some(String::new())));
    }

    #[test]
    fn neither_a_character_nor_an_escape_sequence_is_cut_in_two() {
        for (line, kept) in [
            ("\u{0}\u{0}", [0, 0, 0, 0, 0, 0, 1, 1]),
            ("\n\"\\\n\n\n", [0, 0, 1, 1, 2, 2, 3, 3]),
            ("äöüßäöü", [0, 0, 1, 1, 2, 2, 3, 3]),
            ("€€€€", [0, 0, 0, 1, 1, 1, 2, 2]),
            ("😀😀😀😀", [0, 0, 0, 0, 1, 1, 1, 1]),
        ] {
            for (room, kept) in kept.into_iter().enumerate() {
                let expected: String = line.chars().take(kept).chain(['…']).collect();
                let (fit, _, text) = written(line.as_bytes(), least() + 3 + room);
                assert_eq!((fit, text), (Fit::LineCut, Some(expected)), "{line:?} {room}");
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn a_record_is_valid_and_no_longer_than_its_limit_whatever_the_line(
            line in prop_oneof![
                proptest::collection::vec(any::<u8>(), 0..200),
                any::<String>().prop_map(String::into_bytes),
                "[\\\\\"\\x00-\\x1f\\u{2028}é€😀x]{0,60}".prop_map(String::into_bytes),
            ],
            limit in 0usize..600,
        ) {
            // Reading it back is the check that it is valid.
            let (fit, length, text) = written(&line, limit);
            prop_assert!(length <= limit);
            let (whole, most, _) = written(&line, usize::MAX);
            prop_assert_eq!(whole, Fit::Whole);
            prop_assert_eq!(fit == Fit::Whole, most <= limit);
            prop_assert_eq!(fit == Fit::TooLong, text.is_none());
            if fit == Fit::LineCut {
                // Another character or escape sequence, of six bytes at the most, would not fit.
                prop_assert!(text.unwrap().ends_with('…') && length.saturating_add(6) > limit);
            }
        }
    }
}
