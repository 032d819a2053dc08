//! The upstream: answers at once, with whatever the query of the request directs.

mod description;
mod directions;

use std::convert::Infallible;
use std::num::NonZeroUsize;

use http_body_util::BodyExt as _;
use hyper::body::{Body as _, Incoming};
use hyper::header::{CONTENT_ENCODING, CONTENT_TYPE, EXPECT, HeaderName, HeaderValue, TRAILER};
use hyper::service::service_fn;
use hyper::{HeaderMap, Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;

use self::description::Description;
pub(crate) use self::directions::{Directions, MAX_DELAY_MS, MAX_SIZE};
use crate::reply::{self, Reply, ReplyBody};
use crate::serve::{self, StartError};

const ECHO_TRAILER: &str = "x-echo-trailer";

/// Serves until a signal ends it. `defaults` hold where a request's query says nothing.
///
/// # Errors
/// When the address cannot be listened on.
pub(crate) fn run(address: &str, threads: NonZeroUsize, defaults: Directions) -> Result<(), StartError> {
    let http = serve::http();
    serve::run("echo", address, threads, move |stream| {
        let http = http.clone();
        async move {
            let service = service_fn(move |request| answer(request, defaults));
            // A peer that goes away mid-exchange is its own business.
            let _ = http.serve_connection(TokioIo::new(stream), service).await;
        }
    })
}

async fn answer(request: Request<Incoming>, defaults: Directions) -> Result<Reply, Infallible> {
    let is_head = request.method() == Method::HEAD;
    let reply = match Directions::from_query(request.uri().query(), defaults) {
        Ok(directions) => follow(directions, request).await,
        Err(error) => {
            serve::drain(request.into_body()).await;
            reply::text(StatusCode::BAD_REQUEST, error)
        }
    };
    Ok(if is_head { reply::head_only(reply) } else { reply })
}

async fn follow(directions: Directions, request: Request<Incoming>) -> Reply {
    if !directions.delay.is_zero() {
        tokio::time::sleep(directions.delay).await;
    }
    let mut reply = match directions.size {
        Some(size) => {
            serve::drain(request.into_body()).await;
            reply::with(StatusCode::OK, "text/plain", ReplyBody::filler(size))
        }
        None if request.body().is_end_stream() => reply::json(&Description::of(&request)),
        None => echo(request).await,
    };
    if let Some(status) = directions.status {
        *reply.status_mut() = status;
        if matches!(status, StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED) {
            *reply.body_mut() = ReplyBody::empty();
            return reply;
        }
    }
    if directions.trailers { with_trailers(reply) } else { reply }
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
