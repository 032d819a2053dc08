//! Reading configuration, and saying what is wrong with it.

mod place;
mod unique;

use core::fmt;
use std::borrow::Cow;

use serde::de::DeserializeOwned;

use crate::printable::{self, Printable};
use crate::protobuf_struct;

use unique::Unique;

/// How many bytes of a path, and of what is said of it, a message shows.
const MAX_SHOWN: usize = 1024;

/// Why a configuration is refused: which field, what is wrong, and what would be right. It never shows the
/// field's value, which may be a secret.
///
/// A document may come from somebody whom nobody trusts with a log, and has names of its own. Shown, an error is one line
/// of bounded length, whatever the document calls its members.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigError {
    path: String,
    problem: String,
}

impl ConfigError {
    /// An error in the field at `path` (`auth.timeout_ms`, `rules[2].name`; empty for the whole document).
    pub fn new(path: impl Into<String>, problem: impl Into<String>) -> Self {
        Self { path: path.into(), problem: problem.into() }
    }

    /// The same error, for a document that stands at `prefix` in a larger one.
    #[must_use]
    pub fn within(mut self, prefix: &str) -> Self {
        self.path = if self.path.is_empty() {
            prefix.to_owned()
        } else if self.path.starts_with('[') {
            format!("{prefix}{}", self.path)
        } else {
            format!("{prefix}.{}", self.path)
        };
        self
    }

    /// The field's path.
    pub fn path(&self) -> &str {
        &self.path
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let problem = Printable::new(&self.problem, MAX_SHOWN);
        if self.path.is_empty() {
            problem.fmt(f)
        } else {
            write!(f, "{}: {problem}", Printable::new(&self.path, MAX_SHOWN))
        }
    }
}

impl std::error::Error for ConfigError {}

/// Reads a JSON document, as text or as a serialized `google.protobuf.Struct`. Nothing at all counts as `{}`, which is what
/// a host gives when the operator wrote no configuration. No object in it, at any depth, may have two members of one name.
///
/// # Errors
/// The first thing that is wrong, with its place.
pub fn parse<T: DeserializeOwned>(document: &[u8]) -> Result<T, ConfigError> {
    let document = match document.trim_ascii() {
        [] => Cow::Borrowed(&b"{}"[..]),
        text => match protobuf_struct::to_json(document) {
            Some(json) => Cow::Owned(json),
            None if text.first() == Some(&b'{') => Cow::Borrowed(document),
            // serde would also take an array for a structure, member by member.
            None => return Err(ConfigError::new("", "must be a JSON object, or a google.protobuf.Struct")),
        },
    };
    let parsed = parse_value(&document)?;
    // A structure finds its own members twice; a map, and what is read later, does not.
    parse_value::<Unique>(&document)?;
    Ok(parsed)
}

/// Reads a JSON value of any kind, and JSON only: what an operator has not written.
///
/// # Errors
/// The first thing that is wrong, with its place.
pub fn parse_value<T: DeserializeOwned>(value: &[u8]) -> Result<T, ConfigError> {
    serde_json::from_slice(value).map_err(|error| refusal(value, &error))
}

fn refusal(document: &[u8], error: &serde_json::Error) -> ConfigError {
    let path = || place::path_at(document, error.line(), error.column());
    if error.is_data() {
        return ConfigError::new(path(), describe(error));
    }
    // To serde_json, null in place of a variant is a syntax error; to the operator it is a matter of that field.
    if serde_json::from_slice::<serde::de::IgnoredAny>(document).is_ok() {
        return ConfigError::new(path(), "is not of the form that is expected here");
    }
    ConfigError::new("", format!("not JSON: {error}"))
}

/// What serde says, less the offending value.
fn describe(error: &serde_json::Error) -> String {
    without_value(&without_place(&error.to_string()))
}

/// Cuts the " at line 1 column 2" that serde_json appends: the path says it better.
fn without_place(message: &str) -> String {
    match message.rfind(" at line ") {
        Some(at) => message.chars().take(message.get(..at).unwrap_or_default().chars().count()).collect(),
        None => message.to_owned(),
    }
}

/// serde's messages are "invalid type: string \"s3cret\", expected u64" and "unknown variant `s3cret`, expected
/// ...": what was found goes, its type and what was expected stay.
fn without_value(message: &str) -> String {
    for (prefix, found) in [
        ("invalid type: ", true),
        ("invalid value: ", true),
        ("invalid length ", false),
        ("unknown variant ", false),
    ] {
        let Some(rest) = message.strip_prefix(prefix) else {
            continue;
        };
        // The value comes first and may itself contain ", expected ": the last one is serde's.
        let Some((value, expected)) = rest.rsplit_once(", expected ") else {
            return "not what is expected here".to_owned();
        };
        let kind: String = value.chars().take_while(|c| c.is_ascii_alphabetic() || *c == ' ').collect();
        return match kind.trim() {
            kind if found && !kind.is_empty() => format!("expected {expected}, found {kind}"),
            _ => format!("expected {expected}"),
        };
    }
    with_short_name(message)
}

/// serde's message "unknown field `a`, expected ...", with the name as it may be shown.
fn with_short_name(message: &str) -> String {
    const BEGINNING: &str = "unknown field `";
    let shown = message.strip_prefix(BEGINNING).and_then(|rest| {
        // The name comes first, and may have the like in it: the last one is serde's.
        let end =
            ["`, expected ", "`, there are no fields"].iter().filter_map(|end| rest.rfind(end)).max()?;
        let (name, expected) = rest.split_at_checked(end)?;
        Some(format!("{BEGINNING}{}{expected}", printable::name(name)))
    });
    shown.unwrap_or_else(|| message.to_owned())
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize, PartialEq)]
    #[serde(deny_unknown_fields)]
    struct Document {
        #[serde(default)]
        inner: Vec<Inner>,
    }

    #[derive(Debug, Deserialize, PartialEq)]
    #[serde(deny_unknown_fields)]
    struct Inner {
        count: u64,
        mode: Option<Mode>,
    }

    #[derive(Debug, Deserialize, PartialEq)]
    #[serde(rename_all = "kebab-case")]
    enum Mode {
        Open,
        Closed,
    }

    fn error(document: &str) -> String {
        parse::<Document>(document.as_bytes()).unwrap_err().to_string()
    }

    #[test]
    fn names_the_field_and_what_would_be_right() {
        for (document, expected) in [
            (r#"{"inner":[{"count":1},{"count":"hunter2"}]}"#, "inner[1].count: expected u64, found string"),
            (r#"{"inner":[{"count":-4}]}"#, "inner[0].count: expected u64, found integer"),
            (r#"{"inner":[{"count":13.37}]}"#, "inner[0].count: expected u64, found floating point"),
            (r#"{"inner":[{}]}"#, "inner[0]: missing field `count`"),
            (r#"{"inner":[{"count":1,"mode":"hunter2"}]}"#, "inner[0].mode: expected `open` or `closed`"),
            (r#"{"iner":[]}"#, "iner: unknown field `iner`, expected `inner`"),
            (r#"{"inner":"a, expected hunter2"}"#, "inner: expected a sequence, found string"),
        ] {
            assert_eq!(error(document), expected);
            assert!(!error(document).contains("hunter2"));
        }
    }

    /// A type may describe what it found in its own words, which may be the value itself.
    #[test]
    fn names_nothing_found_where_the_message_has_no_kind_of_value() {
        for message in ["invalid value: 1337, expected a port", "invalid type: `1337`, expected a port"] {
            assert_eq!(without_value(message), "expected a port");
        }
    }

    /// Whoever writes a document has a say in what it calls its members, and in nothing else of the log.
    #[test]
    fn shows_foreign_names_on_one_line_escaped_and_cut() {
        let forged = "\n[2026-01-31][info][wasm] {\"client_id\":\"forged\"}\u{1b}[2J\u{202e}`, expected `a`";
        for (name, shown) in [
            (
                forged.to_owned(),
                "\\n[2026-01-31][info][wasm] \\u007b\\\"client_id\\\":\\\"forged\\\"\\u007d\\u001b[2J\\u202e\\u0060, expect…",
            ),
            ("x".repeat(2_000_000), &format!("{}…", "x".repeat(64))),
        ] {
            for (document, path) in [
                (serde_json::json!({ &name: 1 }), shown.to_owned()),
                (serde_json::json!({ "inner": [{ &name: 1 }] }), format!("inner[0].{shown}")),
            ] {
                let error = error(&document.to_string());
                assert!(error.starts_with(&format!("{path}: unknown field `{shown}`, expected ")), "{error}");
            }
            let twice = format!("{{\"inner\":[],{0}:1,{0}:2}}", serde_json::Value::from(name));
            let error = parse::<serde_json::Map<String, serde_json::Value>>(twice.as_bytes()).unwrap_err();
            assert_eq!(error.to_string(), format!("{shown}: duplicate field `{shown}`"));
        }
        let long = ConfigError::new("a\n".repeat(1_000_000), "b\u{1b}".repeat(1_000_000)).within("c");
        assert!(long.to_string().len() < 10_000 && !long.to_string().contains(char::is_control));
        let deep = format!("{}1{}", "{\"name\":".repeat(100), ",\"name\":2}".repeat(100));
        let error = parse::<serde_json::Value>(deep.as_bytes()).unwrap_err().to_string();
        assert!(error.ends_with(": duplicate field `name`"), "{error}");
    }

    /// JSON does not say which of two members counts, and the operator cannot know.
    #[test]
    fn refuses_two_members_of_one_name_wherever_they_are() {
        type Map = serde_json::Map<String, serde_json::Value>;
        for (document, expected) in [
            (r#"{"a":1,"a":1}"#, "a: duplicate field `a`"),
            (r#"{"a":1,"b":2,"\u0061":3}"#, "a: duplicate field `a`"),
            (r#"{"x":{"tiers":{"gold":1,"silver":2,"gold":3}}}"#, "x.tiers.gold: duplicate field `gold`"),
            (r#"{"x":[1.5,-1,"s",null,true,{"":1,"":2}]}"#, "x[5].: duplicate field ``"),
        ] {
            assert_eq!(parse::<Map>(document.as_bytes()).unwrap_err().to_string(), expected);
        }
        for document in [r#"{"a":1,"A":1,"b":{"a":1},"c":[{"a":1},{"a":1}]}"#, r#"{"a":"a","b":"a"}"#] {
            assert!(parse::<Map>(document.as_bytes()).is_ok(), "{document}");
        }
    }

    #[test]
    fn refuses_what_is_not_one_json_document() {
        for document in ["{", "{} {}", "{\"inner\":[]},", "{\u{0}}"] {
            assert!(error(document).starts_with("not JSON"), "{document:?}: {}", error(document));
        }
        for document in ["nonsense", "\u{0}", "[]", "3", "\n\u{1}"] {
            assert!(
                error(document).starts_with("must be a JSON object"),
                "{document:?}: {}",
                error(document)
            );
        }
    }

    #[test]
    fn does_not_call_null_a_syntax_error() {
        let document = r#"{"inner":[{"count":1,"mode":null},{"count":null}]}"#;
        assert_eq!(error(document), "inner[1].count: expected u64, found null");
        #[derive(Debug, Deserialize)]
        struct Strict {
            #[serde(rename = "mode")]
            _mode: Mode,
        }
        let error = parse::<Strict>(br#"{"mode":null}"#).unwrap_err().to_string();
        assert_eq!(error, "mode: is not of the form that is expected here");
    }

    /// The wire format begins with a newline and then a length, which may be a brace or a bracket.
    #[test]
    fn takes_a_struct_of_any_length_and_json_after_any_white_space() {
        for length in 0..300 {
            let text = "x".repeat(length);
            let mut value = vec![0x1a];
            write_length(&mut value, length);
            value.extend_from_slice(text.as_bytes());
            let mut entry = b"\x0a\x01k\x12".to_vec();
            write_length(&mut entry, value.len());
            entry.extend(value);
            let mut message = vec![0x0a];
            write_length(&mut message, entry.len());
            message.extend(entry);
            let read: std::collections::BTreeMap<String, String> = parse(&message).unwrap();
            assert_eq!(read["k"], text);
        }
        for space in ["", "\n", " \n\t", "\n\n\n", "\r\n"] {
            assert!(parse::<Document>(format!("{space}{{\"inner\":[]}}\n").as_bytes()).is_ok());
        }
    }

    fn write_length(out: &mut Vec<u8>, length: usize) {
        if length > 0x7f {
            out.push((length & 0x7f) as u8 | 0x80);
        }
        out.push(u8::try_from(if length > 0x7f { length >> 7 } else { length }).unwrap());
    }

    #[test]
    fn takes_an_absent_document_for_an_empty_one() {
        assert_eq!(parse::<Document>(b" \n").unwrap(), Document { inner: Vec::new() });
    }

    #[test]
    fn joins_paths_when_documents_are_nested() {
        assert_eq!(ConfigError::new("a", "wrong").within("x").to_string(), "x.a: wrong");
        assert_eq!(ConfigError::new("[0]", "wrong").within("x").to_string(), "x[0]: wrong");
        assert_eq!(ConfigError::new("", "wrong").within("x").to_string(), "x: wrong");
        assert_eq!(ConfigError::new("a", "wrong").within("x").path(), "x.a");
    }
}
