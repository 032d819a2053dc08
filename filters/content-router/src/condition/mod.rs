//! Compiled conditions.

mod action;

use portcullis_conditions::{RequestTest, TextMatcher};
use portcullis_policy::ConfigError;

use crate::body::{BodyFacts, BodyTests};
use crate::config;
use crate::truth::Truth;
use action::ActionTest;

/// A condition as a tree of tests. It is as deep as the configuration's, which the parser bounds.
#[derive(Debug)]
pub(crate) enum Condition {
    All(Vec<Condition>),
    Any(Vec<Condition>),
    Not(Box<Condition>),
    Request(RequestTest),
    Action(ActionTest),
    /// The test of this number among those of an envelope.
    Envelope(usize),
    /// The test of this number among those of a JSON document.
    Json(usize),
}

/// What is known of a request.
#[derive(Clone, Copy)]
pub(crate) struct Facts<'a> {
    pub(crate) headers: &'a portcullis_policy::HeaderList,
    pub(crate) body: BodyFacts<'a>,
}

impl Condition {
    /// Compiles a condition; what it wants to know of bodies goes to `tests`.
    pub(crate) fn compile(condition: &config::Condition, tests: &mut BodyTests) -> Result<Self, ConfigError> {
        use config::Condition as Configured;
        let request = |field: &str, test: Result<RequestTest, ConfigError>| {
            test.map(Self::Request).map_err(|error| error.within(field))
        };
        let text = |field: &str, test: &config::TextTest, of: fn(TextMatcher) -> RequestTest| {
            request(field, TextMatcher::compile(test).map(of))
        };
        match condition {
            Configured::All(conditions) => list("all", conditions, tests).map(Self::All),
            Configured::Any(conditions) => list("any", conditions, tests).map(Self::Any),
            Configured::Not(condition) => {
                let condition = Self::compile(condition, tests).map_err(|error| error.within("not"))?;
                Ok(Self::Not(Box::new(condition)))
            }
            Configured::Header { name, value, values } => {
                request("header", RequestTest::header(name, value.as_ref(), *values))
            }
            Configured::Method(methods) => request("method", RequestTest::method(methods)),
            Configured::Path(test) => text("path", test, RequestTest::Path),
            Configured::Host(test) => text("host", test, RequestTest::Host),
            Configured::Query { name, value, values } => {
                request("query", RequestTest::query(name, value.as_ref(), *values))
            }
            Configured::Action(test) => TextMatcher::compile(test)
                .map(|test| Self::Action(ActionTest(test)))
                .map_err(|error| error.within("action")),
            Configured::Operation { namespace, name } => tests
                .operation(namespace, name)
                .map(Self::Envelope)
                .map_err(|error| error.within("operation")),
            Configured::SoapHeader { namespace, name, value } => tests
                .soap_header(namespace, name, value.as_ref())
                .map(Self::Envelope)
                .map_err(|error| error.within("soap-header")),
            Configured::Xpath { expression, value } => tests
                .xpath(expression, value.as_ref())
                .map(Self::Envelope)
                .map_err(|error| error.within("xpath")),
            Configured::Json { pointer, value } => {
                tests.json(pointer, value.as_ref()).map(Self::Json).map_err(|error| error.within("json"))
            }
        }
    }

    /// Whether it is true, as far as is known.
    pub(crate) fn truth(&self, facts: Facts<'_>) -> Truth {
        match self {
            Self::All(conditions) => Truth::all(conditions.iter().map(|condition| condition.truth(facts))),
            Self::Any(conditions) => Truth::any(conditions.iter().map(|condition| condition.truth(facts))),
            Self::Not(condition) => condition.truth(facts).not(),
            Self::Request(test) => test.is_true(facts.headers).into(),
            Self::Action(test) => test.truth(facts.headers),
            Self::Envelope(test) => facts.body.envelope(*test),
            Self::Json(test) => facts.body.json(*test),
        }
    }

    /// Whether it is true, as far as is known. As long as that is not known, `open` gets the tests of the body on which it
    /// depends, by their numbers and in the order in which they stand; they are all of the kind that the body is.
    pub(crate) fn ask(&self, facts: Facts<'_>, open: &mut Vec<usize>) -> Truth {
        let first = open.len();
        let truth = match self {
            Self::All(conditions) => {
                Truth::all(conditions.iter().map(|condition| condition.ask(facts, open)))
            }
            Self::Any(conditions) => {
                Truth::any(conditions.iter().map(|condition| condition.ask(facts, open)))
            }
            Self::Not(condition) => condition.ask(facts, open).not(),
            Self::Envelope(test) | Self::Json(test) => {
                let truth = self.truth(facts);
                if truth == Truth::Unknown {
                    open.push(*test);
                }
                truth
            }
            Self::Request(_) | Self::Action(_) => self.truth(facts),
        };
        if truth != Truth::Unknown {
            open.truncate(first);
        }
        truth
    }
}

fn list(
    field: &str,
    conditions: &[config::Condition],
    tests: &mut BodyTests,
) -> Result<Vec<Condition>, ConfigError> {
    if conditions.is_empty() {
        return Err(ConfigError::new(field, "must have at least one condition"));
    }
    let compile = |(at, condition): (usize, &config::Condition)| {
        Condition::compile(condition, tests).map_err(|error| error.within(&format!("{field}[{at}]")))
    };
    conditions.iter().enumerate().map(compile).collect()
}
