//! What the rate limit service has said.

use core::time::Duration;
use std::borrow::Cow;

use portcullis_policy::reply::CustomBody;
use prost::Message;

use super::added_headers::{AddedHeaders, PermittedHeaders, Refused, take};
use super::frame;
use super::messages::{DescriptorStatus, ProtoDuration, RateLimitResponse, code, unit_period};
use crate::limiter::{MAX_LIMITS, Standing};

/// The longest answer that is read, in bytes. Answers are some tens of bytes per descriptor, and a page for the refused
/// client at the most.
pub const MAX_BYTES: usize = 64 << 10;

/// As Envoy has it for the bodies of its own replies.
const DEFAULT_CONTENT_TYPE: &str = "text/plain";

/// When to come again if the service does not say: Retry-After knows no shorter time.
const SOON: Duration = Duration::from_secs(1);

/// What the service has decided on a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ruling {
    /// Whether the request is within its limits.
    pub ruled: Ruled,
    /// How the request's limits stand, in the order of its descriptors; those without a limit are left out.
    pub standings: Vec<Standing>,
    /// How many descriptors the service has spoken of.
    pub statuses: usize,
    /// For how many of them it has no limit.
    pub unlimited: usize,
    /// What the service wants the upstream to be told.
    pub request_headers: AddedHeaders,
    /// What the service wants the client to be told, on a response of the upstream as on a refusal.
    pub response_headers: AddedHeaders,
    /// What it wants them to be told and is not permitted.
    pub refused: Refused,
    /// The body of a refusal, in place of the policy's own. Its type is what the service gives as `content-type`, which
    /// is not among the headers.
    pub body: Option<CustomBody>,
}

/// Whether a request is within its limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ruled {
    /// It is within all of them.
    Within,
    /// It is over one of them.
    Over,
}

/// Why an answer means nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Nonsense {
    /// It is longer than [`MAX_BYTES`].
    TooLong,
    /// Its body is not one uncompressed gRPC message.
    Frame,
    /// The message cannot be decoded.
    Message,
    /// Its overall code is none of those that decide something.
    Code,
}

/// Reads the body of an answer whose gRPC status is success.
///
/// # Errors
/// The body is no decision.
pub fn read(body: &[u8], permitted: &PermittedHeaders) -> Result<Ruling, Nonsense> {
    if body.len() > MAX_BYTES {
        return Err(Nonsense::TooLong);
    }
    let message = frame::unwrap(body).map_err(|_| Nonsense::Frame)?;
    let mut response = RateLimitResponse::decode(message).map_err(|_| Nonsense::Message)?;
    let ruled = match response.overall_code {
        code::OK => Ruled::Within,
        code::OVER_LIMIT => Ruled::Over,
        _ => return Err(Nonsense::Code),
    };
    let content_type = take(&mut response.response_headers_to_add, "content-type");
    let mut refused = Refused::default();
    let mut added = |wishes, permitted| AddedHeaders::of(wishes, permitted, &mut refused);
    let response_headers = added(response.response_headers_to_add, &permitted.response);
    let request_headers = added(response.request_headers_to_add, &permitted.request);
    Ok(Ruling {
        ruled,
        standings: response.statuses.iter().filter_map(standing).take(MAX_LIMITS).collect(),
        statuses: response.statuses.len(),
        unlimited: response.statuses.iter().filter(|status| status.current_limit.is_none()).count(),
        request_headers,
        response_headers,
        refused,
        body: body_of_a_refusal(response.raw_body, content_type),
    })
}

fn body_of_a_refusal(bytes: Vec<u8>, content_type: Option<Vec<u8>>) -> Option<CustomBody> {
    if bytes.is_empty() {
        return None;
    }
    let content_type = content_type
        .and_then(|value| String::from_utf8(value).ok())
        .map_or(Cow::Borrowed(DEFAULT_CONTENT_TYPE), Cow::Owned);
    Some(CustomBody { content_type, bytes: Cow::Owned(bytes) })
}

fn standing(status: &DescriptorStatus) -> Option<Standing> {
    let limit = status.current_limit.as_ref()?;
    // Of a unit that has been invented since nothing is known; what is left of it changes from request to request.
    let period = unit_period(limit.unit).unwrap_or_default();
    let mut reset = status.duration_until_reset.as_ref().map_or(period, duration);
    let (remaining, retry) = match status.code {
        code::OVER_LIMIT => {
            // A limit that refuses does so for some time, even if the service does not say for how long.
            reset = if reset.is_zero() { SOON } else { reset };
            (0, reset)
        }
        _ => (status.limit_remaining.into(), Duration::ZERO),
    };
    let max = limit.requests_per_unit.into();
    Some(Standing { max, period, window: period, remaining, reset, retry })
}

/// A negative duration is over.
fn duration(duration: &ProtoDuration) -> Duration {
    let seconds = u64::try_from(duration.seconds).unwrap_or_default();
    let nanos = u64::try_from(duration.nanos).unwrap_or_default();
    Duration::from_secs(seconds).saturating_add(Duration::from_nanos(nanos))
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::messages::{HeaderValue, RateLimit};
    use super::*;

    pub(in super::super) fn status(
        code: i32,
        max: u32,
        unit: i32,
        left: u32,
        reset: i64,
    ) -> DescriptorStatus {
        DescriptorStatus {
            code,
            current_limit: Some(RateLimit { requests_per_unit: max, unit }),
            limit_remaining: left,
            duration_until_reset: Some(ProtoDuration { seconds: reset, nanos: 0 }),
        }
    }

    pub(in super::super) fn response(overall_code: i32, statuses: &[DescriptorStatus]) -> RateLimitResponse {
        RateLimitResponse { overall_code, statuses: statuses.to_vec(), ..RateLimitResponse::default() }
    }

    #[test]
    fn reads_how_each_limit_stands() {
        let statuses = [
            status(code::OK, 5, 1, 3, 1),
            DescriptorStatus { code: code::OK, ..DescriptorStatus::default() },
            status(code::OVER_LIMIT, 100, 4, 7, 3600),
        ];
        let ruling = read_all(&frame::wrap(&response(code::OVER_LIMIT, &statuses))).unwrap();
        assert_eq!(ruling.ruled, Ruled::Over);
        let second = Duration::from_secs(1);
        assert_eq!(
            ruling.standings,
            [
                Standing {
                    max: 5,
                    period: second,
                    window: second,
                    remaining: 3,
                    reset: second,
                    retry: Duration::ZERO
                },
                Standing {
                    max: 100,
                    period: second * 86_400,
                    window: second * 86_400,
                    remaining: 0,
                    reset: second * 3600,
                    retry: second * 3600
                },
            ]
        );
    }

    #[test]
    fn knows_the_units_of_the_protocol_and_makes_do_with_others() {
        const DAY: u64 = 86_400;
        for (unit, seconds) in [
            (1, 1),
            (2, 60),
            (3, 3600),
            (4, DAY),
            (5, 30 * DAY),
            (6, 365 * DAY),
            (7, 7 * DAY),
            (0, 0),
            (99, 0),
        ] {
            let ruling =
                read_all(&frame::wrap(&response(code::OK, &[status(code::OK, 5, unit, 3, 42)]))).unwrap();
            let Standing { period, window, reset, .. } = ruling.standings[0];
            assert_eq!([period, window], [Duration::from_secs(seconds); 2], "unit {unit}");
            assert_eq!(reset, Duration::from_secs(42), "unit {unit}");
        }
    }

    #[test]
    fn takes_a_limit_that_refuses_for_one_that_does_so_for_some_time() {
        for (unit, reset, expected) in [
            (2, Some(7), Duration::from_secs(7)),
            (2, None, Duration::from_secs(60)),
            (2, Some(0), Duration::from_secs(1)),
            (99, None, Duration::from_secs(1)),
            (99, Some(-1), Duration::from_secs(1)),
        ] {
            let mut status = status(code::OVER_LIMIT, 5, unit, 3, 0);
            status.duration_until_reset = reset.map(|seconds| ProtoDuration { seconds, nanos: 0 });
            let ruling = read_all(&frame::wrap(&response(code::OVER_LIMIT, &[status]))).unwrap();
            let Standing { remaining, retry, .. } = ruling.standings[0];
            assert_eq!((remaining, retry), (0, expected), "unit {unit} reset {reset:?}");
        }
    }

    #[test]
    fn counts_descriptors_without_a_limit() {
        let unlimited = DescriptorStatus { code: code::OK, ..DescriptorStatus::default() };
        let statuses = [status(code::OK, 5, 1, 3, 1), unlimited.clone(), unlimited];
        let ruling = read_all(&frame::wrap(&response(code::OK, &statuses))).unwrap();
        assert_eq!((ruling.statuses, ruling.unlimited), (3, 2));
    }

    #[test]
    fn takes_durations_that_make_no_sense_for_none() {
        for (seconds, nanos, expected) in [
            (-5, 0, Duration::ZERO),
            (1, -1, Duration::from_secs(1)),
            (0, i32::MAX, Duration::from_nanos(i32::MAX as u64)),
            (
                i64::MAX,
                i32::MAX,
                Duration::from_secs(i64::MAX as u64) + Duration::from_nanos(i32::MAX as u64),
            ),
            (i64::MIN, i32::MIN, Duration::ZERO),
        ] {
            let mut status = status(code::OK, 5, 1, 3, 0);
            status.duration_until_reset = Some(ProtoDuration { seconds, nanos });
            let ruling = read_all(&frame::wrap(&response(code::OK, &[status]))).unwrap();
            assert_eq!(ruling.standings[0].reset, expected, "{seconds} {nanos}");
        }
    }

    fn read_all(body: &[u8]) -> Result<Ruling, Nonsense> {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let permitted =
            PermittedHeaders { request: names(&["x-limited"]), response: names(&["ratelimit-limit", "x"]) };
        read(body, &permitted)
    }

    fn header(key: &str, value: &str) -> HeaderValue {
        HeaderValue { key: key.to_owned(), value: value.to_owned(), raw_value: Vec::new() }
    }

    #[test]
    fn reads_headers() {
        let response = RateLimitResponse {
            response_headers_to_add: vec![header("RateLimit-Limit", "1"), header(":status", "200")],
            request_headers_to_add: vec![header("x-limited", "1"), header("x-portcullis-client-id", "1")],
            ..response(code::OVER_LIMIT, &[])
        };
        let ruling = read_all(&frame::wrap(&response)).unwrap();
        assert_eq!(ruling.response_headers.iter().collect::<Vec<_>>(), [("ratelimit-limit", &b"1"[..])]);
        assert_eq!(ruling.request_headers.iter().collect::<Vec<_>>(), [("x-limited", &b"1"[..])]);
        assert_eq!((ruling.body, ruling.refused.count), (None, 2));
    }

    #[test]
    fn reads_the_body_of_a_refusal_with_its_type() {
        let mut response = response(code::OVER_LIMIT, &[]);
        response.raw_body = b"slow down".to_vec();
        let body = read_all(&frame::wrap(&response)).unwrap().body.unwrap();
        assert_eq!((&*body.content_type, &*body.bytes), ("text/plain", &b"slow down"[..]));

        response.response_headers_to_add = vec![header("x", "y"), header("Content-Type", "text/html")];
        let ruling = read_all(&frame::wrap(&response)).unwrap();
        assert_eq!(ruling.body.unwrap().content_type, "text/html");
        assert_eq!(ruling.response_headers.iter().collect::<Vec<_>>(), [("x", &b"y"[..])]);
    }

    #[test]
    fn skips_fields_that_it_does_not_know() {
        // dynamic_metadata (6), quota (7), and one that nobody has thought of yet.
        let message = b"\x08\x01\x32\x02\x0a\x00\x3a\x02\x08\x01\xa2\x06\x01x";
        let body = [&[0, 0, 0, 0, message.len() as u8][..], message].concat();
        assert_eq!(read_all(&body).unwrap().ruled, Ruled::Within);
    }

    #[test]
    fn makes_no_decision_out_of_nonsense() {
        let coded = |code| frame::wrap(&response(code, &[]));
        let bytes = |message: &[u8]| [&[0, 0, 0, 0, message.len() as u8][..], message].concat();
        for (body, expected) in [
            (Vec::new(), Nonsense::Frame),
            (b"<html>".to_vec(), Nonsense::Frame),
            (vec![0; MAX_BYTES + 1], Nonsense::TooLong),
            (bytes(b""), Nonsense::Code),
            (coded(0), Nonsense::Code),
            (coded(3), Nonsense::Code),
            (coded(-1), Nonsense::Code),
            (bytes(b"\xff"), Nonsense::Message),
            (bytes(b"\x08"), Nonsense::Message),
            (bytes(b"\x0a\x01\x01"), Nonsense::Message),
            // A header name that is not UTF-8.
            (bytes(b"\x08\x01\x1a\x03\x0a\x01\xff"), Nonsense::Message),
        ] {
            assert_eq!(read_all(&body), Err(expected), "{body:?}");
        }
    }

    #[test]
    fn lists_no_more_limits_than_are_told() {
        let statuses = vec![status(code::OK, 5, 1, 3, 1); 20];
        assert_eq!(
            read_all(&frame::wrap(&response(code::OK, &statuses))).unwrap().standings.len(),
            MAX_LIMITS
        );
    }
}
