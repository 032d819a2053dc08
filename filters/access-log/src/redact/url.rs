//! URLs and paths as they may be shown.

use std::borrow::Cow;

use super::REDACTED;
use super::names::Names;
use super::parameters::{self, Syntax};
use super::value::{Marks, reveals};
use crate::config::Query;

/// Splits at the first `?`, or `#`, behind which clients are known to put tokens. The mark begins the second part.
pub(super) fn split(url: &[u8]) -> (&[u8], Option<&[u8]>) {
    match memchr::memchr2(b'?', b'#', url) {
        Some(at) => (url.get(..at).unwrap_or_default(), url.get(at..)),
        None => (url, None),
    }
}

/// A query, with its mark, as it may be shown; none if it is left out.
pub(super) fn query(marked: &[u8], names: &Names, query: Query) -> Option<Vec<u8>> {
    let (mark, parameters) = marked.split_at_checked(1)?;
    match query {
        Query::Drop => None,
        Query::Redacted => Some([mark, REDACTED.as_bytes()].concat()),
        Query::Keep => Some([mark, &parameters::redact(parameters, names, Syntax::Query)].concat()),
    }
}

/// What stands before a query, as it may be shown: without credentials of the authority, with path parameters treated as
/// the query is, and without segments that hold hidden names.
pub(super) fn path<'a>(path: &'a [u8], names: &Names, query: Query) -> Cow<'a, [u8]> {
    if !path.iter().any(|byte| b"@;=%:".contains(byte)) {
        return Cow::Borrowed(path);
    }
    let mut out = Vec::with_capacity(path.len());
    let mut place = SegmentPlace::First;
    for segment in path.split_inclusive(|byte| matches!(byte, b'/' | b'\\')) {
        let (text, slash) = match segment.split_last() {
            Some((slash, text)) if matches!(slash, b'/' | b'\\') => (text, core::slice::from_ref(slash)),
            _ => (segment, &b""[..]),
        };
        write_segment(&mut out, text, place, names, query);
        out.extend_from_slice(slash);
        place = match place {
            SegmentPlace::First => SegmentPlace::Ordinary,
            _ if text.is_empty() => SegmentPlace::Authority,
            _ => SegmentPlace::Ordinary,
        };
    }
    Cow::Owned(out)
}

/// What a segment may be.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SegmentPlace {
    First,
    /// It stands behind `//`.
    Authority,
    Ordinary,
}

fn write_segment(out: &mut Vec<u8>, segment: &[u8], place: SegmentPlace, names: &Names, query: Query) {
    let mut rest = segment;
    if let Some(at) = memchr::memrchr(b'@', segment) {
        let (user, host) = segment.split_at_checked(at).unwrap_or((segment, b""));
        // Some clients do with fewer slashes.
        if place == SegmentPlace::Authority || user.contains(&b':') {
            out.extend_from_slice(REDACTED.as_bytes());
            rest = host;
        }
    }
    let (text, parameters) = match memchr::memchr(b';', rest) {
        Some(at) => (rest.get(..at).unwrap_or_default(), rest.get(at.saturating_add(1)..)),
        None => (rest, None),
    };
    let is_hidden =
        (place == SegmentPlace::Authority && !has_plain_port(text)) || reveals(text, names, Marks::InPaths);
    out.extend_from_slice(if is_hidden { REDACTED.as_bytes() } else { text });
    let Some(parameters) = parameters else {
        return;
    };
    match query {
        Query::Drop => {}
        Query::Redacted => {
            out.push(b';');
            out.extend_from_slice(REDACTED.as_bytes());
        }
        Query::Keep => {
            out.push(b';');
            out.extend_from_slice(&parameters::redact(parameters, names, Syntax::Query));
        }
    }
}

/// Whether what looks like a port is one, and not a password whose `@` stands behind a `?`.
fn has_plain_port(host: &[u8]) -> bool {
    let Some(at) = memchr::memrchr(b':', host) else {
        return true;
    };
    let after = host.get(at.saturating_add(1)..).unwrap_or_default();
    (host.contains(&b'[') && host.ends_with(b"]")) || after.iter().all(u8::is_ascii_digit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(url: &str, mode: Query) -> String {
        let mut names = Names::default();
        names.add("access_token");
        let (before, marked) = split(url.as_bytes());
        let mut out = path(before, &names, mode).into_owned();
        out.extend(marked.and_then(|marked| query(marked, &names, mode)).unwrap_or_default());
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn treats_queries_and_path_parameters_as_configured() {
        for (url, redacted, kept, dropped) in [
            ("/plain", "/plain", "/plain", "/plain"),
            ("/a?x=1&access_token=t", "/a?[redacted]", "/a?x=1&access_token=[redacted]", "/a"),
            ("/a#access_token=t&x=1", "/a#[redacted]", "/a#access_token=[redacted]&x=1", "/a"),
            ("/a?x=1#access_token=t", "/a?[redacted]", "/a?x=1#access_token=[redacted]", "/a"),
            ("/a?", "/a?[redacted]", "/a?", "/a"),
            ("/a;s=1/b;t=2?x", "/a;[redacted]/b;[redacted]?[redacted]", "/a;s=1/b;t=2?x", "/a/b"),
            ("/a;access_token=t;u/b", "/a;[redacted]/b", "/a;access_token=[redacted]/b", "/a/b"),
            ("/a/access_token=t/b", "/a/[redacted]/b", "/a/[redacted]/b", "/a/[redacted]/b"),
            ("/to/a%3Faccess_token%3Dt/b", "/to/[redacted]/b", "/to/[redacted]/b", "/to/[redacted]/b"),
            ("/a:b/c%20d@e/x=y", "/a:b/c%20d@e/x=y", "/a:b/c%20d@e/x=y", "/a:b/c%20d@e/x=y"),
        ] {
            assert_eq!(shown(url, Query::Redacted), redacted);
            assert_eq!(shown(url, Query::Keep), kept);
            assert_eq!(shown(url, Query::Drop), dropped);
        }
    }

    #[test]
    fn takes_credentials_out_of_the_authority() {
        for (url, expected) in [
            ("https://user:pw@host/a", "https://[redacted]@host/a"),
            ("https://pw@host", "https://[redacted]@host"),
            ("https://u:p@w@host:8443/", "https://[redacted]@host:8443/"),
            ("https://u;x:p@host/", "https://[redacted]@host/"),
            ("//u:p@host/", "//[redacted]@host/"),
            ("https:\\\\u:p@host\\a", "https:\\\\[redacted]@host\\a"),
            ("https:/u:p@host/", "https:/[redacted]@host/"),
            ("https:u:p@host/", "[redacted]@host/"),
            ("https://u:p?w@host/", "https://[redacted]?[redacted]"),
            ("https://host:8443/a", "https://host:8443/a"),
            ("https://[::1]:8443/a", "https://[::1]:8443/a"),
            ("https://[::1]/a", "https://[::1]/a"),
            ("/npm/@scope/a", "/npm/@scope/a"),
        ] {
            assert_eq!(shown(url, Query::Redacted), expected);
        }
    }
}
