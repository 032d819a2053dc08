//! The one body type of every reply, and the few ways to make a reply.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;
use hyper::header::{CONTENT_LENGTH, CONTENT_TYPE, HeaderValue};
use hyper::{HeaderMap, Response, StatusCode};

use crate::filler::Filler;

/// A reply as the services hand it to hyper.
pub(crate) type Reply = Response<ReplyBody>;

/// Content, then trailers if there are any.
pub(crate) struct ReplyBody {
    content: Content,
    trailers: Option<HeaderMap>,
    length: Length,
    condition: Condition,
}

enum Content {
    /// Taken when sent.
    Whole(Option<Bytes>),
    Filler(Filler),
    /// A request body on its way back, with the piece of it that was read before the reply began. Its
    /// trailers go with it.
    Echo {
        first: Option<Frame<Bytes>>,
        rest: Incoming,
    },
}

/// Whether the peer is told the length before the content.
#[derive(PartialEq)]
enum Length {
    Declared,
    Withheld,
}

/// Whether the peer gets the content as it is.
#[derive(PartialEq)]
enum Condition {
    Sound,
    /// Its first byte is still to be changed.
    Spoilt,
}

impl ReplyBody {
    pub(crate) fn empty() -> Self {
        Self::whole(Bytes::new())
    }

    pub(crate) fn whole(bytes: Bytes) -> Self {
        Self::new(Content::Whole(Some(bytes).filter(|bytes| !bytes.is_empty())))
    }

    pub(crate) fn filler(bytes: u64) -> Self {
        Self::new(Content::Filler(Filler::new(bytes)))
    }

    pub(crate) fn echo(first: Option<Frame<Bytes>>, rest: Incoming) -> Self {
        Self::new(Content::Echo { first, rest })
    }

    fn new(content: Content) -> Self {
        Self { content, trailers: None, length: Length::Declared, condition: Condition::Sound }
    }

    /// Adds trailers. HTTP/1.1 has room for them only in a chunked body, so the length is withheld.
    pub(crate) fn with_trailers(self, trailers: HeaderMap) -> Self {
        Self { trailers: Some(trailers), ..self.without_length() }
    }

    /// Streams the content without saying in advance how much of it there is.
    pub(crate) fn without_length(self) -> Self {
        Self { length: Length::Withheld, ..self }
    }

    /// Sends another first byte than the content has.
    pub(crate) fn spoilt(self) -> Self {
        Self { condition: Condition::Spoilt, ..self }
    }

    fn spoil(&mut self, data: Bytes) -> Bytes {
        let mut bytes = data.to_vec();
        if let Some(first) = bytes.first_mut() {
            *first ^= 1;
            self.condition = Condition::Sound;
        }
        bytes.into()
    }
}

impl Body for ReplyBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let this = self.get_mut();
        let frame = match &mut this.content {
            Content::Whole(bytes) => bytes.take().map(Frame::data),
            Content::Filler(filler) => filler.next_piece().map(Frame::data),
            Content::Echo { first, rest } => match first.take() {
                Some(frame) => Some(frame),
                None => ready!(Pin::new(rest).poll_frame(cx)).transpose()?,
            },
        };
        // A message has one trailer section: trailers that came with an echoed body share it with ours.
        let frame = match frame.map(Frame::into_trailers) {
            None => this.trailers.take().map(Frame::trailers),
            Some(Err(data)) => Some(data),
            Some(Ok(mut trailers)) => {
                trailers.extend(this.trailers.take().unwrap_or_default());
                Some(Frame::trailers(trailers))
            }
        };
        Poll::Ready(frame.map(|frame| match this.condition {
            Condition::Sound => Ok(frame),
            Condition::Spoilt => Ok(frame.map_data(|data| this.spoil(data))),
        }))
    }

    fn is_end_stream(&self) -> bool {
        self.trailers.is_none()
            && match &self.content {
                Content::Whole(bytes) => bytes.is_none(),
                Content::Filler(filler) => filler.remaining() == 0,
                Content::Echo { first, rest } => first.is_none() && rest.is_end_stream(),
            }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.content {
            _ if self.length == Length::Withheld => SizeHint::default(),
            Content::Whole(bytes) => SizeHint::with_exact(bytes.as_ref().map_or(0, Bytes::len) as u64),
            Content::Filler(filler) => SizeHint::with_exact(filler.remaining()),
            Content::Echo { first, rest } => {
                let first = first.as_ref().and_then(Frame::data_ref).map_or(0, Bytes::len) as u64;
                rest.size_hint()
                    .exact()
                    .map_or_else(SizeHint::default, |rest| SizeHint::with_exact(first + rest))
            }
        }
    }
}

/// A reply with a status and a body of one content type.
pub(crate) fn with(status: StatusCode, content_type: &'static str, body: ReplyBody) -> Reply {
    let mut reply = Response::new(body);
    *reply.status_mut() = status;
    reply.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    reply
}

/// A reply that is one line of text for a person to read.
pub(crate) fn text(status: StatusCode, line: impl std::fmt::Display) -> Reply {
    with(status, "text/plain; charset=utf-8", ReplyBody::whole(format!("{line}\n").into()))
}

/// A 200 reply that is JSON.
pub(crate) fn json(document: &impl serde::Serialize) -> Reply {
    match serde_json::to_vec(document) {
        Ok(bytes) => with(StatusCode::OK, "application/json", ReplyBody::whole(bytes.into())),
        Err(error) => text(StatusCode::INTERNAL_SERVER_ERROR, error),
    }
}

/// A reply without content.
pub(crate) fn empty(status: StatusCode) -> Reply {
    let mut reply = Response::new(ReplyBody::empty());
    *reply.status_mut() = status;
    reply
}

/// The same reply without its content, as HEAD wants it. hyper would see to that for HTTP/1.1 but not for
/// HTTP/2, so it is done here for both; the length stays, because it is what HEAD is asked for.
pub(crate) fn head_only(reply: Reply) -> Reply {
    let (mut head, body) = reply.into_parts();
    // Nothing is said of an empty body: a 204 must not, and a 304 would speak for the content that it leaves
    // out.
    if let Some(length) = body.size_hint().exact().filter(|length| *length > 0) {
        head.headers.insert(CONTENT_LENGTH, HeaderValue::from(length));
    }
    Response::from_parts(head, ReplyBody::empty())
}
