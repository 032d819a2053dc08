//! Writing the line.

use std::borrow::Cow;

use portcullis_policy::time::Timestamp;
use portcullis_policy::{Outcome, json};

use crate::config::Phase;
use crate::flags;

/// What is known of an exchange. What is not known is left out of the line.
#[derive(Debug, Default, Clone, Copy)]
pub struct Entry<'a> {
    /// When the request began.
    pub time: Timestamp,
    /// The method.
    pub method: Option<&'a [u8]>,
    /// The path without its query, ready to be shown.
    pub path: Option<&'a [u8]>,
    /// The query with the `?` or `#` before it, ready to be shown; none without a path.
    pub query: Option<&'a [u8]>,
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
    /// What policies of other chains say that they have decided, joined by commas.
    pub reported_outcome: Option<&'a [u8]>,
    /// When the line is written, if there are lines at several points.
    pub phase: Option<Phase>,
    /// What has been kept of the request's body, ready to be shown.
    pub request_body: Option<&'a [u8]>,
    /// What has been kept of the response's body, ready to be shown.
    pub response_body: Option<&'a [u8]>,
}

impl Entry<'_> {
    /// Appends the entry to `out` as a JSON object on one line, without a line end. It is valid JSON, and valid
    /// UTF-8, whatever the fields hold. A text of more than `limit` bytes, before it is escaped, is cut; path and query
    /// are cut each for itself.
    pub fn write(&self, out: &mut Vec<u8>, limit: usize) {
        out.extend_from_slice(b"{\"time\":\"");
        self.time.write_rfc3339(out);
        out.push(b'"');
        let mut line = ObjectWriter { out, limit };
        line.text("method", self.method);
        line.path(self.path, self.query);
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
        line.text("phase", self.phase.map(|phase| phase.as_str().as_bytes()));
        // Bodies have limits of their own.
        line.limit = usize::MAX;
        line.text("request_body", self.request_body);
        line.text("response_body", self.response_body);
        out.push(b'}');
    }
}

/// A JSON object that has a first field and gets further ones.
struct ObjectWriter<'a> {
    out: &'a mut Vec<u8>,
    limit: usize,
}

impl ObjectWriter<'_> {
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

    fn path(&mut self, path: Option<&[u8]>, query: Option<&[u8]>) {
        let Some(path) = path else {
            return;
        };
        self.name("path");
        self.string(path);
        if let Some((mark, query)) = query.and_then(<[u8]>::split_first) {
            // It goes on where the quotation mark stands.
            self.out.pop();
            let opening_quote = self.out.len();
            self.string(query);
            if let Some(quote) = self.out.get_mut(opening_quote) {
                *quote = if *mark == b'#' { b'#' } else { b'?' };
            }
        }
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
        let known = outcomes.iter().map(|outcome| Cow::from(outcome.to_string().into_bytes()));
        let reported = reported.into_iter().flat_map(|reported| reported.split(|byte| *byte == b','));
        json::write_strings(self.out, known.chain(reported.map(Cow::from)), self.limit);
    }
}

#[cfg(test)]
mod tests {
    use portcullis_policy::Verdict;

    use super::*;

    const LIMIT: usize = 1024;

    fn written(entry: &Entry<'_>, limit: usize) -> String {
        let mut out = Vec::new();
        entry.write(&mut out, limit);
        let line = String::from_utf8(out).unwrap();
        assert!(!line.contains(char::is_control), "{line:?}");
        assert!(serde_json::from_str::<serde_json::Value>(&line).unwrap().is_object());
        line
    }

    #[test]
    fn an_entry_without_anything_is_a_line_with_a_time() {
        assert_eq!(written(&Entry::default(), LIMIT), r#"{"time":"1970-01-01T00:00:00.000Z"}"#);
    }

    #[test]
    fn fields_stand_in_the_documented_order() {
        let outcome = |policy, verdict, reason| Outcome { policy, verdict, reason };
        let entry = Entry {
            time: Timestamp::from_nanos(1_234_567_890_987_654_321),
            method: Some(b"GET"),
            path: Some(b"/a"),
            query: Some(b"?[redacted]"),
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
            phase: Some(Phase::End),
            request_body: Some(b"{\"a\":1}"),
            response_body: Some(b"bye"),
        };
        let expected = concat!(
            r#"{"time":"2009-02-13T23:31:30.987Z","method":"GET","path":"/a?[redacted]","protocol":"HTTP/1.1","#,
            r#""status":200,"duration_ms":12.345,"upstream_ms":0.000,"bytes_in":0,"bytes_out":18446744073709551615,"#,
            r#""upstream":"127.0.0.1:8080","request_id":"11-22","flags":"LH,UH","details":"via_upstream","#,
            r#""client_id":"orders","outcomes":["client-id:passed:verified","rate-limit:failed-open:outage","#,
            r#""other:skipped:exempt"],"phase":"end","request_body":"{\"a\":1}","response_body":"bye"}"#,
        );
        assert_eq!(written(&entry, LIMIT), expected);
    }

    #[test]
    fn path_and_query_are_one_text_and_cut_each_for_itself() {
        for (path, query, expected) in [
            ("/a", None, "/a"),
            ("/a", Some("?b?c"), "/a?b?c"),
            ("/a", Some("#b"), "/a#b"),
            ("/a", Some("?"), "/a?"),
            ("/a", Some(""), "/a"),
            ("", Some("?b"), "?b"),
            ("/23456789abcdefghi", Some("?bcdefghijklmnopqrst"), "/23456789abcdefg…?bcdefghijklmnopq…"),
            ("/23456789abcdefghi", None, "/23456789abcdefg…"),
        ] {
            let query = query.map(str::as_bytes);
            let entry = Entry { path: Some(path.as_bytes()), query, ..Entry::default() };
            let value: serde_json::Value = serde_json::from_str(&written(&entry, 16)).unwrap();
            assert_eq!(value["path"], expected);
        }
    }

    #[test]
    fn every_byte_in_every_text_gives_one_line_of_json() {
        for byte in 0..=255 {
            let text = [b'a', byte, b'b'];
            let path = [b'/', byte];
            let query = [byte, b'q'];
            let entry = Entry {
                method: Some(&text),
                path: Some(&path),
                query: Some(&query),
                protocol: Some(&text),
                upstream: Some(&text),
                request_id: Some(&text),
                details: Some(&text),
                client_id: Some(&text),
                reported_outcome: Some(&text),
                ..Entry::default()
            };
            let line = written(&entry, LIMIT);
            let value: serde_json::Value = serde_json::from_str(&line).unwrap();
            if byte.is_ascii() {
                let text = String::from_utf8(text.to_vec()).unwrap();
                for field in ["method", "protocol", "upstream", "request_id", "details", "client_id"] {
                    assert_eq!(value[field], text, "{byte:#04x}");
                }
                let outcomes: Vec<&str> = text.split(',').collect();
                assert_eq!(value["outcomes"], serde_json::json!(outcomes), "{byte:#04x}");
            }
        }
    }

    #[test]
    fn no_field_is_longer_than_the_limit() {
        let long = vec![b'x'; 100_000];
        let entry = Entry {
            method: Some(&long),
            path: Some(&long),
            protocol: Some(&long),
            upstream: Some(&long),
            request_id: Some(&long),
            details: Some(&long),
            client_id: Some(&long),
            reported_outcome: Some(&long),
            ..Entry::default()
        };
        let value: serde_json::Value = serde_json::from_str(&written(&entry, LIMIT)).unwrap();
        let expected = format!("{}…", "x".repeat(1024));
        for field in ["method", "path", "protocol", "upstream", "request_id", "details", "client_id"] {
            assert_eq!(value[field], expected, "{field}");
        }
        assert_eq!(value["outcomes"][0], expected);

        // However many there are: who sets them in another filter may be anybody.
        let many = b"a,".repeat(100_000);
        let entry = Entry { reported_outcome: Some(&many), ..Entry::default() };
        let value: serde_json::Value = serde_json::from_str(&written(&entry, LIMIT)).unwrap();
        let outcomes = value["outcomes"].as_array().unwrap();
        assert_eq!((outcomes.len(), &outcomes[511], &outcomes[512]), (513, &"a".into(), &"…".into()));
    }
}
