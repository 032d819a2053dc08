//! Which exchanges get a line.

use portcullis_policy::scope::Scope;
use serde::{Deserialize, Serialize};

/// Which exchanges get a line: those for which all of this holds.
#[derive(Debug, Default, Clone, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct When {
    /// Statuses of the response, one of which it must have: `404`, `5xx`, `400-499`, or `none` for exchanges that had
    /// no response. Empty for all.
    pub status: Vec<String>,
    /// The least duration of the exchange, in milliseconds.
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 86_400_000)))]
    pub min_duration_ms: u32,
    /// Who must have answered. Empty for anybody.
    pub answered_by: Vec<Answerer>,
    /// Which part of the exchanges gets a line.
    pub sample: Sample,
    /// Which requests get a line, by method and path.
    pub scope: Scope,
}

/// Who answered a request.
#[derive(Debug, Clone, Copy, Deserialize, Serialize, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Answerer {
    /// A policy of the same module, or client-id in a filter of its own, refused it.
    Policy,
    /// The upstream, and its response went out whole: Envoy's response code details are `via_upstream`.
    Upstream,
    /// Envoy or another of its filters: no route, no upstream, a timeout, a response that was cut off.
    Envoy,
    /// Nobody: the client went away before.
    Nobody,
}

impl Answerer {
    /// The word for configuration and lines.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Policy => "policy",
            Self::Upstream => "upstream",
            Self::Envoy => "envoy",
            Self::Nobody => "nobody",
        }
    }
}

/// Which part of the exchanges gets a line.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Sample {
    /// How many of a hundred exchanges get a line. A hash of `x-request-id` decides, so that every hop that has the
    /// same identifier and the same percentage decides alike. A request without that header gets a line.
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 100)))]
    pub percent: f64,
    /// Statuses of responses that always get a line, written as in `status`.
    pub always: Vec<String>,
}

impl Default for Sample {
    fn default() -> Self {
        Self { percent: 100.0, always: Vec::new() }
    }
}
