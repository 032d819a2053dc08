//! What lines look like, and when they are written.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// What a line looks like.
#[derive(Debug, Default, Clone, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// One JSON object with the fields of the page's first table, those left out whose value is not known.
    #[default]
    Default,
    /// Text with command operators, as Envoy's `text_format`, without a line end.
    Text(String),
    /// A JSON object whose texts may hold command operators, as Envoy's `json_format`. A text that is one operator and
    /// nothing else keeps the operator's type.
    Json(Map<String, Value>),
}

/// What stands for a value that is not there.
#[derive(Debug, Default, Clone, Copy, Deserialize, Serialize, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum EmptyValues {
    /// `-` in text; `null` in JSON.
    #[default]
    Shown,
    /// Nothing in text; in JSON the member is left out.
    Omitted,
}

/// A point of an exchange at which a line can be written.
#[derive(Debug, Clone, Copy, Deserialize, Serialize, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// When the request's headers have come, or as much of its body as is captured.
    Request,
    /// When the response's headers have come, or as much of its body as is captured.
    Response,
    /// When the exchange is over, whatever became of it.
    End,
}

impl Phase {
    /// The word for configuration and lines.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Request => "request",
            Self::Response => "response",
            Self::End => "end",
        }
    }
}

/// Formats for lines of single phases.
#[derive(Debug, Default, Clone, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct PhaseFormats {
    /// For lines of the phase `request`.
    pub request: Option<Format>,
    /// For lines of the phase `response`.
    pub response: Option<Format>,
    /// For lines of the phase `end`.
    pub end: Option<Format>,
}

impl PhaseFormats {
    pub(crate) fn of(&self, phase: Phase) -> Option<&Format> {
        match phase {
            Phase::Request => self.request.as_ref(),
            Phase::Response => self.response.as_ref(),
            Phase::End => self.end.as_ref(),
        }
    }
}
