//! A request as it arrived, in a form that a test can assert on.

use std::borrow::Cow;
use std::fmt::Write as _;

use hyper::header::HOST;
use hyper::{Request, Version};
use serde::Serialize;

/// The reply to a request without a body.
#[derive(Serialize)]
pub(crate) struct Description<'a> {
    method: &'a str,
    path: &'a str,
    /// Null when there is no `?`, empty when nothing follows it.
    query: Option<&'a str>,
    version: &'static str,
    headers: Vec<(&'a str, Cow<'a, str>)>,
}

impl<'a> Description<'a> {
    pub(crate) fn of<B>(request: &'a Request<B>) -> Self {
        let uri = request.uri();
        let mut headers = Vec::with_capacity(request.headers().len() + 1);
        // HTTP/2 carries the host as a pseudo-header, which hyper keeps in the URI.
        if let Some(authority) = uri.authority()
            && !request.headers().contains_key(HOST)
        {
            headers.push((":authority", Cow::Borrowed(authority.as_str())));
        }
        headers.extend(request.headers().iter().map(|(name, value)| (name.as_str(), text(value.as_bytes()))));
        Self {
            method: request.method().as_str(),
            path: uri.path(),
            query: uri.query(),
            version: match request.version() {
                Version::HTTP_10 => "HTTP/1.0",
                Version::HTTP_2 => "HTTP/2",
                _ => "HTTP/1.1",
            },
            headers,
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
