//! The host of an authority.

/// The host in lower case, without the port, and without the dot that may end a whole domain name (RFC 3986, section
/// 3.2.2): neither makes it another host.
pub(super) fn name(authority: &[u8]) -> Vec<u8> {
    let host = match authority.iter().rposition(|byte| *byte == b':') {
        Some(colon) if is_port(authority.get(colon..)) => authority.get(..colon).unwrap_or_default(),
        _ => authority,
    };
    host.strip_suffix(b".").unwrap_or(host).to_ascii_lowercase()
}

/// Whether this is a colon and digits, if any. The last colon of an IPv6 address is followed by a bracket.
fn is_port(text: Option<&[u8]>) -> bool {
    text.and_then(|text| text.get(1..)).is_some_and(|digits| digits.iter().all(u8::is_ascii_digit))
}

#[cfg(test)]
mod tests {
    use super::*;

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
            assert_eq!(name(authority.as_bytes()), expected.as_bytes(), "{authority}");
        }
    }
}
