//! What a request is for: the host, the path, the query.

use core::net::Ipv6Addr;
use std::borrow::Cow;

use crate::parameter;
use crate::percent::{decode_form, decode_path};

/// The host in lower case, without the port, and without the dot that may end a whole domain name (RFC 3986, section
/// 3.2.2): neither makes it another host.
pub fn host(authority: &[u8]) -> Vec<u8> {
    let host = match authority.iter().rposition(|byte| *byte == b':') {
        Some(colon) if is_port(authority.get(colon..)) => authority.get(..colon).unwrap_or_default(),
        _ => authority,
    };
    host.strip_suffix(b".").unwrap_or(host).to_ascii_lowercase()
}

/// Whether a text is an authority that a request may have: a host, and a port if need be (RFC 3986, section 3.2). User
/// information is not allowed in it (RFC 9110, section 4.2.4), and a host must not be empty (section 4.2.1).
pub fn is_authority(text: &str) -> bool {
    let (host, port) = match text.strip_prefix('[') {
        Some(rest) => match rest.split_once(']') {
            Some((address, port)) => return address.parse::<Ipv6Addr>().is_ok() && is_no_or_plain_port(port),
            None => return false,
        },
        None => text.split_at_checked(text.find(':').unwrap_or(text.len())).unwrap_or((text, "")),
    };
    !host.is_empty() && is_registered_name(host.as_bytes()) && is_no_or_plain_port(port)
}

fn is_no_or_plain_port(text: &str) -> bool {
    text.is_empty()
        || text
            .strip_prefix(':')
            .is_some_and(|port| port.bytes().all(|byte| byte.is_ascii_digit()) && port.parse::<u16>().is_ok())
}

/// Unreserved characters, percent-encoded ones, and sub-delimiters (RFC 3986, section 3.2.2).
fn is_registered_name(mut name: &[u8]) -> bool {
    while let Some((first, rest)) = name.split_first() {
        name = match (first, rest) {
            (b'%', [high, low, rest @ ..]) if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => rest,
            (byte, rest) if byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=".contains(byte) => rest,
            _ => return false,
        };
    }
    true
}

/// Whether this is a colon and digits, if any. The last colon of an IPv6 address is followed by a bracket.
fn is_port(text: Option<&[u8]>) -> bool {
    text.and_then(|text| text.get(1..)).is_some_and(|digits| digits.iter().all(u8::is_ascii_digit))
}

/// The path without its query. Envoy takes off fragments; should one come, it is no path either.
pub fn path(path: &[u8]) -> &[u8] {
    let end = memchr::memchr2(b'?', b'#', path).unwrap_or(path.len());
    path.get(..end).unwrap_or_default()
}

/// The path in one of its spellings, the same for all that upstreams may take for the same resource: percent-decoded, in
/// lower case, without empty segments and a slash at its end, with dot segments resolved, without the path parameters
/// (`;…`, RFC 3986, section 3.3) of its segments, and without the dots and spaces at their ends, which file systems drop.
/// Two paths that only some upstreams take for one become the same as well.
///
/// `None` stands for a path of which upstreams make so different things that no spelling stands for them all: it has a
/// backslash or a control character, encodes a delimiter or a percent sign, is not well encoded, or has dot segments besides
/// empty ones. What does not begin with a slash (`*`) is no path, and stays as it is.
pub fn folded_path(path: &[u8]) -> Option<Cow<'_, [u8]>> {
    if !path.starts_with(b"/") || is_folded(path) {
        return Some(Cow::Borrowed(path));
    }
    let without_parameters: Vec<&[u8]> = path
        .split(|byte| *byte == b'/')
        .skip(1)
        .map(|segment| segment.split(|byte| *byte == b';').next().unwrap_or_default())
        .collect();
    let last = without_parameters.len().saturating_sub(1);
    let (mut has_empty, mut has_dots) = (false, false);
    let mut kept: Vec<Vec<u8>> = Vec::with_capacity(without_parameters.len());
    for (at, segment) in without_parameters.into_iter().enumerate() {
        let mut segment = decode_path(segment)?.to_ascii_lowercase();
        if segment.iter().any(|byte| byte.is_ascii_control() || b"/\\;?#%".contains(byte)) {
            return None;
        }
        match &*segment {
            b"" => has_empty |= at < last,
            b"." => has_dots = true,
            b".." => {
                has_dots = true;
                kept.pop();
            }
            _ => {
                let end = segment.iter().rposition(|byte| !matches!(byte, b'.' | b' '))?;
                segment.truncate(end.saturating_add(1));
                kept.push(segment);
            }
        }
    }
    if has_empty && has_dots {
        return None;
    }
    let mut folded = Vec::with_capacity(path.len());
    for segment in kept {
        folded.push(b'/');
        folded.extend_from_slice(&segment);
    }
    if folded.is_empty() {
        folded.push(b'/');
    }
    Some(Cow::Owned(folded))
}

/// Whether a path that begins with a slash certainly is what [`folded_path`] would make of it, as most are.
fn is_folded(path: &[u8]) -> bool {
    let is_plain =
        |byte: &u8| matches!(byte, b'!'..=b'~') && !byte.is_ascii_uppercase() && !b"%;\\?#".contains(byte);
    let may_end = |byte: &u8| !matches!(byte, b'.' | b'/');
    path.iter().all(is_plain)
        && (path == b"/" || path.last().is_some_and(may_end))
        && path.windows(2).all(|pair| !matches!(pair, [b'/', b'/' | b'.'] | [b'.', b'/']))
}

/// The values of all parameters that some reader takes for this name ([`parameter`]), in order: in whatever way a name is
/// spelled, it is a further value of the same parameter. `+` is a space, `%xx` is a byte. A parameter without `=` has an
/// empty value.
///
/// `None` stands for what cannot be decoded: the value of such a parameter, and any parameter whose name may be this one
/// to an upstream that makes something of it.
pub fn query_values<'a>(path: &'a [u8], name: &str) -> impl Iterator<Item = Option<Cow<'a, [u8]>>> {
    query(path).split(|byte| *byte == b'&').flat_map(parameter::parameters).filter_map(move |found| {
        if parameter::is_same(found.name, name.as_bytes()) {
            return Some(decode_form(found.value));
        }
        decode_form(found.name).is_none().then_some(None)
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

    #[test]
    fn an_authority_is_a_host_and_perhaps_a_port() {
        for text in [
            "auth",
            "auth.internal:8080",
            "my_service",
            "192.0.2.1:80",
            "[2001:db8::1]",
            "[::1]:8080",
            "a%2Db",
            "a,b;c=d",
        ] {
            assert!(is_authority(text), "{text}");
        }
        for text in [
            "",
            ":80",
            "user@host",
            "user:pw@host",
            "a b",
            "a/b",
            "a?b",
            "a#b",
            "a:",
            "a:b",
            "a:65536",
            "a:+80",
            "a:1:2",
            "::1",
            "[::1",
            "[::1]x",
            "[a]",
            "a%2",
            "a%zz",
            "h\u{e9}",
            "outbound|80||a.b",
            "a\\b",
            "a\"b",
            "<a>",
        ] {
            assert!(!is_authority(text), "{text}");
        }
    }

    #[test]
    fn takes_one_host_for_one_host() {
        for (authority, expected) in [
            ("shop.test", "shop.test"),
            ("Shop.TEST:8080", "shop.test"),
            ("shop.test:", "shop.test"),
            ("shop.test.", "shop.test"),
            ("shop.test.:80", "shop.test"),
            ("[2001:DB8::1]", "[2001:db8::1]"),
            ("[2001:db8::1]:80", "[2001:db8::1]"),
            ("192.0.2.1:80", "192.0.2.1"),
            ("a:b", "a:b"),
            (":80", ""),
            ("", ""),
        ] {
            assert_eq!(host(authority.as_bytes()), expected.as_bytes(), "{authority}");
        }
    }

    fn found(path: &str) -> Vec<String> {
        let text = |value: Cow<'_, [u8]>| String::from_utf8(value.into_owned()).unwrap();
        query_values(path.as_bytes(), "id").map(|value| value.map_or_else(|| "?".to_owned(), text)).collect()
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
            ("/a?xid=2&id2=3&i_d=4", &[]),
            ("/a?ID=1&+id=2&id[]=3&id%00x=4", &["1", "2", "3", "4"]),
            ("/a?x=1;id=2;y&id=3;z", &["2", "3;z"]),
            ("/id=1", &[]),
            ("/a#?id=1", &[]),
            ("/a?id=1#&id=2", &["1"]),
            ("", &[]),
        ] {
            assert_eq!(found(path), expected, "{path}");
        }
    }

    fn folded(path: &str) -> Option<String> {
        folded_path(path.as_bytes()).map(|path| String::from_utf8(path.into_owned()).unwrap())
    }

    #[test]
    fn folds_all_spellings_of_a_path_into_one() {
        for path in [
            "/a/b",
            "/A/b",
            "/a/B/",
            "/a/b//",
            "/a//b",
            "//a/b",
            "/%61/b",
            "/%41/b",
            "/a/%62",
            "/a;x=1/b",
            "/a/b;jsessionid=1",
            "/;/a/b",
            "/a/b/;x",
            "/a/;x/b",
            "/a/b;x=%2f",
            "/a/./b",
            "/./a/b",
            "/a/b/.",
            "/x/../a/b",
            "/a/x/%2e%2E/b",
            "/a/b/c/..",
            "/../a/b",
            "/a/x/..;/b",
            "/a./b",
            "/a/b%20",
            "/a/b...",
        ] {
            assert_eq!(folded(path).as_deref(), Some("/a/b"), "{path}");
        }
        for (path, expected) in [
            ("/", "/"),
            ("//", "/"),
            ("/;x", "/"),
            ("/a/..", "/"),
            ("/..", "/"),
            ("/.a/b.c", "/.a/b.c"),
            ("/a+b/c", "/a+b/c"),
            ("/a%20b", "/a b"),
            ("/%C3%89", "/\u{c9}"),
            ("*", "*"),
            ("", ""),
        ] {
            assert_eq!(folded(path).as_deref(), Some(expected), "{path}");
        }
    }

    #[test]
    fn does_not_fold_what_upstreams_make_different_things_of() {
        for path in [
            "/a%2Fb",
            "/a\\b",
            "/a%5Cb",
            "/a%3Bx",
            "/a%3Fx",
            "/a%23x",
            "/a%2561",
            "/a%",
            "/a%zz",
            "/a%00",
            "/a\tb",
            "/...",
            "/a%20/%20",
            "/a//../b",
            "/a/;x/../b",
            "/x;%2F..%2Fa/../%2Fb",
        ] {
            assert_eq!(folded(path), None, "{path}");
        }
    }

    /// What is folded stays as it is, and costs no memory.
    #[test]
    fn a_folded_path_is_not_folded_again() {
        for path in ["/", "/a", "/a/b-c_d~e", "/a.b/c,d", "/v1/orders/17", "*"] {
            assert!(matches!(folded_path(path.as_bytes()), Some(Cow::Borrowed(_))), "{path}");
        }
        for path in ["/A", "/a/", "/a//b", "/a/./b", "/.a", "/a;b", "/%61"] {
            let once = folded(path).unwrap();
            assert_eq!(folded(&once).as_deref(), Some(&*once), "{path}");
        }
    }

    #[test]
    fn takes_the_path_without_query_and_fragment() {
        for (whole, expected) in [("/a?b", "/a"), ("/a", "/a"), ("?b", ""), ("/a#b?c", "/a"), ("*", "*")] {
            assert_eq!(path(whole.as_bytes()), expected.as_bytes(), "{whole}");
        }
    }
}
