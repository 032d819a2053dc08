//! The authenticator: verifies credentials, publishes the registry it verifies them against, counts what it
//! was asked, and fails on demand.

mod basic;
mod clients_file;
mod entity_tag;
mod faults;
mod registry;
mod salted_secret;
mod stats;

use std::convert::Infallible;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;

use hyper::body::Incoming;
use hyper::header::{ALLOW, CACHE_CONTROL, ETAG, HeaderValue, IF_NONE_MATCH, WWW_AUTHENTICATE};
use hyper::service::service_fn;
use hyper::{HeaderMap, Method, Request, StatusCode};

use self::clients_file::ClientsFile;
use self::faults::{Fault, FaultSwitch, HUGE_BODY_BYTES};
use self::registry::Verdict;
pub(crate) use self::salted_secret::SaltedSecret;
use self::stats::Stats;
use crate::reply::{self, Reply, ReplyBody};
use crate::serve::{self, StartError};
use crate::severable::{self, Cut, Ending};

struct Auth {
    clients: ClientsFile,
    fault: FaultSwitch,
    stats: Stats,
}

/// Serves until a signal ends it.
///
/// # Errors
/// When the clients file is not a registry, or the address cannot be listened on.
pub(crate) fn run(address: &str, clients: PathBuf) -> Result<(), StartError> {
    let clients = ClientsFile::open(clients)?;
    let auth = Arc::new(Auth { clients, fault: FaultSwitch::default(), stats: Stats::default() });
    serve::run("auth", address, NonZeroUsize::MIN, move |stream| {
        let auth = Arc::clone(&auth);
        severable::serve(stream, move |cut| {
            service_fn(move |request| answer(Arc::clone(&auth), Arc::clone(&cut), request))
        })
    })
}

async fn answer(auth: Arc<Auth>, cut: Arc<Cut>, request: Request<Incoming>) -> Result<Reply, Infallible> {
    let is_head = request.method() == Method::HEAD;
    let reply = route(&auth, &cut, request).await;
    Ok(if is_head { reply::head_only(reply) } else { reply })
}

async fn route(auth: &Auth, cut: &Cut, request: Request<Incoming>) -> Reply {
    let (head, body) = request.into_parts();
    let reads = matches!(head.method, Method::GET | Method::HEAD);
    if head.uri.path() == "/faults" && head.method == Method::POST {
        return set_fault(auth, body).await;
    }
    serve::drain(body).await;
    match head.uri.path() {
        // Forward-auth peers, Envoy's ext_authz among them, append the path of the request that they ask about.
        path if path == "/verify" || path.starts_with("/verify/") => {
            auth.stats.count_verify();
            match disturb(auth.fault.current(), cut).await {
                Some(disturbed) => disturbed,
                None => verify(auth, &head.headers),
            }
        }
        "/clients" if reads => {
            auth.stats.count_clients();
            match disturb(auth.fault.current(), cut).await {
                Some(disturbed) => disturbed,
                None => clients(auth, &head.headers),
            }
        }
        "/stats" if reads => reply::json(&auth.stats),
        "/faults" if reads => reply::json(&auth.fault.current()),
        "/faults" if head.method == Method::DELETE => {
            auth.fault.set(Fault::None);
            reply::json(&Fault::None)
        }
        "/clients" | "/stats" => not_allowed("GET, HEAD"),
        "/faults" => not_allowed("GET, HEAD, POST, DELETE"),
        _ => reply::text(StatusCode::NOT_FOUND, "there are /verify, /clients, /stats and /faults"),
    }
}

/// Brings about a fault: a reply to send in place of the proper one, or `None` where that one is still to
/// come. A fault that ends the connection does not return.
async fn disturb(fault: Fault, cut: &Cut) -> Option<Reply> {
    match fault {
        Fault::None => None,
        Fault::Delay(delay) => {
            tokio::time::sleep(delay).await;
            None
        }
        Fault::Status(status) => Some(reply::text(status, "this failure was asked for")),
        Fault::Huge => {
            let body = ReplyBody::filler(HUGE_BODY_BYTES).without_length();
            Some(reply::with(StatusCode::OK, "text/plain", body))
        }
        Fault::Reset => match cut.connection(Ending::Reset).await {},
        Fault::Garbage => match cut.connection(Ending::Garbage).await {},
    }
}

fn verify(auth: &Auth, headers: &HeaderMap) -> Reply {
    let registry = auth.clients.current();
    let verdict = basic::credentials(headers)
        .map_or(Verdict::Refused, |credentials| registry.verify(&credentials.id, &credentials.secret));
    match verdict {
        Verdict::Admitted(client) => {
            let mut reply = reply::empty(StatusCode::OK);
            for (header, value) in [("x-client-name", client.name()), ("x-client-tier", client.tier())] {
                if let Some(value) = value {
                    reply.headers_mut().insert(header, value.clone());
                }
            }
            reply
        }
        Verdict::Disabled => reply::text(StatusCode::FORBIDDEN, "this client is disabled"),
        Verdict::Refused => {
            let mut reply = reply::text(StatusCode::UNAUTHORIZED, "unknown client or wrong secret");
            reply.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static(r#"Basic realm="auth""#));
            reply
        }
    }
}

fn clients(auth: &Auth, headers: &HeaderMap) -> Reply {
    let registry = auth.clients.current();
    let mut reply = if entity_tag::is_named(registry.etag(), headers.get_all(IF_NONE_MATCH)) {
        auth.stats.count_not_modified();
        reply::empty(StatusCode::NOT_MODIFIED)
    } else {
        reply::with(StatusCode::OK, "application/json", ReplyBody::whole(registry.document()))
    };
    reply.headers_mut().insert(ETAG, registry.etag().clone());
    reply.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    reply
}

async fn set_fault(auth: &Auth, body: Incoming) -> Reply {
    match Fault::read(body).await {
        Ok(fault) => {
            auth.fault.set(fault);
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
