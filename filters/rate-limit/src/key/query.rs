//! The two halves of `:path`.

use std::borrow::Cow;

use portcullis_policy::percent::decode_form;

/// The path without its query. Envoy takes off fragments; should one come, it is no path either.
pub(super) fn path(path: &[u8]) -> &[u8] {
    let end = memchr::memchr2(b'?', b'#', path).unwrap_or(path.len());
    path.get(..end).unwrap_or_default()
}

/// The values of all parameters of this name, in order, read as HTML forms have them: `&` separates, `+` is a space,
/// `%xx` is a byte. A parameter without `=` has an empty value. Names are decoded before they are compared.
///
/// `None` stands for what cannot be decoded: the value of such a parameter, and any parameter whose name may be this one
/// to an upstream that makes something of it.
pub(super) fn values<'a>(path: &'a [u8], name: &str) -> impl Iterator<Item = Option<Cow<'a, [u8]>>> {
    query(path).split(|byte| *byte == b'&').filter_map(move |pair| {
        let (key, value) = match memchr::memchr(b'=', pair).and_then(|at| pair.split_at_checked(at)) {
            Some((key, rest)) => (key, rest.get(1..).unwrap_or_default()),
            None => (pair, &[][..]),
        };
        match decode_form(key) {
            Some(key) if *key == *name.as_bytes() => Some(decode_form(value)),
            Some(_) => None,
            None => Some(None),
        }
    })
}

fn query(path: &[u8]) -> &[u8] {
    let end = memchr::memchr(b'#', path).unwrap_or(path.len());
    let path = path.get(..end).unwrap_or_default();
    let start = memchr::memchr(b'?', path).map(|at| at.saturating_add(1));
    start.and_then(|start| path.get(start..)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str) -> Vec<String> {
        let text = |value: Cow<'_, [u8]>| String::from_utf8(value.into_owned()).unwrap();
        values(path.as_bytes(), "id").map(|value| value.map_or_else(|| "?".to_owned(), text)).collect()
    }

    #[test]
    fn finds_parameters_however_they_are_spelled() {
        for (path, expected) in [
            ("/a?id=1", &["1"][..]),
            ("/a?x=0&%69%64=%31&y", &["1"]),
            ("/a?id=a+b%20c", &["a b c"]),
            ("/a?id", &[""]),
            ("/a?id=1&id=2", &["1", "2"]),
            ("/a?id=1?id=2", &["1?id=2"]),
            ("/a?id=%zz", &["?"]),
            ("/a?id=%zz&id=1", &["?", "1"]),
            ("/a?id%=1", &["?"]),
            ("/a?100%&id=1", &["?", "1"]),
            ("/a?x=100%&id=1", &["1"]),
            ("/a?ID=1&xid=2&id2=3", &[]),
            ("/id=1", &[]),
            ("/a#?id=1", &[]),
            ("/a?id=1#&id=2", &["1"]),
            ("", &[]),
        ] {
            assert_eq!(found(path), expected, "{path}");
        }
    }

    #[test]
    fn takes_the_path_without_query_and_fragment() {
        for (whole, expected) in [("/a?b", "/a"), ("/a", "/a"), ("?b", ""), ("/a#b?c", "/a"), ("*", "*")] {
            assert_eq!(path(whole.as_bytes()), expected.as_bytes(), "{whole}");
        }
    }
}
