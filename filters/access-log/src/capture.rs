//! What is kept of bodies: their first bytes, as they pass.

use core::ops::Range;

use portcullis_policy::{ConfigError, HeaderList};
use portcullis_xml::soap::MediaType;

use crate::config::BodyCapture;
use crate::media_type::{MediaRange, is_subtype, is_superset_of_ascii};
use crate::redact::Redaction;

/// What stands for the rest of a body.
const CUT: &str = "…";

/// Which bodies of one direction are kept.
#[derive(Debug)]
pub(crate) struct Capture {
    limit: usize,
    types: Vec<MediaRange>,
}

/// What has been kept of a message's body.
#[derive(Debug, Default)]
pub(crate) enum CapturedBody {
    /// Nothing: there is none, or none has come, or nobody asked.
    #[default]
    Nothing,
    /// It is not kept, for this reason.
    Refused(&'static str),
    /// The first bytes.
    Kept(FirstBytes),
}

/// The first bytes of a body.
#[derive(Debug)]
pub(crate) struct FirstBytes {
    kind: Kind,
    /// How many may be kept.
    limit: usize,
    bytes: Vec<u8>,
    whole: Whole,
}

/// Whether all of a body has been kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Whole {
    /// More may come.
    NotYet,
    Yes,
    No,
}

/// How names can be found in a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Json,
    Form,
    /// They cannot.
    Opaque,
}

impl Kind {
    fn of(media: &MediaType<'_>) -> Self {
        if media.is_json() || is_subtype(media, "json") {
            Self::Json
        } else if is_subtype(media, "x-www-form-urlencoded") {
            Self::Form
        } else {
            Self::Opaque
        }
    }
}

impl Capture {
    /// Compiles the rules.
    ///
    /// # Errors
    /// The first entry that is wrong.
    pub(crate) fn compile(config: &BodyCapture) -> Result<Self, ConfigError> {
        let limit = match usize::try_from(config.max_bytes) {
            Ok(limit @ 1..=65_536) => limit,
            _ => {
                let problem = "out of range, expected a number of bytes from 1 to 65536";
                return Err(ConfigError::new("max_bytes", problem));
            }
        };
        let types = config.content_types.iter().enumerate().map(|(at, range)| {
            MediaRange::compile(range).ok_or_else(|| {
                let problem =
                    "must be a media type such as `application/json`, `text/*` or `application/*+json`";
                ConfigError::new(format!("content_types[{at}]"), problem)
            })
        });
        Ok(Self { limit, types: types.collect::<Result<_, _>>()? })
    }

    /// What is to be kept of the body of a message with these headers.
    pub(crate) fn begin(&self, headers: &HeaderList, redaction: &Redaction) -> CapturedBody {
        if headers
            .all("content-encoding")
            .any(|coding| !coding.trim_ascii().eq_ignore_ascii_case(b"identity"))
        {
            return CapturedBody::Refused("[not captured: it is encoded]");
        }
        let mut types = headers.all("content-type");
        let (Some(content_type), None) = (types.next(), types.next()) else {
            return CapturedBody::Refused("[not captured: it has no one content type]");
        };
        let Ok(media) = MediaType::parse(content_type) else {
            return CapturedBody::Refused("[not captured: its content type cannot be read]");
        };
        if !self.types.iter().any(|range| range.matches(&media)) {
            return CapturedBody::Refused("[not captured: its content type is not listed]");
        }
        if !is_superset_of_ascii(&media) {
            return CapturedBody::Refused("[not captured: its character set is not a superset of ASCII]");
        }
        let kind = Kind::of(&media);
        if is_subtype(&media, "json-patch+json") {
            return CapturedBody::Refused("[not captured: it is JSON Patch, in which names are values]");
        }
        if kind == Kind::Opaque && !redaction.allows_opaque_bodies() {
            return CapturedBody::Refused("[not captured: what `redact` names cannot be found in it]");
        }
        CapturedBody::Kept(FirstBytes { kind, limit: self.limit, bytes: Vec::new(), whole: Whole::NotYet })
    }

    /// The part of a new piece of body that is wanted: which bytes of the host's buffer.
    pub(crate) fn wanted(&self, body: &CapturedBody, fresh: &Range<usize>) -> Range<usize> {
        let CapturedBody::Kept(kept) = body else {
            return fresh.start..fresh.start;
        };
        let room = self.limit.saturating_sub(kept.bytes.len());
        fresh.start..fresh.end.min(fresh.start.saturating_add(room))
    }
}

impl FirstBytes {
    /// Adds bytes, with room for no more than may be kept.
    fn append(&mut self, bytes: Vec<u8>) {
        if self.bytes.is_empty() {
            self.bytes = bytes;
            return;
        }
        let needed = self.bytes.len().saturating_add(bytes.len());
        if needed > self.bytes.capacity() {
            let room = self.bytes.capacity().saturating_mul(2).min(self.limit).max(needed);
            self.bytes.reserve_exact(room.saturating_sub(self.bytes.len()));
        }
        self.bytes.extend(bytes);
    }
}

impl CapturedBody {
    /// Takes bytes that were wanted out of a piece that had `came`; none when the host did not give them.
    pub(crate) fn take(&mut self, bytes: Option<Vec<u8>>, came: usize) {
        if let Self::Kept(kept) = self {
            let bytes = bytes.unwrap_or_default();
            let taken = bytes.len();
            kept.append(bytes);
            if taken < came {
                kept.whole = Whole::No;
            }
        }
    }

    /// Nothing more comes.
    pub(crate) fn end(&mut self) {
        if let Self::Kept(kept @ FirstBytes { whole: Whole::NotYet, .. }) = self {
            kept.whole = Whole::Yes;
        }
    }

    /// Whether more is to be kept.
    pub(crate) fn wants_more(&self) -> bool {
        matches!(self, Self::Kept(FirstBytes { whole: Whole::NotYet, .. }))
    }

    /// What may be shown of it; none if there is no body.
    pub(crate) fn shown(&self, redaction: &Redaction) -> Option<Vec<u8>> {
        let FirstBytes { kind, bytes, whole, .. } = match self {
            Self::Nothing => return None,
            Self::Refused(reason) => return Some(reason.as_bytes().to_vec()),
            Self::Kept(kept) if kept.bytes.is_empty() && kept.whole == Whole::Yes => return None,
            Self::Kept(kept) => kept,
        };
        let mut shown = match kind {
            Kind::Json => redaction.json(bytes),
            Kind::Form => redaction.form(bytes).into_owned(),
            Kind::Opaque => bytes.clone(),
        };
        // JSON says by itself where it ends too early; half a number looks like a whole one.
        if *whole != Whole::Yes && (*kind != Kind::Json || !shown.ends_with(CUT.as_bytes())) {
            shown.extend_from_slice(CUT.as_bytes());
        }
        Some(shown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Query, Redact};

    fn redaction(json: &[&str]) -> Redaction {
        let json = json.iter().map(|pointer| (*pointer).to_owned()).collect();
        Redaction::compile(&Redact { json, ..Redact::default() }, Query::Keep).unwrap()
    }

    fn begun(capture: &BodyCapture, headers: &[(&str, &str)], redaction: &Redaction) -> CapturedBody {
        Capture::compile(capture).unwrap().begin(&headers.iter().copied().collect(), redaction)
    }

    #[test]
    fn keeps_what_is_listed_and_says_why_it_does_not_keep_the_rest() {
        let kept = "";
        for (headers, expected) in [
            (&[("content-type", "application/json")][..], kept),
            (&[("content-type", "Application/JSON; charset=\"UTF-8\"")], kept),
            (&[("content-type", "application/problem+json")], kept),
            (&[("content-type", "application/json;charset=iso-8859-1")], kept),
            (
                &[("content-type", "application/x-www-form-urlencoded"), ("content-encoding", "identity")],
                kept,
            ),
            (&[], "no one content type"),
            (&[("content-type", "text/plain"), ("content-type", "text/plain")], "no one content type"),
            (&[("content-type", "json")], "cannot be read"),
            (&[("content-type", "image/png")], "not listed"),
            (&[("content-type", "text/plain")], "not listed"),
            (&[("content-type", "application/xml")], "not listed"),
            (&[("content-type", "application/soap+xml")], "not listed"),
            (&[("content-type", "application/json-patch+json")], "JSON Patch"),
            (&[("content-type", "application/jsonx")], "not listed"),
            (&[("content-type", "application/json"), ("content-encoding", "gzip")], "encoded"),
            (&[("content-type", "application/json; charset=utf-16")], "character set"),
            (&[("content-type", "application/json; charset=utf-7")], "character set"),
            (&[("content-type", "application/json; charset=utf-7; charset=utf-8")], "cannot be read"),
            (&[("content-type", "application/json; x=\";charset=utf-8\"; charset=utf-7")], "character set"),
            (&[("content-type", "application/json; charset=utf-7; x=\";charset=utf-8;\"")], "character set"),
            (&[("content-type", "application/json; charset")], "cannot be read"),
        ] {
            match begun(&BodyCapture::default(), headers, &redaction(&[])) {
                CapturedBody::Kept(_) => assert_eq!(expected, kept, "{headers:?}"),
                CapturedBody::Refused(reason) => {
                    assert!(!expected.is_empty() && reason.contains(expected), "{headers:?}: {reason}");
                }
                CapturedBody::Nothing => panic!("{headers:?}"),
            }
        }
    }

    #[test]
    fn keeps_no_body_in_which_configured_names_cannot_be_found() {
        let any = BodyCapture { content_types: vec!["*/*".to_owned()], ..BodyCapture::default() };
        let nothing = Redact::default();
        let pointers = Redact { json: vec!["/secret".to_owned()], ..Redact::default() };
        let parameters = Redact { query: vec!["secret".to_owned()], ..Redact::default() };
        for (content_type, with_names) in [
            ("application/json", true),
            ("application/x-www-form-urlencoded", true),
            ("application/xml", false),
            ("text/plain", false),
            ("multipart/form-data; boundary=x", false),
        ] {
            for (redact, expected) in [(&nothing, true), (&pointers, with_names), (&parameters, with_names)] {
                let redaction = Redaction::compile(redact, Query::Keep).unwrap();
                let body = begun(&any, &[("content-type", content_type)], &redaction);
                assert_eq!(matches!(body, CapturedBody::Kept(_)), expected, "{content_type}");
            }
        }
    }

    fn shown(content_type: &str, limit: u32, pieces: &[&str], end: bool) -> Option<String> {
        let config = BodyCapture { max_bytes: limit, content_types: vec!["*/*".to_owned()] };
        let (capture, redaction) = (Capture::compile(&config).unwrap(), redaction(&[]));
        let mut body = capture.begin(&[("content-type", content_type)].into_iter().collect(), &redaction);
        for piece in pieces {
            let wanted = capture.wanted(&body, &(0..piece.len()));
            body.take(Some(piece.as_bytes()[wanted].to_vec()), piece.len());
        }
        if end {
            body.end();
        }
        body.shown(&redaction).map(|shown| String::from_utf8(shown).unwrap())
    }

    #[test]
    fn keeps_the_first_bytes_and_says_that_there_were_more() {
        for (limit, pieces, end, expected) in [
            (8, &["abc"][..], true, Some("abc")),
            (8, &["abc", "", "de"], true, Some("abcde")),
            (5, &["abc", "de"], true, Some("abcde")),
            (4, &["abc", "de"], true, Some("abcd…")),
            (3, &["abc", "de", "f"], true, Some("abc…")),
            (8, &["abc"], false, Some("abc…")),
            (8, &[], true, None),
            (8, &[], false, Some("…")),
        ] {
            assert_eq!(shown("text/plain", limit, pieces, end).as_deref(), expected, "{limit} {pieces:?}");
        }
    }

    #[test]
    fn json_that_was_cut_says_so_even_if_what_is_left_is_json() {
        for (limit, pieces, end, expected) in [
            (2, &["1234"][..], true, "12…"),
            (8, &["12"], false, "12…"),
            (7, &[r#"{"a":1}{"a":2}"#], true, r#"{"a":1}…"#),
            (8, &["12"], true, "12"),
            (3, &[r#"{"a":1}"#], true, r#"{"a…"#),
        ] {
            assert_eq!(shown("application/json", limit, pieces, end).as_deref(), Some(expected));
        }
    }

    #[test]
    fn holds_no_more_than_the_limit() {
        let config = BodyCapture { max_bytes: 1000, content_types: vec!["*/*".to_owned()] };
        let (capture, redaction) = (Capture::compile(&config).unwrap(), redaction(&[]));
        let mut body = capture.begin(&[("content-type", "a/b")].into_iter().collect(), &redaction);
        for _ in 0..200 {
            let wanted = capture.wanted(&body, &(0..7));
            body.take(Some(vec![b'x'; wanted.len()]), 7);
            let CapturedBody::Kept(kept) = &body else { panic!() };
            assert!(kept.bytes.capacity() <= 1000, "{}", kept.bytes.capacity());
        }
        assert_eq!(body.shown(&redaction).unwrap().len(), 1000 + CUT.len());
    }

    /// A piece that has been held lies behind what came before it.
    #[test]
    fn wants_the_new_bytes_and_no_more_than_there_is_room_for() {
        let config = BodyCapture { max_bytes: 4, content_types: vec!["*/*".to_owned()] };
        let (capture, redaction) = (Capture::compile(&config).unwrap(), redaction(&[]));
        let mut body = capture.begin(&[("content-type", "a/b")].into_iter().collect(), &redaction);
        assert_eq!(capture.wanted(&body, &(100..103)), 100..103);
        assert_eq!(capture.wanted(&body, &(100..200)), 100..104);
        body.take(Some(b"abc".to_vec()), 3);
        assert_eq!(capture.wanted(&body, &(103..200)), 103..104);
        assert_eq!(capture.wanted(&CapturedBody::Nothing, &(7..9)), 7..7);
    }

    #[test]
    fn hides_secrets_in_json_and_forms() {
        let json = r#"{"user":"a","password":"hunter2","x":1}"#;
        for limit in 1..64 {
            let shown = shown("application/json", limit, &[json], true).unwrap();
            assert!(!shown.contains("hunter2"), "{shown}");
        }
        let whole = shown("application/json", 64, &[json], true).unwrap();
        assert_eq!(whole, r#"{"user":"a","password":"[redacted]","x":1}"#);
        let form = shown("application/x-www-form-urlencoded", 64, &["a=1&pass", "word=hunter2&b=2"], true);
        assert_eq!(form.unwrap(), "a=1&password=[redacted]&b=2");
        for limit in 1..30 {
            let form = shown("application/x-www-form-urlencoded", limit, &["a=1&password=hunter2&b=2"], true);
            assert!(!form.unwrap().contains("hun"), "{limit}");
        }
    }
}
