//! What the host gives to a stylesheet.

use std::collections::BTreeMap;

/// The values of the stylesheet's global parameters, by expanded name (XSLT 1.0, section 11.4). What the stylesheet
/// does not declare is not looked at.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Parameters {
    values: BTreeMap<(String, String), Parameter>,
}

/// The value of a parameter.
#[derive(Debug, Clone, PartialEq)]
pub enum Parameter {
    /// A string.
    String(String),
    /// A number.
    Number(f64),
    /// A boolean.
    Boolean(bool),
}

impl Parameters {
    /// None: every parameter has the value that the stylesheet says.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Gives a parameter its value, in place of one given before. The namespace is empty for a name without prefix.
    pub fn set(&mut self, namespace: &str, local: &str, value: Parameter) {
        self.values.insert((namespace.to_owned(), local.to_owned()), value);
    }

    pub(crate) fn get(&self, namespace: &str, local: &str) -> Option<&Parameter> {
        // A map of pairs cannot be asked with borrowed halves; there are few parameters.
        self.values.iter().find(|((uri, name), _)| uri == namespace && name == local).map(|(_, value)| value)
    }
}
