//! Percent-encoding as HTML forms have it (WHATWG URL, `application/x-www-form-urlencoded`): `+` is a space.

use std::borrow::Cow;

/// The decoded bytes, or `None` if a `%` is not followed by two hexadecimal digits.
///
/// Lenient decoders leave such a `%` as it is, others drop it; to decide on credentials means not to guess which
/// of them the upstream has.
pub fn decode_form(encoded: &[u8]) -> Option<Cow<'_, [u8]>> {
    if memchr::memchr2(b'%', b'+', encoded).is_none() {
        return Some(Cow::Borrowed(encoded));
    }
    decode(encoded, b' ').map(Cow::Owned)
}

/// The decoded bytes of a path, where `+` is a plus sign; `None` as above.
pub fn decode_path(encoded: &[u8]) -> Option<Cow<'_, [u8]>> {
    if memchr::memchr(b'%', encoded).is_none() {
        return Some(Cow::Borrowed(encoded));
    }
    decode(encoded, b'+').map(Cow::Owned)
}

fn decode(encoded: &[u8], plus: u8) -> Option<Vec<u8>> {
    let mut decoded = Vec::with_capacity(encoded.len());
    let mut rest = encoded.iter();
    while let Some(&byte) = rest.next() {
        decoded.push(match byte {
            b'%' => {
                let high = char::from(*rest.next()?).to_digit(16)?;
                let low = char::from(*rest.next()?).to_digit(16)?;
                u8::try_from(high.checked_mul(16)?.checked_add(low)?).ok()?
            }
            b'+' => plus,
            other => other,
        });
    }
    Some(decoded)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decodes_what_is_well_formed_and_nothing_else() {
        for (encoded, decoded) in [
            (&b"plain"[..], Some(&b"plain"[..])),
            (b"", Some(b"")),
            (b"a+b%20c", Some(b"a b c")),
            (b"%00%fF%2b", Some(b"\x00\xff+")),
            (b"%", None),
            (b"a%2", None),
            (b"%zz", None),
            (b"%+1", None),
            (b"%%41", None),
        ] {
            assert_eq!(decode_form(encoded).as_deref(), decoded, "{encoded:?}");
        }
        assert_eq!(decode_path(b"a+b%2e").as_deref(), Some(&b"a+b."[..]));
    }
}
