//! Which field of a JSON document stands at a place.

use core::fmt::Write as _;

use crate::printable;

/// An object or an array that has begun.
enum Container<'a> {
    /// With the name of its last member as written, quotes included; none before the first and behind a comma.
    Object(Option<&'a [u8]>),
    /// With the number of its last element.
    Array(usize),
}

/// The path of the field that reading a document has got to, or has just ended: `auth.timeout_ms`, `rules[2].name`;
/// empty for the whole document; names as [`printable::name`] shows them. The place is a line, counted from 1, and how many bytes of it have been read; up to
/// there the document is JSON.
pub(super) fn path_at(document: &[u8], line: usize, column: usize) -> String {
    let before: usize =
        document.split_inclusive(|byte| *byte == b'\n').take(line.saturating_sub(1)).map(<[u8]>::len).sum();
    let read = document.get(..before.saturating_add(column)).unwrap_or(document);
    let mut open = Vec::new();
    let mut rest = read;
    while let Some((first, behind)) = rest.split_first() {
        let mut next = behind;
        match first {
            b'{' => open.push(Container::Object(None)),
            b'[' => open.push(Container::Array(0)),
            // What has just ended is the container, a field of the one around it.
            b'}' | b']' => {
                open.pop();
            }
            b',' => match open.last_mut() {
                Some(Container::Object(name)) => *name = None,
                Some(Container::Array(index)) => *index = index.saturating_add(1),
                None => {}
            },
            b'"' => {
                let length = string_length(rest);
                let (text, others) = rest.split_at_checked(length).unwrap_or((rest, b""));
                if let Some(Container::Object(name @ None)) = open.last_mut() {
                    *name = Some(text);
                }
                next = others;
            }
            _ => {}
        }
        rest = next;
    }
    path(&open)
}

fn path(open: &[Container<'_>]) -> String {
    let mut path = String::new();
    for container in open {
        match container {
            Container::Object(None) => {}
            Container::Object(Some(name)) => {
                let separator = if path.is_empty() { "" } else { "." };
                let name: String = serde_json::from_slice(name).unwrap_or_default();
                let _ = write!(path, "{separator}{}", printable::name(&name));
            }
            Container::Array(index) => {
                let _ = write!(path, "[{index}]");
            }
        }
    }
    path
}

/// How many bytes the string has that a text begins with, quotes included.
fn string_length(text: &[u8]) -> usize {
    let mut escaped = false;
    for (place, byte) in text.iter().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return place.saturating_add(1),
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_what_has_been_read_last() {
        for (read, expected) in [
            ("", ""),
            ("{", ""),
            (r#"{"a""#, "a"),
            (r#"{"a":1"#, "a"),
            (r#"{"a":{"b":"x"#, "a.b"),
            (r#"{"a":{"b":"x"}"#, "a"),
            (r#"{"a":{"b":"x"}}"#, ""),
            (r#"{"a":{"b":1,"#, "a"),
            (r#"{"a":[1,[2,{"b":nu"#, "a[1][1].b"),
            (r#"{"a":[1,[2],{"b":[]"#, "a[2].b"),
            (r#"{"a\"}\\":"{[,\"","\u00e9":[0,"x""#, "\u{e9}[1]"),
            (r"[[", "[0][0]"),
        ] {
            assert_eq!(path_at(format!("{read}......").as_bytes(), 1, read.len()), expected, "{read}");
        }
    }

    #[test]
    fn takes_the_column_for_bytes_of_the_line() {
        let document = "{\n \"a\": {\n\n  \"\u{e9}\": [\n1, 2]}}".as_bytes();
        assert_eq!(path_at(document, 2, 4), "a");
        assert_eq!(path_at(document, 4, 6), "a.\u{e9}");
        assert_eq!(path_at(document, 5, 4), "a.\u{e9}[1]");
        assert_eq!(path_at(document, 5, 6), "a");
        assert_eq!(path_at(document, 99, 99), "");
    }
}
