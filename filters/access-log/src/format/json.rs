//! Lines of JSON.

use std::io::Write;

use portcullis_policy::{ConfigError, Direction, json};
use serde_json::{Map, Value as Template};

use super::Style;
use super::template::{self, Part};
use super::text::{self, Escaping};
use super::value::Value;
use crate::config::EmptyValues;
use crate::sight::Sight;

/// How deep a format may be nested.
const MAX_DEPTH: usize = 32;

/// A compiled value of a JSON format.
#[derive(Debug)]
pub(crate) enum Node {
    /// JSON text.
    Constant(Vec<u8>),
    /// A text with operators in it.
    Parts(Vec<Part>),
    /// Members, with their names as JSON text and a colon, in the order of their names.
    Object(Vec<(Vec<u8>, Node)>),
    List(Vec<Node>),
}

impl Node {
    /// Whether a value in it is the body of a message.
    pub(crate) fn names_body(&self, direction: Direction) -> bool {
        match self {
            Self::Constant(_) => false,
            Self::Parts(parts) => template::names_body(parts, direction),
            Self::Object(members) => members.iter().any(|(_, node)| node.names_body(direction)),
            Self::List(elements) => elements.iter().any(|node| node.names_body(direction)),
        }
    }
}

/// Compiles a format.
///
/// # Errors
/// Which value is wrong, and why.
pub(crate) fn compile(format: &Map<String, Template>) -> Result<Node, ConfigError> {
    object(format, MAX_DEPTH)
}

fn object(members: &Map<String, Template>, depth: usize) -> Result<Node, ConfigError> {
    // The order is not the configuration's: a `google.protobuf.Struct` has none.
    let mut sorted: Vec<_> = members.iter().collect();
    sorted.sort_unstable_by_key(|(name, _)| name.as_str());
    let compiled = sorted.into_iter().map(|(name, value)| {
        let mut text = Vec::new();
        json::write_string(&mut text, name.as_bytes(), usize::MAX);
        text.push(b':');
        // A name may hold anything and is none of a message's business if it does.
        let shown = if portcullis_policy::headers::is_token(name) { name.as_str() } else { "*" };
        Ok((text, node(value, depth).map_err(|error| error.within(shown))?))
    });
    Ok(Node::Object(compiled.collect::<Result<_, ConfigError>>()?))
}

fn node(value: &Template, depth: usize) -> Result<Node, ConfigError> {
    let depth = depth
        .checked_sub(1)
        .ok_or_else(|| ConfigError::new("", format!("must be nested {MAX_DEPTH} levels deep at the most")))?;
    match value {
        Template::String(text) => {
            let parts = template::compile(text).map_err(|problem| ConfigError::new("", problem))?;
            Ok(match parts.as_slice() {
                [Part::Literal(text)] => constant(|out| json::write_string(out, text.as_bytes(), usize::MAX)),
                _ => Node::Parts(parts),
            })
        }
        Template::Object(members) => object(members, depth),
        Template::Array(elements) => {
            let elements = elements
                .iter()
                .enumerate()
                .map(|(at, element)| node(element, depth).map_err(|error| error.within(&format!("[{at}]"))));
            Ok(Node::List(elements.collect::<Result<_, _>>()?))
        }
        other => Ok(constant(|out| drop(write!(out, "{other}")))),
    }
}

fn constant(write: impl FnOnce(&mut Vec<u8>)) -> Node {
    let mut text = Vec::new();
    write(&mut text);
    Node::Constant(text)
}

/// Appends a line of JSON, valid whatever the exchange holds.
pub(crate) fn write(out: &mut Vec<u8>, node: &Node, sight: &mut Sight<'_, '_>, style: Style) {
    if write_node(out, node, sight, style) == Written::Nothing {
        out.extend_from_slice(b"{}");
    }
}

/// Whether a value is there, or left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Written {
    Something,
    Nothing,
}

fn write_node(out: &mut Vec<u8>, node: &Node, sight: &mut Sight<'_, '_>, style: Style) -> Written {
    match node {
        Node::Constant(text) if style.empty == EmptyValues::Omitted && text == b"null" => Written::Nothing,
        Node::Constant(text) => {
            out.extend_from_slice(text);
            Written::Something
        }
        Node::Parts(parts) => match parts.as_slice() {
            [Part::Operator(operator)] => {
                let limit = if operator.body().is_some() { usize::MAX } else { style.limit };
                write_value(out, operator.value(sight), Style { limit, ..style })
            }
            parts => {
                let mut text = Vec::new();
                text::write(&mut text, parts, sight, style, Escaping::Later);
                json::write_string(out, &text, usize::MAX);
                Written::Something
            }
        },
        Node::Object(members) => write_object(out, members, sight, style),
        Node::List(elements) => {
            out.push(b'[');
            let mut separator: &[u8] = b"";
            for element in elements {
                let before = out.len();
                out.extend_from_slice(separator);
                match write_node(out, element, sight, style) {
                    Written::Something => separator = b",",
                    Written::Nothing => out.truncate(before),
                }
            }
            out.push(b']');
            Written::Something
        }
    }
}

fn write_object(
    out: &mut Vec<u8>,
    members: &[(Vec<u8>, Node)],
    sight: &mut Sight<'_, '_>,
    style: Style,
) -> Written {
    let start = out.len();
    out.push(b'{');
    let mut separator: &[u8] = b"";
    for (name, value) in members {
        let before = out.len();
        out.extend_from_slice(separator);
        out.extend_from_slice(name);
        match write_node(out, value, sight, style) {
            Written::Something => separator = b",",
            Written::Nothing => out.truncate(before),
        }
    }
    // Envoy, too, leaves out an object in which there is nothing, and keeps a list.
    if separator.is_empty() && style.empty == EmptyValues::Omitted {
        out.truncate(start);
        return Written::Nothing;
    }
    out.push(b'}');
    Written::Something
}

fn write_value(out: &mut Vec<u8>, value: Value<'_>, style: Style) -> Written {
    match value {
        Value::Missing if style.empty == EmptyValues::Omitted => return Written::Nothing,
        Value::Missing => out.extend_from_slice(b"null"),
        Value::Text(text) => json::write_string(out, &text, style.limit),
        Value::Number(number) => drop(write!(out, "{number}")),
        Value::List(texts) => json::write_strings(out, texts, style.limit),
        // What another filter has set is no longer than it has made it, and may not break the line.
        Value::Json(value) => {
            let text = value.to_string();
            if text.len() <= style.limit && !text.contains(json::must_be_escaped) {
                out.extend_from_slice(text.as_bytes());
            } else {
                json::write_string(out, text.as_bytes(), style.limit);
            }
        }
    }
    Written::Something
}
