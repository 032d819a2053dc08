//! Which messages are transformed.

use portcullis_conditions::{Quantifier, TextTest};
use portcullis_policy::{Dependency, Fact, Moment};
use serde::{Deserialize, Serialize};

use super::{Config, ParameterValue, Transformation};

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
        /// The parameter's name, which is found in every spelling that some upstream takes for it; the value is compared
        /// percent-decoded. What cannot be decoded is there, and passes no test.
        name: String,
        /// What its value must be; without it, it is enough that the parameter is there.
        value: Option<TextTest>,
        /// Which of several values count.
        #[serde(default)]
        values: Quantifier,
    },
}

impl Condition {
    /// Appends the names of the request's headers that the condition looks at.
    fn headers<'a>(&'a self, moment: Moment, names: &mut Vec<&'a str>) {
        match self {
            Self::All(inner) | Self::Any(inner) => {
                inner.iter().for_each(|condition| condition.headers(moment, names));
            }
            Self::Not(inner) => inner.headers(moment, names),
            Self::RequestHeader { name, .. } => names.push(name),
            Self::Header { name, .. } if moment == Moment::Request => names.push(name),
            Self::Header { .. }
            | Self::MediaType(_)
            | Self::Status(_)
            | Self::Method(_)
            | Self::Path(_)
            | Self::Host(_)
            | Self::Query { .. } => {}
        }
    }
}

impl Config {
    /// What transformations depend on that another policy may set.
    pub(crate) fn reads(&self) -> Vec<Dependency> {
        let sides =
            [("request", Moment::Request, &self.request), ("response", Moment::Response, &self.response)];
        let of_side = |(name, moment, side): (&str, Moment, &Option<Transformation>)| {
            side.iter().flat_map(|side| reads_of(side, name, moment)).collect::<Vec<_>>()
        };
        sides.into_iter().flat_map(of_side).collect()
    }
}

/// What the transformation of one kind of messages depends on. A header of a response is no fact of the request.
fn reads_of(side: &Transformation, name: &str, moment: Moment) -> Vec<Dependency> {
    let mut headers = Vec::new();
    if let Some(when) = &side.when {
        when.headers(moment, &mut headers);
    }
    let header = |name: &str| Fact::Header(name.to_owned());
    let of_condition = headers.into_iter().map(|read| Dependency {
        fact: header(read),
        moment,
        field: format!("{name}.when"),
    });
    let of_parameters = side.parameters.iter().filter_map(|(parameter, value)| {
        let fact = match value {
            ParameterValue::RequestHeader(name) => header(name),
            ParameterValue::Header(name) if moment == Moment::Request => header(name),
            ParameterValue::ClientId | ParameterValue::ClientName | ParameterValue::ClientTier => {
                Fact::Identity
            }
            ParameterValue::Header(_)
            | ParameterValue::Query(_)
            | ParameterValue::Text(_)
            | ParameterValue::Number(_)
            | ParameterValue::Boolean(_) => return None,
        };
        Some(Dependency { fact, moment, field: format!("{name}.parameters.{parameter}") })
    });
    of_condition.chain(of_parameters).collect()
}
