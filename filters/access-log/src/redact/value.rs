//! Values that hold names themselves: URLs, forms and JSON inside of a parameter.

use std::borrow::Cow;

use super::names::Names;

/// How often a value may be encoded. What is still encoded then is not looked into, and not shown.
const MAX_ROUNDS: usize = 4;

/// What stands between a name and its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Marks {
    /// `=` and, as in JSON, `:`.
    InValues,
    /// `=` only: `:` is common in paths, as in `/token:revoke`.
    InPaths,
}

impl Marks {
    const fn bytes(self) -> &'static [u8] {
        match self {
            Self::InValues => b"=:",
            Self::InPaths => b"=",
        }
    }
}

/// Whether a text shows, however often encoded, a value of a hidden name or a URL's credentials.
pub(super) fn reveals(text: &[u8], names: &Names, marks: Marks) -> bool {
    if !text.iter().any(|byte| b"=:%@".contains(byte)) {
        return false;
    }
    let mut text = Cow::Borrowed(text);
    for _ in 0..MAX_ROUNDS {
        if names_hidden(&text, names, marks) || has_user_info(&text) {
            return true;
        }
        match decode_lenient(&text) {
            None => return false,
            Some(decoded) => text = Cow::Owned(decoded),
        }
    }
    true
}

/// Whether a hidden name stands before one of the marks, in quotes or without.
fn names_hidden(text: &[u8], names: &Names, marks: Marks) -> bool {
    let mut rest = text;
    while let Some(at) = rest.iter().position(|byte| marks.bytes().contains(byte)) {
        let (before, after) = rest.split_at_checked(at).unwrap_or((rest, b""));
        let name = before.trim_ascii_end();
        let name = name.strip_suffix(b"\"").or_else(|| name.strip_suffix(b"'")).unwrap_or(name);
        let name = name.strip_suffix(b"\\").unwrap_or(name);
        let start = name.iter().rposition(|byte| !is_of_a_name(*byte)).map_or(0, |at| at.saturating_add(1));
        let name = name.get(start..).unwrap_or_default();
        // A space is part of a name, or stands before one: then what is before it is any text.
        let name = String::from_utf8_lossy(name).replace('+', " ");
        let last = |words: usize| name.rmatch_indices(' ').nth(words).and_then(|(at, _)| name.get(at..));
        let hidden = |name: Option<&str>| name.is_some_and(|name| names.hide(name));
        if names.lists(&name) || hidden(last(0)) || names.hide(last(1).unwrap_or(&name)) {
            return true;
        }
        rest = after.get(1..).unwrap_or_default();
    }
    false
}

fn is_of_a_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_-.[]$\0+ ".contains(&byte) || !byte.is_ascii()
}

/// Whether there is a `//user@host`, or a `user:password@host` anywhere.
fn has_user_info(text: &[u8]) -> bool {
    memchr::memchr_iter(b'@', text).any(|at| {
        let before = text.get(..at).unwrap_or_default();
        // Another `@` has been looked at before.
        let start = before.iter().rposition(|byte| b"/\\?#&\"'<>, @".contains(byte));
        let Some(start) = start else {
            return before.contains(&b':');
        };
        let (ahead, user) = before.split_at_checked(start).unwrap_or((b"", before));
        let is_slash = |byte: Option<&u8>| matches!(byte, Some(b'/' | b'\\'));
        user.contains(&b':') || (is_slash(user.first()) && is_slash(ahead.last()))
    })
}

/// Decodes what is encoded and leaves what is not; none if nothing is.
fn decode_lenient(text: &[u8]) -> Option<Vec<u8>> {
    let digit = |at: usize| text.get(at).and_then(|byte| char::from(*byte).to_digit(16));
    let mut decoded = Vec::with_capacity(text.len());
    let mut at = 0usize;
    while let Some(&byte) = text.get(at) {
        let digits =
            (byte == b'%').then(|| digit(at.saturating_add(1)).zip(digit(at.saturating_add(2)))).flatten();
        let value = digits.and_then(|(high, low)| u8::try_from(high.checked_mul(16)?.checked_add(low)?).ok());
        decoded.push(value.unwrap_or(byte));
        at = at.saturating_add(if value.is_some() { 3 } else { 1 });
    }
    (decoded.len() < text.len()).then_some(decoded)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_into_values_however_they_are_encoded() {
        let mut names = Names::default();
        names.add("access_token");
        for (text, in_values, in_paths) in [
            ("plain", false, false),
            ("https://a/b?x=1", false, false),
            ("https://a:8443/b", false, false),
            ("https://a/b?access_token=S", true, true),
            ("https%3A%2F%2Fa%2Fb%3Faccess_token%3DS", true, true),
            ("https%253A%252F%252Fa%253Faccess%255Ftoken%253DS", true, true),
            ("x#accessToken=S", true, true),
            ("user[access_token]=S", true, true),
            ("access_token:revoke", true, false),
            (r#"{"access_token":"S"}"#, true, false),
            (r#"{"access_token" : "S"}"#, true, false),
            (r#"{\"access_token\":\"S\"}"#, true, false),
            ("%7B%22access_token%22%3A%22S%22%7D", true, false),
            ("https://user:pw@host/", true, true),
            ("https%3A%2F%2Fpw%40host", true, true),
            ("https:\\/\\/pw@host", true, true),
            ("https:\\/\\/user:pw@host", true, true),
            ("user:pw@host", true, true),
            ("mail=a@b", false, false),
            ("/a/@b c", false, false),
            ("https://a?access+token=S", true, true),
            ("access_token =S", true, true),
            ("now+access_token=S", true, true),
            ("100%", false, false),
            ("%2525252525253D", true, true),
        ] {
            assert_eq!(reveals(text.as_bytes(), &names, Marks::InValues), in_values, "{text}");
            assert_eq!(reveals(text.as_bytes(), &names, Marks::InPaths), in_paths, "{text}");
        }
    }
}
