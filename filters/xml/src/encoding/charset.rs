//! The encodings that documents may be in.

use core::fmt;

/// An encoding, as a content type or an XML declaration names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Charset {
    /// UTF-8.
    Utf8,
    /// UTF-16 with a byte order mark that says which (RFC 2781, section 3.3).
    Utf16,
    /// UTF-16, big-endian.
    Utf16Be,
    /// UTF-16, little-endian.
    Utf16Le,
    /// ISO-8859-1: a byte is the character of the same number.
    Latin1,
    /// US-ASCII.
    Ascii,
}

impl Charset {
    /// The encoding of that name, in any case, by IANA's registry of character sets; `None` if it is not supported.
    #[must_use]
    pub fn from_label(label: &str) -> Option<Self> {
        const LABELS: [(&str, Charset); 14] = [
            ("utf-8", Charset::Utf8),
            ("utf8", Charset::Utf8),
            ("utf-16", Charset::Utf16),
            ("utf-16be", Charset::Utf16Be),
            ("utf-16le", Charset::Utf16Le),
            ("iso-8859-1", Charset::Latin1),
            ("iso_8859-1", Charset::Latin1),
            ("iso_8859-1:1987", Charset::Latin1),
            ("latin1", Charset::Latin1),
            ("l1", Charset::Latin1),
            ("us-ascii", Charset::Ascii),
            ("ascii", Charset::Ascii),
            ("iso646-us", Charset::Ascii),
            ("ansi_x3.4-1968", Charset::Ascii),
        ];
        LABELS.into_iter().find(|(name, _)| name.eq_ignore_ascii_case(label)).map(|(_, charset)| charset)
    }

    pub(crate) fn is_utf16(self) -> bool {
        matches!(self, Self::Utf16 | Self::Utf16Be | Self::Utf16Le)
    }
}

impl fmt::Display for Charset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Utf8 => "UTF-8",
            Self::Utf16 => "UTF-16",
            Self::Utf16Be => "UTF-16BE",
            Self::Utf16Le => "UTF-16LE",
            Self::Latin1 => "ISO-8859-1",
            Self::Ascii => "US-ASCII",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knows_encodings_by_name_in_any_case() {
        for (label, expected) in [
            ("UTF-8", Some(Charset::Utf8)),
            ("Utf-16le", Some(Charset::Utf16Le)),
            ("ISO-8859-1", Some(Charset::Latin1)),
            ("US-ASCII", Some(Charset::Ascii)),
            ("windows-1252", None),
            ("ISO-8859-15", None),
            (" utf-8", None),
            ("", None),
        ] {
            assert_eq!(Charset::from_label(label), expected, "{label}");
        }
    }
}
