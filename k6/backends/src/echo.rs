//! The upstream: answers at once, with whatever the query of the request directs, or wrongly if it is told to.

mod description;
mod directions;
mod fault;

use std::convert::Infallible;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::BodyExt as _;
use hyper::body::{Body as _, Incoming};
use hyper::header::{CONTENT_ENCODING, CONTENT_TYPE, EXPECT, HeaderName, HeaderValue, TRAILER};
use hyper::service::service_fn;
use hyper::{HeaderMap, Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;

use self::description::{Content, Description};
pub(crate) use self::directions::{Directions, MAX_DELAY_MS, MAX_SIZE};
pub(crate) use self::fault::{Fault, Faults};
use crate::reply::{self, Reply, ReplyBody};
use crate::serve::{self, StartError};

const ECHO_TRAILER: &str = "x-echo-trailer";

/// A header of the request that the reply has too: it tells a client that the reply is to this request.
const ECHO_TAG: HeaderName = HeaderName::from_static("x-echo-tag");

/// How many bytes of a body have come that is not in the reply.
const RECEIVED: HeaderName = HeaderName::from_static("x-echo-received");

/// Serves until a signal ends it. `defaults` hold where a request's query says nothing.
///
/// # Errors
/// When the address cannot be listened on.
pub(crate) fn run(
    address: &str,
    threads: NonZeroUsize,
    defaults: Directions,
    faults: Faults,
) -> Result<(), StartError> {
    let http = serve::http();
    let faults = Arc::new(faults);
    serve::run("echo", address, threads, move |stream| {
        let http = http.clone();
        let faults = Arc::clone(&faults);
        async move {
            let service = service_fn(|request| answer(request, defaults, faults.next()));
            // A peer that goes away mid-exchange is its own business.
            let _ = http.serve_connection(TokioIo::new(stream), service).await;
        }
    })
}

async fn answer(
    request: Request<Incoming>,
    defaults: Directions,
    fault: Option<Fault>,
) -> Result<Reply, Infallible> {
    let is_head = request.method() == Method::HEAD;
    let tag = request.headers().get(ECHO_TAG).cloned();
    let mut reply = match Directions::from_query(request.uri().query(), defaults) {
        Ok(mut directions) => {
            directions.delay += fault.map_or(Duration::ZERO, Fault::delay);
            follow(directions, request).await
        }
        Err(error) => {
            serve::drain(request.into_body()).await;
            reply::text(StatusCode::BAD_REQUEST, error)
        }
    };
    if let Some(tag) = tag {
        reply.headers_mut().insert(ECHO_TAG, tag);
    }
    let reply = match fault {
        Some(fault) => fault.apply(reply),
        None => reply,
    };
    Ok(if is_head { reply::head_only(reply) } else { reply })
}

async fn follow(directions: Directions, request: Request<Incoming>) -> Reply {
    if !directions.delay.is_zero() {
        tokio::time::sleep(directions.delay).await;
    }
    let mut reply = match directions.size {
        Some(size) => {
            let has_body = !request.body().is_end_stream();
            let received = serve::drain(request.into_body()).await;
            let mut reply = reply::with(StatusCode::OK, "text/plain", ReplyBody::filler(size));
            if has_body {
                reply.headers_mut().insert(RECEIVED, HeaderValue::from(received));
            }
            reply
        }
        None if directions.describe || request.body().is_end_stream() => describe(request).await,
        None => echo(request).await,
    };
    if let Some(status) = directions.status {
        *reply.status_mut() = status;
        if matches!(status, StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED) {
            *reply.body_mut() = ReplyBody::empty();
            return reply;
        }
    }
    if directions.stream {
        reply = reply.map(ReplyBody::without_length);
    }
    if directions.trailers { with_trailers(reply) } else { reply }
}

/// The request as it has come, its body by length and digest alone.
async fn describe(request: Request<Incoming>) -> Reply {
    let (head, body) = request.into_parts();
    let content = if body.is_end_stream() {
        None
    } else {
        match Content::of(body).await {
            Ok(content) => Some(content),
            Err(_) => return reply::text(StatusCode::BAD_REQUEST, "the body did not arrive"),
        }
    };
    reply::json(&Description::of(&head, content))
}

/// The request's content, streamed back under the headers that say what it is.
///
/// Asking for the body is what makes hyper send `100 Continue`. A peer that waits for that has to get it
/// before the final status, so there the reply begins with the first piece of the body in hand.
async fn echo(request: Request<Incoming>) -> Reply {
    let (mut head, mut body) = request.into_parts();
    let first = if head.headers.contains_key(EXPECT) { body.frame().await.transpose() } else { Ok(None) };
    let Ok(first) = first else {
        return reply::text(StatusCode::BAD_REQUEST, "the body did not arrive");
    };
    let mut reply = Response::new(ReplyBody::echo(first, body));
    for name in [CONTENT_TYPE, CONTENT_ENCODING, TRAILER] {
        if let Some(value) = head.headers.remove(&name) {
            reply.headers_mut().insert(name, value);
        }
    }
    reply
}

/// HTTP/1.1 trailers need this announcement, and a peer that sent `te: trailers`; HTTP/2 needs neither.
fn with_trailers(mut reply: Reply) -> Reply {
    reply.headers_mut().append(TRAILER, HeaderValue::from_static(ECHO_TRAILER));
    let trailers =
        HeaderMap::from_iter([(HeaderName::from_static(ECHO_TRAILER), HeaderValue::from_static("end"))]);
    reply.map(|body| body.with_trailers(trailers))
}
