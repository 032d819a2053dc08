//! Bodies in any pieces, before rules of every kind: no panic, and the same decision as for the body in one piece.
#![no_main]

use std::cell::RefCell;

use libfuzzer_sys::fuzz_target;
use portcullis_content_router::ContentRouter;
use portcullis_policy::{Chain, Direction, ExchangeId};
use portcullis_testkit::inprocess::{Fate, Worker};

/// Rule sets, each with its own limits.
const CONFIGS: [&str; 4] = [
    r#"{"default": "pass", "body": {"max_bytes": 1024}, "rules": [
        {"when": {"soap-header": {"namespace": "http://someuri", "name": "routing", "value": {"matches": "[a-z]+;.*"}}},
         "then": {"route": "a"}},
        {"when": {"soap-header": {"name": "plain"}}, "then": {"reply": {"status": 403}}}]}"#,
    r#"{"default": {"route": "d"}, "body": {"max_bytes": 4096, "max_depth": 8}, "undecided": {"malformed": "default"},
        "namespaces": {"t": "http://someuri"}, "rules": [
        {"when": {"all": [{"operation": {"name": "a"}}, {"not": {"xpath": {"expression": "/*/*/t:routing"}}}]},
         "then": {"route": "a"}},
        {"when": {"any": [{"xpath": {"expression": "/soap12:Envelope/*/b/@id", "value": {"prefix": "1"}}},
            {"xpath": {"expression": "/a/b[2]", "value": {"exact": "x"}}}]}, "then": {"route": "b"}}]}"#,
    r#"{"default": "pass", "body": {"max_bytes": 2048, "xpath": "buffered"}, "undecided": {"too_large": "pass"}, "rules": [
        {"when": {"xpath": {"expression": "count(//a) > 2"}}, "then": {"route": "a"}},
        {"when": {"xpath": {"expression": "//b[last()]", "value": {"matches": "(x|y)*"}}}, "then": {"route": "b"}},
        {"when": {"operation": {"namespace": "urn:a", "name": "c"}}, "then": {"route": "c"}}]}"#,
    r#"{"default": "pass", "body": {"max_bytes": 1024}, "rules": [
        {"when": {"json": {"pointer": "/a/0/b", "value": {"matches": "[0-9.]+"}}}, "then": {"route": "a"}},
        {"when": {"json": {"pointer": "/a/0/k", "value": {"number": {"more_than": -2.5, "at_most": 1e4}}}},
         "then": {"route": "c"}},
        {"when": {"any": [{"json": {"pointer": "/a"}}, {"operation": {"name": "a"}}]}, "then": {"route": "b"}}]}"#,
];

const CONTENT_TYPES: [&str; 6] = [
    "text/xml",
    "application/soap+xml; action=\"a\"",
    "application/json",
    "application/xml; charset=iso-8859-1",
    "text/xml; charset=utf-16",
    "multipart/related",
];

thread_local! {
    static WORKERS: RefCell<Vec<Worker>> = RefCell::new(
        CONFIGS
            .iter()
            .map(|config| {
                let chain = Chain::new().then_configured::<ContentRouter>(config.as_bytes()).unwrap();
                Worker::start(chain).unwrap()
            })
            .collect(),
    );
}

/// How the body ends.
#[derive(Clone, Copy, PartialEq)]
enum End {
    Body,
    Trailers,
}

/// What has become of a request: its status if it was refused, or its route.
type Fared = Result<Option<Vec<u8>>, u16>;

fn send(worker: &mut Worker, content_type: &str, pieces: &[&[u8]], end: End) -> Fared {
    let id = worker.open();
    let headers = [(":method", "POST"), (":path", "/"), ("content-type", content_type), ("soapaction", "a")];
    worker.request_headers(id, headers, false);
    for (at, piece) in pieces.iter().enumerate() {
        if is_refused(worker, id) {
            break;
        }
        let last = end == End::Body && at + 1 == pieces.len();
        worker.body(id, Direction::Request, piece, last);
    }
    if end == End::Trailers && !is_refused(worker, id) {
        worker.trailers(id, Direction::Request);
    }
    let fared = match worker.fate(id) {
        Fate::Held => panic!("held though the request has ended"),
        Fate::Replied(reply) => Err(reply.status),
        Fate::Admitted => {
            assert_eq!(worker.host.passed_body(id, Direction::Request), pieces.concat());
            Ok(worker.host.upstream_headers(id).first("x-portcullis-route").map(<[u8]>::to_vec))
        }
    };
    worker.finish(id);
    fared
}

fn is_refused(worker: &Worker, id: ExchangeId) -> bool {
    matches!(worker.fate(id), Fate::Replied(_))
}

// The first byte chooses rules and headers, the next four say where the body is cut.
fuzz_target!(|data: &[u8]| {
    let Some((choice, body)) = data.split_first_chunk::<5>() else { return };
    let config = usize::from(choice[0]) % CONFIGS.len();
    let content_type = CONTENT_TYPES[usize::from(choice[0]) / CONFIGS.len() % CONTENT_TYPES.len()];
    let end = if choice[0] & 0x80 == 0 { End::Body } else { End::Trailers };
    let mut cuts: Vec<usize> = choice[1..].iter().map(|cut| usize::from(*cut) % (body.len() + 1)).collect();
    cuts.extend([0, body.len()]);
    cuts.sort_unstable();
    let pieces: Vec<&[u8]> = cuts.windows(2).map(|cut| &body[cut[0]..cut[1]]).collect();
    let bytes: Vec<&[u8]> = body.chunks(1).collect();
    WORKERS.with_borrow_mut(|workers| {
        let worker = &mut workers[config];
        let whole = send(worker, content_type, &[body], End::Body);
        assert_eq!(send(worker, content_type, &pieces, end), whole, "in pieces");
        if body.len() <= 96 && !body.is_empty() {
            assert_eq!(send(worker, content_type, &bytes, end), whole, "in single bytes");
        }
        // What the host in this process remembers of exchanges that are over would grow without end.
        if worker.host.exchanges() > 100 {
            let chain = Chain::new().then_configured::<ContentRouter>(CONFIGS[config].as_bytes()).unwrap();
            *worker = Worker::start(chain).unwrap();
        }
    });
});
