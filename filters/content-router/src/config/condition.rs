//! When a rule is followed.

use portcullis_conditions::{Quantifier, TextTest};
use serde::{Deserialize, Serialize};

/// A condition that is true or false of a request.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Condition {
    /// All of these are true.
    All(Vec<Condition>),
    /// At least one of these is true.
    Any(Vec<Condition>),
    /// This one is false.
    Not(Box<Condition>),
    /// A header.
    Header {
        /// The header's name. Another spelling of it is a further value.
        name: String,
        /// What its value must be; without it, it is enough that the header is there.
        value: Option<TextTest>,
        /// Which of several values count.
        #[serde(default)]
        values: Quantifier,
    },
    /// The method is one of these.
    Method(Vec<String>),
    /// The path without the query, as Envoy has left it: let Envoy normalize it. It begins with `/`, and so must the test.
    Path(TextTest),
    /// The authority (Host header) in lower case, without the port and the dot that may end it: the test is to be written
    /// so too, and what could never pass it is refused with the configuration.
    Host(TextTest),
    /// A query parameter.
    Query {
        /// The parameter's name, which is found in every spelling that some upstream takes for it; the value is compared
        /// percent-decoded. What cannot be decoded is there, and passes no test.
        name: String,
        /// What its value must be; without it, it is enough that the parameter is there.
        value: Option<TextTest>,
        /// Which of several values count.
        #[serde(default)]
        values: Quantifier,
    },
    /// The action that the HTTP headers state: SOAPAction in SOAP 1.1, the media type's parameter `action` in SOAP 1.2.
    Action(TextTest),
    /// The first element in the Body of a SOAP envelope.
    Operation {
        /// Its namespace; empty for none.
        #[serde(default)]
        namespace: String,
        /// Its local name.
        name: String,
    },
    /// An element in the Header of a SOAP envelope, a header block. Of several the first counts.
    SoapHeader {
        /// Its namespace; empty for none.
        #[serde(default)]
        namespace: String,
        /// Its local name.
        name: String,
        /// What its text must be, white space and all; without it, it is enough that the element is there.
        value: Option<TextTest>,
    },
    /// An XPath 1.0 expression on an XML document.
    Xpath {
        /// The expression. Its prefixes are those of `namespaces`.
        expression: String,
        /// What its string value must be: of several nodes, that of the first. Without it, its boolean value counts.
        value: Option<TextTest>,
    },
    /// A value in a JSON document.
    Json {
        /// Where it is, as a JSON Pointer (RFC 6901): `/order/lines/0/sku`; empty for the whole document.
        pointer: String,
        /// What it must be: a string's text; numbers, `true`, `false` and `null` as they are written, and numbers by their
        /// value too. Objects and arrays pass no test. Without it, it is enough that the value is there.
        value: Option<TextTest>,
    },
}

impl Condition {
    /// Appends the names of the headers that the condition looks at.
    pub(crate) fn headers<'a>(&'a self, names: &mut Vec<&'a str>) {
        match self {
            Self::All(inner) | Self::Any(inner) => {
                inner.iter().for_each(|condition| condition.headers(names));
            }
            Self::Not(inner) => inner.headers(names),
            Self::Header { name, .. } => names.push(name),
            Self::Method(_)
            | Self::Path(_)
            | Self::Host(_)
            | Self::Query { .. }
            | Self::Action(_)
            | Self::Operation { .. }
            | Self::SoapHeader { .. }
            | Self::Xpath { .. }
            | Self::Json { .. } => {}
        }
    }
}
