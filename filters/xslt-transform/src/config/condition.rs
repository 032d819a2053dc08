//! Which messages are transformed.

use portcullis_conditions::{Quantifier, TextTest};
use portcullis_policy::{Dependency, Fact};
use serde::{Deserialize, Serialize};

use super::{Config, ParameterValue};

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

impl Condition {
    /// Appends the names of the headers that the condition looks at in the message that may be transformed.
    fn headers<'a>(&'a self, names: &mut Vec<&'a str>) {
        match self {
            Self::All(inner) | Self::Any(inner) => {
                inner.iter().for_each(|condition| condition.headers(names));
            }
            Self::Not(inner) => inner.headers(names),
            Self::Header { name, .. } => names.push(name),
            Self::MediaType(_)
            | Self::Status(_)
            | Self::RequestHeader { .. }
            | Self::Method(_)
            | Self::Path(_)
            | Self::Host(_)
            | Self::Query { .. } => {}
        }
    }
}

impl Config {
    /// What the transformation of requests depends on that another policy may set. When a response comes, all policies
    /// have seen the request.
    pub(crate) fn reads(&self) -> Vec<Dependency> {
        let Some(request) = &self.request else {
            return Vec::new();
        };
        let mut names = Vec::new();
        if let Some(when) = &request.when {
            when.headers(&mut names);
        }
        let header = |name: &str| Fact::Header(name.to_owned());
        let of_condition =
            names.into_iter().map(|name| Dependency { fact: header(name), field: "request.when".to_owned() });
        let of_parameters = request.parameters.iter().filter_map(|(name, value)| {
            let fact = match value {
                ParameterValue::Header(name) | ParameterValue::RequestHeader(name) => header(name),
                ParameterValue::ClientId | ParameterValue::ClientName | ParameterValue::ClientTier => {
                    Fact::Identity
                }
                ParameterValue::Query(_)
                | ParameterValue::Text(_)
                | ParameterValue::Number(_)
                | ParameterValue::Boolean(_) => return None,
            };
            Some(Dependency { fact, field: format!("request.parameters.{name}") })
        });
        of_condition.chain(of_parameters).collect()
    }
}
