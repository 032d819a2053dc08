//! Which names of header fields some reader takes for one another.
//!
//! Envoy compares names byte by byte, but for case. Readers behind it do not. CGI turns a name into an environment
//! variable (RFC 3875, section 4.1.18), which has room for letters, digits and underscores only. Servers disagree on what
//! becomes of the other bytes that a name may have (RFC 9110, section 5.6.2): WSGI servers and Apache turn `-` into `_`, PHP
//! turns `.` into `_` as well, and lighttpd turns every byte into `_` that is neither a letter nor a digit. So for safety
//! all those bytes count as one.
//!
//! Everything that compares names in order to keep something from a reader, or to find everything that a reader may
//! find, compares them here.

/// Whether some reader takes the two names for one. A pseudo-header (RFC 9113, section 8.3) is no field to any reader, so
/// its name is like no other.
pub fn is_same(name: &[u8], other: &[u8]) -> bool {
    name.len() == other.len() && begins_with(name, other) && is_pseudo(name) == is_pseudo(other)
}

/// Whether some reader sees this beginning in the name.
pub fn begins_with(name: &[u8], beginning: &[u8]) -> bool {
    name.get(..beginning.len()).is_some_and(|head| {
        // Names are alike far less often than not, and then mostly to the letter.
        head.iter().zip(beginning).all(|(byte, other)| byte == other || fold(*byte) == fold(*other))
    })
}

fn is_pseudo(name: &[u8]) -> bool {
    name.first() == Some(&b':')
}

/// Stands for all bytes that some reader cannot tell from this one.
const fn fold(byte: u8) -> u8 {
    if byte.is_ascii_alphanumeric() { byte.to_ascii_lowercase() } else { b'-' }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All bytes of a token that are neither letters nor digits (RFC 9110, section 5.6.2), and some that are not of a
    /// token.
    const SEPARATORS: &[u8] = b"!#$%&'*+-.^_`|~ :\x00\x80\xff";

    #[test]
    fn a_separator_is_as_good_as_another() {
        for separator in SEPARATORS {
            let name = [b"x", &[*separator][..], b"Portcullis-a"].concat();
            assert!(is_same(&name, b"X-portcullis_A"), "{name:?}");
            assert!(begins_with(&name, b"x-portcullis-"), "{name:?}");
        }
    }

    #[test]
    fn letters_and_digits_are_what_they_are() {
        for (name, other) in [("a1", "a2"), ("ab", "a-"), ("a-", "a0"), ("a", "a-"), ("a-", "a"), ("", "a")] {
            assert!(!is_same(name.as_bytes(), other.as_bytes()), "{name} {other}");
        }
        assert!(is_same(b"", b""));
    }

    #[test]
    fn a_pseudo_header_is_like_no_field() {
        assert!(is_same(b":path", b":path"));
        for name in ["-path", "_path", ".path"] {
            assert!(!is_same(name.as_bytes(), b":path") && !is_same(b":path", name.as_bytes()), "{name}");
        }
    }

    #[test]
    fn a_beginning_may_be_the_whole_name_or_nothing() {
        for (name, beginning, expected) in [
            ("x-a", "x-", true),
            ("x-", "x-", true),
            ("x", "x-", false),
            ("x", "", true),
            ("yx-", "x-", false),
        ] {
            assert_eq!(begins_with(name.as_bytes(), beginning.as_bytes()), expected, "{name} {beginning}");
        }
    }
}
