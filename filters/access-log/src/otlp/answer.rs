//! What the collector says to a request.

use core::time::Duration;
use std::time::UNIX_EPOCH;

use portcullis_policy::host::Host;
use portcullis_policy::time::Timestamp;
use portcullis_policy::{CallOutReply, HeaderList};
use serde::Deserialize;

/// How much of an answer is read: it says little, and nobody knows who sent it.
const MAX_BODY: usize = 16 * 1024;

/// The collector's answer, or the news that there is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    /// It took the request: 2xx.
    Taken {
        /// Records of the request that it will not keep (partial success).
        rejected: usize,
        /// Whether the body is what it should be.
        body: ResponseBody,
    },
    /// It may take the request later: 429, 502, 503, 504, or no answer.
    Later {
        /// The status; none without an answer.
        status: Option<u16>,
        /// How long it wants to be left alone.
        pause: Option<Duration>,
    },
    /// It will never take the request: any other status.
    Refused {
        /// The status.
        status: u16,
    },
}

/// Whether the body of an answer is what it should be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ResponseBody {
    /// It is empty, or an `ExportLogsServiceResponse`.
    AsSpecified,
    /// It is something else.
    Strange,
}

impl Answer {
    /// Reads the reply that is being delivered: OTLP specification, sections "OTLP/HTTP Response" and "Failures".
    pub(crate) fn read(reply: CallOutReply, host: &dyn Host) -> Self {
        const NONE: Answer = Answer::Later { status: None, pause: None };
        if reply.headers == 0 {
            return NONE;
        }
        let Ok(headers) = host.call_out_headers() else {
            return NONE;
        };
        match status(&headers) {
            None => NONE,
            Some(200..=299) if reply.body == 0 => {
                Self::Taken { rejected: 0, body: ResponseBody::AsSpecified }
            }
            // Whatever the body says, the request must not be sent again.
            Some(200..=299) => {
                match host.call_out_body(MAX_BODY).ok().as_deref().and_then(rejected_records) {
                    Some(rejected) => Self::Taken { rejected, body: ResponseBody::AsSpecified },
                    None => Self::Taken { rejected: 0, body: ResponseBody::Strange },
                }
            }
            Some(status @ (429 | 502 | 503 | 504)) => {
                let pause = headers.first("retry-after").and_then(|value| retry_after(value, host.now()));
                Self::Later { status: Some(status), pause }
            }
            Some(status) => Self::Refused { status },
        }
    }
}

fn status(headers: &HeaderList) -> Option<u16> {
    core::str::from_utf8(headers.first(":status")?).ok()?.parse().ok()
}

/// `ExportLogsServiceResponse`. A name that is not known is none of our business.
#[derive(Deserialize)]
struct Response {
    #[serde(default, rename = "partialSuccess", alias = "partial_success")]
    partial_success: Option<PartialSuccess>,
}

#[derive(Deserialize)]
struct PartialSuccess {
    #[serde(default, rename = "rejectedLogRecords", alias = "rejected_log_records")]
    rejected: Option<Int64>,
}

/// A 64-bit integer of the proto3 JSON mapping, which writes text and reads numbers as well.
#[derive(Deserialize)]
#[serde(untagged)]
enum Int64 {
    Number(i64),
    Text(String),
}

/// How many records an `ExportLogsServiceResponse` says are rejected; none if the body is something else.
pub fn rejected_records(body: &[u8]) -> Option<usize> {
    let response: Response = serde_json::from_slice(body).ok()?;
    let number = match response.partial_success.and_then(|partial| partial.rejected) {
        Some(Int64::Number(number)) => number,
        Some(Int64::Text(text)) => text.parse().unwrap_or_default(),
        None => 0,
    };
    Some(usize::try_from(number).unwrap_or_default())
}

/// `Retry-After` (RFC 9110, section 10.2.3): seconds, or a date. A date that is past is no pause.
pub fn retry_after(value: &[u8], now: Timestamp) -> Option<Duration> {
    let text = core::str::from_utf8(value).ok()?.trim();
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        // What overflows is long, too.
        return Some(Duration::from_secs(text.parse().unwrap_or(u64::MAX)));
    }
    let date = httpdate::parse_http_date(text).ok()?.duration_since(UNIX_EPOCH).ok()?;
    Some(date.saturating_sub(Duration::from_nanos(now.as_nanos())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_retry_after_in_seconds_and_as_any_date_of_http() {
        // Sun, 06 Nov 1994 08:49:07 GMT: 30 seconds before the standard's own example.
        let now = Timestamp::from_nanos(784_111_747_000_000_000);
        for (value, expected) in [
            ("0", Some(0)),
            ("120", Some(120)),
            (" 7 ", Some(7)),
            ("99999999999999999999999", Some(u64::MAX)),
            ("Sun, 06 Nov 1994 08:49:37 GMT", Some(30)),
            ("Sunday, 06-Nov-94 08:49:37 GMT", Some(30)),
            ("Sun Nov  6 08:49:37 1994", Some(30)),
            ("Sun, 06 Nov 1994 08:49:06 GMT", Some(0)),
            ("", None),
            ("-1", None),
            ("1.5", None),
            ("soon", None),
            ("Sun, 99 Nov 1994 08:49:37 GMT", None),
        ] {
            assert_eq!(retry_after(value.as_bytes(), now), expected.map(Duration::from_secs), "{value}");
        }
        assert_eq!(retry_after(b"\xff", now), None);
    }

    #[test]
    fn reads_the_number_of_rejected_records_in_every_form_of_json() {
        for (body, expected) in [
            ("{}", Some(0)),
            (r#"{"partialSuccess":{}}"#, Some(0)),
            (r#"{"partialSuccess":null}"#, Some(0)),
            (r#"{"partialSuccess":{"errorMessage":"just a warning"}}"#, Some(0)),
            (r#"{"partialSuccess":{"rejectedLogRecords":"3","errorMessage":"too old"}}"#, Some(3)),
            (r#"{"partialSuccess":{"rejectedLogRecords":3}}"#, Some(3)),
            (r#"{"partial_success":{"rejected_log_records":3},"later":1}"#, Some(3)),
            (r#"{"partialSuccess":{"rejectedLogRecords":-3}}"#, Some(0)),
            (r#"{"partialSuccess":{"rejectedLogRecords":"many"}}"#, Some(0)),
            (r#"{"partialSuccess":{"rejectedLogRecords":true}}"#, None),
            ("<html>", None),
            ("", None),
        ] {
            assert_eq!(rejected_records(body.as_bytes()), expected, "{body}");
        }
    }
}
