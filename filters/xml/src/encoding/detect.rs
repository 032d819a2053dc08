//! What the first bytes of a document and its content type tell about its encoding (XML 1.0, appendix F).

use super::Charset;
use crate::error::ErrorKind;

/// What it is known from that a document is read in an encoding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Basis {
    /// A byte order mark.
    Mark,
    /// The content type.
    ContentType,
    /// The first bytes are `<?` in no other.
    Pattern,
    /// Nothing: it is UTF-8, unless the XML declaration says otherwise.
    Default,
}

/// How a document is to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Detected {
    pub(crate) charset: Charset,
    pub(crate) basis: Basis,
    /// Bytes of the byte order mark.
    pub(crate) mark: usize,
}

/// Judges by the first four bytes, or by all that there are.
pub(crate) fn detect(first: &[u8], content_type: Option<Charset>) -> Result<Detected, ErrorKind> {
    // UTF-32, in any byte order; its little-endian mark begins with that of UTF-16.
    if matches!(first, [0, 0, 0xFE, 0xFF] | [0xFF, 0xFE, 0, 0] | [0, 0, 0xFF, 0xFE] | [0xFE, 0xFF, 0, 0]) {
        return Err(ErrorKind::UnsupportedEncoding(None));
    }
    let marked = match first {
        [0xEF, 0xBB, 0xBF, ..] => Some((Charset::Utf8, 3)),
        [0xFE, 0xFF, ..] => Some((Charset::Utf16Be, 2)),
        [0xFF, 0xFE, ..] => Some((Charset::Utf16Le, 2)),
        _ => None,
    };
    match (marked, content_type) {
        (Some((actual, mark)), declared) => match declared {
            Some(declared) if declared != actual && !(declared == Charset::Utf16 && actual.is_utf16()) => {
                Err(ErrorKind::ConflictingEncodings { actual, declared })
            }
            _ => Ok(Detected { charset: actual, basis: Basis::Mark, mark }),
        },
        (None, Some(Charset::Utf16)) => Err(ErrorKind::MissingByteOrderMark),
        (None, Some(charset)) => Ok(Detected { charset, basis: Basis::ContentType, mark: 0 }),
        (None, None) => {
            let (charset, basis) = match first {
                [0, b'<', 0, b'?'] => (Charset::Utf16Be, Basis::Pattern),
                [b'<', 0, b'?', 0] => (Charset::Utf16Le, Basis::Pattern),
                // A `<` in UTF-32, or `<?xm` in EBCDIC.
                [0, 0, 0, b'<'] | [b'<', 0, 0, 0] | [0, 0, b'<', 0] | [0, b'<', 0, 0] => {
                    return Err(ErrorKind::UnsupportedEncoding(None));
                }
                [0x4C, 0x6F, 0xA7, 0x94] => return Err(ErrorKind::UnsupportedEncoding(None)),
                _ => (Charset::Utf8, Basis::Default),
            };
            Ok(Detected { charset, basis, mark: 0 })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn goes_by_the_byte_order_mark_then_the_content_type_then_the_first_bytes() {
        let known = |charset, basis, mark| Ok(Detected { charset, basis, mark });
        let conflict = |actual, declared| Err(ErrorKind::ConflictingEncodings { actual, declared });
        let unsupported = || Err(ErrorKind::UnsupportedEncoding(None));
        type Case<'a> = (&'a [u8], Option<Charset>, Result<Detected, ErrorKind>);
        let cases: [Case<'_>; 19] = [
            (b"<a/>", None, known(Charset::Utf8, Basis::Default, 0)),
            (b"<a", None, known(Charset::Utf8, Basis::Default, 0)),
            (b"", None, known(Charset::Utf8, Basis::Default, 0)),
            (b"\xEF\xBB\xBF<", None, known(Charset::Utf8, Basis::Mark, 3)),
            (b"\xFE\xFF\0<", None, known(Charset::Utf16Be, Basis::Mark, 2)),
            (b"\xFF\xFE<\0", None, known(Charset::Utf16Le, Basis::Mark, 2)),
            (b"\0<\0?", None, known(Charset::Utf16Be, Basis::Pattern, 0)),
            (b"<\0?\0", None, known(Charset::Utf16Le, Basis::Pattern, 0)),
            (b"\xFF\xFE\0\0", None, unsupported()),
            (b"\0\0\xFE\xFF", None, unsupported()),
            (b"\0\0\0<", None, unsupported()),
            (b"\x4C\x6F\xA7\x94", None, unsupported()),
            (b"<a/>", Some(Charset::Latin1), known(Charset::Latin1, Basis::ContentType, 0)),
            (b"<\0a\0", Some(Charset::Utf16Le), known(Charset::Utf16Le, Basis::ContentType, 0)),
            (b"<\0a\0", Some(Charset::Utf16), Err(ErrorKind::MissingByteOrderMark)),
            (b"\xFF\xFE<\0", Some(Charset::Utf16), known(Charset::Utf16Le, Basis::Mark, 2)),
            (b"\xFF\xFE<\0", Some(Charset::Utf16Be), conflict(Charset::Utf16Le, Charset::Utf16Be)),
            (b"\xFF\xFE<\0", Some(Charset::Utf8), conflict(Charset::Utf16Le, Charset::Utf8)),
            (b"\xEF\xBB\xBF<", Some(Charset::Latin1), conflict(Charset::Utf8, Charset::Latin1)),
        ];
        for (first, content_type, expected) in cases {
            assert_eq!(detect(first, content_type), expected, "{first:?} {content_type:?}");
        }
    }
}
