//! Compiled conditions.

use portcullis_conditions::{RequestTest, StatusTest, TextMatcher};
use portcullis_policy::{ConfigError, HeaderList};

use crate::config;
use crate::message::media_type_of;

/// A condition as a tree of tests. It is as deep as the configuration's, which the parser bounds.
#[derive(Debug)]
pub(crate) enum Condition {
    All(Vec<Condition>),
    Any(Vec<Condition>),
    Not(Box<Condition>),
    /// Of the request.
    Request(RequestTest),
    /// Of the message that may be transformed.
    Message(RequestTest),
    MediaType(TextMatcher),
    Status(StatusTest),
}

/// What is known of an exchange.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Facts<'a> {
    /// The request's headers; none if no policy has seen them.
    pub(crate) request: Option<&'a HeaderList>,
    /// The headers of the message that may be transformed; none if they have not come. Then the request's may still be
    /// changed, but for what it asks for.
    pub(crate) message: Option<&'a HeaderList>,
}

impl Condition {
    /// # Errors
    /// What is wrong with it, by the path of the field.
    pub(crate) fn compile(condition: &config::Condition) -> Result<Self, ConfigError> {
        use config::Condition as Configured;
        match condition {
            Configured::All(conditions) => list("all", conditions).map(Self::All),
            Configured::Any(conditions) => list("any", conditions).map(Self::Any),
            Configured::Not(condition) => match Self::compile(condition) {
                Ok(condition) => Ok(Self::Not(Box::new(condition))),
                Err(error) => Err(error.within("not")),
            },
            Configured::Header { name, value, values } => {
                test("header", RequestTest::header(name, value.as_ref(), *values)).map(Self::Message)
            }
            Configured::RequestHeader { name, value, values } => {
                test("request-header", RequestTest::header(name, value.as_ref(), *values)).map(Self::Request)
            }
            Configured::MediaType(media_type) => {
                test("media-type", TextMatcher::compile(media_type)).map(Self::MediaType)
            }
            Configured::Status(statuses) => test("status", StatusTest::compile(statuses)).map(Self::Status),
            Configured::Method(methods) => test("method", RequestTest::method(methods)).map(Self::Request),
            Configured::Path(path) => {
                test("path", TextMatcher::compile(path)).map(|path| Self::Request(RequestTest::Path(path)))
            }
            Configured::Host(host) => {
                test("host", TextMatcher::compile(host)).map(|host| Self::Request(RequestTest::Host(host)))
            }
            Configured::Query { name, value, values } => {
                test("query", RequestTest::query(name, value.as_ref(), *values)).map(Self::Request)
            }
        }
    }

    /// Whether it is true, or `None` as long as that depends on what has not come, may change, or cannot be read.
    pub(crate) fn truth(&self, facts: Facts<'_>) -> Option<bool> {
        match self {
            Self::All(conditions) => decide(conditions, facts, false),
            Self::Any(conditions) => decide(conditions, facts, true),
            Self::Not(condition) => condition.truth(facts).map(|truth| !truth),
            Self::Request(test) if facts.message.is_none() && !test.is_of_target() => None,
            Self::Request(test) => Some(facts.request.is_some_and(|headers| test.is_true(headers))),
            Self::Message(test) => facts.message.map(|headers| test.is_true(headers)),
            Self::MediaType(test) => {
                let media_type = media_type_of(facts.message?).ok()?;
                Some(media_type.is_some_and(|it| test.passes(&it.essence().to_ascii_lowercase())))
            }
            Self::Status(test) => {
                facts.message.map(|headers| status(headers).is_some_and(|status| test.passes(status)))
            }
        }
    }
}

/// The response's status, if these are the headers of one.
pub(crate) fn status(headers: &HeaderList) -> Option<u16> {
    core::str::from_utf8(headers.first(":status")?).ok()?.parse().ok()
}

/// `decisive` as soon as one condition is, the opposite if all are that.
fn decide(conditions: &[Condition], facts: Facts<'_>, decisive: bool) -> Option<bool> {
    let mut truth = Some(!decisive);
    for condition in conditions {
        match condition.truth(facts) {
            Some(one) if one == decisive => return Some(decisive),
            Some(_) => {}
            None => truth = None,
        }
    }
    truth
}

fn test<T>(field: &str, compiled: Result<T, ConfigError>) -> Result<T, ConfigError> {
    compiled.map_err(|error| error.within(field))
}

fn list(field: &str, conditions: &[config::Condition]) -> Result<Vec<Condition>, ConfigError> {
    if conditions.is_empty() {
        return Err(ConfigError::new(field, "must have at least one condition"));
    }
    let compile = |(at, condition): (usize, &config::Condition)| {
        Condition::compile(condition).map_err(|error| error.within(&format!("{field}[{at}]")))
    };
    conditions.iter().enumerate().map(compile).collect()
}
