//! A message, given to the policy as it is configured: the same code that runs in the module, on a host in this process.

use portcullis_policy::host::Level;
use portcullis_policy::reply::RenderedReply;
use portcullis_policy::{Chain, Direction, ExchangeId, Policy, outcome_property};
use portcullis_testkit::inprocess::{Fate, Worker};
use portcullis_xslt_transform::XsltTransform;

use super::failure::Failure;
use super::options::{Input, Message, PolicyOptions};

type Headers = Vec<(String, String)>;

/// Sends the message through the policy, and writes what comes out.
pub(super) fn run(options: &PolicyOptions) -> Result<(), Failure> {
    let refused =
        |error: &dyn std::fmt::Display| Failure::Usage(format!("{}: {error}", options.config.display()));
    let document = super::read(&Input::File(options.config.clone()))?;
    let chain = Chain::new().then_configured::<XsltTransform>(&document).map_err(|error| refused(&error))?;
    let mut worker = Worker::start(chain).map_err(|error| refused(&error))?;
    let (input, direction) = match &options.message {
        Message::Request(input) => (input, Direction::Request),
        Message::Response(input) => (input, Direction::Response),
    };
    let body = super::read(input)?;
    let id = send(&mut worker, direction, options, &body);
    for line in worker.log_lines(Level::Info) {
        eprintln!("{line}");
    }
    if let Some(outcome) = worker.host.property_of(id, &[&outcome_property(XsltTransform::NAME)]) {
        eprintln!("outcome: {}", String::from_utf8_lossy(&outcome));
    }
    match worker.fate(id) {
        Fate::Replied(reply) => Err(Failure::Message(refusal(&reply, input, &body))),
        _ => super::print(&worker.host.passed_body(id, direction)),
    }
}

/// Has the message come, as Envoy has it come: headers, then the body.
fn send(worker: &mut Worker, direction: Direction, options: &PolicyOptions, body: &[u8]) -> ExchangeId {
    let length = body.len().to_string();
    let head = [("content-type", "text/xml"), ("content-length", &length)];
    let request_line = [(":method", "POST"), (":path", "/"), (":authority", "localhost")];
    let id = worker.open();
    match direction {
        Direction::Request => {
            let headers = with_defaults(&options.headers, &[&request_line[..], &head].concat());
            worker.request_headers(id, headers, false);
        }
        Direction::Response => {
            worker.request_headers(id, with_defaults(&options.request_headers, &request_line), true);
            worker.host.give_property(id, &["response", "code_details"], b"via_upstream");
            let headers = with_defaults(&options.headers, &[&[(":status", "200")][..], &head].concat());
            worker.response_headers(id, headers, false);
        }
    }
    worker.body(id, direction, body, true);
    id
}

/// These headers, and before them those of the defaults that are not among them.
fn with_defaults(given: &[(String, String)], defaults: &[(&str, &str)]) -> Headers {
    let is_given = |name: &str| given.iter().any(|(known, _)| known.eq_ignore_ascii_case(name));
    let missing = defaults.iter().filter(|(name, _)| !is_given(name));
    let lower = |(name, value): &(String, String)| (name.to_ascii_lowercase(), value.clone());
    missing
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .chain(given.iter().map(lower))
        .collect()
}

/// What the client would be told, and what it would not: where the document is malformed.
fn refusal(reply: &RenderedReply, input: &Input, body: &[u8]) -> String {
    let told = String::from_utf8_lossy(&reply.body);
    let refusal = format!("refused with {} ({}): {told}", reply.status, reply.code_details);
    match portcullis_xml::Document::parse(body, &portcullis_xml::Limits::default()) {
        Err(error) if reply.code_details.ends_with("_malformed") => format!("{input}:{error}\n{refusal}"),
        _ => refusal,
    }
}
