//! Reading `google.protobuf.Struct`, the form in which Envoy hands over a configuration that an operator wrote as
//! YAML in place.
//!
//! Envoy passes the message on in its wire format (<https://protobuf.dev/programming-guides/encoding/>), not as JSON.
//! The order of an object's members is lost on the way.

use crate::json;
use crate::protobuf::{Field, field};

/// How deep values may nest: as deep as serde_json reads.
const MAX_DEPTH: u32 = 128;

/// The JSON text of a serialized `Struct`; `None` if the bytes are no such message.
pub fn to_json(message: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    write_struct(message, &mut out, MAX_DEPTH)?;
    Some(out)
}

/// `message Struct { map<string, Value> fields = 1; }`
fn write_struct(mut message: &[u8], out: &mut Vec<u8>, depth: u32) -> Option<()> {
    let depth = depth.checked_sub(1)?;
    out.push(b'{');
    let mut separator: &[u8] = b"";
    while !message.is_empty() {
        let (1, Field::Bytes(mut entry)) = field(&mut message)? else { return None };
        let (mut key, mut value): (&[u8], &[u8]) = (b"", b"");
        while !entry.is_empty() {
            match field(&mut entry)? {
                (1, Field::Bytes(bytes)) => key = bytes,
                (2, Field::Bytes(bytes)) => value = bytes,
                _ => return None,
            }
        }
        out.extend_from_slice(separator);
        write_string(key, out)?;
        out.push(b':');
        write_value(value, out, depth)?;
        separator = b",";
    }
    out.push(b'}');
    Some(())
}

/// `message ListValue { repeated Value values = 1; }`
fn write_list(mut message: &[u8], out: &mut Vec<u8>, depth: u32) -> Option<()> {
    let depth = depth.checked_sub(1)?;
    out.push(b'[');
    let mut separator: &[u8] = b"";
    while !message.is_empty() {
        let (1, Field::Bytes(value)) = field(&mut message)? else { return None };
        out.extend_from_slice(separator);
        write_value(value, out, depth)?;
        separator = b",";
    }
    out.push(b']');
    Some(())
}

/// `message Value { oneof kind { NullValue null_value = 1; double number_value = 2; string string_value = 3;
/// bool bool_value = 4; Struct struct_value = 5; ListValue list_value = 6; } }`
fn write_value(mut message: &[u8], out: &mut Vec<u8>, depth: u32) -> Option<()> {
    match field(&mut message)? {
        (1, Field::Varint(0)) => out.extend_from_slice(b"null"),
        (2, Field::Double(number)) if number.is_finite() => {
            out.extend_from_slice(number_text(number).as_bytes());
        }
        (3, Field::Bytes(text)) => write_string(text, out)?,
        (4, Field::Varint(0)) => out.extend_from_slice(b"false"),
        (4, Field::Varint(1)) => out.extend_from_slice(b"true"),
        (5, Field::Bytes(message)) => write_struct(message, out, depth)?,
        (6, Field::Bytes(message)) => write_list(message, out, depth)?,
        _ => return None,
    }
    message.is_empty().then_some(())
}

/// Every number is a double in a `Struct`; whole ones that a double holds exactly are written as integers, so that
/// integer fields take them.
fn number_text(number: f64) -> String {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if number.fract() == 0.0 && number.abs() <= EXACT {
        format!("{number:.0}")
    } else {
        format!("{number:?}")
    }
}

fn write_string(text: &[u8], out: &mut Vec<u8>) -> Option<()> {
    core::str::from_utf8(text).ok()?;
    json::write_string(out, text, usize::MAX);
    Some(())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    /// Writes the wire format, independently of the reader above.
    fn encode_struct(value: &Value) -> Vec<u8> {
        let entry = |(key, value): (&String, &Value)| {
            tagged(1, &[tagged(1, key.as_bytes()), tagged(2, &encode_value(value))].concat())
        };
        value.as_object().unwrap().iter().flat_map(entry).collect()
    }

    fn encode_value(value: &Value) -> Vec<u8> {
        match value {
            Value::Null => vec![8, 0],
            Value::Number(number) => [&[0x11][..], &number.as_f64().unwrap().to_le_bytes()].concat(),
            Value::String(text) => tagged(3, text.as_bytes()),
            Value::Bool(flag) => vec![0x20, u8::from(*flag)],
            Value::Object(_) => tagged(5, &encode_struct(value)),
            Value::Array(items) => {
                tagged(6, &items.iter().flat_map(|item| tagged(1, &encode_value(item))).collect::<Vec<_>>())
            }
        }
    }

    fn tagged(number: u8, bytes: &[u8]) -> Vec<u8> {
        let mut out = vec![number << 3 | 2];
        let mut length = bytes.len();
        while length >= 0x80 {
            out.push((length & 0x7f) as u8 | 0x80);
            length >>= 7;
        }
        out.push(length as u8);
        out.extend_from_slice(bytes);
        out
    }

    #[test]
    fn gives_the_document_that_was_written() {
        let long = "x".repeat(300);
        let document = json!({
            "null": null, "int": 80_000, "negative": -3, "float": 0.25, "big": 1e300, "text": "a\"\n\u{e9}",
            "yes": true, "no": false, "empty": {}, "list": [1, "a", [], {"deep": [null]}], "": long,
        });
        let text = to_json(&encode_struct(&document)).unwrap();
        let read: Value = serde_json::from_slice(&text).unwrap();
        assert_eq!(read, document);
        assert_eq!(read["int"].as_u64(), Some(80_000));
        assert_eq!(to_json(b"").unwrap(), b"{}");
    }

    #[test]
    fn refuses_every_truncation_and_wild_nesting() {
        let message = encode_struct(&json!({"a": [1, {"b": "c"}]}));
        for end in 1..message.len() {
            assert_eq!(to_json(&message[..end]), None, "cut at {end}");
        }
        let mut nested = Vec::new();
        for _ in 0..200 {
            nested = tagged(1, &[tagged(1, b"k"), tagged(2, &tagged(5, &nested))].concat());
        }
        assert_eq!(to_json(&nested), None);
        assert_eq!(to_json(&tagged(1, &[tagged(1, b"\xff"), tagged(2, &[8, 0])].concat())), None);
        assert_eq!(to_json(&tagged(1, &tagged(1, b"k"))), None);
    }

    #[test]
    fn refuses_numbers_that_json_has_not() {
        let message = |number: f64| {
            let value = [&[0x11][..], &number.to_le_bytes()].concat();
            tagged(1, &[tagged(1, b"k"), tagged(2, &value)].concat())
        };
        assert_eq!(to_json(&message(0.5)).unwrap(), br#"{"k":0.5}"#);
        for number in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert_eq!(to_json(&message(number)), None, "{number}");
        }
    }
}
