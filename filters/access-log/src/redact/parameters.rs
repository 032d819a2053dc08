//! Redaction of query strings and forms (WHATWG URL, `application/x-www-form-urlencoded`).

use std::borrow::Cow;

use portcullis_policy::percent;

use super::REDACTED;
use super::names::Names;
use super::value::{Marks, reveals};

/// How parameters are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Syntax {
    /// Behind a `?` or `#`, or a `;` of a path. A `#` ends a query, and clients put tokens behind it.
    Query,
    /// In a form, where `#` means nothing.
    Form,
}

/// Replaces the values of parameters that are hidden. Names are compared decoded; a name whose encoding is broken could
/// be any.
///
/// Some servers take `;` for a separator and others for a part of the value. So it is a place to look for another name,
/// but what is hidden reaches up to the next `&`. A value that holds hidden names itself, as a URL does, is hidden whole.
pub fn redact<'a>(parameters: &'a [u8], names: &Names, syntax: Syntax) -> Cow<'a, [u8]> {
    let mut out: Option<Vec<u8>> = None;
    let mut at = 0usize;
    for pair in parameters.split_inclusive(|byte| *byte == b'&') {
        let start = at;
        at = at.saturating_add(pair.len());
        let body = pair.strip_suffix(b"&").unwrap_or(pair);
        match (&mut out, hidden_from(body, names, syntax)) {
            (None, None) => {}
            (Some(out), None) => out.extend_from_slice(pair),
            (_, Some(hidden)) => {
                let before = || parameters.get(..start).unwrap_or_default().to_vec();
                let out = out.get_or_insert_with(before);
                out.extend_from_slice(body.get(..hidden).unwrap_or_default());
                out.extend_from_slice(REDACTED.as_bytes());
                out.extend_from_slice(pair.get(body.len()..).unwrap_or_default());
            }
        }
    }
    out.map_or(Cow::Borrowed(parameters), Cow::Owned)
}

/// From where on what stands between two `&` is not shown: from the first value that is hidden.
fn hidden_from(pair: &[u8], names: &Names, syntax: Syntax) -> Option<usize> {
    let mut at = 0usize;
    for piece in pair.split_inclusive(|byte| *byte == b';' || (*byte == b'#' && syntax == Syntax::Query)) {
        let start = at;
        at = at.saturating_add(piece.len());
        let (name, value) = match memchr::memchr(b'=', piece) {
            Some(equals) => piece.split_at_checked(equals.saturating_add(1)).unwrap_or((piece, b"")),
            None => (piece, &b""[..]),
        };
        let encoded = name.strip_suffix(b"=").unwrap_or(name);
        // A sign between them that is encoded, or another, as in JSON.
        if reveals(encoded, names, Marks::InValues) {
            return Some(start);
        }
        let is_named = encoded.len() < name.len() && is_hidden(encoded, names);
        if is_named || reveals(value, names, Marks::InValues) {
            return Some(start.saturating_add(name.len()));
        }
    }
    None
}

fn is_hidden(encoded: &[u8], names: &Names) -> bool {
    let Some(decoded) = percent::decode_form(encoded) else {
        return true;
    };
    core::str::from_utf8(&decoded).map_or(true, |name| names.hide(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(parameters: &str, syntax: Syntax) -> String {
        let mut names = Names::default();
        for name in ["token", "pass word", "straße", "password", "client_secret"] {
            names.add(name);
        }
        String::from_utf8(redact(parameters.as_bytes(), &names, syntax).into_owned()).unwrap()
    }

    #[test]
    fn hides_values_by_every_spelling_of_a_name_and_leaves_the_rest_byte_for_byte() {
        for (query, expected) in [
            ("", ""),
            ("a=1&b", "a=1&b"),
            ("token=t", "token=[redacted]"),
            ("TOKEN=t&a=%7e", "TOKEN=[redacted]&a=%7e"),
            ("a=1&t%6fken=t&b=2", "a=1&t%6fken=[redacted]&b=2"),
            ("token=t&token=u", "token=[redacted]&token=[redacted]"),
            ("token[]=t&token[a]=u&tokens=v", "token[]=[redacted]&token[a]=[redacted]&tokens=v"),
            ("pass+word=p&pass%20word=q", "pass+word=[redacted]&pass%20word=[redacted]"),
            ("+token+=t", "+token+=[redacted]"),
            ("%zz=1&a%=2&b=3", "%zz=[redacted]&a%=[redacted]&b=3"),
            ("%ff=1", "%ff=[redacted]"),
            ("token", "token"),
            ("token=", "token=[redacted]"),
            ("stra%C3%9Fe=1&STRA%C3%9Fe=2", "stra%C3%9Fe=[redacted]&STRA%C3%9Fe=[redacted]"),
            ("a==&&b=", "a==&&b="),
        ] {
            assert_eq!(shown(query, Syntax::Query), expected, "{query}");
            assert_eq!(shown(query, Syntax::Form), expected, "{query}");
        }
    }

    #[test]
    fn hides_nested_names_and_those_that_some_reader_takes_for_the_same() {
        for name in [
            "user[password]",
            "user%5Bpassword%5D",
            "user.password",
            "client.secret",
            "client+secret",
            "client-secret",
            "clientSecret",
            "password%00",
            "pa%C5%BF%C5%BFword",
        ] {
            for syntax in [Syntax::Query, Syntax::Form] {
                let parameters = format!("a=1&{name}=hunter2&b=2");
                assert_eq!(shown(&parameters, syntax), format!("a=1&{name}=[redacted]&b=2"));
            }
        }
    }

    /// Some servers split at `;`, others do not: to those the tail belongs to the secret.
    #[test]
    fn hides_all_of_a_value_and_finds_names_behind_what_may_be_a_separator() {
        for (query, in_query, in_form) in [
            ("password=hun;ter2&x=1", "password=[redacted]&x=1", "password=[redacted]&x=1"),
            ("password=hun#ter2&x=1", "password=[redacted]&x=1", "password=[redacted]&x=1"),
            ("a;token=t;b=2", "a;token=[redacted]", "a;token=[redacted]"),
            ("a=1;token=t&b=2", "a=1;token=[redacted]&b=2", "a=1;token=[redacted]&b=2"),
            ("a=1#token=t", "a=1#token=[redacted]", "a=[redacted]"),
            ("a=1;b=2#c", "a=1;b=2#c", "a=1;b=2#c"),
        ] {
            assert_eq!(shown(query, Syntax::Query), in_query, "{query}");
            assert_eq!(shown(query, Syntax::Form), in_form, "{query}");
        }
    }

    #[test]
    fn hides_a_value_that_holds_hidden_names_itself() {
        for (query, expected) in [
            ("url=https://a/b?token=S&x=1", "url=[redacted]&x=1"),
            ("url=https%3A%2F%2Fa%2Fb%3Ftoken%3DS&x=1", "url=[redacted]&x=1"),
            ("url=https://a/b?page=2&x=1", "url=https://a/b?page=2&x=1"),
            ("a=token=t", "a=[redacted]"),
            ("token%3Dt&x=1", "[redacted]&x=1"),
            ("a;token%3Dt=1&x=1", "a;[redacted]&x=1"),
            ("{\"a\":{\"token\":\"t\"}}", "[redacted]"),
            ("{\"a\":1}", "{\"a\":1}"),
        ] {
            assert_eq!(shown(query, Syntax::Query), expected, "{query}");
        }
    }
}
