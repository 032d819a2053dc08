//! JSON documents.

mod name;

use core::fmt;
use std::borrow::Cow;

use portcullis_conditions::{JsonScalar, TextMatcher};
use portcullis_policy::ConfigError;
use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::truth::Truth;

/// How many members a pointer may go through.
const MAX_STEPS: usize = 32;

/// A compiled test of a value in a JSON document.
#[derive(Debug)]
pub(crate) struct JsonTest {
    pointer: Vec<String>,
    value: Option<TextMatcher>,
}

/// A document that is no JSON, or of which readers disagree on what is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Malformed;

impl JsonTest {
    /// Compiles a pointer (RFC 6901, section 3).
    pub(crate) fn compile(pointer: &str, value: Option<TextMatcher>) -> Result<Self, ConfigError> {
        let refused = |problem: &str| Err(ConfigError::new("pointer", problem));
        let steps = match pointer.strip_prefix('/') {
            _ if pointer.is_empty() => return Ok(Self { pointer: Vec::new(), value }),
            Some(steps) => steps.split('/'),
            None => return refused("must be empty or begin with /"),
        };
        let pointer: Option<Vec<_>> = steps.map(unescape).collect();
        match pointer {
            Some(pointer) if pointer.len() <= MAX_STEPS => Ok(Self { pointer, value }),
            Some(_) => refused("must have at most 32 steps"),
            None => refused("must have ~ as ~0 and / within a name as ~1"),
        }
    }

    fn passes(&self, value: Option<&RawValue>) -> Result<Truth, Malformed> {
        Ok(match (value, &self.value) {
            (None, _) => Truth::False,
            (Some(_), None) => Truth::True,
            (Some(value), Some(test)) => passes(test, value.get())?.into(),
        })
    }
}

/// Whether a value that is written like this passes a test.
fn passes(test: &TextMatcher, value: &str) -> Result<bool, Malformed> {
    let passes = match value.as_bytes().first() {
        Some(b'{' | b'[') => Some(false),
        Some(b'"') => {
            let text: Cow<'_, str> = serde_json::from_str(value).map_err(|_| Malformed)?;
            test.passes_json(JsonScalar::String(&text))
        }
        _ => test.passes_json(JsonScalar::Literal(value)),
    };
    passes.ok_or(Malformed)
}

/// `~1` is a slash and `~0` a tilde; nothing else may follow a tilde.
fn unescape(step: &str) -> Option<String> {
    let mut parts = step.split('~');
    let mut name = parts.next()?.to_owned();
    for part in parts {
        let (with, rest) = match part.strip_prefix('0') {
            Some(rest) => ('~', rest),
            None => ('/', part.strip_prefix('1')?),
        };
        name.push(with);
        name.push_str(rest);
    }
    Some(name)
}

/// Runs the tests of these numbers on a document; nothing is known of the others. Each value is read as often as pointers
/// are deep, however deep the document is.
pub(crate) fn run(tests: &[JsonTest], numbers: &[usize], document: &[u8]) -> Result<Vec<Truth>, Malformed> {
    let document = core::str::from_utf8(document).map_err(|_| Malformed)?;
    let root: &RawValue = serde_json::from_str(document).map_err(|_| Malformed)?;
    let mut truths = vec![Truth::Unknown; tests.len()];
    for number in numbers {
        if let Some(truth) = truths.get_mut(*number) {
            *truth = Truth::False;
        }
    }
    descend(tests, root, 0, numbers, &mut truths)?;
    Ok(truths)
}

/// Runs the tests of these numbers on a value to which their pointers have led in `depth` steps.
fn descend(
    tests: &[JsonTest],
    value: &RawValue,
    depth: usize,
    numbers: &[usize],
    truths: &mut [Truth],
) -> Result<(), Malformed> {
    let mut steps: Vec<(&str, Vec<usize>)> = Vec::new();
    for number in numbers {
        let Some(test) = tests.get(*number) else { continue };
        match test.pointer.get(depth) {
            Some(step) => match steps.iter_mut().find(|(known, _)| known == step) {
                Some((_, numbers)) => numbers.push(*number),
                None => steps.push((step, vec![*number])),
            },
            None => {
                if let Some(truth) = truths.get_mut(*number) {
                    *truth = test.passes(Some(value))?;
                }
            }
        }
    }
    if steps.is_empty() || !matches!(value.get().as_bytes().first(), Some(b'{' | b'[')) {
        return Ok(());
    }
    let names: Vec<&str> = steps.iter().map(|(name, _)| *name).collect();
    let mut deserializer = serde_json::Deserializer::from_str(value.get());
    let members = Members(&names).deserialize(&mut deserializer).map_err(|_| Malformed)?;
    for ((_, numbers), member) in steps.iter().zip(members) {
        if let Some(member) = member {
            descend(tests, member, depth.saturating_add(1), numbers, truths)?;
        }
    }
    Ok(())
}

/// Picks members by name out of an object, or elements by index out of an array. Which of two members of one name counts,
/// nobody knows (RFC 8259, section 4): there may be only one of those that are asked for, and none that is one of them to
/// some readers only.
struct Members<'n>(&'n [&'n str]);

impl<'de> DeserializeSeed<'de> for Members<'_> {
    type Value = Vec<Option<&'de RawValue>>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Members<'_> {
    type Value = Vec<Option<&'de RawValue>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object or an array")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut found: Self::Value = vec![None; self.0.len()];
        let folded = |asked: &&str| {
            let mut folded = String::new();
            name::fold(asked, &mut folded);
            folded
        };
        let asked: Vec<String> = self.0.iter().map(folded).collect();
        let mut folded = String::new();
        while let Some(name) = map.next_key::<Cow<'_, str>>()? {
            match self.0.iter().position(|known| *known == name).and_then(|at| found.get_mut(at)) {
                Some(Some(_)) => return Err(A::Error::custom("a second member of the same name")),
                Some(slot) => *slot = Some(map.next_value()?),
                None => {
                    name::fold(&name, &mut folded);
                    if asked.contains(&folded) {
                        return Err(A::Error::custom("a member whose name is the same to some readers"));
                    }
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        // Rules may ask for a name in several spellings. A document has one of them at the most.
        let mut names: Vec<&String> =
            asked.iter().zip(&found).filter_map(|(name, value)| value.and(Some(name))).collect();
        names.sort_unstable();
        if names.array_windows().any(|[name, next]| name == next) {
            return Err(A::Error::custom("a name in two spellings"));
        }
        Ok(found)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let indices: Vec<Option<usize>> = self.0.iter().map(|name| index(name)).collect();
        let mut found: Self::Value = vec![None; self.0.len()];
        let mut at = 0usize;
        while let Some(element) = seq.next_element::<&RawValue>()? {
            for (slot, index) in found.iter_mut().zip(&indices) {
                if *index == Some(at) {
                    *slot = Some(element);
                }
            }
            at = at.saturating_add(1);
        }
        Ok(found)
    }
}

/// An array's index: digits without leading zeros (RFC 6901, section 4).
fn index(step: &str) -> Option<usize> {
    let is_canonical = step == "0" || !step.starts_with('0');
    let is_number = !step.is_empty() && step.bytes().all(|byte| byte.is_ascii_digit());
    (is_canonical && is_number).then(|| step.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::TextTest;

    fn test(pointer: &str, value: Option<&str>) -> JsonTest {
        let value = value.map(|text| TextMatcher::compile(&TextTest::Exact(text.to_owned())).unwrap());
        JsonTest::compile(pointer, value).unwrap()
    }

    fn one(pointer: &str, value: Option<&str>, document: &str) -> Result<Truth, Malformed> {
        run(&[test(pointer, value)], &[0], document.as_bytes()).map(|truths| truths[0])
    }

    /// The document of RFC 6901, section 5.
    const EXAMPLE: &str =
        r#"{"foo":["bar","baz"],"":0,"a/b":1,"c%d":2,"e^f":3,"g|h":4,"i\\j":5,"k\"l":6," ":7,"m~n":8}"#;

    #[test]
    fn finds_what_rfc_6901_finds() {
        for (pointer, value) in [
            ("/foo/0", "bar"),
            ("/foo/1", "baz"),
            ("/", "0"),
            ("/a~1b", "1"),
            ("/c%d", "2"),
            ("/e^f", "3"),
            ("/g|h", "4"),
            ("/i\\j", "5"),
            ("/k\"l", "6"),
            ("/ ", "7"),
            ("/m~0n", "8"),
        ] {
            assert_eq!(one(pointer, Some(value), EXAMPLE), Ok(Truth::True), "{pointer}");
            assert_eq!(one(pointer, Some("other"), EXAMPLE), Ok(Truth::False), "{pointer}");
        }
        for (pointer, expected) in [
            ("", Truth::True),
            ("/foo", Truth::True),
            ("/foo/2", Truth::False),
            ("/foo/-", Truth::False),
            ("/foo/00", Truth::False),
            ("/foo/+1", Truth::False),
            ("/foo/0/0", Truth::False),
            ("/foo/99999999999999999999999", Truth::False),
            ("/bar", Truth::False),
        ] {
            assert_eq!(one(pointer, None, EXAMPLE), Ok(expected), "{pointer}");
        }
    }

    #[test]
    fn compares_scalars_as_they_are_written_and_strings_as_they_are_meant() {
        for (document, value, expected) in [
            (r#"{"a":"x"}"#, "x", Truth::True),
            (r#"{"\u0061":"\u0078"}"#, "x", Truth::True),
            (r#"{"a":1.0}"#, "1.0", Truth::True),
            (r#"{"a":1.0}"#, "1", Truth::False),
            (r#"{"a": true }"#, "true", Truth::True),
            (r#"{"a":null}"#, "null", Truth::True),
            (r#"{"a":"null"}"#, "null", Truth::True),
            (r#"{"a":[]}"#, "[]", Truth::False),
            (r#"{"a":{}}"#, "{}", Truth::False),
            (r#""a""#, "a", Truth::False),
        ] {
            assert_eq!(one("/a", Some(value), document), Ok(expected), "{document}");
        }
        assert_eq!(one("", Some("3"), " 3 "), Ok(Truth::True));
    }

    #[test]
    fn follows_pointers_that_share_their_beginning() {
        let tests =
            [test("/a", None), test("/a/b", Some("1")), test("/a/c/0", Some("2")), test("/a/c/1", None)];
        let truths = run(&tests, &[0, 1, 2, 3], br#"{"a":{"b":1,"c":[2]}}"#).unwrap();
        assert_eq!(truths, [Truth::True, Truth::True, Truth::True, Truth::False]);
    }

    #[test]
    fn refuses_what_is_not_json_or_ambiguous() {
        for document in [
            "",
            "{",
            "{} {}",
            "\u{feff}{}",
            "{'a':1}",
            r#"{"a":1,}"#,
            r#"{"a":1,"a":1}"#,
            r#"{"a":1,"\u0061":2}"#,
            r#"{"a":01}"#,
            r#"{"b":"\ud800","a":1"#,
        ] {
            assert_eq!(one("/a", None, document), Err(Malformed), "{document}");
        }
        assert_eq!(run(&[test("/a", None)], &[0], b"{\"a\":\"\xff\"}"), Err(Malformed));
        // In no other encoding than UTF-8, whether it says so by a byte order mark or not.
        let utf_16: Vec<u16> = "\u{feff}{\"a\":1}".encode_utf16().collect();
        let utf_32: Vec<u32> = "\u{feff}{\"a\":1}".chars().map(u32::from).collect();
        let in_utf_16 =
            |bytes: fn(u16) -> [u8; 2]| utf_16.iter().flat_map(|unit| bytes(*unit)).collect::<Vec<_>>();
        let in_utf_32 =
            |bytes: fn(u32) -> [u8; 4]| utf_32.iter().flat_map(|unit| bytes(*unit)).collect::<Vec<_>>();
        for (document, mark) in [
            (in_utf_16(u16::to_le_bytes), 2),
            (in_utf_16(u16::to_be_bytes), 2),
            (in_utf_32(u32::to_le_bytes), 4),
            (in_utf_32(u32::to_be_bytes), 4),
        ] {
            for document in [&document[..], &document[mark..]] {
                assert_eq!(run(&[test("/a", None)], &[0], document), Err(Malformed), "{document:?}");
            }
        }
        // Nobody asks for these.
        assert_eq!(one("/a", None, r#"{"b":1,"b":2,"a":{"a":1,"a":2}}"#), Ok(Truth::True));
    }

    #[test]
    fn runs_no_test_that_nobody_asks_for() {
        // The text of this string cannot be read.
        let tests = [test("/a", Some("x")), test("/b", None)];
        let document = br#"{"a":"\ud800","b":1}"#;
        assert_eq!(run(&tests, &[1], document), Ok(vec![Truth::Unknown, Truth::True]));
        assert_eq!(run(&tests, &[0, 1], document), Err(Malformed));
    }

    #[test]
    fn deep_documents_take_no_stack() {
        let deep = format!("{{\"a\":{}{}}}", "[".repeat(200_000), "]".repeat(200_000));
        assert_eq!(one("/a", None, &deep), Ok(Truth::True));
        assert_eq!(one("/b", None, &deep), Ok(Truth::False));
        assert_eq!(one("/a/0/0", None, &deep), Ok(Truth::True));
    }

    #[test]
    fn refuses_pointers_that_are_none() {
        for pointer in ["a", "/a~", "/a~2", "/~", &"/a".repeat(33)] {
            assert_eq!(JsonTest::compile(pointer, None).unwrap_err().path(), "pointer", "{pointer}");
        }
    }
}
