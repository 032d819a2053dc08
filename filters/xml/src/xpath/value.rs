//! What expressions yield.

use std::borrow::Cow;

use super::number;
use crate::tree::{Document, NodeId};

/// Nodes in document order, each once.
pub type NodeSet<'a> = Cow<'a, [NodeId]>;

/// The value of an expression (XPath 1.0, section 1).
#[derive(Debug, Clone, PartialEq)]
pub enum Value<'a> {
    /// A node-set.
    Nodes(NodeSet<'a>),
    /// A boolean.
    Boolean(bool),
    /// A number.
    Number(f64),
    /// A string.
    String(Cow<'a, str>),
}

impl<'a> Value<'a> {
    /// As a boolean (section 4.3, `boolean()`).
    #[must_use]
    pub fn to_boolean(&self) -> bool {
        match self {
            Self::Nodes(nodes) => !nodes.is_empty(),
            Self::Boolean(boolean) => *boolean,
            Self::Number(number) => number_to_boolean(*number),
            Self::String(string) => !string.is_empty(),
        }
    }

    /// As a number (section 4.4, `number()`).
    #[must_use]
    pub fn to_number(&self, document: &Document) -> f64 {
        match self {
            Self::Nodes(nodes) => number::parse(first_text(nodes, document)),
            Self::Boolean(boolean) => f64::from(u8::from(*boolean)),
            Self::Number(number) => *number,
            Self::String(string) => number::parse(string),
        }
    }

    /// As a string (section 4.2, `string()`).
    #[must_use]
    pub fn into_string(self, document: &'a Document) -> Cow<'a, str> {
        match self {
            Self::Nodes(nodes) => Cow::Borrowed(first_text(&nodes, document)),
            Self::Boolean(boolean) => Cow::Borrowed(boolean_to_string(boolean)),
            Self::Number(number) => number::format(number),
            Self::String(string) => string,
        }
    }
}

/// The string-value of the node that is first in document order; of no nodes, the empty string.
fn first_text<'d>(nodes: &[NodeId], document: &'d Document) -> &'d str {
    nodes.first().map_or("", |node| document.string_value(*node))
}

pub(super) fn boolean_to_string(boolean: bool) -> &'static str {
    if boolean { "true" } else { "false" }
}

/// Neither zero nor NaN.
pub(super) fn number_to_boolean(number: f64) -> bool {
    number != 0.0 && !number.is_nan()
}
