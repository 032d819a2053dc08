//! Writing JSON strings from bytes that nobody vouches for.

use core::fmt::Write;

/// Appends `bytes` as a JSON string, quotes included, of at most `limit` bytes of input; longer input is cut at
/// a character boundary and ends in `…`.
///
/// The result is always valid JSON on a single line, whatever the bytes: characters of which [`must_be_escaped`] says
/// so become `\uXXXX` (two of them beyond U+FFFF), and each byte that is not part of valid UTF-8 becomes `\xNN` as text.
pub fn write_string(out: &mut Vec<u8>, bytes: &[u8], limit: usize) {
    out.push(b'"');
    let (kept, cut) = match bytes.get(..limit) {
        Some(head) if bytes.len() > limit => (head, true),
        _ => (bytes, false),
    };
    let kept = if cut { without_partial_character(kept) } else { kept };
    for chunk in kept.utf8_chunks() {
        write_escaped(out, chunk.valid());
        for byte in chunk.invalid() {
            let mut text = String::new();
            let _ = write!(text, "\\\\x{byte:02x}");
            out.extend_from_slice(text.as_bytes());
        }
    }
    if cut {
        out.extend_from_slice("…".as_bytes());
    }
    out.push(b'"');
}

/// Appends these texts as a JSON array of strings, of at most `limit` bytes of input in all, a separator after each of
/// them included: the text that goes beyond is cut as [`write_string`] does, and one string `…` stands for the rest.
pub fn write_strings<T: AsRef<[u8]>>(out: &mut Vec<u8>, texts: impl IntoIterator<Item = T>, limit: usize) {
    out.push(b'[');
    let mut left = limit;
    for (at, text) in texts.into_iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        if left == 0 {
            out.extend_from_slice("\"…\"".as_bytes());
            break;
        }
        let text = text.as_ref();
        write_string(out, text, left);
        left = left.saturating_sub(text.len().saturating_add(1));
    }
    out.push(b']');
}

/// Whether a character would let a text look like something else: control characters (C0, DEL and C1, which terminals
/// obey), the line separators U+2028 and U+2029, those that change the direction of text (Unicode Standard Annex #9), and
/// those that are not shown at all.
pub fn must_be_escaped(character: char) -> bool {
    character.is_control() || matches!(character, '\u{2028}' | '\u{2029}') || is_ignorable(character)
}

/// The property `Default_Ignorable_Code_Point` (Unicode 17.0, DerivedCoreProperties.txt), which all characters have that
/// change the direction of text or have no width, and the marks of interlinear annotations (U+FFF9 to U+FFFB).
fn is_ignorable(character: char) -> bool {
    matches!(
        character,
        '\u{ad}'
            | '\u{34f}'
            | '\u{61c}'
            | '\u{115f}'..='\u{1160}'
            | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}'
            | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffb}'
            | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}'
    )
}

/// Drops an incomplete UTF-8 sequence at the end, which the cut itself may have made.
fn without_partial_character(bytes: &[u8]) -> &[u8] {
    match core::str::from_utf8(bytes) {
        Err(error) if error.error_len().is_none() => bytes.get(..error.valid_up_to()).unwrap_or(bytes),
        _ => bytes,
    }
}

fn write_escaped(out: &mut Vec<u8>, text: &str) {
    let mut clean_from = 0usize;
    let bytes = text.as_bytes();
    for (at, character) in text.char_indices() {
        let short: &[u8] = match character {
            '"' => b"\\\"",
            '\\' => b"\\\\",
            '\n' => b"\\n",
            '\r' => b"\\r",
            '\t' => b"\\t",
            character if must_be_escaped(character) => b"",
            _ => continue,
        };
        out.extend_from_slice(bytes.get(clean_from..at).unwrap_or_default());
        clean_from = at.saturating_add(character.len_utf8());
        if short.is_empty() {
            let mut escape = String::new();
            // Two of them for a character beyond U+FFFF (RFC 8259, section 7).
            for unit in character.encode_utf16(&mut [0; 2]) {
                let _ = write!(escape, "\\u{unit:04x}");
            }
            out.extend_from_slice(escape.as_bytes());
        } else {
            out.extend_from_slice(short);
        }
    }
    out.extend_from_slice(bytes.get(clean_from..).unwrap_or_default());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(bytes: &[u8], limit: usize) -> String {
        let mut out = Vec::new();
        write_string(&mut out, bytes, limit);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn texts_share_the_limit() {
        for (texts, limit, expected) in [
            (&[][..], 9, "[]"),
            (&["ab", "cd"][..], 9, r#"["ab","cd"]"#),
            (&["ab", "cd"][..], 6, r#"["ab","cd"]"#),
            (&["ab", "cd"][..], 5, r#"["ab","cd"]"#),
            (&["ab", "cd"][..], 4, r#"["ab","c…"]"#),
            (&["ab", "cd", "ef"][..], 4, r#"["ab","c…","…"]"#),
            (&["ab", "cd"][..], 3, r#"["ab","…"]"#),
            (&["ab", "cd"][..], 0, r#"["…"]"#),
            (&["", "", "", ""][..], 2, r#"["","","…"]"#),
        ] {
            let mut out = Vec::new();
            write_strings(&mut out, texts, limit);
            assert_eq!(String::from_utf8(out).unwrap(), expected, "{texts:?} {limit}");
        }
    }

    #[test]
    fn escapes_what_would_break_a_line_a_parser_or_a_terminal() {
        for (bytes, expected) in [
            (&b"plain"[..], r#""plain""#),
            (b"", r#""""#),
            (b"a\"b\\c", r#""a\"b\\c""#),
            (b"\n\r\t\x00\x1b[31m\x7f", r#""\n\r\t\u0000\u001b[31m\u007f""#),
            ("é\u{9b}\u{2028}".as_bytes(), "\"é\\u009b\\u2028\""),
            ("a\u{200b}\u{202e}b".as_bytes(), "\"a\\u200b\\u202eb\""),
            ("\u{200f}\u{2066}\u{2069}\u{feff}".as_bytes(), "\"\\u200f\\u2066\\u2069\\ufeff\""),
            // Tags and variation selectors: any text can be hidden in them.
            ("a\u{e0041}\u{fe0f}\u{ad}b".as_bytes(), "\"a\\udb40\\udc41\\ufe0f\\u00adb\""),
            ("a\u{e0fff}\u{e1000}".as_bytes(), "\"a\\udb43\\udfff\u{e1000}\""),
            (b"\xff\xc3", r#""\\xff\\xc3""#),
            (b"a\xed\xa0\x80b", r#""a\\xed\\xa0\\x80b""#),
        ] {
            assert_eq!(written(bytes, 100), expected);
        }
    }

    #[test]
    fn cuts_at_a_character_boundary_and_says_so() {
        assert_eq!(written("abé".as_bytes(), 4), "\"abé\"");
        assert_eq!(written("abéd".as_bytes(), 3), "\"ab…\"");
        assert_eq!(written("abéd".as_bytes(), 4), "\"abé…\"");
        assert_eq!(written(b"ab\xff\xff", 3), "\"ab\\\\xff…\"");
        assert_eq!(written(b"abc", 0), "\"…\"");
    }

    #[test]
    fn every_byte_pair_gives_json_that_parses_to_one_line() {
        for first in 0..=255u8 {
            for second in 0..=255u8 {
                let text = written(&[first, second], 10);
                assert!(serde_json::from_str::<String>(&text).is_ok(), "{first:02x} {second:02x}: {text}");
                assert!(!text.chars().any(char::is_control));
            }
        }
    }
}
