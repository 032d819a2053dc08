//! Whatever format is configured and whatever an exchange consists of, there is an error or one line.
#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use portcullis_access_log::AccessLog;
use portcullis_policy::host::Level;
use portcullis_policy::{Chain, Direction};
use portcullis_testkit::inprocess::Worker;
use serde_json::{Value, json};

#[derive(Debug, Arbitrary)]
struct Input<'a> {
    pieces: Vec<Piece<'a>>,
    shape: u8,
    value: &'a [u8],
    other: &'a [u8],
    number: u64,
    body: &'a [u8],
}

#[derive(Debug, Arbitrary)]
enum Piece<'a> {
    Literal(&'a str),
    Operator(u8),
    Length(u8, u16),
    Argument(u8, &'a str),
    Time(&'a str),
}

const NAMES: [&str; 28] = [
    "START_TIME", "DURATION", "PROTOCOL", "RESPONSE_CODE", "RESPONSE_CODE_DETAILS", "RESPONSE_FLAGS",
    "RESPONSE_FLAGS_LONG", "BYTES_RECEIVED", "REQUEST_HEADERS_BYTES", "REQ(A?B)", "REQ(:PATH)", "RESP(A)",
    "TRAILER(A)", "GRPC_STATUS", "UPSTREAM_HOST", "UPSTREAM_LOCAL_ADDRESS_WITHOUT_PORT", "CONNECTION_ID",
    "REQUESTED_SERVER_NAME", "ROUTE_NAME", "FILTER_STATE(a:PLAIN)", "DYNAMIC_METADATA(a:b)", "REQ(REFERER)",
    "PORTCULLIS(OUTCOMES)", "PORTCULLIS(VIOLATION)", "PORTCULLIS(REQUEST_BODY)", "PORTCULLIS(RECEIVED_PATH)",
    "PORTCULLIS(CLIENT_ID)", "PORTCULLIS(ANSWERED_BY)",
];

fn template(pieces: &[Piece<'_>]) -> String {
    let name = |at: &u8| NAMES[usize::from(*at) % NAMES.len()];
    let piece = |piece: &Piece<'_>| match piece {
        Piece::Literal(text) => (*text).to_owned(),
        Piece::Operator(at) => format!("%{}%", name(at)),
        Piece::Length(at, length) => format!("%{}:{length}%", name(at)),
        Piece::Argument(at, argument) => format!("%{}({argument})%", name(at).split('(').next().unwrap()),
        Piece::Time(format) => format!("%START_TIME({format})%"),
    };
    pieces.iter().map(piece).collect()
}

fuzz_target!(|input: Input<'_>| {
    let template = template(&input.pieces);
    let format = match input.shape % 3 {
        0 => json!({"text": template}),
        1 => json!({"json": {"a": template, "b": {"c": [template, 1]}}}),
        _ => json!("default"),
    };
    // A body is kept if and only if it is shown.
    let shows_body = format == json!("default") || format.to_string().contains("%PORTCULLIS(REQUEST_BODY)%");
    let capture = if shows_body {
        json!({"request": {"max_bytes": 64, "content_types": ["*/*"]}})
    } else {
        json!({})
    };
    let document = json!({
        "format": format,
        "empty_values": if input.shape & 0x10 == 0 { "shown" } else { "omitted" },
        "query": if input.shape & 0x20 == 0 { "keep" } else { "redacted" },
        "max_field_bytes": 16 + u32::from(input.shape),
        "capture": capture,
    });
    let Ok(chain) = Chain::new().then_configured::<AccessLog>(document.to_string().as_bytes()) else {
        return;
    };
    let mut worker = Worker::start(chain).expect("a worker");
    let id = worker.open();
    let content_type: &[u8] = if input.shape & 0x40 == 0 { b"application/json" } else { b"text/plain" };
    let headers = [
        (":path", input.value), ("a", input.other), ("referer", input.value), ("content-type", content_type),
    ];
    worker.request_headers(id, headers, false);
    worker.body(id, Direction::Request, input.body, true);
    for path in [
        &["request", "protocol"][..], &["response", "code_details"], &["upstream", "address"],
        &["upstream", "local_address"], &["connection", "requested_server_name"], &["xds", "route_name"],
        &["filter_state", "a"], &["metadata"], &["portcullis.client_id"], &["portcullis.client-id.outcome"],
    ] {
        worker.host.give_property(id, path, input.other);
    }
    for path in [
        ["request", "time"], ["request", "duration"], ["request", "total_size"], ["response", "code"],
        ["response", "flags"], ["connection", "id"], ["response", "grpc_status"],
    ] {
        worker.host.give_property(id, &path, &input.number.to_le_bytes());
    }
    worker.finish(id);
    let lines = worker.log_lines(Level::Info);
    let [line] = lines.as_slice() else { panic!("{lines:?}") };
    assert!(!line.contains(char::is_control), "{line:?}");
    if input.shape % 3 != 0 {
        assert!(serde_json::from_str::<Value>(line).is_ok(), "{line}");
    }
});
