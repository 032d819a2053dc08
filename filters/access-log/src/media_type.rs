//! Ranges of media types (RFC 9110, section 12.5.1), and which charsets are supersets of ASCII.

use portcullis_policy::headers::is_token;
use portcullis_xml::soap::MediaType;

/// A media type, or several: `text/*`, `application/*+json`.
#[derive(Debug)]
pub(crate) struct MediaRange {
    main: Pattern,
    sub: Pattern,
}

#[derive(Debug)]
enum Pattern {
    Any,
    /// In lower case, as is the next.
    Is(String),
    EndsWith(String),
}

impl MediaRange {
    /// Compiles `text/*`, `*/*`, `application/*+json` or a single type.
    pub(crate) fn compile(text: &str) -> Option<Self> {
        let (main, sub) = text.split_once('/')?;
        let main = match main {
            "*" => Pattern::Any,
            main if is_token(main) && !main.contains('*') => Pattern::Is(main.to_ascii_lowercase()),
            _ => return None,
        };
        let sub = match sub {
            "*" => Pattern::Any,
            sub if !is_token(sub) => return None,
            sub => match sub.strip_prefix('*') {
                None if sub.contains('*') => return None,
                None => Pattern::Is(sub.to_ascii_lowercase()),
                Some(suffix) if suffix.starts_with('+') && !suffix.contains('*') => {
                    Pattern::EndsWith(suffix.to_ascii_lowercase())
                }
                Some(_) => return None,
            },
        };
        Some(Self { main, sub })
    }

    pub(crate) fn matches(&self, media: &MediaType<'_>) -> bool {
        let mut halves = media.essence().split(|byte| *byte == b'/');
        let (Some(main), Some(sub)) = (halves.next(), halves.next()) else {
            return false;
        };
        self.main.matches(main) && self.sub.matches(sub)
    }
}

impl Pattern {
    fn matches(&self, text: &[u8]) -> bool {
        match self {
            Self::Any => true,
            Self::Is(own) => text.eq_ignore_ascii_case(own.as_bytes()),
            Self::EndsWith(suffix) => {
                let at = text.len().saturating_sub(suffix.len());
                text.get(at..).is_some_and(|end| end.eq_ignore_ascii_case(suffix.as_bytes()))
            }
        }
    }
}

/// Whether this stands behind the slash.
pub(crate) fn is_subtype(media: &MediaType<'_>, subtype: &str) -> bool {
    let mut halves = media.essence().split(|byte| *byte == b'/');
    halves.nth(1).is_some_and(|own| own.eq_ignore_ascii_case(subtype.as_bytes()))
}

/// Whether names in a body of this type can be told from ASCII bytes.
pub(crate) fn is_superset_of_ascii(media: &MediaType<'_>) -> bool {
    media.parameter("charset").is_none_or(|charset| {
        let charset = charset.to_ascii_lowercase();
        matches!(&*charset, b"utf-8" | b"utf8" | b"us-ascii" | b"ascii")
            || charset.starts_with(b"iso-8859-")
            || charset.starts_with(b"windows-125")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_match_what_they_say() {
        for (range, media, expected) in [
            ("application/json", "application/json", true),
            ("application/json", "APPLICATION/JSON; charset=utf-8", true),
            ("application/json", "application/jsonp", false),
            ("text/*", "text/plain", true),
            ("text/*", "textual/plain", false),
            ("*/*", "image/png", true),
            ("application/*+json", "application/problem+json", true),
            ("application/*+json", "application/json", false),
            ("application/*+json", "text/a+json", false),
        ] {
            let media = MediaType::parse(media.as_bytes()).unwrap();
            assert_eq!(MediaRange::compile(range).unwrap().matches(&media), expected, "{range}");
        }
        for range in ["", "json", "a/", "/b", "a/b c", "a/*json", "a*/b", "a/b*", "a/*+*", "a/b/c"] {
            assert!(MediaRange::compile(range).is_none(), "{range}");
        }
    }

    #[test]
    fn knows_charsets_in_which_ascii_bytes_are_ascii() {
        for (media, expected) in [
            ("a/b", true),
            ("a/b; charset=UTF-8", true),
            ("a/b; charset=\"iso-8859-1\"", true),
            ("a/b; charset=Windows-1252", true),
            ("a/b; charset=utf-7", false),
            ("a/b; charset=\"\"", false),
            ("a/b; x=\"; charset=utf-8\"; charset=utf-16", false),
        ] {
            let media = MediaType::parse(media.as_bytes()).unwrap();
            assert_eq!(is_superset_of_ascii(&media), expected, "{media:?}");
        }
    }
}
