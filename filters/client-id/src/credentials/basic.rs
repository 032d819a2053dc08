//! HTTP Basic (RFC 7617).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use portcullis_policy::headers::without_ows;

use super::Malformed;

/// Identifier and secret as the header has them.
pub(crate) struct Basic {
    pub(crate) id: Vec<u8>,
    pub(crate) secret: Vec<u8>,
}

/// Whether an Authorization header names the Basic scheme, well-formed or not. Other schemes are somebody else's.
pub(crate) fn is_basic(authorization: &[u8]) -> bool {
    match authorization.split_at_checked(5) {
        Some((scheme, rest)) => {
            scheme.eq_ignore_ascii_case(b"basic")
                && rest.first().is_none_or(|byte| matches!(byte, b' ' | b'\t'))
        }
        None => false,
    }
}

/// Reads the header that [`is_basic`].
pub(crate) fn parse(authorization: &[u8]) -> Result<Basic, Malformed> {
    let (_, rest) = authorization.split_at_checked(5).ok_or(Malformed::Basic)?;
    let decoded = STANDARD.decode(without_ows(rest)).map_err(|_| Malformed::Basic)?;
    // The user-id has no colon; the password may (section 2).
    let colon = memchr::memchr(b':', &decoded).ok_or(Malformed::Basic)?;
    let (id, secret) = decoded.split_at_checked(colon).ok_or(Malformed::Basic)?;
    Ok(Basic { id: id.to_vec(), secret: secret.get(1..).unwrap_or_default().to_vec() })
}

/// The header's value for these credentials.
pub(crate) fn write(id: &str, secret: &[u8]) -> String {
    let mut pair = Vec::with_capacity(id.len().saturating_add(secret.len()).saturating_add(1));
    pair.extend_from_slice(id.as_bytes());
    pair.push(b':');
    pair.extend_from_slice(secret);
    let mut value = String::from("Basic ");
    STANDARD.encode_string(&pair, &mut value);
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(value: &[u8]) -> Option<(Vec<u8>, Vec<u8>)> {
        parse(value).ok().map(|basic| (basic.id, basic.secret))
    }

    #[test]
    fn reads_the_examples_of_the_rfc() {
        assert_eq!(
            pair(b"Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="),
            Some((b"Aladdin".into(), b"open sesame".into()))
        );
        assert_eq!(pair(b"Basic dGVzdDoxMjPCow=="), Some((b"test".into(), "123£".as_bytes().into())));
    }

    #[test]
    fn tells_the_scheme_from_others_that_begin_alike() {
        for (value, expected) in [
            (&b"Basic x"[..], true),
            (b"bASIC\tx", true),
            (b"Basic", true),
            (b"Basics x", false),
            (b"Bearer x", false),
        ] {
            assert_eq!(is_basic(value), expected, "{value:?}");
        }
    }

    #[test]
    fn refuses_what_is_not_canonical_base64_of_a_pair() {
        for value in [
            &b"Basic"[..],
            b"Basic ",
            b"Basic !!!!",
            b"Basic YTpi Yg==",
            b"Basic YTpi=",
            b"Basic YTo",
            b"Basic YTpiYh==",
            b"Basic YWJj",
            b"Basic YTpi, Basic YTpi",
        ] {
            assert_eq!(pair(value), None, "{value:?}");
        }
    }

    #[test]
    fn splits_at_the_first_colon_and_writes_what_it_reads() {
        assert_eq!(pair(write("a", b"b:c").as_bytes()), Some((b"a".into(), b"b:c".into())));
        assert_eq!(pair(write("a", b"").as_bytes()), Some((b"a".into(), b"".into())));
    }
}
