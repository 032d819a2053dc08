//! Whatever bytes an exchange consists of, its line is one line of valid JSON of a bounded length.
#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use portcullis_access_log::config::Phase;
use portcullis_access_log::line::Entry;
use portcullis_policy::time::Timestamp;

#[derive(Debug, Arbitrary)]
struct Input<'a> {
    has_phase: bool,
    limit: u16,
    time: u64,
    numbers: [Option<u64>; 6],
    texts: [Option<&'a [u8]>; 9],
    bodies: [Option<&'a [u8]>; 2],
}

fuzz_target!(|input: Input<'_>| {
    let [status, duration, upstream_duration, bytes_in, bytes_out, flags] = input.numbers;
    let [
        method,
        path,
        query,
        protocol,
        upstream,
        request_id,
        details,
        client_id,
        reported_outcome,
    ] = input.texts;
    let entry = Entry {
        time: Timestamp::from_nanos(input.time),
        method,
        path,
        query,
        protocol,
        status,
        duration,
        upstream_duration,
        bytes_in,
        bytes_out,
        upstream,
        request_id,
        flags,
        details,
        client_id,
        outcomes: &[],
        reported_outcome,
        phase: input.has_phase.then_some(Phase::Request),
        request_body: input.bodies[0],
        response_body: input.bodies[1],
    };
    let limit = usize::from(input.limit);
    let mut line = Vec::new();
    entry.write(&mut line, limit);

    // A byte is escaped to six at the most; the query is a text of its own, bodies are not cut here, and names and
    // numbers fit in the rest.
    let bodies: usize = input.bodies.iter().flatten().map(|body| 6 * body.len()).sum();
    assert!(line.len() <= 10 * (6 * limit + 3) + bodies + 1_000);
    let line = std::str::from_utf8(&line).expect("UTF-8");
    assert!(!line.contains(char::is_control), "{line:?}");
    let value: serde_json::Value = serde_json::from_str(line).expect("JSON");
    assert_eq!(value["status"].as_u64(), status);
    assert_eq!(value.get("method").is_some(), method.is_some());
    assert_eq!(value.get("path").is_some(), path.is_some());
    if let Some(text) = details.and_then(|details| std::str::from_utf8(details).ok())
        && text.len() <= limit
    {
        assert_eq!(value["details"], text);
    }
});
