//! Lines as the configuration has them.

mod attributes;
mod grpc;
mod json;
mod metadata;
mod names;
mod operator;
mod template;
mod text;
mod time;
mod value;

use portcullis_policy::{ConfigError, Direction};

pub(crate) use attributes::OtlpAttributes;
pub(crate) use operator::Map;

use json::Node;
use template::Part;

use crate::config::{self, EmptyValues};
use crate::sight::Sight;

/// A compiled format.
#[derive(Debug)]
pub(crate) enum Format {
    /// The fields of [`line`](mod@crate::line).
    Default,
    Text(Vec<Part>),
    Json(Node),
}

impl Format {
    /// Compiles a format.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(crate) fn compile(format: &config::Format) -> Result<Self, ConfigError> {
        Ok(match format {
            config::Format::Default => Self::Default,
            config::Format::Text(text) => {
                // Envoy's own formats end in a line end, which is not part of the line here.
                let text = text.strip_suffix('\n').unwrap_or(text);
                if text.contains(char::is_control) {
                    return Err(ConfigError::new("text", "must be one line without control characters"));
                }
                Self::Text(template::compile(text).map_err(|problem| ConfigError::new("text", problem))?)
            }
            config::Format::Json(members) => {
                Self::Json(json::compile(members).map_err(|error| error.within("json"))?)
            }
        })
    }

    /// Whether a line shows a body, if one has been kept.
    pub(crate) fn shows_body(&self, direction: Direction) -> bool {
        matches!(self, Self::Default) || self.names_body(direction)
    }

    /// Whether the format has an operator for a body.
    pub(crate) fn names_body(&self, direction: Direction) -> bool {
        match self {
            Self::Default => false,
            Self::Text(parts) => template::names_body(parts, direction),
            Self::Json(node) => node.names_body(direction),
        }
    }
}

/// How values are written.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Style {
    pub(crate) empty: EmptyValues,
    /// The longest text of a value, in bytes.
    pub(crate) limit: usize,
}

/// Appends a line of text.
pub(crate) fn write_text(out: &mut Vec<u8>, parts: &[Part], sight: &mut Sight<'_, '_>, style: Style) {
    text::write(out, parts, sight, style, text::Escaping::Here);
}

pub(crate) use json::write as write_json;

/// Checks a format string, for tests that throw bytes at the compiler.
///
/// # Errors
/// What is wrong with it.
pub fn check_text(format: &str) -> Result<(), String> {
    template::compile(format).map(drop)
}
