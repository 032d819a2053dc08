//! The configuration document.

mod capture;
mod format;
mod redact;
mod sink;
mod when;

use std::collections::BTreeMap;

use portcullis_policy::ConfigError;
use serde::{Deserialize, Serialize};

pub use capture::{BodyCapture, Capture};
pub use format::{EmptyValues, Format, Phase, PhaseFormats};
pub use redact::{Query, Redact};
pub use sink::{FilterState, Sink};
pub use when::{Answerer, Sample, When};

/// Configuration of the access-log policy.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// What a line looks like.
    pub format: Format,
    /// When lines are written: at one or more points of an exchange.
    pub phases: Vec<Phase>,
    /// Formats for lines of single phases, in place of `format`.
    pub phase_formats: PhaseFormats,
    /// What stands for a value that is not there. The default format always leaves it out.
    pub empty_values: EmptyValues,
    /// Which exchanges get a line: those for which all of this holds.
    pub when: When,
    /// What is kept of bodies.
    pub capture: Capture,
    /// What is replaced by `[redacted]`.
    pub redact: Redact,
    /// What becomes of the query string of paths and of URLs in headers; it often holds personal data and sometimes
    /// secrets.
    pub query: Query,
    /// The longest text that a field may hold, in bytes as they came; what is longer is cut and ends in `…`. The texts of a
    /// list count together, each with a byte that separates it from the next. From 16 to 16384. Bodies have limits of
    /// their own.
    #[cfg_attr(feature = "schema", schemars(range(min = 16, max = 16_384)))]
    pub max_field_bytes: u32,
    /// Where lines go. An empty list turns the log off.
    pub sinks: Vec<Sink>,
    /// Attributes of the records that go to an OpenTelemetry collector, beside the line: texts with command operators.
    /// One that is a single operator keeps the operator's type, and is left out when there is no value.
    pub otlp_attributes: BTreeMap<String, String>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            format: Format::Default,
            phases: vec![Phase::End],
            phase_formats: PhaseFormats::default(),
            empty_values: EmptyValues::default(),
            when: When::default(),
            capture: Capture::default(),
            redact: Redact::default(),
            query: Query::default(),
            max_field_bytes: 1024,
            sinks: vec![Sink::EnvoyLog],
            otlp_attributes: [
                ("http.request.method", "%REQ(:METHOD)%"),
                ("http.response.status_code", "%RESPONSE_CODE%"),
                ("portcullis.client_id", "%PORTCULLIS(CLIENT_ID)%"),
                ("portcullis.violation", "%PORTCULLIS(VIOLATION)%"),
            ]
            .map(|(name, format)| (name.to_owned(), format.to_owned()))
            .into(),
        }
    }
}

impl Config {
    /// The longest text that a field may hold.
    ///
    /// # Errors
    /// It is out of range.
    pub(crate) fn field_limit(&self) -> Result<usize, ConfigError> {
        match usize::try_from(self.max_field_bytes) {
            Ok(limit @ 16..=16_384) => Ok(limit),
            _ => Err(ConfigError::new(
                "max_field_bytes",
                "out of range, expected a number of bytes from 16 to 16384",
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use portcullis_policy::{Chain, config};

    use super::*;
    use crate::AccessLog;

    #[test]
    fn an_empty_document_gives_the_defaults() {
        let config: Config = config::parse(b"").unwrap();
        assert_eq!((config.query, config.max_field_bytes), (Query::Redacted, 1024));
        assert_eq!(config.phases, [Phase::End]);
        assert!(matches!(config.format, Format::Default));
        assert!(matches!(config.sinks.as_slice(), [Sink::EnvoyLog]));
    }

    #[test]
    fn accepts_what_is_documented_and_says_what_is_wrong_with_the_rest() {
        for (document, problem) in [
            (r#"{"query":"keep","max_field_bytes":16}"#, None),
            (r#"{"query":"drop","max_field_bytes":16384}"#, None),
            (r#"{"query":"redacted"}"#, None),
            (r#"{"format":"default","phases":["end"],"sinks":[]}"#, None),
            (r#"{"format":{"text":"%PROTOCOL%"},"phases":["request","response","end"]}"#, None),
            (r#"{"format":{"json":{"a":"%PROTOCOL%"}},"empty_values":"omitted"}"#, None),
            (r#"{"sinks":["envoy-log",{"filter-state":{}},{"filter-state":{"key":"a.b"}}]}"#, None),
            (r#"{"capture":{"request":{},"response":{"max_bytes":65536,"content_types":["*/*"]}}}"#, None),
            (r#"{"redact":{"headers":["X-Key"],"query":["q"],"json":["/a","/*/b","/**/c"]}}"#, None),
            (r#"{"when":{"status":["5xx","404","400-499","none"],"min_duration_ms":1}}"#, None),
            (r#"{"when":{"answered_by":["policy"],"sample":{"percent":0.5,"always":["5xx"]}}}"#, None),
            (r#"{"query":"hide"}"#, Some("query: expected one of `redacted`, `keep`, `drop`")),
            (
                r#"{"max_field_bytes":15}"#,
                Some("max_field_bytes: out of range, expected a number of bytes from 16 to 16384"),
            ),
            (
                r#"{"max_field_bytes":16385}"#,
                Some("max_field_bytes: out of range, expected a number of bytes from 16 to 16384"),
            ),
            (r#"{"max_field_bytes":"1k"}"#, Some("max_field_bytes: expected u32, found string")),
            (
                r#"{"phases":["request"],"when":{"status":["5xx"]}}"#,
                Some("when.status: is not known in the phase `request`"),
            ),
            (
                r#"{"phases":["end","request"],"when":{"answered_by":["envoy"]}}"#,
                Some("when.answered_by: is not known in the phase `request`"),
            ),
            (
                r#"{"phases":["request"],"when":{"sample":{"percent":1,"always":["5xx"]}}}"#,
                Some("when.sample.always: is not known in the phase `request`"),
            ),
            (
                r#"{"phases":["response"],"when":{"min_duration_ms":5}}"#,
                Some("when.min_duration_ms: is not known in the phase `response`"),
            ),
            (r#"{"phases":[]}"#, Some("phases: must name at least one of `request`, `response`, `end`")),
            (r#"{"phases":["end","end"]}"#, Some("phases[1]: stands in the list already")),
            (
                r#"{"phase_formats":{"request":"default"}}"#,
                Some("phase_formats.request: `phases` does not name this phase"),
            ),
            (
                r#"{"when":{"status":["600"]}}"#,
                Some(
                    "when.status[0]: must be a status (`404`), a class (`5xx`), a range (`400-499`) or `none`",
                ),
            ),
            (
                r#"{"when":{"sample":{"percent":101}}}"#,
                Some("when.sample.percent: out of range, expected a number from 0 to 100"),
            ),
            (
                r#"{"when":{"scope":{"only":[{"path_prefix":"x"}]}}}"#,
                Some(
                    "when.scope.only[0].path_prefix: must begin with / and be a plain path: no query, \
                     percent-encoding, dot segments, empty segments, semicolons, backslashes or characters \
                     beyond ASCII",
                ),
            ),
            (
                r#"{"capture":{"request":{"max_bytes":0}}}"#,
                Some("capture.request.max_bytes: out of range, expected a number of bytes from 1 to 65536"),
            ),
            (
                r#"{"capture":{"response":{"content_types":["json"]}}}"#,
                Some(
                    "capture.response.content_types[0]: must be a media type such as `application/json`, \
                     `text/*` or `application/*+json`",
                ),
            ),
            (r#"{"redact":{"headers":["a b"]}}"#, Some("redact.headers[0]: must be a header's name")),
            (
                r#"{"redact":{"query":[""]}}"#,
                Some("redact.query[0]: must be a parameter's name, decoded, with a letter or digit"),
            ),
            (
                r#"{"redact":{"query":["_-"]}}"#,
                Some("redact.query[0]: must be a parameter's name, decoded, with a letter or digit"),
            ),
            (r#"{"redact":{"headers":["-"]}}"#, Some("redact.headers[0]: must be a header's name")),
            (
                r#"{"redact":{"json":["password"]}}"#,
                Some("redact.json[0]: must be a JSON pointer that begins with / (RFC 6901)"),
            ),
            (r#"{"sinks":["envoy-log","envoy-log"]}"#, Some("sinks[1]: stands in the list already")),
            (
                r#"{"sinks":[{"filter-state":{"key":""}}]}"#,
                Some(
                    "sinks[0].filter-state.key: must be 1 to 128 of the characters A-Z, a-z, 0-9, `_`, `.` and `-`",
                ),
            ),
            (
                r#"{"sinks":[{"filter-state":{"key":"a:b"}}]}"#,
                Some(
                    "sinks[0].filter-state.key: must be 1 to 128 of the characters A-Z, a-z, 0-9, `_`, `.` and `-`",
                ),
            ),
            (
                r#"{"sinks":[{"filter-state":{"key":"portcullis.client_id"}}]}"#,
                Some(
                    "sinks[0].filter-state.key: must not be the name of an attribute in which a policy reports",
                ),
            ),
            (
                r#"{"sinks":[{"filter-state":{"key":"portcullis.client-id.outcome"}}]}"#,
                Some(
                    "sinks[0].filter-state.key: must not be the name of an attribute in which a policy reports",
                ),
            ),
        ] {
            let built = Chain::new().then_configured::<AccessLog>(document.as_bytes());
            assert_eq!(built.err().map(|error| error.to_string()).as_deref(), problem, "{document}");
        }
    }

    #[test]
    fn a_body_is_kept_if_and_only_if_a_line_can_show_it() {
        let (unseen, missing) =
            ("no format of a line in `phases` shows this body", "must be there: a format shows this body");
        let collector = r#""sinks":[{"otlp":{"cluster":"c"}}]"#;
        let attribute = r#""otlp_attributes":{"a":"%PORTCULLIS(RESPONSE_BODY)%"}"#;
        for (document, problem) in [
            (r#"{"capture":{"request":{},"response":{}}}"#.to_owned(), None),
            (
                r#"{"capture":{"request":{}},"format":{"text":"x"}}"#.to_owned(),
                Some(format!("capture.request: {unseen}")),
            ),
            (
                r#"{"capture":{"response":{}},"phases":["request"]}"#.to_owned(),
                Some(format!("capture.response: {unseen}")),
            ),
            (
                r#"{"capture":{"request":{}},"phases":["request"],"phase_formats":{"request":{"json":{"a":[{}]}}}}"#
                    .to_owned(),
                Some(format!("capture.request: {unseen}")),
            ),
            (
                r#"{"capture":{"request":{}},"format":{"json":{"a":[{"b":"<%PORTCULLIS(REQUEST_BODY)%>"}]}}}"#
                    .to_owned(),
                None,
            ),
            (
                r#"{"format":{"text":"%PORTCULLIS(REQUEST_BODY)%"}}"#.to_owned(),
                Some(format!("capture.request: {missing}")),
            ),
            (
                r#"{"format":{"json":{"a":["%PORTCULLIS(RESPONSE_BODY)%"]}}}"#.to_owned(),
                Some(format!("capture.response: {missing}")),
            ),
            (format!("{{{collector},{attribute}}}"), Some(format!("capture.response: {missing}"))),
            (
                format!(r#"{{{collector},{attribute},"format":{{"text":"x"}},"capture":{{"response":{{}}}}}}"#),
                None,
            ),
            (format!("{{{attribute}}}"), None),
        ] {
            let built = Chain::new().then_configured::<AccessLog>(document.as_bytes());
            assert_eq!(built.err().map(|error| error.to_string()), problem, "{document}");
        }
    }

    #[test]
    fn names_the_fields_that_there_are() {
        let error = Chain::new().then_configured::<AccessLog>(br#"{"max_field":1}"#).err().unwrap();
        let text = error.to_string();
        assert!(text.starts_with("max_field: unknown field `max_field`, expected one of `format`"), "{text}");
    }
}
