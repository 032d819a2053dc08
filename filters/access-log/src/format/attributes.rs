//! Attributes of OTLP records.

use std::collections::BTreeMap;

use portcullis_policy::{ConfigError, Direction};

use super::Style;
use super::template::{self, Part};
use super::text::{self, Escaping};
use super::value::Value;
use crate::config::EmptyValues;
use crate::otlp::AttributeValue;
use crate::sight::Sight;

/// The most attributes that a record has.
const MAX_ATTRIBUTES: usize = 64;

/// Compiled attributes.
#[derive(Debug)]
pub(crate) struct OtlpAttributes(Vec<(String, Vec<Part>)>);

/// A value that an attribute can have.
#[derive(Debug)]
pub(crate) enum Given {
    Text(Vec<u8>),
    Int(i64),
    Double(f64),
    Bool(bool),
}

impl Given {
    pub(crate) fn as_attribute(&self) -> AttributeValue<'_> {
        match self {
            Self::Text(text) => AttributeValue::Text(text),
            Self::Int(number) => AttributeValue::Int(*number),
            Self::Double(number) => AttributeValue::Double(*number),
            Self::Bool(truth) => AttributeValue::Bool(*truth),
        }
    }
}

impl OtlpAttributes {
    /// Compiles the formats of attributes.
    ///
    /// # Errors
    /// Which is wrong, and why.
    pub(crate) fn compile(config: &BTreeMap<String, String>) -> Result<Self, ConfigError> {
        if config.len() > MAX_ATTRIBUTES {
            return Err(ConfigError::new("", format!("must have {MAX_ATTRIBUTES} entries at the most")));
        }
        let compiled = config.iter().map(|(name, format)| {
            if name.is_empty() {
                return Err(ConfigError::new("", "an attribute has no name"));
            }
            let parts = template::compile(format);
            Ok((name.clone(), parts.map_err(|problem| ConfigError::new(name.clone(), problem))?))
        });
        Ok(Self(compiled.collect::<Result<_, _>>()?))
    }

    /// Whether an attribute names the body of a message.
    pub(crate) fn names_body(&self, direction: Direction) -> bool {
        self.0.iter().any(|(_, parts)| template::names_body(parts, direction))
    }

    /// The attributes of a line, less those that are not there.
    pub(crate) fn values(&self, sight: &mut Sight<'_, '_>) -> Vec<(&str, Given)> {
        let mut values = Vec::with_capacity(self.0.len());
        for (name, parts) in &self.0 {
            if let Some(value) = given(parts, sight) {
                values.push((name.as_str(), value));
            }
        }
        values
    }
}

fn given(parts: &[Part], sight: &mut Sight<'_, '_>) -> Option<Given> {
    let [Part::Operator(operator)] = parts else {
        let mut text = Vec::new();
        // The exporter has a limit of its own for texts.
        let style = Style { empty: EmptyValues::Omitted, limit: usize::MAX };
        text::write(&mut text, parts, sight, style, Escaping::Later);
        return Some(Given::Text(text));
    };
    Some(match operator.known_value(sight) {
        Value::Missing => return None,
        Value::Text(text) => Given::Text(text.into_owned()),
        Value::Number(number) => match i64::try_from(number) {
            Ok(number) => Given::Int(number),
            Err(_) => Given::Text(number.to_string().into_bytes()),
        },
        Value::List(texts) => Given::Text(texts.join(",").into_bytes()),
        Value::Json(serde_json::Value::Bool(truth)) => Given::Bool(truth),
        Value::Json(serde_json::Value::Number(number)) => match (number.as_i64(), number.as_f64()) {
            (Some(number), _) => Given::Int(number),
            (None, Some(number)) => Given::Double(number),
            (None, None) => return None,
        },
        Value::Json(value) => Given::Text(value.to_string().into_bytes()),
    })
}
