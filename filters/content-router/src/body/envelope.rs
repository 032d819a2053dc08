//! Tests of envelopes, and of XML in general.

use std::collections::BTreeMap;
use std::rc::Rc;

use portcullis_conditions::TextMatcher;
use portcullis_policy::ConfigError;
use portcullis_xml::soap::{Operation, Outline, QName, Recognition, Version};
use portcullis_xml::xpath::stream::{Outcome, Progress, SoapMatcher, StreamExpression, StreamSet};
use portcullis_xml::{Namespaces, XPath};

use super::learning::Verdict;
use crate::config::XpathMode;
use crate::truth::Truth;

/// A compiled test of an envelope.
#[derive(Debug)]
pub(crate) enum EnvelopeTest {
    /// The first element of the Body has this name.
    Operation(QName),
    /// One of the expressions at these places of the stream's set is true: they exclude each other.
    Stream { places: Vec<usize>, value: Option<TextMatcher> },
    /// The expression is true of the whole document.
    Tree { expression: Box<XPath>, value: Option<TextMatcher> },
}

/// Tests of envelopes, while they are being compiled.
pub(super) struct EnvelopeTests {
    namespaces: Namespaces,
    mode: XpathMode,
    tests: Vec<EnvelopeTest>,
    expressions: Vec<StreamExpression>,
}

/// The namespaces of the envelopes, by the prefixes that stand for them.
const ENVELOPES: [(&str, Version); 2] = [("soap11", Version::V1_1), ("soap12", Version::V1_2)];
/// How long an expression may be.
const MAX_EXPRESSION: usize = 4096;

impl EnvelopeTests {
    pub(super) fn new(namespaces: &BTreeMap<String, String>, mode: XpathMode) -> Self {
        let mut bound = Namespaces::new();
        for (prefix, version) in ENVELOPES {
            bound.bind(prefix, version.namespace());
        }
        for (prefix, namespace) in namespaces {
            bound.bind(prefix, namespace);
        }
        Self { namespaces: bound, mode, tests: Vec::new(), expressions: Vec::new() }
    }

    pub(super) fn operation(&mut self, namespace: &str, name: &str) -> Result<usize, ConfigError> {
        check_name(name)?;
        let (namespace, local) = (namespace.to_owned(), name.to_owned());
        Ok(self.add(EnvelopeTest::Operation(QName { namespace, local })))
    }

    pub(super) fn soap_header(
        &mut self,
        namespace: &str,
        name: &str,
        value: Option<TextMatcher>,
    ) -> Result<usize, ConfigError> {
        check_name(name)?;
        let mut places = Vec::new();
        for (_, version) in ENVELOPES {
            let mut namespaces = Namespaces::new();
            namespaces.bind("e", version.namespace());
            namespaces.bind("n", namespace);
            let block = if namespace.is_empty() { name.to_owned() } else { format!("n:{name}") };
            let path = format!("/e:Envelope/e:Header/{block}");
            let expression = XPath::compile(&path, &namespaces)
                .map_err(|error| ConfigError::new("name", error.to_string()))?;
            let expression = StreamExpression::compile(&expression)
                .map_err(|refusal| ConfigError::new("name", refusal.to_string()))?;
            places.push(self.add_expression(expression, value.as_ref()));
        }
        Ok(self.add(EnvelopeTest::Stream { places, value }))
    }

    pub(super) fn xpath(
        &mut self,
        expression: &str,
        value: Option<TextMatcher>,
    ) -> Result<usize, ConfigError> {
        if expression.len() > MAX_EXPRESSION {
            let problem = format!("must have at most {MAX_EXPRESSION} bytes");
            return Err(ConfigError::new("expression", problem));
        }
        let compiled = XPath::compile(expression, &self.namespaces)
            .map_err(|error| ConfigError::new("expression", format!("is no XPath 1.0: {error}")))?;
        let test = match (StreamExpression::compile(&compiled), self.mode) {
            (Ok(expression), _) => {
                EnvelopeTest::Stream { places: vec![self.add_expression(expression, value.as_ref())], value }
            }
            (Err(_), XpathMode::Buffered) => EnvelopeTest::Tree { expression: Box::new(compiled), value },
            (Err(refusal), XpathMode::Streamed) => {
                let problem =
                    format!("{refusal}; or permit the whole body to be held, with `body.xpath: buffered`");
                return Err(ConfigError::new("expression", problem));
            }
        };
        Ok(self.add(test))
    }

    pub(super) fn finish(self) -> (Vec<EnvelopeTest>, Vec<StreamExpression>) {
        (self.tests, self.expressions)
    }

    fn add(&mut self, test: EnvelopeTest) -> usize {
        self.tests.push(test);
        self.tests.len().saturating_sub(1)
    }

    /// Adds an expression, unless another test has the same; gives its place.
    fn add_expression(&mut self, expression: StreamExpression, value: Option<&TextMatcher>) -> usize {
        let expression = if value.is_some() { expression } else { expression.into_boolean() };
        self.expressions.iter().position(|known| *known == expression).unwrap_or_else(|| {
            self.expressions.push(expression);
            self.expressions.len().saturating_sub(1)
        })
    }
}

/// A local name (Namespaces in XML 1.0, production 4), about: what is no name at all matches no element.
fn check_name(name: &str) -> Result<(), ConfigError> {
    let starts = name.starts_with(|first: char| first.is_alphabetic() || first == '_');
    let goes_on =
        name.chars().all(|character| character.is_alphanumeric() || "_-.\u{b7}".contains(character));
    if starts && goes_on {
        Ok(())
    } else {
        Err(ConfigError::new("name", "must be the local name of an element, without a prefix"))
    }
}

impl EnvelopeTest {
    /// The places of the stream's set that it asks.
    pub(super) fn places(&self) -> &[usize] {
        match self {
            Self::Stream { places, .. } => places,
            Self::Operation(_) | Self::Tree { .. } => &[],
        }
    }

    /// What the stream has told so far.
    pub(super) fn verdict(&self, matcher: &SoapMatcher<Rc<StreamSet>>) -> Verdict {
        match self {
            Self::Operation(name) => Verdict::known(operation(matcher.outline(), name)),
            Self::Stream { places, value } => {
                let verdicts = places.iter().map(|place| match matcher.progress(*place) {
                    Progress::Pending | Progress::Found => Verdict::Open,
                    Progress::Decided(outcome) => outcome_verdict(outcome, value.as_ref()),
                });
                Verdict::any(verdicts)
            }
            Self::Tree { .. } => Verdict::Open,
        }
    }
}

fn operation(outline: &Outline, name: &QName) -> Truth {
    match (outline.recognition(), outline.operation()) {
        (Recognition::NotSoap | Recognition::UnknownVersion, _) | (_, Operation::None) => Truth::False,
        (_, Operation::Element(found)) => (found == name).into(),
        (_, Operation::Pending) => Truth::Unknown,
    }
}

fn outcome_verdict(outcome: Outcome<'_>, value: Option<&TextMatcher>) -> Verdict {
    let is_true = match (outcome, value) {
        (Outcome::TooLong, _) => return Verdict::TooLarge,
        // The string-value of nothing is empty, but what is not there has no value to pass a test.
        (Outcome::NoMatch, _) => false,
        (Outcome::Text(_), None) => true,
        (Outcome::Text(text), Some(test)) => test.passes(text.as_bytes()),
        (Outcome::Boolean(boolean), None) => boolean,
        (Outcome::Boolean(boolean), Some(test)) => test.passes(if boolean { b"true" } else { b"false" }),
    };
    Verdict::Known(is_true)
}
