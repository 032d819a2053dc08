//! What the scenarios have in common.

#[path = "../shared/orders.rs"]
mod orders;

use portcullis_policy::{Chain, ConfigError, Direction, ExchangeId, HeaderList};
use portcullis_testkit::inprocess::{Fate, Worker};
use portcullis_xslt_transform::XsltTransform;
use serde_json::{Value, json};

pub(crate) use orders::*;

/// A stylesheet with this content, `xsl` being the prefix of XSLT.
pub(crate) fn sheet(content: &str) -> String {
    format!(
        "<xsl:stylesheet version=\"1.0\" xmlns:xsl=\"http://www.w3.org/1999/XSL/Transform\">{content}</xsl:stylesheet>"
    )
}

pub(crate) fn inline(content: &str) -> Value {
    json!({"inline": sheet(content)})
}

/// A stylesheet that leaves everything as it is, but calls elements `b` that were called `a`.
pub(crate) fn a_to_b() -> Value {
    inline(
        "<xsl:output omit-xml-declaration='yes'/>\
         <xsl:template match='@*|node()'><xsl:copy><xsl:apply-templates select='@*|node()'/></xsl:copy></xsl:template>\
         <xsl:template match='a'><b><xsl:apply-templates select='@*|node()'/></b></xsl:template>",
    )
}

/// A configuration that transforms requests and responses alike.
pub(crate) fn both(transformation: &Value) -> Value {
    json!({"request": transformation, "response": transformation})
}

/// A configuration with these members added or put in place of others.
pub(crate) fn with(mut config: Value, members: Value) -> Value {
    for (name, value) in members.as_object().unwrap() {
        config[name] = value.clone();
    }
    config
}

pub(crate) fn chain(config: &Value) -> Result<Chain, ConfigError> {
    Chain::new().then_configured::<XsltTransform>(config.to_string().as_bytes())
}

#[track_caller]
pub(crate) fn worker(config: &Value) -> Worker {
    Worker::start(chain(config).unwrap()).unwrap()
}

/// What has become of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Fared {
    /// It has gone on with this body.
    Passed(String),
    /// A reply of this status took its place.
    Refused(u16),
    /// It is held.
    Held,
}

pub(crate) fn passed(body: &str) -> Fared {
    Fared::Passed(body.to_owned())
}

pub(crate) const XML: &[(&str, &str)] = &[("content-type", "text/xml")];
pub(crate) const SOAP: &[(&str, &str)] = &[("content-type", "text/xml"), ("soapaction", "\"urn:a\"")];
pub(crate) const BOTH: [Direction; 2] = [Direction::Request, Direction::Response];

/// What a message ends with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    Body,
    Trailers,
}

/// A message with these headers and its body in these pieces, in an exchange whose other message is plain.
pub(crate) struct Sent {
    pub(crate) at: Direction,
    pub(crate) id: ExchangeId,
}

/// Begins a POST to `/`, or a response of 200 to one, with these headers, some of which may stand in for these.
pub(crate) fn begin(worker: &mut Worker, at: Direction, headers: &[(&str, &str)]) -> Sent {
    let id = worker.open();
    let request = [(":method", "POST"), (":path", "/"), (":authority", "shop.test")];
    let merged = |defaults: &[(&'static str, &'static str)]| -> Vec<(String, String)> {
        let mut all: Vec<_> = defaults.iter().copied().map(|(n, v)| (n.to_owned(), v.to_owned())).collect();
        all.retain(|(name, _)| headers.iter().all(|(other, _)| other != name));
        all.extend(headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
        all
    };
    match at {
        Direction::Request => {
            worker.request_headers(id, merged(&request), false);
        }
        Direction::Response => {
            worker.request_headers(id, request, true);
            worker.response_headers(id, merged(&[(":status", "200")]), false);
        }
    }
    Sent { at, id }
}

/// What has become of a message so far.
pub(crate) fn fared(worker: &Worker, sent: &Sent) -> Fared {
    if let Fate::Replied(reply) = worker.fate(sent.id) {
        return Fared::Refused(reply.status);
    }
    if worker.host.has_gone_on(sent.id, sent.at) {
        Fared::Passed(String::from_utf8(worker.host.passed_body(sent.id, sent.at)).unwrap())
    } else {
        Fared::Held
    }
}

/// Sends a body in these pieces; the exchange stays open.
pub(crate) fn send_pieces(
    worker: &mut Worker,
    at: Direction,
    headers: &[(&str, &str)],
    pieces: &[&[u8]],
    end: End,
) -> (Fared, Sent) {
    let sent = begin(worker, at, headers);
    for (place, piece) in pieces.iter().enumerate() {
        if matches!(fared(worker, &sent), Fared::Refused(_)) {
            break;
        }
        worker.body(sent.id, at, piece, end == End::Body && place + 1 == pieces.len());
    }
    if end == End::Trailers && !matches!(fared(worker, &sent), Fared::Refused(_)) {
        worker.trailers(sent.id, at);
    }
    (fared(worker, &sent), sent)
}

/// Sends a body in one piece.
pub(crate) fn send(worker: &mut Worker, at: Direction, headers: &[(&str, &str)], body: &str) -> Fared {
    let (fared, sent) = send_pieces(worker, at, headers, &[body.as_bytes()], End::Body);
    worker.finish(sent.id);
    fared
}

/// The headers with which a message has gone on.
pub(crate) fn headers_of(worker: &Worker, sent: &Sent) -> HeaderList {
    match sent.at {
        Direction::Request => worker.host.upstream_headers(sent.id),
        Direction::Response => worker.host.downstream_headers(sent.id),
    }
}

pub(crate) fn field(headers: &HeaderList, name: &str) -> Option<String> {
    headers.first(name).map(|value| String::from_utf8(value.to_vec()).unwrap())
}

pub(crate) fn word(at: Direction) -> &'static str {
    match at {
        Direction::Request => "request",
        Direction::Response => "response",
    }
}

#[track_caller]
pub(crate) fn count(worker: &Worker, name: &str) -> i64 {
    worker.host.metric(&format!("portcullis.xslt_transform.{name}"))
}

/// What the filter state says of an exchange.
pub(crate) fn outcome(worker: &Worker, sent: &Sent) -> Option<String> {
    let property = portcullis_policy::outcome_property("xslt-transform");
    worker.host.property_of(sent.id, &[&property]).map(|text| String::from_utf8(text).unwrap())
}
