//! Character data and attribute values as they are written in XML.

/// What a byte of UTF-8 needs.
type Table = [bool; 256];

/// What cannot stand in character data as it is. `>` could, but for `]]>`; carriage returns would be read as line feeds
/// (XML 1.0, section 2.11).
const TEXT: Table = table(b"&<>\r");

/// What cannot stand in a double-quoted attribute value as it is: tabs and line feeds would be read as spaces (XML 1.0,
/// section 3.3.3).
const ATTRIBUTE: Table = table(b"&<>\"\r\n\t");

/// The first byte of U+FFFE and U+FFFF, which are no characters of XML.
const NONCHARACTER: u8 = 0xef;

// Evaluated by the compiler: an index out of range would not compile.
#[allow(clippy::indexing_slicing, clippy::arithmetic_side_effects)]
const fn table(specials: &[u8]) -> Table {
    let mut table = [false; 256];
    let mut at = 0;
    while at < 0x20 {
        // Control characters: of these, XML has but three.
        table[at] = at != 0x09 && at != 0x0a && at != 0x0d;
        at += 1;
    }
    table[NONCHARACTER as usize] = true;
    at = 0;
    while at < specials.len() {
        table[specials[at] as usize] = true;
        at += 1;
    }
    table
}

/// Appends character data.
pub(super) fn write_text(out: &mut Vec<u8>, text: &str) {
    write(out, text, &TEXT);
}

/// Appends what stands between the double quotes of an attribute value.
pub(super) fn write_attribute(out: &mut Vec<u8>, value: &str) {
    write(out, value, &ATTRIBUTE);
}

fn write(out: &mut Vec<u8>, text: &str, table: &Table) {
    let mut rest = text.as_bytes();
    let mut from = 0;
    while let Some(at) = find(rest, from, table) {
        let (plain, special) = rest.split_at_checked(at).unwrap_or((rest, b""));
        let (replacement, length): (&[u8], usize) = match special {
            [b'&', ..] => (b"&amp;", 1),
            [b'<', ..] => (b"&lt;", 1),
            [b'>', ..] => (b"&gt;", 1),
            [b'"', ..] => (b"&quot;", 1),
            [b'\t', ..] => (b"&#9;", 1),
            [b'\n', ..] => (b"&#10;", 1),
            [b'\r', ..] => (b"&#13;", 1),
            [NONCHARACTER, 0xbf, 0xbe | 0xbf, ..] => ("\u{fffd}".as_bytes(), 3),
            [NONCHARACTER, ..] => {
                from = at.saturating_add(1);
                continue;
            }
            _ => ("\u{fffd}".as_bytes(), 1),
        };
        out.extend_from_slice(plain);
        out.extend_from_slice(replacement);
        rest = special.get(length..).unwrap_or_default();
        from = 0;
    }
    out.extend_from_slice(rest);
}

fn find(bytes: &[u8], from: usize, table: &Table) -> Option<usize> {
    let special = |byte: &u8| table.get(usize::from(*byte)).is_some_and(|special| *special);
    let at = bytes.get(from..)?.iter().position(special)?;
    at.checked_add(from)
}

/// Appends a comment's text: a hyphen is followed by neither another one nor the end (XML 1.0, section 2.5).
pub(super) fn write_comment(out: &mut Vec<u8>, text: &str) {
    write_apart(out, text, b'-', b'-');
    if text.ends_with('-') {
        out.push(b' ');
    }
}

/// Appends a processing instruction's data, without an end in it (XML 1.0, section 2.6).
pub(super) fn write_instruction(out: &mut Vec<u8>, data: &str) {
    write_apart(out, data, b'?', b'>');
}

/// Appends text with a space between any two bytes that are `first` and `second`, and U+FFFD in place of what is no
/// character of XML.
fn write_apart(out: &mut Vec<u8>, text: &str, first: u8, second: u8) {
    const PLAIN: Table = table(b"");
    let start = out.len();
    write(out, text, &PLAIN);
    let apart = |pair: &[u8]| pair == [first, second];
    if !out.get(start..).unwrap_or_default().windows(2).any(apart) {
        return;
    }
    let written = out.split_off(start);
    let mut before = None;
    for byte in written {
        if before == Some(first) && byte == second {
            out.push(b' ');
        }
        out.push(byte);
        before = Some(byte);
    }
}

/// Appends to a CDATA section that is open and began at `start`: `]]>` is divided among two sections.
pub(super) fn write_cdata(out: &mut Vec<u8>, start: usize, text: &str) {
    const CDATA: Table = table(b">\r");
    let mut rest = text;
    let mut from = 0;
    while let Some(at) = find(rest.as_bytes(), from, &CDATA) {
        let (plain, special) = rest.split_at_checked(at).unwrap_or((rest, ""));
        let mut characters = special.chars();
        match characters.next() {
            Some('>') => {
                out.extend_from_slice(plain.as_bytes());
                if out.get(start..).is_some_and(|section| section.ends_with(b"]]")) {
                    out.extend_from_slice(b"]]><![CDATA[");
                }
                out.push(b'>');
            }
            Some('\r') => {
                out.extend_from_slice(plain.as_bytes());
                // A reference is none in a CDATA section.
                out.extend_from_slice(b"]]>&#13;<![CDATA[");
            }
            Some(c) if c >= ' ' && c != '\u{fffe}' && c != '\u{ffff}' => {
                from = at.saturating_add(c.len_utf8());
                continue;
            }
            Some(_) => {
                out.extend_from_slice(plain.as_bytes());
                out.extend_from_slice("\u{fffd}".as_bytes());
            }
            None => {}
        }
        rest = characters.as_str();
        from = 0;
    }
    out.extend_from_slice(rest.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(write: fn(&mut Vec<u8>, &str), text: &str) -> String {
        let mut out = Vec::new();
        write(&mut out, text);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn escapes_what_character_data_cannot_hold() {
        for (text, expected) in [
            ("", ""),
            ("plain \t\n'\"", "plain \t\n'\""),
            ("a<b>&c]]>", "a&lt;b&gt;&amp;c]]&gt;"),
            ("\r\n", "&#13;\n"),
            ("\0\u{1f}\u{fffe}\u{ffff}x", "\u{fffd}\u{fffd}\u{fffd}\u{fffd}x"),
            // These begin with the same byte as the two that are none.
            ("\u{fffd}\u{f000}<\u{ff00}", "\u{fffd}\u{f000}&lt;\u{ff00}"),
            ("é\u{10ffff}", "é\u{10ffff}"),
        ] {
            assert_eq!(written(write_text, text), expected, "{text:?}");
        }
    }

    #[test]
    fn escapes_what_a_reader_would_normalize_in_attribute_values() {
        assert_eq!(written(write_attribute, "a\t\n\r\"'<>&"), "a&#9;&#10;&#13;&quot;'&lt;&gt;&amp;");
    }

    #[test]
    fn parts_hyphens_in_comments() {
        for (text, expected) in [
            ("", ""),
            ("a-b", "a-b"),
            ("a--b", "a- -b"),
            ("---", "- - - "),
            ("a-", "a- "),
            ("-", "- "),
            ("<&>\u{0}", "<&>\u{fffd}"),
        ] {
            assert_eq!(written(write_comment, text), expected, "{text:?}");
        }
    }

    #[test]
    fn parts_the_end_of_a_processing_instruction() {
        for (text, expected) in [("a?>b", "a? >b"), ("??>>", "?? >>"), ("?", "?"), ("<&", "<&")] {
            assert_eq!(written(write_instruction, text), expected, "{text:?}");
        }
    }

    #[test]
    fn divides_the_end_of_a_cdata_section_also_between_calls() {
        for (parts, expected) in [
            (&["a<b&c"][..], "a<b&c"),
            (&["a]]>b"], "a]]]]><![CDATA[>b"),
            (&["a]]", ">b"], "a]]]]><![CDATA[>b"),
            (&["]", "]", ">"], "]]]]><![CDATA[>"),
            (&["]>]] >"], "]>]] >"),
            (&["a\rb"], "a]]>&#13;<![CDATA[b"),
            (&["é\u{0}\u{fffd}\u{ffff}"], "é\u{fffd}\u{fffd}\u{fffd}"),
        ] {
            let mut out = b"]]".to_vec();
            for part in parts {
                write_cdata(&mut out, 2, part);
            }
            assert_eq!(String::from_utf8(out).unwrap(), format!("]]{expected}"), "{parts:?}");
        }
    }
}
