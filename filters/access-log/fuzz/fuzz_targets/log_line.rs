//! Whatever bytes an exchange consists of, its line is one line of valid JSON of a bounded length.
#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use portcullis_access_log::config::Query;
use portcullis_access_log::line::{Entry, Style};
use portcullis_policy::time::Timestamp;

#[derive(Debug, Arbitrary)]
struct Input<'a> {
    query: u8,
    limit: u16,
    time: u64,
    numbers: [Option<u64>; 6],
    texts: [Option<&'a [u8]>; 9],
}

fuzz_target!(|input: Input<'_>| {
    let [status, duration, upstream_duration, bytes_in, bytes_out, flags] = input.numbers;
    let [
        method,
        received_path,
        forwarded_path,
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
        received_path,
        forwarded_path,
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
    };
    let query = match input.query % 3 {
        0 => Query::Redacted,
        1 => Query::Keep,
        _ => Query::Drop,
    };
    let limit = usize::from(input.limit);
    let mut line = Vec::new();
    entry.write(&mut line, Style { query, limit });

    // A byte is escaped to six at the most; the query is a text of its own; names and numbers fit in the rest.
    assert!(line.len() <= 10 * (6 * limit + 3) + 1_000);
    let line = std::str::from_utf8(&line).expect("UTF-8");
    assert!(!line.contains(char::is_control), "{line:?}");
    let value: serde_json::Value = serde_json::from_str(line).expect("JSON");
    assert_eq!(value["status"].as_u64(), status);
    assert_eq!(value.get("method").is_some(), method.is_some());
    assert_eq!(value.get("path").is_some(), received_path.is_some());
    if let Some(text) = details.and_then(|details| std::str::from_utf8(details).ok())
        && text.len() <= limit
    {
        assert_eq!(value["details"], text);
    }
});
