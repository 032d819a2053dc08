//! What can be seen of an exchange: in the response, at the upstreams, in the logs, in the counters.

use std::collections::BTreeMap;

use portcullis_testkit::envoy::{Envoy, Recorded, Response};
use serde_json::Value;

use super::client::TRAILER;
use super::messages;
use crate::axes::{Dependency, Framing, Subject};
use crate::cells::Cell;
use crate::outcome::{Answer, Reached};

/// A line of Envoy's own access log.
#[derive(Clone, Debug, Default)]
pub(super) struct Line {
    pub(super) status: Option<u16>,
    pub(super) details: String,
    outcome: Option<String>,
}

/// The line of this request, once it is there.
pub(super) fn native_line(envoy: &Envoy, path: &str) -> Option<Line> {
    let lines = envoy.stdout_lines();
    let fields = lines.iter().map(|line| line.splitn(5, '|').collect::<Vec<_>>());
    let mut of = fields.filter(|fields| fields.first() == Some(&"cell") && fields.get(1) == Some(&path));
    let fields = of.next()?;
    Some(Line {
        status: fields.get(2)?.parse().ok().filter(|status| *status > 0),
        details: (*fields.get(4)?).to_owned(),
        outcome: fields.get(3).filter(|outcome| **outcome != "-").map(|outcome| (*outcome).to_owned()),
    })
}

/// The lines of access-log's that tell of this request.
pub(super) fn suite_lines(envoy: &Envoy, path: &str) -> Vec<Value> {
    let lines = envoy.log_lines();
    let documents = lines.iter().filter_map(|line| {
        let at = line.find("{\"time\":")?;
        serde_json::from_str::<Value>(&line[at..]).ok()
    });
    documents.filter(|line| line["path"] == path).collect()
}

/// The status in access-log's line, where there is one, else in Envoy's.
pub(super) fn logged_status(subject: Subject, native: &Line, suite: &[Value]) -> Option<u16> {
    if !subject.has(Subject::AccessLog) {
        return native.status;
    }
    suite.first().and_then(|line| u16::try_from(line["status"].as_u64()?).ok())
}

/// What the log says that policies have decided.
pub(super) fn outcomes(subject: Subject, native: &Line, suite: &[Value]) -> Vec<String> {
    if !subject.has(Subject::AccessLog) {
        return native.outcome.clone().into_iter().collect();
    }
    let listed = suite.first().and_then(|line| line["outcomes"].as_array().cloned()).unwrap_or_default();
    listed.iter().filter_map(Value::as_str).map(str::to_owned).collect()
}

/// The suite's counters, without what all of them begin with. Gauges are left out: they come back to what they were.
pub(super) fn counters(envoy: &Envoy) -> BTreeMap<String, u64> {
    let ours = |(name, value): (String, u64)| {
        let name = name.strip_prefix("wasmcustom.portcullis.")?;
        (name != "access_log.otlp_queued").then(|| (name.to_owned(), value))
    };
    envoy.stats().into_iter().filter_map(ours).collect()
}

/// By how much counters have grown, where they have.
pub(super) fn growth(before: &BTreeMap<String, u64>, after: &BTreeMap<String, u64>) -> BTreeMap<String, u64> {
    let grown = |(name, now): (&String, &u64)| {
        let growth = now.saturating_sub(before.get(name).copied().unwrap_or(0));
        (growth > 0).then(|| (name.clone(), growth))
    };
    after.iter().filter_map(grown).collect()
}

/// Whose answer the client has got.
pub(super) fn answer(cell: &Cell, response: &Response) -> Answer {
    let upgraded = cell.framing == Framing::Upgrade && matches!(response.status, 101 | 200);
    if response.body.is_empty() && (cell.framing == Framing::Head || upgraded) {
        Answer::Bodiless
    } else if response.body == messages::reply().as_bytes() || response.body.len() == messages::HUGE_REPLY {
        Answer::Upstream
    } else if response.body == messages::transformed_reply().as_bytes() {
        Answer::Transformed
    } else {
        Answer::Gateway
    }
}

/// What of this request the upstream that is up has got.
pub(super) fn at_the_backend(cell: &Cell, path: &str, requests: &[Recorded]) -> Reached {
    let mut of = requests.iter().filter(|request| request.path == path);
    let Some(request) = of.next() else { return Reached::No };
    if of.next().is_some() {
        return Reached::Wrong("it came twice".to_owned());
    }
    match wrong(cell, request) {
        Some(why) => Reached::Wrong(why.to_owned()),
        None if is_whole(cell, request) => Reached::Whole,
        None => Reached::Part,
    }
}

fn is_whole(cell: &Cell, request: &Recorded) -> bool {
    let body = match (cell.framing.has_body(), cell.subject.has(Subject::XsltTransform)) {
        (false, _) => String::new(),
        (true, false) => messages::request(),
        (true, true) => messages::transformed_request(),
    };
    let trailers = cell.framing != Framing::Trailers || request.trailers.get(TRAILER.0) == Some(TRAILER.1);
    request.body == body.as_bytes() && trailers
}

/// What is wrong with the headers, which are there as soon as anything is.
fn wrong(cell: &Cell, request: &Recorded) -> Option<&'static str> {
    let header = |name: &str| request.headers.text(name);
    if cell.subject.has(Subject::ClientId) {
        if header("client_id").is_some() || header("client_secret").is_some() {
            return Some("with credentials");
        }
        let known = cell.failure_of(Dependency::Auth).is_none();
        if header("x-portcullis-client-id") != known.then(|| cell.id()) {
            return Some("with another identity");
        }
        if header("x-portcullis-unverified").is_some() == known {
            return Some("marked otherwise than it must be");
        }
    }
    let route = if cell.framing.has_body() { "blue" } else { "other" };
    if cell.subject.has(Subject::ContentRouter) && header("x-portcullis-route").as_deref() != Some(route) {
        return Some("by another route");
    }
    None
}
