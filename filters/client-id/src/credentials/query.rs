//! Credentials in the query string.

use core::ops::Range;

use portcullis_policy::parameter;

/// The query of a `:path`: what stands between the first `?` and a `#`, without both.
pub fn of_path(path: &[u8]) -> Option<Range<usize>> {
    let end = memchr::memchr(b'#', path).unwrap_or(path.len());
    let start = memchr::memchr(b'?', path.get(..end)?)?;
    Some(start.checked_add(1)?..end)
}

/// The still encoded values of all parameters that some reader takes for this name ([`parameter`]), in order. A parameter
/// without `=` has an empty value.
pub fn values<'a>(query: &'a [u8], name: &'a str) -> impl Iterator<Item = &'a [u8]> {
    query
        .split(|byte| *byte == b'&')
        .flat_map(parameter::parameters)
        .filter_map(move |found| parameter::is_same(found.name, name.as_bytes()).then_some(found.value))
}

/// The path without the query parameters that some reader takes for these names ([`parameter`]); the others stay as they
/// are, byte for byte, but for what stands behind one of them and a `;`, which is its value to most. `None` if there is
/// nothing to remove.
pub fn without(path: &[u8], names: impl Iterator<Item = impl AsRef<str>> + Clone) -> Option<Vec<u8>> {
    let range = of_path(path)?;
    let query = path.get(range.clone())?;
    // How much of the text between two `&` is not ours: all of it, what stands before a `;`, or nothing.
    let ours = |text: &[u8]| {
        parameter::parameters(text)
            .find(|found| names.clone().any(|name| parameter::is_same(found.name, name.as_ref().as_bytes())))
            .map(|found| found.start)
    };
    if !query.split(|byte| *byte == b'&').any(|text| ours(text).is_some()) {
        return None;
    }
    let mut kept = path.get(..range.start.saturating_sub(1))?.to_vec();
    let mut separator = b'?';
    for text in query.split(|byte| *byte == b'&') {
        let text = match ours(text) {
            None => text,
            Some(0) => continue,
            Some(start) => text.get(..start.saturating_sub(1))?,
        };
        kept.push(separator);
        kept.extend_from_slice(text);
        separator = b'&';
    }
    kept.extend_from_slice(path.get(range.end..)?);
    Some(kept)
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
            ("/a?xid=2&id%=3&i_d=4", &[]),
            ("/a?ID=1&+id=2&id[]=3&id%00x=4", &["1", "2", "3", "4"]),
            ("/a?x=1;id=2;y&id=3;z&id;=4", &["2", "3;z", ""]),
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
            ("/a?+id=1&b&Id[]=2&id%00=3&s.ecret=4", Some("/a?b&s.ecret=4")),
            ("/a?x=1;id=2;y=3&b", Some("/a?x=1&b")),
            ("/a?id=1;x=2&b;;secret", Some("/a?b;")),
            ("/a?b=1", None),
            ("/a?", None),
            ("/a", None),
        ] {
            let kept = without(path.as_bytes(), ["id", "secret"].iter());
            assert_eq!(kept.map(|kept| String::from_utf8(kept).unwrap()).as_deref(), expected, "{path}");
        }
    }
}
