//! What a body is, by its headers.

use portcullis_policy::headers::is_identity;
use portcullis_policy::{EndOfStream, HeaderList, MemoryFull};
use portcullis_xml::Charset;
use portcullis_xml::soap::{Binding, MediaType};

use crate::config::OnUndecided;
use crate::config::Undecided;

/// What a body is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Format {
    /// XML: an envelope, perhaps.
    Envelope { binding: Binding, charset: Option<Charset> },
    /// JSON.
    Json,
}

/// Why rules cannot look into a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Undecidable {
    NoBody,
    ContentType,
    Encoded,
    Multipart,
    TooLarge,
    Malformed,
    Busy,
}

impl From<MemoryFull> for Undecidable {
    fn from(full: MemoryFull) -> Self {
        match full {
            MemoryFull::Message => Self::TooLarge,
            MemoryFull::Worker => Self::Busy,
        }
    }
}

impl Undecidable {
    pub(crate) const ALL: [Self; 7] = [
        Self::NoBody,
        Self::ContentType,
        Self::Encoded,
        Self::Multipart,
        Self::TooLarge,
        Self::Malformed,
        Self::Busy,
    ];

    /// The word for the log.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::NoBody => "no-body",
            Self::ContentType => "content-type",
            Self::Encoded => "encoded",
            Self::Multipart => "multipart",
            Self::TooLarge => "too-large",
            Self::Malformed => "malformed",
            Self::Busy => "busy",
        }
    }

    /// The counter's name.
    pub(crate) const fn counter(self) -> &'static str {
        match self {
            Self::NoBody => "no_body",
            Self::ContentType => "content_type",
            Self::Encoded => "encoded",
            Self::Multipart => "multipart",
            Self::TooLarge => "too_large",
            Self::Malformed => "malformed",
            Self::Busy => "busy",
        }
    }

    /// What becomes of such requests.
    pub(crate) const fn outcome(self, configured: &Undecided) -> OnUndecided {
        match self {
            Self::NoBody => configured.no_body,
            Self::ContentType => configured.content_type,
            Self::Encoded => configured.encoded,
            Self::Multipart => configured.multipart,
            Self::TooLarge => configured.too_large,
            Self::Malformed => configured.malformed,
            Self::Busy => configured.busy,
        }
    }
}

/// Whether rules look into documents of a kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Interest {
    Some,
    None,
}

impl From<bool> for Interest {
    fn from(interest: bool) -> Self {
        if interest { Self::Some } else { Self::None }
    }
}

/// What rules look into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Needs {
    pub(crate) envelope: Interest,
    pub(crate) json: Interest,
}

impl Needs {
    /// Whether rules look into bodies at all.
    pub(crate) fn any(self) -> bool {
        self.envelope == Interest::Some || self.json == Interest::Some
    }
}

impl Format {
    /// What the body of a request is, if rules can look into such bodies.
    pub(crate) fn of(headers: &HeaderList, end: EndOfStream, needs: Needs) -> Result<Self, Undecidable> {
        if end == EndOfStream::Yes || headers.first(":method") == Some(b"CONNECT") {
            return Err(Undecidable::NoBody);
        }
        // What the client sends behind the headers of an upgrade is no body, and comes after the answer, unless the
        // upgrade is refused and the body that the headers announce is one.
        if headers.asks_for_upgrade() {
            let is_ambiguous = headers.announces_body();
            return Err(if is_ambiguous { Undecidable::ContentType } else { Undecidable::NoBody });
        }
        if !headers.all_spellings("content-encoding").all(is_identity) {
            return Err(Undecidable::Encoded);
        }
        let mut content_types = headers.all_spellings("content-type");
        let (Some(content_type), None) = (content_types.next(), content_types.next()) else {
            return Err(Undecidable::ContentType);
        };
        let Ok(media_type) = MediaType::parse(content_type) else {
            return Err(Undecidable::ContentType);
        };
        if media_type.is_multipart() {
            return Err(Undecidable::Multipart);
        }
        if needs.envelope == Interest::Some && media_type.is_xml() {
            let binding = Binding::of_media_type(&media_type, headers.all_spellings("soapaction"))
                .map_err(|_| Undecidable::ContentType)?;
            let charset = media_type.parameter("charset").map(charset).transpose()?;
            return Ok(Self::Envelope { binding, charset });
        }
        if needs.json == Interest::Some && media_type.is_json() && is_utf_8(&media_type) {
            return Ok(Self::Json);
        }
        Err(Undecidable::ContentType)
    }
}

fn charset(label: &[u8]) -> Result<Charset, Undecidable> {
    let label = core::str::from_utf8(label).ok();
    label.and_then(Charset::from_label).ok_or(Undecidable::ContentType)
}

/// Whether the document is UTF-8, which JSON is if nothing else is said (RFC 8259, section 8.1), or ASCII, which is a part of
/// it. Upstreams decode what says another charset by that one: in UTF-7 `+ACI-` is a quotation mark.
fn is_utf_8(media_type: &MediaType<'_>) -> bool {
    media_type.parameter("charset").is_none_or(|label| {
        [&b"utf-8"[..], b"utf8", b"us-ascii"].iter().any(|known| label.eq_ignore_ascii_case(known))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(headers: &[(&str, &str)], needs: Needs) -> Result<&'static str, Undecidable> {
        let headers = headers.iter().copied().collect();
        Format::of(&headers, EndOfStream::No, needs).map(|format| match format {
            Format::Envelope { .. } => "xml",
            Format::Json => "json",
        })
    }

    const UPGRADE: (&str, &str) = ("connection", "upgrade");
    const BOTH: Needs = Needs { envelope: Interest::Some, json: Interest::Some };
    const XML: Needs = Needs { envelope: Interest::Some, json: Interest::None };

    #[test]
    fn knows_bodies_by_their_headers() {
        use Undecidable::{ContentType, Encoded, Multipart, NoBody};
        for (headers, expected) in [
            (&[("content-type", "text/xml")][..], Ok("xml")),
            (&[("content-type", "application/soap+xml; charset=utf-8")], Ok("xml")),
            (&[("content-type", "text/xml;charset=\"UTF-16\"")], Ok("xml")),
            (&[("content-type", "text/xml;charset=ebcdic")], Err(ContentType)),
            (&[("content-type", "Application/JSON")], Ok("json")),
            (&[("content-type", "application/vnd.x+json; charset=utf-8")], Ok("json")),
            (&[("content-type", "application/json;charset=\"UTF-8\"")], Ok("json")),
            (&[("content-type", "application/json; Charset=Utf8")], Ok("json")),
            (&[("content-type", "application/json; charset=US-ASCII; a=b")], Ok("json")),
            (&[("content-type", "application/json; charset=utf-7")], Err(ContentType)),
            (&[("content-type", "application/json; charset=\"utf-7\"")], Err(ContentType)),
            (&[("content-type", "application/json; charset=\"ut\\f-7\"")], Err(ContentType)),
            (&[("content-type", "application/x+json; charset=utf-16le")], Err(ContentType)),
            (&[("content-type", "application/json; charset=iso-8859-1")], Err(ContentType)),
            (&[("content-type", "application/json; charset=\"\"")], Err(ContentType)),
            (&[("content-type", "application/json; charset=\"utf-8 \"")], Err(ContentType)),
            (&[("content-type", "application/json; charset=utf-8; charset=utf-7")], Err(ContentType)),
            (&[("content-type", "application/json; charset=utf-8; Charset=utf-8")], Err(ContentType)),
            (&[("content-type", "application/json; charset")], Err(ContentType)),
            (&[("content-type", "application/json; charset = utf-7")], Err(ContentType)),
            (&[("content-type", "application/json, application/json")], Err(ContentType)),
            (&[("content-type", "application/json"), ("content-type", "application/json")], Err(ContentType)),
            (&[("content-type", "application/grpc")], Err(ContentType)),
            (&[("content-type", "text/plain")], Err(ContentType)),
            (&[("content-type", "xml")], Err(ContentType)),
            (&[("content-type", "text/xml"), ("content-type", "application/json")], Err(ContentType)),
            (&[], Err(ContentType)),
            (&[("content-type", "multipart/related; type=\"application/xop+xml\"")], Err(Multipart)),
            (&[("content-type", "Multipart/Form-Data; boundary=x")], Err(Multipart)),
            (&[("content-type", "text/xml"), ("content-encoding", "gzip")], Err(Encoded)),
            (&[("content-type", "text/xml"), ("content_type", "application/json")], Err(ContentType)),
            (&[("content-type", "text/xml"), ("content.encoding", "gzip")], Err(Encoded)),
            (&[("content-type", "text/xml"), ("content-encoding", "identity, br")], Err(Encoded)),
            (&[("content-type", "text/xml"), ("content-encoding", "Identity")], Ok("xml")),
            (
                &[("content-type", "text/xml"), ("content-encoding", ""), ("content-encoding", "br")],
                Err(Encoded),
            ),
            (&[("content-type", "text/xml"), ("soapaction", "a"), ("soapaction", "b")], Err(ContentType)),
            (&[(":method", "CONNECT"), ("content-type", "text/xml")], Err(NoBody)),
            (&[UPGRADE, ("upgrade", "websocket"), ("content-type", "text/xml")], Err(NoBody)),
            (&[UPGRADE, ("upgrade", "websocket"), ("content-length", "0")], Err(NoBody)),
            // Over HTTP/2 it means nothing, and a body needs no announcement.
            (&[("upgrade", "websocket"), ("content-type", "text/plain")], Err(ContentType)),
            (
                &[UPGRADE, ("upgrade", "websocket"), ("content-length", "9"), ("content-type", "text/xml")],
                Err(ContentType),
            ),
            (
                &[
                    UPGRADE,
                    ("upgrade", "h2c"),
                    ("transfer-encoding", "chunked"),
                    ("content-type", "text/xml"),
                ],
                Err(ContentType),
            ),
        ] {
            assert_eq!(of(headers, BOTH), expected, "{headers:?}");
        }
        assert_eq!(of(&[("content-type", "application/json")], XML), Err(ContentType));
        let parameters: String = (0..33).map(|number| format!(";p{number}=1")).collect();
        for essence in ["text/xml", "application/json", "multipart/related"] {
            let content_type = format!("{essence}{parameters}");
            assert_eq!(of(&[("content-type", &content_type)], BOTH), Err(ContentType), "{essence}");
        }
        let whole = [("content-type", "text/xml")].into_iter().collect();
        assert_eq!(Format::of(&whole, EndOfStream::Yes, XML), Err(NoBody));
    }
}
