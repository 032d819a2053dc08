//! Writing the line.

use portcullis_policy::time::Timestamp;
use portcullis_policy::{Outcome, json};

use crate::config::Query;
use crate::flags;

/// What is known of an exchange. What is not known is left out of the line.
#[derive(Debug, Default, Clone, Copy)]
pub struct Entry<'a> {
    /// When the request began.
    pub time: Timestamp,
    /// The method.
    pub method: Option<&'a [u8]>,
    /// The path as the client sent it, with its query.
    pub received_path: Option<&'a [u8]>,
    /// The path as the policies have left it, with its query.
    pub forwarded_path: Option<&'a [u8]>,
    /// The protocol with its version.
    pub protocol: Option<&'a [u8]>,
    /// The response's status.
    pub status: Option<u64>,
    /// From the request's first byte to the response's last, in nanoseconds.
    pub duration: Option<u64>,
    /// The upstream's share of it, in nanoseconds.
    pub upstream_duration: Option<u64>,
    /// The length of the request's body.
    pub bytes_in: Option<u64>,
    /// The length of the response's body.
    pub bytes_out: Option<u64>,
    /// The upstream's address.
    pub upstream: Option<&'a [u8]>,
    /// The request's identifier.
    pub request_id: Option<&'a [u8]>,
    /// Envoy's response flags.
    pub flags: Option<u64>,
    /// Envoy's response code details.
    pub details: Option<&'a [u8]>,
    /// Who called.
    pub client_id: Option<&'a [u8]>,
    /// What policies of the same chain have decided.
    pub outcomes: &'a [Outcome],
    /// What a policy of another chain says that it has decided.
    pub reported_outcome: Option<&'a [u8]>,
}

/// How a line is written.
#[derive(Debug, Clone, Copy)]
pub struct Style {
    /// What becomes of the query string.
    pub query: Query,
    /// The longest text of a field in bytes, before it is escaped.
    pub limit: usize,
}

impl Entry<'_> {
    /// Appends the entry to `out` as a JSON object on one line, without a line end. It is valid JSON, and valid
    /// UTF-8, whatever the fields hold.
    pub fn write(&self, out: &mut Vec<u8>, style: Style) {
        out.extend_from_slice(b"{\"time\":\"");
        self.time.write_rfc3339(out);
        out.push(b'"');
        let mut line = Line { out, limit: style.limit };
        line.text("method", self.method);
        line.path(self.received_path, self.forwarded_path, style.query);
        line.text("protocol", self.protocol);
        line.number("status", self.status);
        line.milliseconds("duration_ms", self.duration);
        line.milliseconds("upstream_ms", self.upstream_duration);
        line.number("bytes_in", self.bytes_in);
        line.number("bytes_out", self.bytes_out);
        line.text("upstream", self.upstream);
        line.text("request_id", self.request_id);
        line.flags(self.flags);
        line.text("details", self.details);
        line.text("client_id", self.client_id);
        line.outcomes(self.outcomes, self.reported_outcome);
        out.push(b'}');
    }
}

/// A JSON object that has a first field and gets further ones.
struct Line<'a> {
    out: &'a mut Vec<u8>,
    limit: usize,
}

impl Line<'_> {
    fn name(&mut self, name: &str) {
        self.out.extend_from_slice(b",\"");
        self.out.extend_from_slice(name.as_bytes());
        self.out.extend_from_slice(b"\":");
    }

    fn string(&mut self, text: &[u8]) {
        json::write_string(self.out, text, self.limit);
    }

    fn text(&mut self, name: &str, text: Option<&[u8]>) {
        if let Some(text) = text {
            self.name(name);
            self.string(text);
        }
    }

    fn decimal(&mut self, number: u64) {
        use std::io::Write;
        let _ = write!(self.out, "{number}");
    }

    fn number(&mut self, name: &str, number: Option<u64>) {
        if let Some(number) = number {
            self.name(name);
            self.decimal(number);
        }
    }

    fn milliseconds(&mut self, name: &str, nanoseconds: Option<u64>) {
        use std::io::Write;
        if let Some(nanoseconds) = nanoseconds {
            self.name(name);
            let microseconds = nanoseconds / 1000;
            let _ = write!(self.out, "{}.{:03}", microseconds / 1000, microseconds % 1000);
        }
    }

    fn path(&mut self, received: Option<&[u8]>, forwarded: Option<&[u8]>, query: Query) {
        let Some(received) = received else {
            return;
        };
        let (path, received_query) = split_query(received);
        self.name("path");
        self.string(path);
        match query {
            Query::Redacted if received_query.is_some() => self.extend_string(b"[redacted]"),
            Query::Keep => {
                if let (_, Some(query)) = split_query(forwarded.unwrap_or(received)) {
                    self.extend_string(query);
                }
            }
            Query::Redacted | Query::Drop => {}
        }
    }

    /// Adds a question mark and a query to the string that was written last.
    fn extend_string(&mut self, query: &[u8]) {
        self.out.pop();
        self.out.push(b'?');
        let opening_quote = self.out.len();
        self.string(query);
        self.out.remove(opening_quote);
    }

    fn flags(&mut self, flags: Option<u64>) {
        if let Some(mask) = flags.filter(|mask| *mask != 0) {
            self.name("flags");
            self.out.push(b'"');
            flags::write(self.out, mask);
            self.out.push(b'"');
        }
    }

    fn outcomes(&mut self, outcomes: &[Outcome], reported: Option<&[u8]>) {
        if outcomes.is_empty() && reported.is_none() {
            return;
        }
        self.name("outcomes");
        let mut separator = b'[';
        for outcome in outcomes {
            self.out.push(separator);
            self.string(outcome.to_string().as_bytes());
            separator = b',';
        }
        if let Some(reported) = reported {
            self.out.push(separator);
            self.string(reported);
        }
        self.out.push(b']');
    }
}

fn split_query(path: &[u8]) -> (&[u8], Option<&[u8]>) {
    let mut parts = path.splitn(2, |byte| *byte == b'?');
    (parts.next().unwrap_or_default(), parts.next())
}

#[cfg(test)]
mod tests {
    use portcullis_policy::Verdict;

    use super::*;

    const STYLE: Style = Style { query: Query::Redacted, limit: 1024 };

    fn written(entry: &Entry<'_>, style: Style) -> String {
        let mut out = Vec::new();
        entry.write(&mut out, style);
        let line = String::from_utf8(out).unwrap();
        assert!(!line.contains(char::is_control), "{line:?}");
        assert!(serde_json::from_str::<serde_json::Value>(&line).unwrap().is_object());
        line
    }

    #[test]
    fn an_entry_without_anything_is_a_line_with_a_time() {
        assert_eq!(written(&Entry::default(), STYLE), r#"{"time":"1970-01-01T00:00:00.000Z"}"#);
    }

    #[test]
    fn fields_stand_in_the_documented_order() {
        let outcome = |policy, verdict, reason| Outcome { policy, verdict, reason };
        let entry = Entry {
            time: Timestamp::from_nanos(1_234_567_890_987_654_321),
            method: Some(b"GET"),
            received_path: Some(b"/a?b=c"),
            forwarded_path: Some(b"/a"),
            protocol: Some(b"HTTP/1.1"),
            status: Some(200),
            duration: Some(12_345_678),
            upstream_duration: Some(999),
            bytes_in: Some(0),
            bytes_out: Some(u64::MAX),
            upstream: Some(b"127.0.0.1:8080"),
            request_id: Some(b"11-22"),
            flags: Some(0b11),
            details: Some(b"via_upstream"),
            client_id: Some(b"orders"),
            outcomes: &[
                outcome("client-id", Verdict::Passed, "verified"),
                outcome("rate-limit", Verdict::FailedOpen, "outage"),
            ],
            reported_outcome: Some(b"other:skipped:exempt"),
        };
        let expected = concat!(
            r#"{"time":"2009-02-13T23:31:30.987Z","method":"GET","path":"/a?[redacted]","protocol":"HTTP/1.1","#,
            r#""status":200,"duration_ms":12.345,"upstream_ms":0.000,"bytes_in":0,"bytes_out":18446744073709551615,"#,
            r#""upstream":"127.0.0.1:8080","request_id":"11-22","flags":"LH,UH","details":"via_upstream","#,
            r#""client_id":"orders","outcomes":["client-id:passed:verified","rate-limit:failed-open:outage","#,
            r#""other:skipped:exempt"]}"#,
        );
        assert_eq!(written(&entry, STYLE), expected);
    }

    #[test]
    fn the_query_is_redacted_kept_or_dropped() {
        for (received, forwarded, redacted, kept, dropped) in [
            ("/a", "/a", "/a", "/a", "/a"),
            ("/a?b", "/a?b", "/a?[redacted]", "/a?b", "/a"),
            ("/a?", "/a?", "/a?[redacted]", "/a?", "/a"),
            ("/a?b?c", "/a?b?c", "/a?[redacted]", "/a?b?c", "/a"),
            ("?b", "?b", "?[redacted]", "?b", ""),
            // A policy has removed credentials, and another the path's prefix.
            ("/x/a?b=1&secret=s", "/a?b=1", "/x/a?[redacted]", "/x/a?b=1", "/x/a"),
            ("/a?secret=s", "/a", "/a?[redacted]", "/a", "/a"),
        ] {
            for (query, expected) in
                [(Query::Redacted, redacted), (Query::Keep, kept), (Query::Drop, dropped)]
            {
                let entry = Entry {
                    received_path: Some(received.as_bytes()),
                    forwarded_path: Some(forwarded.as_bytes()),
                    ..Entry::default()
                };
                let line = written(&entry, Style { query, ..STYLE });
                let value: serde_json::Value = serde_json::from_str(&line).unwrap();
                assert_eq!(value["path"], expected, "{received} {query:?}");
            }
        }
    }

    #[test]
    fn path_and_query_are_cut_each_for_itself() {
        let entry =
            Entry { received_path: Some(b"/23456789abcdefghi?bcdefghijklmnopqrst"), ..Entry::default() };
        for (query, expected) in [
            (Query::Redacted, "/23456789abcdefg…?[redacted]"),
            (Query::Keep, "/23456789abcdefg…?bcdefghijklmnopq…"),
            (Query::Drop, "/23456789abcdefg…"),
        ] {
            let line = written(&entry, Style { query, limit: 16 });
            let value: serde_json::Value = serde_json::from_str(&line).unwrap();
            assert_eq!(value["path"], expected);
        }
    }

    #[test]
    fn every_byte_in_every_text_gives_one_line_of_json() {
        for byte in 0..=255 {
            let text = [b'a', byte, b'b'];
            let path = [b'/', byte, b'?', byte, b'q'];
            for query in [Query::Redacted, Query::Keep, Query::Drop] {
                let entry = Entry {
                    method: Some(&text),
                    received_path: Some(&path),
                    protocol: Some(&text),
                    upstream: Some(&text),
                    request_id: Some(&text),
                    details: Some(&text),
                    client_id: Some(&text),
                    reported_outcome: Some(&text),
                    ..Entry::default()
                };
                let line = written(&entry, Style { query, ..STYLE });
                let value: serde_json::Value = serde_json::from_str(&line).unwrap();
                if byte.is_ascii() {
                    let text = String::from_utf8(text.to_vec()).unwrap();
                    for field in ["method", "protocol", "upstream", "request_id", "details", "client_id"] {
                        assert_eq!(value[field], text, "{byte:#04x}");
                    }
                    assert_eq!(value["outcomes"][0], text, "{byte:#04x}");
                }
            }
        }
    }

    #[test]
    fn no_field_is_longer_than_the_limit() {
        let long = vec![b'x'; 100_000];
        let entry = Entry {
            method: Some(&long),
            received_path: Some(&long),
            protocol: Some(&long),
            upstream: Some(&long),
            request_id: Some(&long),
            details: Some(&long),
            client_id: Some(&long),
            reported_outcome: Some(&long),
            ..Entry::default()
        };
        let value: serde_json::Value = serde_json::from_str(&written(&entry, STYLE)).unwrap();
        let expected = format!("{}…", "x".repeat(1024));
        for field in ["method", "path", "protocol", "upstream", "request_id", "details", "client_id"] {
            assert_eq!(value[field], expected, "{field}");
        }
        assert_eq!(value["outcomes"][0], expected);
    }
}
