//! The query parameters that direct a reply.

use std::fmt;
use std::time::Duration;

use hyper::StatusCode;

/// The longest delay: a minute is past every timeout worth trying.
pub(crate) const MAX_DELAY_MS: u64 = 60_000;

/// The largest filler: 64 MiB.
pub(crate) const MAX_SIZE: u64 = 64 * 1024 * 1024;

/// How to answer one request.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Directions {
    /// Bytes of filler to reply with; without it the request itself is the reply.
    pub(crate) size: Option<u64>,
    /// How long to wait first.
    pub(crate) delay: Duration,
    /// The status, where it is not to be 200.
    pub(crate) status: Option<StatusCode>,
    /// Whether a trailer follows the body.
    pub(crate) trailers: bool,
    /// Whether the body streams, its length not said in advance.
    pub(crate) stream: bool,
    /// Whether the reply is a description of the request even if that has a body.
    pub(crate) describe: bool,
}

/// A parameter whose value cannot be followed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct BadDirection {
    parameter: &'static str,
    given: String,
    expected: &'static str,
}

impl fmt::Display for BadDirection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { parameter, given, expected } = self;
        write!(f, "query parameter {parameter}={given}: expected {expected}")
    }
}

impl Directions {
    /// Reads `query` over `defaults`. Parameters that mean nothing here belong to whatever is being tried
    /// and pass unnoticed; where one is repeated, the last counts.
    ///
    /// # Errors
    /// Names the first parameter with a value that cannot be followed.
    pub(crate) fn from_query(query: Option<&str>, defaults: Self) -> Result<Self, BadDirection> {
        let mut directions = defaults;
        for pair in query.unwrap_or_default().split('&') {
            let (parameter, value) = pair.split_once('=').unwrap_or((pair, ""));
            match parameter {
                "size" => {
                    let size = number(value).filter(|size| *size <= MAX_SIZE);
                    directions.size =
                        Some(size.ok_or_else(|| bad("size", value, "a number of bytes from 0 to 67108864"))?);
                }
                "delay_ms" => {
                    let delay = number(value).filter(|delay| *delay <= MAX_DELAY_MS);
                    directions.delay = delay
                        .map(Duration::from_millis)
                        .ok_or_else(|| bad("delay_ms", value, "milliseconds from 0 to 60000"))?;
                }
                "status" => {
                    let status = final_status(value);
                    directions.status =
                        Some(status.ok_or_else(|| bad("status", value, "a final status from 200 to 599"))?);
                }
                "trailers" => directions.trailers = truth("trailers", value)?,
                "stream" => directions.stream = truth("stream", value)?,
                "describe" => directions.describe = truth("describe", value)?,
                _ => {}
            }
        }
        Ok(directions)
    }
}

fn bad(parameter: &'static str, given: &str, expected: &'static str) -> BadDirection {
    BadDirection { parameter, given: given.to_owned(), expected }
}

/// Digits alone: `parse` by itself would take a leading plus, which in a query stands for a space.
fn number(value: &str) -> Option<u64> {
    value.bytes().all(|byte| byte.is_ascii_digit()).then(|| value.parse().ok()).flatten()
}

fn truth(parameter: &'static str, value: &str) -> Result<bool, BadDirection> {
    value.parse().map_err(|_: std::str::ParseBoolError| bad(parameter, value, "true or false"))
}

fn final_status(value: &str) -> Option<StatusCode> {
    let code = u16::try_from(number(value)?).ok()?;
    (200..=599).contains(&code).then(|| StatusCode::from_u16(code).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(query: &str) -> Result<Directions, BadDirection> {
        Directions::from_query(Some(query), Directions::default())
    }

    #[test]
    fn no_query_leaves_the_defaults() {
        let defaults = Directions { size: Some(7), delay: Duration::from_millis(3), ..Directions::default() };
        assert_eq!(Directions::from_query(None, defaults), Ok(defaults));
        assert_eq!(Directions::from_query(Some(""), defaults), Ok(defaults));
        assert_eq!(Directions::from_query(Some("q=1&&page"), defaults), Ok(defaults));
    }

    #[test]
    fn the_query_overrides_the_defaults() {
        let defaults = Directions { size: Some(7), delay: Duration::from_millis(3), ..Directions::default() };
        let expected = Directions {
            size: Some(0),
            delay: Duration::ZERO,
            status: Some(StatusCode::IM_A_TEAPOT),
            trailers: true,
            stream: true,
            describe: true,
        };
        let query = "size=0&delay_ms=0&status=418&trailers=true&stream=true&describe=true";
        assert_eq!(Directions::from_query(Some(query), defaults), Ok(expected));
    }

    #[test]
    fn accepts_the_limits_themselves() {
        assert_eq!(parse("size=67108864").map(|d| d.size), Ok(Some(MAX_SIZE)));
        assert_eq!(parse("delay_ms=60000").map(|d| d.delay), Ok(Duration::from_secs(60)));
        assert_eq!(parse("status=599").map(|d| d.status.map(|s| s.as_u16())), Ok(Some(599)));
    }

    #[test]
    fn refuses_values_that_cannot_be_followed() {
        for query in [
            "size=",
            "size",
            "size=x",
            "size=-1",
            "size=+1",
            "size=1.5",
            "size=67108865",
            "size=99999999999999999999999",
            "delay_ms=60001",
            "delay_ms=soon",
            "status=100",
            "status=199",
            "status=600",
            "status=65736",
            "status=ok",
            "trailers=yes",
            "trailers",
            "stream=1",
            "describe=",
            "size=1&size=x",
        ] {
            assert!(parse(query).is_err(), "{query}");
        }
    }

    #[test]
    fn the_error_names_parameter_value_and_remedy() {
        let error = parse("a=b&delay_ms=soon").expect_err("not a number");
        assert_eq!(error.to_string(), "query parameter delay_ms=soon: expected milliseconds from 0 to 60000");
    }
}
