//! What the recording backend answers.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue};
use hyper::body::{Body, Frame, SizeHint};

use super::gate::Gate;

/// A response of the [`Backend`](super::Backend). The default is an empty 200.
#[derive(Clone, Debug, Default)]
pub struct Reply {
    status: Option<u16>,
    headers: Vec<(String, Vec<u8>)>,
    chunks: Vec<Bytes>,
    trailers: Vec<(String, Vec<u8>)>,
    pub(super) delay: Duration,
    pub(super) gate: Option<Gate>,
    pub(super) cuts: bool,
}

impl Reply {
    /// An empty response with this status.
    pub fn status(status: u16) -> Self {
        Self { status: Some(status), ..Self::default() }
    }

    /// A 200 with this body.
    pub fn ok(body: impl Into<Bytes>) -> Self {
        Self::status(200).body(body)
    }

    /// No response: the connection is closed, with all that is under way on it.
    pub fn cut() -> Self {
        Self { cuts: true, ..Self::default() }
    }

    /// Adds a header field.
    #[must_use]
    pub fn header(mut self, name: &str, value: impl AsRef<[u8]>) -> Self {
        self.headers.push((name.to_owned(), value.as_ref().to_vec()));
        self
    }

    /// Sets the body, sent as one piece.
    #[must_use]
    pub fn body(mut self, body: impl Into<Bytes>) -> Self {
        self.chunks = vec![body.into()];
        self
    }

    /// Sets the body, sent as these pieces and without a `content-length`.
    #[must_use]
    pub fn chunks<B: Into<Bytes>>(mut self, chunks: impl IntoIterator<Item = B>) -> Self {
        self.chunks = chunks.into_iter().map(Into::into).collect();
        self
    }

    /// Adds a trailer field. Over HTTP/1.1 trailers go out only if the request says `te: trailers`.
    #[must_use]
    pub fn trailer(mut self, name: &str, value: impl AsRef<[u8]>) -> Self {
        self.trailers.push((name.to_owned(), value.as_ref().to_vec()));
        self
    }

    /// Waits this long between the end of the request and the response.
    #[must_use]
    pub fn delay(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }

    /// Waits at this gate between the end of the request and the response, after the delay.
    #[must_use]
    pub fn behind(mut self, gate: &Gate) -> Self {
        self.gate = Some(gate.clone());
        self
    }

    /// The response as hyper sends it.
    pub(super) fn into_http(self) -> http::Response<ReplyBody> {
        let mut headers = header_map(&self.headers);
        let trailers = header_map(&self.trailers);
        if !trailers.is_empty() && !headers.contains_key(http::header::TRAILER) {
            // hyper sends only trailers that were announced.
            let names: Vec<_> = trailers.keys().map(HeaderName::as_str).collect();
            headers.insert(http::header::TRAILER, value(names.join(", ").as_bytes()));
        }
        let length = match self.chunks.as_slice() {
            _ if !trailers.is_empty() => None,
            [] => Some(0),
            [whole] => Some(whole.len() as u64),
            _ => None,
        };
        let mut frames: VecDeque<_> = self.chunks.into_iter().map(Frame::data).collect();
        if !trailers.is_empty() {
            frames.push_back(Frame::trailers(trailers));
        }
        let mut response = http::Response::new(ReplyBody { frames, length });
        *response.status_mut() =
            http::StatusCode::from_u16(self.status.unwrap_or(200)).expect("a status from 100 to 999");
        *response.headers_mut() = headers;
        response
    }
}

fn header_map(fields: &[(String, Vec<u8>)]) -> HeaderMap {
    let name = |name: &str| HeaderName::from_bytes(name.as_bytes()).expect("a header name");
    fields.iter().map(|(field, bytes)| (name(field), value(bytes))).fold(
        HeaderMap::new(),
        |mut map, (name, value)| {
            map.append(name, value);
            map
        },
    )
}

fn value(bytes: &[u8]) -> HeaderValue {
    HeaderValue::from_bytes(bytes).expect("a header value without control characters")
}

/// The frames of a response, ready to be sent.
pub(super) struct ReplyBody {
    frames: VecDeque<Frame<Bytes>>,
    length: Option<u64>,
}

impl Body for ReplyBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Ready(self.frames.pop_front().map(Ok))
    }

    fn is_end_stream(&self) -> bool {
        self.frames.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        self.length.map_or_else(SizeHint::default, SizeHint::with_exact)
    }
}
