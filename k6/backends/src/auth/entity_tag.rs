//! Entity tags (RFC 9110, sections 8.8.3 and 13.1.2).

use hyper::header::{GetAll, HeaderValue};
use sha2::{Digest as _, Sha256};

/// The strong tag of a representation: a digest of its bytes.
pub(crate) fn of(content: &[u8]) -> String {
    format!("\"{}\"", hex::encode(Sha256::digest(content)))
}

/// Whether `If-None-Match` names `etag`, in which case the peer already has what it asks for.
///
/// The comparison is the weak one that this header prescribes. Lists are split at commas: a comma inside
/// somebody else's quoted tag cannot make a piece of it equal to ours, because the piece would lack a quote.
pub(crate) fn is_named(etag: &HeaderValue, if_none_match: GetAll<'_, HeaderValue>) -> bool {
    if_none_match
        .iter()
        .flat_map(|value| value.as_bytes().split(|byte| *byte == b','))
        .map(<[u8]>::trim_ascii)
        .any(|tag| tag == b"*" || tag.strip_prefix(b"W/").unwrap_or(tag) == etag.as_bytes())
}

#[cfg(test)]
mod tests {
    use hyper::HeaderMap;
    use hyper::header::IF_NONE_MATCH;

    use super::*;

    #[test]
    fn finds_a_tag_however_it_is_named() {
        for (values, named) in [
            (&[] as &[&str], false),
            (&["*"], true),
            (&["\"a1\""], true),
            (&["W/\"a1\""], true),
            (&["\"b2\", \"a1\""], true),
            (&["\"b2\",W/\"c3\" ,\"a1\""], true),
            (&["\"b2\"", "\"a1\""], true),
            (&["\"b2\""], false),
            (&["a1"], false),
            (&["\"b,a1\""], false),
            (&["\"A1\""], false),
        ] {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(IF_NONE_MATCH, HeaderValue::from_static(value));
            }
            let etag = HeaderValue::from_static("\"a1\"");
            assert_eq!(is_named(&etag, headers.get_all(IF_NONE_MATCH)), named, "{values:?}");
        }
    }
}
