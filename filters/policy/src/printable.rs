//! Text that somebody else wrote, in messages for people.
//!
//! A message ends up as a line of a log or on a terminal. What a list of clients, a collector or a configuration calls
//! its members must not end that line, begin another, steer the terminal, or fill the disk.

use core::fmt::{self, Write as _};

use crate::json::must_be_escaped;

/// How many bytes of a name a message shows.
const MAX_NAME: usize = 64;

/// A text on one line: characters that [`must_be_escaped`](crate::json::must_be_escaped) are escaped, and what goes
/// beyond the limit is cut and ends in `…`.
#[derive(Debug, Clone, Copy)]
pub struct Printable<'a> {
    text: &'a str,
    limit: usize,
}

impl<'a> Printable<'a> {
    /// The text, of which `limit` bytes are shown at the most, before they are escaped.
    pub fn new(text: &'a str, limit: usize) -> Self {
        Self { text, limit }
    }
}

impl fmt::Display for Printable<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = beginning(self.text, self.limit);
        for character in shown.chars() {
            if must_be_escaped(character) {
                escape(character, f)?;
            } else {
                f.write_char(character)?;
            }
        }
        if shown.len() < self.text.len() { f.write_char('…') } else { Ok(()) }
    }
}

/// A name as a message shows it: 64 bytes of it at the most. Besides what [`Printable`] escapes, these are: quotes and
/// the backslash, so that a name does not look like the message around it, and braces, for some collectors of logs take
/// what is in braces for a record.
pub fn name(name: &str) -> String {
    let shown = beginning(name, MAX_NAME);
    let mut out = String::with_capacity(shown.len());
    for character in shown.chars() {
        if must_be_escaped(character) || matches!(character, '\\' | '"' | '\'' | '`' | '{' | '}') {
            let _ = escape(character, &mut out);
        } else {
            out.push(character);
        }
    }
    if shown.len() < name.len() {
        out.push('…');
    }
    out
}

/// As in JSON (RFC 8259, section 7): two escapes for a character beyond U+FFFF.
fn escape(character: char, out: &mut impl fmt::Write) -> fmt::Result {
    match character {
        '\n' => out.write_str("\\n"),
        '\r' => out.write_str("\\r"),
        '\t' => out.write_str("\\t"),
        '"' | '\\' => write!(out, "\\{character}"),
        other => other.encode_utf16(&mut [0; 2]).iter().try_for_each(|unit| write!(out, "\\u{unit:04x}")),
    }
}

/// So many bytes at the most, and whole characters.
fn beginning(text: &str, limit: usize) -> &str {
    let end = (0..=limit.min(text.len())).rev().find(|end| text.is_char_boundary(*end)).unwrap_or_default();
    text.get(..end).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_one_line_of_bounded_length() {
        for (text, expected) in [
            ("", ""),
            ("plain `text` {1}", "plain `text` {1}"),
            ("a\n[date][info] b\r\t\u{1b}[2J", "a\\n[date][info] b\\r\\t\\u001b[2J"),
            ("\u{202e}\u{200b}\u{2028}\u{9b}\u{e0041}", "\\u202e\\u200b\\u2028\\u009b\\udb40\\udc41"),
            ("ünïcode", "ünïcode"),
        ] {
            assert_eq!(Printable::new(text, 100).to_string(), expected);
        }
        assert_eq!(Printable::new("abé", 4).to_string(), "abé");
        assert_eq!(Printable::new("abéd", 3).to_string(), "ab…");
        assert_eq!(Printable::new("ab", 0).to_string(), "…");
    }

    #[test]
    fn a_name_ends_neither_its_quotes_nor_the_line_and_is_no_record() {
        assert_eq!(name("client_secret-é"), "client_secret-é");
        assert_eq!(name("a`, expected `b"), "a\\u0060, expected \\u0060b");
        assert_eq!(name("\n{\"a\":'\\'}\u{1b}"), "\\n\\u007b\\\"a\\\":\\u0027\\\\\\u0027\\u007d\\u001b");
        assert_eq!(name(&"a".repeat(64)), "a".repeat(64));
        assert_eq!(name(&"a".repeat(65)), format!("{}…", "a".repeat(64)));
        // Whatever comes, a name takes up little room.
        assert!(name(&"\u{e0041}".repeat(1_000_000)).len() < 256);
    }
}
