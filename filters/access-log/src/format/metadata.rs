//! Dynamic metadata, which the host gives as a serialized `envoy.config.core.v3.Metadata`.

use portcullis_policy::protobuf::{Field, field};
use portcullis_policy::protobuf_struct;
use serde_json::Value;

/// The most keys that a path may have.
const MAX_KEYS: usize = 16;

/// Splits `filter:key:key`; none if a part is empty or there are too many.
pub(crate) fn path(argument: &str) -> Option<Vec<String>> {
    let parts: Vec<String> = argument.split(':').map(str::to_owned).collect();
    (parts.len() <= MAX_KEYS && parts.iter().all(|part| !part.is_empty())).then_some(parts)
}

/// What stands at a path: first the filter's name, then keys of what it has set.
pub(crate) fn find(message: &[u8], path: &[String]) -> Option<Value> {
    let (filter, keys) = path.split_first()?;
    let set = protobuf_struct::to_json(filter_metadata(message, filter.as_bytes())?)?;
    let mut value: Value = serde_json::from_slice(&set).ok()?;
    for key in keys {
        value = value.as_object_mut()?.remove(key)?;
    }
    // Envoy, too, takes null for a value that is not there.
    (!value.is_null()).then_some(value)
}

/// `message Metadata { map<string, Struct> filter_metadata = 1; … }`: the serialized `Struct` of a filter. The last
/// entry of a key counts.
fn filter_metadata<'a>(mut message: &'a [u8], filter: &[u8]) -> Option<&'a [u8]> {
    let mut found = None;
    while !message.is_empty() {
        let (number, content) = length_delimited(&mut message)?;
        if number != 1 {
            continue;
        }
        let (mut entry, mut key, mut value) = (content, &b""[..], &b""[..]);
        while !entry.is_empty() {
            match length_delimited(&mut entry)? {
                (1, content) => key = content,
                (2, content) => value = content,
                _ => return None,
            }
        }
        if key == filter {
            found = Some(value);
        }
    }
    found
}

/// Takes a field, all of which are length-delimited in these messages.
fn length_delimited<'a>(rest: &mut &'a [u8]) -> Option<(u64, &'a [u8])> {
    match field(rest)? {
        (number, Field::Bytes(content)) => Some((number, content)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn field(number: u8, content: &[u8]) -> Vec<u8> {
        let mut out = vec![number << 3 | 2, u8::try_from(content.len()).unwrap()];
        out.extend_from_slice(content);
        out
    }

    /// `{"a": {"b": "text"}, "n": 7, "nothing": null}`, set by the filter `f`; another filter before it.
    fn message() -> Vec<u8> {
        let member =
            |key: &str, value: &[u8]| field(1, &[field(1, key.as_bytes()), field(2, value)].concat());
        let inner = member("b", &field(3, b"text"));
        let number = [&[0x11][..], &7f64.to_le_bytes()].concat();
        let set =
            [member("a", &field(5, &inner)), member("n", &number), member("nothing", &[0x08, 0])].concat();
        [
            field(1, &[field(1, b"other"), field(2, b"")].concat()),
            field(2, b"typed metadata, which is none of ours"),
            field(1, &[field(1, b"f"), field(2, &set)].concat()),
        ]
        .concat()
    }

    fn found(argument: &str) -> Option<Value> {
        find(&message(), &path(argument).unwrap())
    }

    #[test]
    fn finds_values_with_their_types() {
        assert_eq!(found("f:a:b"), Some(json!("text")));
        assert_eq!(found("f:n"), Some(json!(7)));
        assert_eq!(found("f:a"), Some(json!({"b": "text"})));
        assert_eq!(found("other"), Some(json!({})));
        for missing in ["f:nothing", "f:x", "f:a:x", "f:a:b:c", "g", "g:a"] {
            assert_eq!(found(missing), None, "{missing}");
        }
    }

    #[test]
    fn gives_nothing_for_bytes_that_are_no_such_message() {
        let message = message();
        let path = path("f:a:b").unwrap();
        for end in 0..message.len() {
            assert_eq!(find(&message[..end], &path), None, "cut at {end}");
        }
        for at in 0..message.len() {
            let mut wild = message.clone();
            wild[at] ^= 0xff;
            let _ = find(&wild, &path);
        }
    }

    #[test]
    fn refuses_paths_that_name_nothing() {
        for argument in ["", ":", "a:", ":a", "a::b", &"a:".repeat(16)] {
            assert_eq!(path(argument), None, "{argument}");
        }
    }
}
