//! Messages in any pieces, in both directions, behind a router and without one: no panic, the same result as for the
//! message in one piece, and a stylesheet that changes nothing changes nothing.
#![no_main]

use std::cell::RefCell;

use libfuzzer_sys::fuzz_target;
use portcullis_content_router::ContentRouter;
use portcullis_policy::{Chain, Direction, ExchangeId};
use portcullis_testkit::inprocess::{Fate, Worker};
use portcullis_xml::{Document, Limits, NodeId, NodeKind};
use portcullis_xslt_transform::XsltTransform;

/// Leaves everything as it is.
const IDENTITY: &str = "<xsl:stylesheet version='1.0' xmlns:xsl='http://www.w3.org/1999/XSL/Transform'>\
    <xsl:template match='@*|node()'><xsl:copy><xsl:apply-templates select='@*|node()'/></xsl:copy></xsl:template>\
    </xsl:stylesheet>";
const LIMITS: &str = r#""limits": {"max_bytes": 4096, "max_depth": 16, "max_output_bytes": 65536}"#;
/// What a router before the transformation looks at: nothing, the beginning, all of it.
const ROUTERS: [Option<&str>; 3] = [
    None,
    Some(
        r#"{"default": "pass", "body": {"max_bytes": 4096, "max_depth": 16}, "undecided": {"malformed": "pass",
        "content_type": "pass", "too_large": "pass", "multipart": "pass"},
        "rules": [{"when": {"operation": {"name": "a"}}, "then": {"route": "a"}}]}"#,
    ),
    Some(
        r#"{"default": "pass", "body": {"max_bytes": 4096, "max_depth": 16, "xpath": "buffered"},
        "undecided": {"malformed": "pass", "content_type": "pass", "too_large": "pass", "multipart": "pass"},
        "rules": [{"when": {"xpath": {"expression": "count(//a) > 1"}}, "then": {"route": "a"}}]}"#,
    ),
];
const SOURCES: [&str; 2] = ["document", "operation"];
const CONTENT_TYPES: [&str; 4] = [
    "text/xml",
    "application/soap+xml; action=\"a\"",
    "application/xml; charset=iso-8859-1",
    "text/xml; charset=utf-16",
];

fn start(place: usize) -> Worker {
    let source = SOURCES[place % SOURCES.len()];
    let mut chain = Chain::new();
    if let Some(router) = ROUTERS[place / SOURCES.len() % ROUTERS.len()] {
        chain = chain.then_configured::<ContentRouter>(router.as_bytes()).unwrap();
    }
    let side = format!(r#"{{"source": "{source}", "stylesheet": {{"inline": "{IDENTITY}"}}}}"#);
    let config = format!(r#"{{"request": {side}, "response": {side}, {LIMITS}}}"#);
    Worker::start(chain.then_configured::<XsltTransform>(config.as_bytes()).unwrap()).unwrap()
}

thread_local! {
    static WORKERS: RefCell<Vec<Worker>> =
        RefCell::new((0..SOURCES.len() * ROUTERS.len()).map(start).collect());
}

/// How a body ends.
#[derive(Clone, Copy, PartialEq)]
enum End {
    Body,
    Trailers,
}

/// The new body, or the status with which the message was refused.
fn send(
    worker: &mut Worker,
    at: Direction,
    content_type: &str,
    pieces: &[&[u8]],
    end: End,
) -> Result<Vec<u8>, u16> {
    let id = worker.open();
    let headers = [(":method", "POST"), (":path", "/"), ("content-type", content_type)];
    match at {
        Direction::Request => worker.request_headers(id, headers, false),
        Direction::Response => {
            worker.request_headers(id, [(":method", "GET"), (":path", "/")], true);
            worker.response_headers(id, [(":status", "200"), ("content-type", content_type)], false)
        }
    };
    for (place, piece) in pieces.iter().enumerate() {
        if is_refused(worker, id) {
            break;
        }
        worker.body(id, at, piece, end == End::Body && place + 1 == pieces.len());
    }
    if end == End::Trailers && !is_refused(worker, id) {
        worker.trailers(id, at);
    }
    let fared = match worker.fate(id) {
        Fate::Replied(reply) => Err(reply.status),
        _ => {
            assert!(worker.host.has_gone_on(id, at), "held though the message has ended");
            Ok(worker.host.passed_body(id, at))
        }
    };
    worker.finish(id);
    fared
}

fn is_refused(worker: &Worker, id: ExchangeId) -> bool {
    matches!(worker.fate(id), Fate::Replied(_))
}

/// Names, attributes and texts of a document in order.
fn parts(document: &Document) -> Vec<String> {
    let name = |node| format!("{{{}}}{}", document.namespace(node), document.local_name(node));
    let mut parts = Vec::new();
    let mut open = vec![NodeId::ROOT];
    while let Some(node) = open.pop() {
        match document.kind(node) {
            NodeKind::Text | NodeKind::Comment => parts.push(document.string_value(node).to_owned()),
            _ => {
                let mut attributes: Vec<_> = document
                    .attributes(node)
                    .map(|at| format!("{}={:?}", name(at), document.string_value(at)))
                    .collect();
                attributes.sort();
                parts.push(format!("{} {attributes:?} {}", name(node), document.children(node).count()));
                let children: Vec<_> = document.children(node).collect();
                open.extend(children.into_iter().rev());
            }
        }
    }
    parts
}

/// A stylesheet that changes nothing has changed nothing.
fn check_same(body: &[u8], content_type: &str, result: &[u8]) {
    // Other encodings need to be told to the parser; the pieces above have seen to that.
    if content_type.contains("charset") {
        return;
    }
    let limits = Limits::default();
    if let Ok(before) = Document::parse(body, &limits) {
        let after = Document::parse(result, &limits).expect("a result that is well-formed");
        assert_eq!(parts(&before), parts(&after), "{}", String::from_utf8_lossy(result));
    }
}

// The first byte chooses policies and headers, the next four say where the body is cut.
fuzz_target!(|data: &[u8]| {
    let Some((choice, body)) = data.split_first_chunk::<5>() else { return };
    let place = usize::from(choice[0]) % (SOURCES.len() * ROUTERS.len());
    let content_type = CONTENT_TYPES[usize::from(choice[0] >> 4) % CONTENT_TYPES.len()];
    let at = if choice[0] & 0x40 == 0 { Direction::Request } else { Direction::Response };
    let end = if choice[0] & 0x80 == 0 { End::Body } else { End::Trailers };
    let mut cuts: Vec<usize> = choice[1..].iter().map(|cut| usize::from(*cut) % (body.len() + 1)).collect();
    cuts.extend([0, body.len()]);
    cuts.sort_unstable();
    let pieces: Vec<&[u8]> = cuts.windows(2).map(|cut| &body[cut[0]..cut[1]]).collect();
    WORKERS.with_borrow_mut(|workers| {
        let worker = &mut workers[place];
        let whole = send(worker, at, content_type, &[body], End::Body);
        assert_eq!(send(worker, at, content_type, &pieces, end), whole, "in pieces");
        if let Ok(result) = &whole {
            check_same(body, content_type, result);
        }
        // What the host in this process remembers of exchanges that are over would grow without end.
        if worker.host.exchanges() > 100 {
            *worker = start(place);
        }
    });
});
