//! What a message is, by its headers.

use portcullis_policy::headers::is_identity;
use portcullis_policy::{Direction, EndOfStream, HeaderList};
use portcullis_xml::Charset;
use portcullis_xml::soap::MediaType;

use crate::condition::status;
use crate::failure::{Exemption, Failure};

/// Why a message is not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unread {
    Exempt(Exemption),
    Failed(Failure),
}

impl From<Exemption> for Unread {
    fn from(exemption: Exemption) -> Self {
        Self::Exempt(exemption)
    }
}

impl From<Failure> for Unread {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

/// A media type that cannot be read, or two.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Unreadable;

/// The media type, if there is one. Whatever a reader may find in its place counts as another, here and below.
pub(crate) fn media_type_of(headers: &HeaderList) -> Result<Option<MediaType<'_>>, Unreadable> {
    let mut values = headers.all_spellings("content-type");
    match (values.next(), values.next()) {
        (None, _) => Ok(None),
        (Some(value), None) => MediaType::parse(value).map(Some).map_err(|_| Unreadable),
        (Some(_), Some(_)) => Err(Unreadable),
    }
}

/// The same, if it can be read.
fn readable_media_type(headers: &HeaderList) -> Option<MediaType<'_>> {
    media_type_of(headers).ok().flatten()
}

/// Whether a message may have a body that could be transformed, before anybody asks what it is.
pub(crate) fn has_body(
    at: Direction,
    headers: &HeaderList,
    request: Option<&HeaderList>,
    end: EndOfStream,
) -> Result<(), Unread> {
    if end == EndOfStream::Yes {
        return Err(Exemption::NoBody.into());
    }
    let method = request.and_then(|request| request.first(":method")).unwrap_or_default();
    match at {
        Direction::Request if method == b"CONNECT" => return Err(Exemption::Tunnel.into()),
        // What the client sends behind the headers of an upgrade is no body, and comes after the answer, unless the
        // upgrade is refused and the body that the headers announce is one.
        Direction::Request if headers.asks_for_upgrade() => {
            let is_ambiguous = headers.announces_body();
            return Err(if is_ambiguous { Failure::ContentType.into() } else { Exemption::Tunnel.into() });
        }
        Direction::Request => {}
        Direction::Response => match status(headers) {
            Some(200..=299) if method == b"CONNECT" => return Err(Exemption::Tunnel.into()),
            Some(100..=199) => return Err(Exemption::Tunnel.into()),
            _ => {}
        },
    }
    Ok(())
}

/// The charset that the headers give to a document that can be transformed, by all that they say, if they give one.
pub(crate) fn charset(
    at: Direction,
    headers: &HeaderList,
    max_bytes: u64,
) -> Result<Option<Charset>, Failure> {
    if headers.all_spellings("content-range").next().is_some()
        || (at == Direction::Response && status(headers) == Some(206))
    {
        return Err(Failure::Partial);
    }
    if !headers.all_spellings("content-encoding").all(is_identity) {
        return Err(Failure::Encoded);
    }
    if headers.all_spellings("content-type").any(is_multipart) {
        return Err(Failure::Multipart);
    }
    let media_type = readable_media_type(headers).filter(MediaType::is_xml).ok_or(Failure::ContentType)?;
    let charset = stated_charset(headers);
    if charset.is_none() && media_type.parameter("charset").is_some() {
        return Err(Failure::ContentType);
    }
    match content_length(headers) {
        Some(length) if length > max_bytes => Err(Failure::TooLarge),
        _ => Ok(charset),
    }
}

/// Whether these are the headers of a response that must not have a body and yet can have one (RFC 9110, section 15.3.6).
pub(crate) fn expects_nothing(at: Direction, headers: &HeaderList) -> bool {
    at == Direction::Response && status(headers) == Some(205)
}

/// Whether nothing may follow the headers of a response (RFC 9110, sections 6.4.1, 15.3.5 and 15.4.5). Over HTTP/2 an
/// upstream can send a body all the same.
pub(crate) fn is_bodiless(at: Direction, headers: &HeaderList, request: Option<&HeaderList>) -> bool {
    let is_head = || request.and_then(|request| request.first(":method")) == Some(b"HEAD");
    at == Direction::Response && (matches!(status(headers), Some(204 | 304)) || is_head())
}

/// Whether Envoy has followed a redirect by itself and sends the request, as the filters have left it, through all of
/// them once more (`internal_redirect_policy`). It then says where the request went first, and takes that header from
/// requests that come from outside.
pub(crate) fn is_redirected(at: Direction, headers: &HeaderList) -> bool {
    at == Direction::Request && headers.contains("x-envoy-original-url")
}

/// The charset that the headers state, if they state one that is known.
fn stated_charset(headers: &HeaderList) -> Option<Charset> {
    let media_type = readable_media_type(headers)?;
    Charset::from_label(core::str::from_utf8(media_type.parameter("charset")?).ok()?)
}

/// The length that the headers announce. The host has seen to it that it is one, if it is there.
fn content_length(headers: &HeaderList) -> Option<u64> {
    core::str::from_utf8(headers.first("content-length")?).ok()?.parse().ok()
}

fn essence_begins(content_type: &[u8], beginning: &[u8]) -> bool {
    content_type.get(..beginning.len()).is_some_and(|head| head.eq_ignore_ascii_case(beginning))
}

fn is_multipart(content_type: &[u8]) -> bool {
    essence_begins(content_type, b"multipart/")
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAX: u64 = 1000;

    fn judge(
        at: Direction,
        request: &[(&str, &str)],
        response: &[(&str, &str)],
    ) -> Result<Option<Charset>, Unread> {
        let request: HeaderList = request.iter().copied().collect();
        let headers = match at {
            Direction::Request => request.clone(),
            Direction::Response => response.iter().copied().collect(),
        };
        has_body(at, &headers, Some(&request), EndOfStream::No)?;
        Ok(charset(at, &headers, MAX)?)
    }

    #[test]
    fn knows_requests_by_their_headers() {
        use Exemption::Tunnel;
        use Failure::{ContentType, Encoded, Multipart, Partial, TooLarge};
        const XML: (&str, &str) = ("content-type", "text/xml");
        const UPGRADE: (&str, &str) = ("connection", "upgrade");
        for (headers, expected) in [
            (&[XML][..], Ok(None)),
            (&[("content-type", "application/soap+xml; charset=UTF-8")], Ok(Some(Charset::Utf8))),
            (&[("content-type", "text/xml;charset=\"utf-16\"")], Ok(Some(Charset::Utf16))),
            (&[("content-type", "text/xml;charset=ebcdic")], Err(ContentType.into())),
            (&[("content-type", "application/json")], Err(ContentType.into())),
            (&[], Err(ContentType.into())),
            (&[XML, XML], Err(ContentType.into())),
            (&[("content-type", "Multipart/related; type=\"text/xml\"")], Err(Multipart.into())),
            (&[XML, ("content-encoding", "gzip")], Err(Encoded.into())),
            (&[XML, ("content-encoding", "Identity")], Ok(None)),
            (&[XML, ("content-range", "bytes 0-9/20")], Err(Partial.into())),
            (&[XML, ("content-length", "1000")], Ok(None)),
            (&[XML, ("content-length", "1001")], Err(TooLarge.into())),
            // What says that it is gRPC may be anything: nothing but the condition excepts it.
            (&[("content-type", "Application/gRPC+proto")], Err(ContentType.into())),
            (&[("content-type", "application/grpc"), ("te", "trailers")], Err(ContentType.into())),
            (&[("content-type", "application/grpc-web-text+proto")], Err(ContentType.into())),
            (&[("content-type", "application/grpc+xml")], Ok(None)),
            (&[("content-type", "application/grpcfoo")], Err(ContentType.into())),
            (&[("content-type", "application/grpc, text/xml")], Err(ContentType.into())),
            (&[("content-type", "application/grpc"), XML], Err(ContentType.into())),
            (&[(":method", "CONNECT"), XML], Err(Tunnel.into())),
            (&[UPGRADE, ("upgrade", "websocket"), XML], Err(Tunnel.into())),
            (&[UPGRADE, ("upgrade", "h2c"), ("content-length", "9"), XML], Err(ContentType.into())),
            // Over HTTP/2 it means nothing, and a body needs no announcement.
            (&[("upgrade", "websocket"), XML], Ok(None)),
            // What some reader would go by counts.
            (&[("content-type", "application/grpc"), ("content_type", "text/xml")], Err(ContentType.into())),
            (&[XML, ("content.type", "text/xml")], Err(ContentType.into())),
            (&[XML, ("content_encoding", "gzip")], Err(Encoded.into())),
            (&[XML, ("content_range", "bytes 0-9/20")], Err(Partial.into())),
        ] {
            assert_eq!(judge(Direction::Request, headers, &[]), expected, "{headers:?}");
        }
        let headers = [XML].into_iter().collect();
        let bare = has_body(Direction::Request, &headers, Some(&headers), EndOfStream::Yes);
        assert_eq!(bare, Err(Exemption::NoBody.into()));
    }

    #[test]
    fn knows_responses_that_have_no_body_by_status_and_method() {
        use Exemption::Tunnel;
        for (method, status, expected) in [
            ("GET", "200", Ok(None)),
            ("POST", "500", Ok(None)),
            ("GET", "205", Ok(None)),
            ("GET", "101", Err(Tunnel.into())),
            ("CONNECT", "200", Err(Tunnel.into())),
            ("CONNECT", "403", Ok(None)),
            ("GET", "206", Err(Failure::Partial.into())),
        ] {
            let response = [(":status", status), ("content-type", "text/xml")];
            assert_eq!(
                judge(Direction::Response, &[(":method", method)], &response),
                expected,
                "{method} {status}"
            );
        }
        for (method, status, expected) in [
            ("HEAD", "200", true),
            ("GET", "204", true),
            ("GET", "304", true),
            ("GET", "205", false),
            ("GET", "200", false),
        ] {
            let request = [(":method", method)].into_iter().collect();
            let response = [(":status", status)].into_iter().collect();
            let is_bodiless = is_bodiless(Direction::Response, &response, Some(&request));
            assert_eq!(is_bodiless, expected, "{method} {status}");
        }
    }
}
