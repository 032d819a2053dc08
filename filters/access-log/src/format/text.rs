//! Lines of text.

use std::io::Write;

use portcullis_policy::json;

use super::Style;
use super::template::Part;
use super::value::Value;
use crate::config::EmptyValues;
use crate::sight::Sight;

/// What becomes of bytes that would break a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Escaping {
    /// They are escaped here: the text is the line.
    Here,
    /// They stay, for whoever takes the text escapes them.
    Later,
}

/// Appends a line of text. Whatever the exchange holds, it is one line of valid UTF-8 without control characters, if they
/// are escaped here.
pub(crate) fn write(
    out: &mut Vec<u8>,
    parts: &[Part],
    sight: &mut Sight<'_, '_>,
    style: Style,
    escaping: Escaping,
) {
    let Style { empty, limit } = style;
    let write_plain = match escaping {
        Escaping::Here => write_escaped,
        Escaping::Later => write_raw,
    };
    for part in parts {
        match part {
            Part::Literal(text) => out.extend_from_slice(text.as_bytes()),
            Part::Operator(operator) => {
                let limit = if operator.body().is_some() { usize::MAX } else { limit };
                match operator.value(sight) {
                    Value::Missing if empty == EmptyValues::Shown => out.push(b'-'),
                    Value::Missing => {}
                    Value::Text(text) => write_plain(out, &text, limit),
                    Value::Number(number) => drop(write!(out, "{number}")),
                    Value::List(texts) => write_plain(out, texts.join(",").as_bytes(), limit),
                    Value::Json(value) => write_plain(out, value.to_string().as_bytes(), limit),
                }
            }
        }
    }
}

/// Appends bytes as text of at most `limit` bytes of input; what is longer is cut at a character boundary and ends in
/// `…`. Control characters (C0, DEL and C1), the line separators U+2028 and U+2029, and what changes the direction of text
/// or cannot be seen become `\xNN`, `\uNNNN`, `\UNNNNNNNN`, or the short forms `\n`, `\r` and `\t`; each byte that is not part of valid
/// UTF-8 becomes `\xNN`.
fn write_escaped(out: &mut Vec<u8>, bytes: &[u8], limit: usize) {
    let (kept, rest) = cut(bytes, limit);
    for chunk in kept.utf8_chunks() {
        for character in chunk.valid().chars() {
            match character {
                '\n' => out.extend_from_slice(b"\\n"),
                '\r' => out.extend_from_slice(b"\\r"),
                '\t' => out.extend_from_slice(b"\\t"),
                '\0'..='\u{1f}' | '\u{7f}' => drop(write!(out, "\\x{:02x}", u32::from(character))),
                character if json::must_be_escaped(character) => match u32::from(character) {
                    code @ 0..=0xffff => drop(write!(out, "\\u{code:04x}")),
                    code => drop(write!(out, "\\U{code:08x}")),
                },
                character => out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes()),
            }
        }
        for byte in chunk.invalid() {
            let _ = write!(out, "\\x{byte:02x}");
        }
    }
    out.extend_from_slice(rest);
}

/// The same without escapes.
fn write_raw(out: &mut Vec<u8>, bytes: &[u8], limit: usize) {
    let (kept, rest) = cut(bytes, limit);
    out.extend_from_slice(kept);
    out.extend_from_slice(rest);
}

/// The first `limit` bytes, less a character that is cut in two, and what stands for the rest.
fn cut(bytes: &[u8], limit: usize) -> (&[u8], &'static [u8]) {
    let Some(kept) = bytes.get(..limit).filter(|_| bytes.len() > limit) else {
        return (bytes, b"");
    };
    let kept = match core::str::from_utf8(kept) {
        Err(error) if error.error_len().is_none() => kept.get(..error.valid_up_to()).unwrap_or(kept),
        _ => kept,
    };
    (kept, "…".as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn makes_one_line_of_whatever_comes() {
        for (bytes, limit, expected) in [
            (&b"plain \"quoted\" \\ text"[..], 100, r#"plain "quoted" \ text"#),
            (b"a\nb\r\t\x00\x1b[31m\x7f", 100, r"a\nb\r\t\x00\x1b[31m\x7f"),
            ("é\u{9b}\u{2028}".as_bytes(), 100, r"é\u009b\u2028"),
            ("a\u{200b}\u{202e}b\u{2066}\u{feff}".as_bytes(), 100, r"a\u200b\u202eb\u2066\ufeff"),
            ("a\u{e0041}\u{fe0f}\u{ad}b".as_bytes(), 100, r"a\U000e0041\ufe0f\u00adb"),
            (b"\xff\xc3", 100, r"\xff\xc3"),
            ("abéd".as_bytes(), 3, "ab…"),
            ("abéd".as_bytes(), 4, "abé…"),
            (b"abcd", 4, "abcd"),
            (b"abcd", 0, "…"),
        ] {
            let mut out = Vec::new();
            write_escaped(&mut out, bytes, limit);
            assert_eq!(String::from_utf8(out).unwrap(), expected);
        }
    }

    #[test]
    fn every_byte_pair_gives_text_without_control_characters() {
        for first in 0..=255u8 {
            for second in 0..=255u8 {
                let mut out = Vec::new();
                write_escaped(&mut out, &[first, second], 10);
                let text = String::from_utf8(out).unwrap();
                assert!(!text.contains(char::is_control), "{first:02x} {second:02x}: {text:?}");
            }
        }
    }
}
