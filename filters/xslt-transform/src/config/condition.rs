//! Which messages are transformed.

use portcullis_conditions::{Quantifier, TextTest};
use serde::{Deserialize, Serialize};

/// A condition that is true or false of a message.
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
    /// A header of the message that may be transformed.
    Header {
        /// The header's name. Another spelling of it is a further value.
        name: String,
        /// What its value must be; without it, it is enough that the header is there.
        value: Option<TextTest>,
        /// Which of several values count.
        #[serde(default)]
        values: Quantifier,
    },
    /// The message's media type in lower case, without parameters: `text/xml`, `application/soap+xml`. False if it has none.
    /// If it cannot be read, and the condition depends on it, the message is `on_error.content_type`.
    MediaType(TextTest),
    /// The response's status is one of these: `200`, `5xx`, `400-499`. For responses only.
    Status(Vec<String>),
    /// A header of the request. For responses; of a request, `header` says it.
    RequestHeader {
        /// The header's name. Another spelling of it is a further value.
        name: String,
        /// What its value must be; without it, it is enough that the header is there.
        value: Option<TextTest>,
        /// Which of several values count.
        #[serde(default)]
        values: Quantifier,
    },
    /// The request's method is one of these.
    Method(Vec<String>),
    /// The request's path without the query, as Envoy has left it: let Envoy normalize it. It begins with `/`, and so must
    /// the test.
    Path(TextTest),
    /// The request's authority (Host header) in lower case, without the port and the dot that may end it: the test is to
    /// be written so too.
    Host(TextTest),
    /// A query parameter of the request.
    Query {
        /// The parameter's name; name and value are compared percent-decoded. What cannot be decoded is there, and passes
        /// no test.
        name: String,
        /// What its value must be; without it, it is enough that the parameter is there.
        value: Option<TextTest>,
        /// Which of several values count.
        #[serde(default)]
        values: Quantifier,
    },
}
