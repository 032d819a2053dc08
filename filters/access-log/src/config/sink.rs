//! Where lines go.

use serde::{Deserialize, Serialize};

use crate::otlp::OtlpConfig;

/// A place to which lines go.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Sink {
    /// Envoy's own log, at level `info` of the component `wasm`.
    EnvoyLog,
    /// A filter state object of the exchange, for Envoy's access loggers to print.
    FilterState(FilterState),
    /// An OpenTelemetry collector: each line is the body of a log record. See [access-log-otlp.md](access-log-otlp.md).
    Otlp(Box<OtlpConfig>),
}

/// A filter state object that holds the line.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct FilterState {
    /// The object's name, before which Envoy puts `wasm.`: an access logger prints the default one with
    /// `%FILTER_STATE(wasm.portcullis.access_log:PLAIN)%`. Letters, digits, `_`, `.` and `-`.
    pub key: String,
}

impl Default for FilterState {
    fn default() -> Self {
        Self { key: "portcullis.access_log".to_owned() }
    }
}
