//! Which query parameters some reader takes for one another.
//!
//! The gateway reads a query as HTML forms have it: `&` separates, `+` is a space, `%xx` is a byte. Readers behind it
//! agree on that, and not on names:
//!
//! - PHP makes a variable of a parameter (php-src, `main/php_variables.c`, `php_register_variable_ex`). It skips spaces
//!   before the name, ends the name at a NUL or at a `[`, with which an array begins, and turns spaces, dots and a `[` that
//!   nothing closes into underscores. `client.id`, `+client_id`, `client_id%00x` and `client_id[]` are all `client_id`.
//! - Most leave a `%` as it is that no two hexadecimal digits follow, and do not give up the name.
//! - Some separate by `;` too, as HTML 4.01 recommended (appendix B.2.2), PHP if `arg_separator.input` says so.
//! - qs, which Express uses, takes the brackets off a name that begins with one: `[client_id]` and `[client_id]x` are
//!   `client_id` (qs, `lib/parse.js`). Rack, which Rails uses, passes over all brackets before a name, and ends it at the
//!   next: `]client_id` and `client_id]` are `client_id` (Rack 2, `lib/rack/query_parser.rb`).
//! - PHP's own server takes no notice of a second `?` at the beginning of the query (`sapi/cli/php_http_parser.c`).
//! - ASP.NET does not tell upper from lower case, and knows `%uXXXX` (`HttpUtility.UrlDecode`).
//!
//! As for [names of headers](crate::spelling), whatever some reader takes for a name counts as this name.

use core::slice::from_ref;

use crate::spelling;

/// A parameter in the text between two `&`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parameter<'a> {
    /// Where it begins in this text: 0, or behind a `;`.
    pub start: usize,
    /// Its name, still encoded.
    pub name: &'a [u8],
    /// Its value, still encoded; empty if it has no `=`. That of the first goes to the end of the text, since most
    /// readers do not separate by `;`; that of a later one goes to the next `;`.
    pub value: &'a [u8],
}

/// The parameters that some reader sees in the text between two `&`: one, and one behind each `;`.
pub fn parameters(text: &[u8]) -> impl Iterator<Item = Parameter<'_>> {
    let mut next = Some(0usize);
    core::iter::from_fn(move || {
        let start = next?;
        let rest = text.get(start..)?;
        let semicolon = memchr::memchr(b';', rest);
        next = semicolon.map(|at| start.saturating_add(at).saturating_add(1));
        let piece = rest.get(..semicolon.unwrap_or(rest.len()))?;
        let equals = memchr::memchr(b'=', piece);
        let name = piece.get(..equals.unwrap_or(piece.len()))?;
        let whole = if start == 0 { rest } else { piece };
        let value = equals.and_then(|at| whole.get(at.saturating_add(1)..)).unwrap_or_default();
        Some(Parameter { start, name, value })
    })
}

/// Whether some reader takes a parameter's name, still encoded, for this one.
pub fn is_same(encoded: &[u8], name: &[u8]) -> bool {
    if encoded == name {
        return true;
    }
    let marks = encoded.iter().take_while(|byte| **byte == b'?').count();
    let bytes = Decoded(encoded.get(marks..).unwrap_or_default());
    // PHP ends a name at a bracket that something closes; any other stands for an underscore.
    let mut variable = bytes.clone().skip_while(|byte| *byte == b' ');
    if begins_with(&mut variable, name) && matches!(variable.next(), None | Some(b'\0' | b'[')) {
        return true;
    }
    // To Rack and qs, no bracket is a part of a name.
    let mut key = bytes
        .skip_while(|byte| matches!(byte, b' ' | b'[' | b']'))
        .take_while(|byte| !matches!(byte, b'\0' | b'[' | b']'));
    begins_with(&mut key, name) && key.next().is_none()
}

/// Whether the bytes begin with this name, to some reader.
fn begins_with(bytes: &mut impl Iterator<Item = u8>, name: &[u8]) -> bool {
    name.iter().all(|other| bytes.next().is_some_and(|byte| is_same_byte(byte, *other)))
}

fn is_same_byte(byte: u8, other: u8) -> bool {
    byte == other || spelling::is_same(from_ref(&byte), from_ref(&other))
}

/// The bytes of a form's text, decoded as far as they can be: a `%` that no two hexadecimal digits follow stays.
#[derive(Clone)]
struct Decoded<'a>(&'a [u8]);

impl Iterator for Decoded<'_> {
    type Item = u8;

    fn next(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        let digit = |digit: &u8| char::from(*digit).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
        match (first, rest) {
            (b'+', _) => Some(b' '),
            (b'%', [b'u' | b'U', b'0', b'0', high, low, rest @ ..]) => {
                let Some((high, low)) = digit(high).zip(digit(low)) else { return Some(b'%') };
                self.0 = rest;
                Some((high << 4) | low)
            }
            (b'%', [high, low, rest @ ..]) => {
                let Some((high, low)) = digit(high).zip(digit(low)) else { return Some(b'%') };
                self.0 = rest;
                Some((high << 4) | low)
            }
            (byte, _) => Some(*byte),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knows_the_spellings_that_readers_take_for_a_name() {
        for encoded in [
            "a_id",
            "a.id",
            "a+id",
            "a%20id",
            "a[id",
            "a%5bid",
            "%61_id",
            "+a_id",
            "%20+a.id",
            "a_id[]",
            "a_id[x][y]",
            "a.id[",
            "a_id%5B%5D",
            "a_id%00",
            "a_id%00x%",
            "a_id[%zz",
            "A_ID",
            "?a_id",
            "??+a.id",
            "a-id",
            "a%id",
            "a~id",
            "[a_id]",
            "[a_id",
            "]a_id",
            "[]a_id",
            "[[a_id]]",
            "a_id]",
            "a_id]x",
            "a%u005Fid",
            "%5Ba_id%5D[x]",
            "[a.id]x",
        ] {
            assert!(is_same(encoded.as_bytes(), b"a_id"), "{encoded}");
        }
    }

    #[test]
    fn leaves_other_names_alone() {
        for encoded in [
            "",
            "a",
            "a_i",
            "a_idx",
            "xa_id",
            "aid",
            "a__id",
            "a_id_",
            "a_id+",
            "a_id.",
            "a[id]",
            "a_id%",
            "a_id%0",
            "%00a_id",
            "%09a_id",
            "_a_id",
            "x[a_id]",
            "a%u015Fid",
            "a%u00Fid",
            "a%00_id",
            "a%2500id",
            "a%5_id",
            "a%",
        ] {
            assert!(!is_same(encoded.as_bytes(), b"a_id"), "{encoded}");
        }
    }

    #[test]
    fn a_name_may_begin_with_what_others_are_read_as() {
        for encoded in ["_id", ".id", "[id", "[_id]"] {
            assert!(is_same(encoded.as_bytes(), b"_id"), "{encoded}");
        }
    }

    #[test]
    fn separates_by_semicolons_as_some_readers_do() {
        let found = |text: &'static str| -> Vec<(usize, &str, &str)> {
            let utf8 = |bytes| core::str::from_utf8(bytes).unwrap();
            parameters(text.as_bytes()).map(|one| (one.start, utf8(one.name), utf8(one.value))).collect()
        };
        assert_eq!(found(""), [(0, "", "")]);
        assert_eq!(found("a=1=2"), [(0, "a", "1=2")]);
        assert_eq!(found("a=1;b=2;c"), [(0, "a", "1;b=2;c"), (4, "b", "2"), (8, "c", "")]);
        assert_eq!(found("a;b=1"), [(0, "a", ""), (2, "b", "1")]);
        assert_eq!(found(";"), [(0, "", ""), (1, "", "")]);
    }
}
