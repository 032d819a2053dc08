//! How often modules call their host for an exchange that goes well. Each call leaves the VM, and one that returns bytes
//! enters it again to have room made for them: in Envoy that costs more than most of what policies do themselves.

use portcullis_testkit::vm::{
    CallReply, ContextId, EndOfStream, Exchange, HeaderMap, Hostcall, MapType, Script, Trap, Vm,
};
use serde_json::{Value, json};

use crate::support::{per_request, start};

const HEADERS: Hostcall = Hostcall::GetHeaderMapPairs;
const SET_HEADER: Hostcall = Hostcall::ReplaceHeaderMapValue;
const REMOVE_HEADER: Hostcall = Hostcall::RemoveHeaderMapValue;
const BODY: Hostcall = Hostcall::GetBufferBytes;
const SET_BODY: Hostcall = Hostcall::SetBufferBytes;
const PROPERTY: Hostcall = Hostcall::GetProperty;
const SET_PROPERTY: Hostcall = Hostcall::SetProperty;
const SHARED: Hostcall = Hostcall::GetSharedData;
const SET_SHARED: Hostcall = Hostcall::SetSharedData;
const CLOCK: Hostcall = Hostcall::GetCurrentTimeNanoseconds;
const COUNT: Hostcall = Hostcall::IncrementMetric;
const LOG: Hostcall = Hostcall::Log;

/// Calls, each with how often it is made, in the order of [`Hostcall::ALL`].
type Calls = Vec<(Hostcall, u64)>;

fn made(vm: &Vm) -> Calls {
    Hostcall::ALL.iter().map(|call| (*call, vm.record().calls(*call))).collect()
}

/// Serves an exchange after one like it, when what is learnt once has been learnt: the calls that it took.
fn calls_of(vm: &mut Vm, exchange: &Exchange, messages: &Messages) -> (Calls, ContextId) {
    serve(vm, exchange, messages).unwrap();
    let before = made(vm);
    let id = serve(vm, exchange, messages).unwrap();
    assert!(vm.record().local_responses.is_empty(), "{:?}", vm.record().local_responses);
    let calls = made(vm)
        .into_iter()
        .zip(before)
        .map(|((call, after), (_, before))| (call, after.saturating_sub(before)));
    (calls.filter(|(_, times)| *times > 0).collect(), id)
}

fn sorted(calls: &[(Hostcall, u64)]) -> Calls {
    let mut calls = calls.to_vec();
    calls.sort_unstable();
    calls
}

/// The bodies of an exchange, in the pieces in which they come.
#[derive(Default)]
struct Messages {
    request: Vec<Vec<u8>>,
    response: Vec<Vec<u8>>,
}

/// Takes an exchange through every callback, as Envoy does over HTTP/1.1: a body's end comes with an empty piece.
fn serve(vm: &mut Vm, exchange: &Exchange, messages: &Messages) -> Result<ContextId, Trap> {
    let ends = |body: &[Vec<u8>]| if body.is_empty() { EndOfStream::Yes } else { EndOfStream::No };
    let id = vm.create_exchange_with(exchange.clone())?;
    let calls_before = vm.record().http_calls.len();
    vm.request_headers(id, ends(&messages.request))?;
    for piece in &messages.request {
        vm.request_body(id, piece, EndOfStream::No)?;
    }
    if !messages.request.is_empty() {
        vm.request_body(id, b"", EndOfStream::Yes)?;
    }
    let tokens: Vec<_> = vm.record().http_calls.iter().skip(calls_before).map(|call| call.token).collect();
    for token in tokens {
        let headers = HeaderMap::from([(":status", "200"), ("x-client-tier", "gold")]);
        vm.http_call_response(token, CallReply { headers, ..CallReply::default() })?;
    }
    vm.response_headers(id, ends(&messages.response))?;
    for piece in &messages.response {
        vm.response_body(id, piece, EndOfStream::No)?;
    }
    if !messages.response.is_empty() {
        vm.response_body(id, b"", EndOfStream::Yes)?;
    }
    vm.finish(id)?;
    Ok(id)
}

/// A request, and a response with a body.
fn exchange(method: &str) -> Exchange {
    let mut exchange = Exchange::default()
        .with_map(
            MapType::RequestHeaders,
            [
                (":method", method),
                (":path", "/a"),
                (":authority", "example.test"),
                ("client_id", "id"),
                ("client_secret", "secret"),
                ("content-type", "text/xml"),
                ("content-length", "100"),
            ],
        )
        .with_map(
            MapType::ResponseHeaders,
            [(":status", "200"), ("content-type", "text/xml"), ("content-length", "100")],
        );
    exchange.properties.set(&["response", "code_details"], "via_upstream");
    exchange
}

fn subject(name: &str, config: &Value) -> Vm {
    start(name, config, |_: &mut Script| {}).unwrap()
}

/// A document that comes in so many pieces, as large as Envoy reads them from a connection.
fn document(pieces: usize) -> Vec<Vec<u8>> {
    const PIECE: usize = 16 << 10;
    let mut body = b"<a>".to_vec();
    body.resize(pieces.saturating_mul(PIECE).saturating_sub(b"</a>".len()), b'x');
    body.extend_from_slice(b"</a>");
    body.chunks(PIECE).map(<[u8]>::to_vec).collect()
}

fn limits() -> Value {
    json!({"limits": [{"max": 9, "period_ms": 60_000}], "headers": "off"})
}

fn by_header() -> Value {
    json!({"default": {"route": "other"}, "rules": [{"when": {"header": {"name": "x"}}, "then": {"route": "x"}}]})
}

const STYLESHEET: &str = "<xsl:stylesheet version='1.0' xmlns:xsl='http://www.w3.org/1999/XSL/Transform'>\
    <xsl:template match='/'><b><xsl:copy-of select='*'/></b></xsl:template></xsl:stylesheet>";

#[test]
fn a_request_that_passes_takes_these_calls_and_no_others() {
    let admitted =
        [(HEADERS, 1), (SET_HEADER, 2), (REMOVE_HEADER, 2), (SET_PROPERTY, 2), (COUNT, 2), (CLOCK, 1)];
    let counted = [(HEADERS, 1), (SHARED, 1), (SET_SHARED, 1), (SET_PROPERTY, 1), (COUNT, 1)];
    let routed = [(HEADERS, 1), (SET_HEADER, 1), (SET_PROPERTY, 1), (COUNT, 1)];
    let logged = [(HEADERS, 1), (PROPERTY, 10), (CLOCK, 1), (LOG, 1)];
    // The headers are read once for all, and nobody has to ask what the others have decided.
    let chained = [
        (HEADERS, 1),
        (SET_HEADER, 3),
        (REMOVE_HEADER, 2),
        (PROPERTY, 8),
        (SET_PROPERTY, 4),
        (SHARED, 1),
        (SET_SHARED, 1),
        (COUNT, 4),
        (CLOCK, 2),
        (LOG, 1),
    ];
    let chain = json!({"policies": [{"client-id": per_request()}, {"rate-limit": limits()},
        {"content-router": by_header()}, {"access-log": {}}]});
    for (name, config, expected) in [
        ("no-op", json!({}), &[][..]),
        ("client-id", per_request(), &admitted),
        ("rate-limit", limits(), &counted),
        ("content-router", by_header(), &routed),
        ("access-log", json!({}), &logged),
        ("gateway", chain, &chained),
    ] {
        let mut vm = subject(name, &config);
        let messages = Messages { response: vec![b"hello".to_vec()], ..Messages::default() };
        let (calls, id) = calls_of(&mut vm, &exchange("GET"), &messages);
        assert_eq!(calls, sorted(expected), "{name}");
        assert_eq!(vm.exchange(id).response_body.passed, b"hello");
    }
}

#[test]
fn a_message_that_is_transformed_takes_these_calls_and_no_others() {
    let transformation = json!({"stylesheet": {"inline": STYLESHEET}});
    let (request, response) = (json!({"request": transformation}), json!({"response": transformation}));
    let both = json!({"request": transformation, "response": transformation});
    let of_request = [(HEADERS, 1), (BODY, 1), (SET_BODY, 1), (SET_HEADER, 1), (SET_PROPERTY, 1), (COUNT, 1)];
    // The request's headers say whether the response may come compressed.
    let of_response = |pieces| {
        let headers = [(HEADERS, 2), (SET_HEADER, 1), (PROPERTY, 1), (SET_PROPERTY, 1)];
        [&headers[..], &[(BODY, pieces), (SET_BODY, 1), (COUNT, 1)]].concat()
    };
    let of_both = [(HEADERS, 2), (BODY, 2), (SET_BODY, 2), (SET_HEADER, 2), (PROPERTY, 1), (SET_PROPERTY, 2)];
    for (config, pieces, expected) in [
        (request, 1, of_request.to_vec()),
        (response.clone(), 1, of_response(1)),
        (response, 6, of_response(6)),
        (both, 1, [&of_both[..], &[(COUNT, 2)]].concat()),
    ] {
        let mut vm = subject("xslt-transform", &config);
        let messages = Messages { request: document(1), response: document(pieces) };
        let (calls, id) = calls_of(&mut vm, &exchange("POST"), &messages);
        assert_eq!(calls, sorted(&expected), "{config} {pieces}");
        for (body, side) in
            [(&vm.exchange(id).request_body, "request"), (&vm.exchange(id).response_body, "response")]
        {
            let is_transformed = body.passed.windows(6).any(|bytes| bytes == b"<b><a>");
            assert_eq!(is_transformed, config.get(side).is_some(), "{config} {side}");
        }
    }
}
