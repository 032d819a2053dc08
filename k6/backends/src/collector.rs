//! A collector of log records: takes what comes by OTLP/HTTP in JSON if it is exactly as the protocol has it, shows what
//! it got, and fails on demand.

mod faults;
mod received;
mod request;

use std::convert::Infallible;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::{BodyExt as _, Limited};
use hyper::body::Incoming;
use hyper::header::{ALLOW, CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use hyper::service::service_fn;
use hyper::{HeaderMap, Method, Request, StatusCode};
use serde_json::json;

use self::faults::{Fault, FaultSwitch};
use self::received::Received;
use self::request::Request as LogsRequest;
use crate::reply::{self, Reply, ReplyBody};
use crate::serve::{self, StartError};
use crate::severable::{self, Cut, Ending};

/// What OpenTelemetry's own collector takes by default: 20 MiB.
const MAX_BODY_BYTES: usize = 20 * 1024 * 1024;

#[derive(Default)]
struct Collector {
    fault: FaultSwitch,
    received: Received,
}

/// Serves until a signal ends it.
///
/// # Errors
/// When the address cannot be listened on.
pub(crate) fn run(address: &str) -> Result<(), StartError> {
    let collector = Arc::new(Collector::default());
    serve::run("collector", address, NonZeroUsize::MIN, move |stream| {
        let collector = Arc::clone(&collector);
        severable::serve(stream, move |cut| {
            service_fn(move |request| answer(Arc::clone(&collector), Arc::clone(&cut), request))
        })
    })
}

async fn answer(
    collector: Arc<Collector>,
    cut: Arc<Cut>,
    request: Request<Incoming>,
) -> Result<Reply, Infallible> {
    let is_head = request.method() == Method::HEAD;
    let reply = route(&collector, &cut, request).await;
    Ok(if is_head { reply::head_only(reply) } else { reply })
}

async fn route(collector: &Collector, cut: &Cut, request: Request<Incoming>) -> Reply {
    let (head, body) = request.into_parts();
    match (head.uri.path(), &head.method) {
        ("/v1/logs", &Method::POST) => return logs(collector, cut, &head.headers, body).await,
        ("/faults", &Method::POST) => return set_fault(collector, body).await,
        _ => {
            serve::drain(body).await;
        }
    }
    let reads = matches!(head.method, Method::GET | Method::HEAD);
    match head.uri.path() {
        "/stats" if reads => reply::json(&collector.received.counts()),
        "/records" if reads => reply::json(&collector.received.records()),
        "/records" if head.method == Method::DELETE => {
            collector.received.clear();
            reply::json(&collector.received.counts())
        }
        "/faults" if reads => reply::json(&collector.fault.current()),
        "/faults" if head.method == Method::DELETE => {
            collector.fault.set(Fault::None);
            reply::json(&Fault::None)
        }
        "/v1/logs" => not_allowed("POST"),
        "/stats" => not_allowed("GET, HEAD"),
        "/records" => not_allowed("GET, HEAD, DELETE"),
        "/faults" => not_allowed("GET, HEAD, POST, DELETE"),
        _ => reply::text(StatusCode::NOT_FOUND, "there are /v1/logs, /records, /stats and /faults"),
    }
}

async fn logs(collector: &Collector, cut: &Cut, headers: &HeaderMap, body: Incoming) -> Reply {
    let body = Limited::new(body, MAX_BODY_BYTES).collect().await;
    collector.received.count_request();
    let fault = collector.fault.current();
    if fault != Fault::None {
        collector.received.count_faulted();
    }
    let mut reject = 0;
    match fault {
        Fault::None => {}
        Fault::Delay { delay_ms } => tokio::time::sleep(Duration::from_millis(delay_ms)).await,
        Fault::Partial { rejected } => reject = rejected,
        Fault::Hang => std::future::pending().await,
        Fault::Reset => match cut.connection(Ending::Reset).await {},
        Fault::Garbage => match cut.connection(Ending::Garbage).await {},
        Fault::Status { status, retry_after } => {
            let status = StatusCode::from_u16(status).unwrap_or(StatusCode::SERVICE_UNAVAILABLE);
            let mut reply = refusal(status, "this failure was asked for");
            if let Some(value) = retry_after.and_then(|value| HeaderValue::from_str(&value).ok()) {
                reply.headers_mut().insert(RETRY_AFTER, value);
            }
            return reply;
        }
    }
    let media_type = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    if media_type.split(';').next().is_none_or(|name| name.trim() != "application/json") {
        collector.received.count_invalid();
        return refusal(StatusCode::UNSUPPORTED_MEDIA_TYPE, "expected application/json");
    }
    let Ok(body) = body else {
        collector.received.count_invalid();
        return refusal(StatusCode::PAYLOAD_TOO_LARGE, "the body is too long, or broke off");
    };
    match LogsRequest::read(&body.to_bytes()) {
        Ok(LogsRequest { mut records }) => {
            let rejected = reject.min(records.len());
            records.truncate(records.len() - rejected);
            collector.received.take(records, rejected);
            match rejected {
                0 => reply::json(&json!({})),
                rejected => reply::json(&json!({"partialSuccess": {
                    "rejectedLogRecords": rejected.to_string(),
                    "errorMessage": "this failure was asked for",
                }})),
            }
        }
        Err(problem) => {
            collector.received.count_invalid();
            serve::complain(format_args!("a request is not as the protocol has it: {problem}"));
            refusal(StatusCode::BAD_REQUEST, &problem)
        }
    }
}

/// A failure, with the `google.rpc.Status` that the protocol wants as its body.
fn refusal(status: StatusCode, message: &str) -> Reply {
    let body = json!({"message": message}).to_string();
    reply::with(status, "application/json", ReplyBody::whole(body.into()))
}

async fn set_fault(collector: &Collector, body: Incoming) -> Reply {
    match Fault::read(body).await {
        Ok(fault) => {
            collector.fault.set(fault.clone());
            reply::json(&fault)
        }
        Err(reason) => reply::text(StatusCode::BAD_REQUEST, reason),
    }
}

fn not_allowed(methods: &'static str) -> Reply {
    let mut reply = reply::text(StatusCode::METHOD_NOT_ALLOWED, format_args!("allowed here: {methods}"));
    reply.headers_mut().insert(ALLOW, HeaderValue::from_static(methods));
    reply
}
