//! A request as it arrived, in a form that a test can assert on.

use std::borrow::Cow;
use std::fmt::Write as _;

use http_body_util::BodyExt as _;
use hyper::Version;
use hyper::body::Incoming;
use hyper::header::HOST;
use hyper::http::request::Parts;
use serde::Serialize;
use sha2::{Digest as _, Sha256};

/// The reply to a request without a body, or to one that asks for it.
#[derive(Serialize)]
pub(crate) struct Description<'a> {
    method: &'a str,
    path: &'a str,
    /// Null when there is no `?`, empty when nothing follows it.
    query: Option<&'a str>,
    version: &'static str,
    headers: Vec<(&'a str, Cow<'a, str>)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    body: Option<Content>,
}

/// What a request's body was.
#[derive(Serialize)]
pub(crate) struct Content {
    bytes: u64,
    /// SHA-256, in hexadecimal.
    sha256: String,
}

impl Content {
    /// Reads a body to its end.
    pub(crate) async fn of(mut body: Incoming) -> hyper::Result<Self> {
        let (mut bytes, mut sha256) = (0, Sha256::new());
        while let Some(frame) = body.frame().await.transpose()? {
            if let Some(data) = frame.data_ref() {
                bytes += data.len() as u64;
                sha256.update(data);
            }
        }
        Ok(Self { bytes, sha256: hex::encode(sha256.finalize()) })
    }
}

impl<'a> Description<'a> {
    pub(crate) fn of(request: &'a Parts, body: Option<Content>) -> Self {
        let uri = &request.uri;
        let mut headers = Vec::with_capacity(request.headers.len() + 1);
        // HTTP/2 carries the host as a pseudo-header, which hyper keeps in the URI.
        if let Some(authority) = uri.authority()
            && !request.headers.contains_key(HOST)
        {
            headers.push((":authority", Cow::Borrowed(authority.as_str())));
        }
        headers.extend(request.headers.iter().map(|(name, value)| (name.as_str(), text(value.as_bytes()))));
        Self {
            method: request.method.as_str(),
            path: uri.path(),
            query: uri.query(),
            version: match request.version {
                Version::HTTP_10 => "HTTP/1.0",
                Version::HTTP_2 => "HTTP/2",
                _ => "HTTP/1.1",
            },
            headers,
            body,
        }
    }
}

/// Header bytes as text. Bytes that are not UTF-8 appear as `\x` and two hexadecimal digits.
fn text(bytes: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(bytes.len() + 8);
    for chunk in bytes.utf8_chunks() {
        escaped.push_str(chunk.valid());
        for byte in chunk.invalid() {
            let _ = write!(escaped, "\\x{byte:02x}");
        }
    }
    Cow::Owned(escaped)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_only_what_is_not_utf8() {
        assert_eq!(text(b"plain"), "plain");
        assert_eq!(text("gr\u{fc}n".as_bytes()), "gr\u{fc}n");
        assert_eq!(text(b"a\xffb\xc3"), "a\\xffb\\xc3");
        assert_eq!(text(b"\xe2\x82 \xe2\x82\xac"), "\\xe2\\x82 \u{20ac}");
    }
}
