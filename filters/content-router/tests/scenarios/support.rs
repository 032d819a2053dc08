//! What the scenarios have in common.

use portcullis_content_router::ContentRouter;
use portcullis_policy::{Chain, ConfigError, Direction, ExchangeId, Next};
use portcullis_testkit::inprocess::{Fate, Worker};
use serde_json::{Value, json};

pub(crate) fn chain(config: &Value) -> Result<Chain, ConfigError> {
    Chain::new().then_configured::<ContentRouter>(config.to_string().as_bytes())
}

#[track_caller]
pub(crate) fn worker(config: &Value) -> Worker {
    Worker::start(chain(config).unwrap()).unwrap()
}

/// Rules that give the routes `r1`, `r2` and so on, in order, where these are true.
pub(crate) fn rules(conditions: &[Value]) -> Value {
    let rule = |(at, when): (usize, &Value)| json!({"when": when, "then": {"route": format!("r{}", at + 1)}});
    json!({"rules": conditions.iter().enumerate().map(rule).collect::<Vec<_>>()})
}

/// A configuration with these members added or put in place of others.
pub(crate) fn with(mut config: Value, members: Value) -> Value {
    for (name, value) in members.as_object().unwrap() {
        config[name] = value.clone();
    }
    config
}

/// What has become of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Fared {
    /// It has gone on with this route.
    Routed(String),
    /// It has gone on without one.
    Unrouted,
    /// It was refused with this status.
    Refused(u16),
    /// It is held.
    Held,
}

pub(crate) fn to(route: &str) -> Fared {
    Fared::Routed(route.to_owned())
}

pub(crate) const SOAP_11: &[(&str, &str)] = &[("content-type", "text/xml"), ("soapaction", "\"urn:a\"")];
pub(crate) const SOAP_12: &[(&str, &str)] = &[("content-type", "application/soap+xml; action=\"urn:a\"")];
pub(crate) const JSON: &[(&str, &str)] = &[("content-type", "application/json")];

/// Begins a POST to `/` with these headers, some of which may stand in for these.
pub(crate) fn begin(worker: &mut Worker, headers: &[(&str, &str)], end: bool) -> ExchangeId {
    let mut all = vec![(":method", "POST"), (":path", "/"), (":authority", "shop.test")];
    all.retain(|(name, _)| headers.iter().all(|(other, _)| other != name));
    all.extend(headers);
    let id = worker.open();
    worker.request_headers(id, all, end);
    id
}

/// What has become of a request so far.
pub(crate) fn fared(worker: &Worker, id: ExchangeId) -> Fared {
    match worker.fate(id) {
        Fate::Held => Fared::Held,
        Fate::Replied(reply) => Fared::Refused(reply.status),
        Fate::Admitted => match worker.host.upstream_headers(id).first("x-portcullis-route") {
            Some(route) => Fared::Routed(String::from_utf8(route.to_vec()).unwrap()),
            None => Fared::Unrouted,
        },
    }
}

/// A POST without a body.
pub(crate) fn bare(worker: &mut Worker, headers: &[(&str, &str)]) -> Fared {
    let id = begin(worker, headers, true);
    let fared = fared(worker, id);
    worker.finish(id);
    fared
}

/// A POST with this body, in one piece.
pub(crate) fn post(worker: &mut Worker, headers: &[(&str, &str)], body: impl AsRef<[u8]>) -> Fared {
    post_in_pieces(worker, headers, &[body.as_ref()], false)
}

/// A POST with a body in these pieces; what goes on goes on whole.
pub(crate) fn post_in_pieces(
    worker: &mut Worker,
    headers: &[(&str, &str)],
    pieces: &[&[u8]],
    trailers: bool,
) -> Fared {
    let id = begin(worker, headers, false);
    for (at, piece) in pieces.iter().enumerate() {
        if matches!(worker.fate(id), Fate::Replied(_)) {
            break;
        }
        worker.body(id, Direction::Request, piece, !trailers && at + 1 == pieces.len());
    }
    if trailers && !matches!(worker.fate(id), Fate::Replied(_)) {
        worker.trailers(id, Direction::Request);
    }
    let fared = fared(worker, id);
    if !matches!(fared, Fared::Refused(_)) {
        assert_eq!(worker.host.passed_body(id, Direction::Request), pieces.concat(), "nothing is lost");
    }
    worker.finish(id);
    fared
}

/// Sends pieces until the request goes on or is refused; says after how many bytes that was.
pub(crate) fn decided_after(worker: &mut Worker, headers: &[(&str, &str)], body: &[u8]) -> (Fared, usize) {
    let id = begin(worker, headers, false);
    let mut sent = 0;
    while fared(worker, id) == Fared::Held && sent < body.len() {
        let next = worker.body(id, Direction::Request, &body[sent..=sent], sent + 1 == body.len());
        sent += 1;
        assert_eq!(next == Next::Continue, matches!(fared(worker, id), Fared::Routed(_) | Fared::Unrouted));
    }
    let fared = fared(worker, id);
    worker.abort(id);
    (fared, sent)
}

/// An envelope of SOAP 1.1 with these contents of Header and Body.
pub(crate) fn soap_11(header: &str, body: &str) -> String {
    envelope("http://schemas.xmlsoap.org/soap/envelope/", header, body)
}

/// The same in SOAP 1.2.
pub(crate) fn soap_12(header: &str, body: &str) -> String {
    envelope("http://www.w3.org/2003/05/soap-envelope", header, body)
}

pub(crate) fn envelope(namespace: &str, header: &str, body: &str) -> String {
    format!(
        "<e:Envelope xmlns:e=\"{namespace}\"><e:Header>{header}</e:Header><e:Body>{body}</e:Body></e:Envelope>"
    )
}

#[track_caller]
pub(crate) fn count(worker: &Worker, name: &str) -> i64 {
    worker.host.metric(&format!("portcullis.content_router.{name}"))
}
