//! Credentials in the query string.

use core::ops::Range;

use portcullis_policy::percent::decode_form;

/// The query of a `:path`: what stands between the first `?` and a `#`, without both.
pub fn of_path(path: &[u8]) -> Option<Range<usize>> {
    let end = memchr::memchr(b'#', path).unwrap_or(path.len());
    let start = memchr::memchr(b'?', path.get(..end)?)?;
    Some(start.checked_add(1)?..end)
}

/// The still encoded values of all parameters of this name, in order. A parameter without `=` has an empty value.
///
/// Names are decoded before they are compared, for `client%5Fid` is `client_id` to the upstream too; a name that
/// cannot be decoded is no name of ours.
pub fn values<'a>(query: &'a [u8], name: &'a str) -> impl Iterator<Item = &'a [u8]> {
    query.split(|byte| *byte == b'&').filter_map(move |pair| {
        let (key, value) = split_pair(pair);
        is_named(key, name).then_some(value)
    })
}

/// The path without the query parameters of these names; the others stay as they are, byte for byte. `None` if
/// there is nothing to remove.
pub fn without(path: &[u8], names: impl Iterator<Item = impl AsRef<str>> + Clone) -> Option<Vec<u8>> {
    let range = of_path(path)?;
    let query = path.get(range.clone())?;
    let is_ours = |pair: &&[u8]| {
        let (key, _) = split_pair(pair);
        names.clone().any(|name| is_named(key, name.as_ref()))
    };
    if !query.split(|byte| *byte == b'&').any(|pair| is_ours(&pair)) {
        return None;
    }
    let mut kept = path.get(..range.start.saturating_sub(1))?.to_vec();
    let mut separator = b'?';
    for pair in query.split(|byte| *byte == b'&').filter(|pair| !is_ours(pair)) {
        kept.push(separator);
        kept.extend_from_slice(pair);
        separator = b'&';
    }
    kept.extend_from_slice(path.get(range.end..)?);
    Some(kept)
}

fn split_pair(pair: &[u8]) -> (&[u8], &[u8]) {
    match memchr::memchr(b'=', pair).and_then(|at| pair.split_at_checked(at)) {
        Some((key, rest)) => (key, rest.get(1..).unwrap_or_default()),
        None => (pair, &[]),
    }
}

fn is_named(key: &[u8], name: &str) -> bool {
    key == name.as_bytes() || decode_form(key).is_some_and(|key| &*key == name.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str) -> Vec<String> {
        let Some(range) = of_path(path.as_bytes()) else { return Vec::new() };
        values(&path.as_bytes()[range], "id")
            .map(|value| String::from_utf8(value.to_vec()).unwrap())
            .collect()
    }

    #[test]
    fn finds_every_spelling_of_a_name() {
        for (path, expected) in [
            ("/a", &[][..]),
            ("/a?", &[]),
            ("/a?id=1", &["1"]),
            ("/a?x=1&id=2&id=3", &["2", "3"]),
            ("/a?%69d=%31", &["%31"]),
            ("/a?i%64", &[""]),
            ("/a?id=1#id=2", &["1"]),
            ("/a#?id=2", &[]),
            ("/a?b?id=1", &[]),
            ("/a?id=1=2", &["1=2"]),
            ("/a?ID=1&xid=2&id%=3&id;=4", &[]),
        ] {
            assert_eq!(found(path), expected, "{path}");
        }
    }

    #[test]
    fn removes_its_own_and_leaves_the_rest_byte_for_byte() {
        for (path, expected) in [
            ("/a?id=1", Some("/a")),
            ("/a?id=1&b=%7e&secret=2", Some("/a?b=%7e")),
            ("/a?b&&id=1&%zz", Some("/a?b&&%zz")),
            ("/a?%69d=1#x", Some("/a#x")),
            ("/a?b=1", None),
            ("/a?", None),
            ("/a", None),
        ] {
            let kept = without(path.as_bytes(), ["id", "secret"].iter());
            assert_eq!(kept.map(|kept| String::from_utf8(kept).unwrap()).as_deref(), expected, "{path}");
        }
    }
}
