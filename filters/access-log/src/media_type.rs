//! Media types (RFC 9110, section 8.3.1), and ranges of them.

use portcullis_policy::headers::is_token;

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

    pub(crate) fn matches(&self, media: &MediaType) -> bool {
        self.main.matches(&media.main) && self.sub.matches(&media.sub)
    }
}

impl Pattern {
    fn matches(&self, text: &str) -> bool {
        match self {
            Self::Any => true,
            Self::Is(own) => own == text,
            Self::EndsWith(suffix) => text.ends_with(suffix),
        }
    }
}

/// A message's media type, in lower case.
pub(crate) struct MediaType {
    main: String,
    sub: String,
    charset: Option<String>,
}

impl MediaType {
    /// Reads the value of a Content-Type header.
    pub(crate) fn parse(value: &[u8]) -> Option<Self> {
        let text = core::str::from_utf8(value).ok()?.to_ascii_lowercase();
        let mut parts = text.split(';');
        let (main, sub) = parts.next()?.trim().split_once('/')?;
        if !is_token(main) || !is_token(sub) {
            return None;
        }
        let mut charset = None;
        for parameter in parts {
            if let Some((name, value)) = parameter.split_once('=')
                && name.trim() == "charset"
            {
                charset = Some(value.trim().trim_matches('"').to_owned());
            }
        }
        Some(Self { main: main.to_owned(), sub: sub.to_owned(), charset })
    }

    /// Whether names in the body can be told from ASCII bytes.
    pub(crate) fn is_superset_of_ascii(&self) -> bool {
        self.charset.as_deref().is_none_or(|charset| {
            matches!(charset, "utf-8" | "utf8" | "us-ascii" | "ascii")
                || charset.starts_with("iso-8859-")
                || charset.starts_with("windows-125")
        })
    }

    /// What stands behind the slash.
    pub(crate) fn sub(&self) -> &str {
        &self.sub
    }
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
    fn a_type_that_cannot_be_read_is_none() {
        for value in [&b""[..], b"json", b"a/", b"a b/c", b"a/b c", b"\xff/a"] {
            assert!(MediaType::parse(value).is_none(), "{value:?}");
        }
    }
}
