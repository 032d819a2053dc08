//! What rules want to know of bodies, and how they come to know it.

mod envelope;
mod format;
mod json;
mod learning;
mod reading;
mod tee;
mod whole;

use std::rc::Rc;

use portcullis_conditions::TextMatcher;
use portcullis_policy::{ConfigError, MostMemory};
use portcullis_xml::Limits;
use portcullis_xml::xpath::stream::StreamSet;

pub(crate) use format::{Format, Needs, Undecidable};
pub(crate) use reading::{Audience, EnvelopeReading};

use crate::config::{self, TextTest};
use crate::truth::Truth;
use envelope::{EnvelopeTest, EnvelopeTests};
use json::JsonTest;

/// How much of one text of an envelope is kept, in bytes.
const MAX_TEXT: usize = 64 << 10;

/// The tests of bodies that rules have, while these are being compiled.
pub(crate) struct BodyTests {
    envelope: EnvelopeTests,
    json: Vec<JsonTest>,
}

impl BodyTests {
    pub(crate) fn new(config: &config::Config) -> Self {
        Self { envelope: EnvelopeTests::new(&config.namespaces, config.body.xpath), json: Vec::new() }
    }

    /// Adds a test for the first element of the Body; gives its number.
    pub(crate) fn operation(&mut self, namespace: &str, name: &str) -> Result<usize, ConfigError> {
        self.envelope.operation(namespace, name)
    }

    /// Adds a test for a header block.
    pub(crate) fn soap_header(
        &mut self,
        namespace: &str,
        name: &str,
        value: Option<&TextTest>,
    ) -> Result<usize, ConfigError> {
        self.envelope.soap_header(namespace, name, compile(value)?)
    }

    /// Adds a test for what an expression yields.
    pub(crate) fn xpath(&mut self, expression: &str, value: Option<&TextTest>) -> Result<usize, ConfigError> {
        self.envelope.xpath(expression, compile(value)?)
    }

    /// Adds a test for a value in a JSON document.
    pub(crate) fn json(&mut self, pointer: &str, value: Option<&TextTest>) -> Result<usize, ConfigError> {
        self.json.push(JsonTest::compile(pointer, compile(value)?)?);
        Ok(self.json.len().saturating_sub(1))
    }

    /// All of them.
    pub(crate) fn finish(self, body: &config::Body) -> BodyReader {
        let max_bytes = usize::try_from(body.max_bytes).unwrap_or(usize::MAX);
        let defaults = Limits::default();
        let limits = Limits {
            depth: body.max_depth,
            document_bytes: u64::from(body.max_bytes),
            text_bytes: max_bytes.max(defaults.text_bytes),
            ..defaults
        };
        let (envelope, expressions) = self.envelope.finish();
        BodyReader {
            envelope,
            stream: Rc::new(StreamSet::new(expressions, MAX_TEXT)),
            json: self.json,
            limits,
            max_bytes,
            max_held_bytes: usize::try_from(body.max_held_bytes).unwrap_or(usize::MAX),
        }
    }
}

fn compile(value: Option<&TextTest>) -> Result<Option<TextMatcher>, ConfigError> {
    value.map(TextMatcher::compile).transpose().map_err(|error| error.within("value"))
}

/// The tests of bodies that rules have, compiled.
#[derive(Debug)]
pub(crate) struct BodyReader {
    envelope: Vec<EnvelopeTest>,
    /// What the tests of envelopes want to know of the stream.
    stream: Rc<StreamSet>,
    json: Vec<JsonTest>,
    pub(crate) limits: Limits,
    /// How much of a body is held and read.
    pub(crate) max_bytes: usize,
    /// How much memory all messages that the worker is reading may take.
    pub(crate) max_held_bytes: usize,
}

impl BodyReader {
    /// What it may take of memory. A body is copied once from the host, and once more if it is to be decoded.
    pub(crate) fn most_memory(&self) -> MostMemory {
        if !self.needs().any() {
            return MostMemory::default();
        }
        let at_work = self.max_bytes.saturating_mul(2);
        MostMemory { messages: self.max_held_bytes, at_work, ..MostMemory::default() }
    }

    /// What it can make something of.
    pub(crate) fn needs(&self) -> Needs {
        Needs { envelope: (!self.envelope.is_empty()).into(), json: (!self.json.is_empty()).into() }
    }

    /// Runs the tests of these numbers on a JSON document; nothing is known of the others.
    pub(crate) fn run_json(&self, tests: &[usize], document: &[u8]) -> Result<Vec<Truth>, Undecidable> {
        json::run(&self.json, tests, document).map_err(|json::Malformed| Undecidable::Malformed)
    }
}

/// What is known of a request's body.
#[derive(Debug, Clone, Copy)]
pub(crate) enum BodyFacts<'a> {
    /// Nothing.
    Nothing,
    /// It is XML, and no JSON; these are the outcomes of the tests so far, by their numbers.
    Envelope(&'a [Truth]),
    /// It is JSON, and no XML.
    Json(&'a [Truth]),
}

impl BodyFacts<'_> {
    pub(crate) fn envelope(self, test: usize) -> Truth {
        match self {
            Self::Nothing => Truth::Unknown,
            Self::Envelope(truths) => truths.get(test).copied().unwrap_or_default(),
            Self::Json(_) => Truth::False,
        }
    }

    pub(crate) fn json(self, test: usize) -> Truth {
        match self {
            Self::Nothing => Truth::Unknown,
            Self::Envelope(_) => Truth::False,
            Self::Json(truths) => truths.get(test).copied().unwrap_or_default(),
        }
    }
}
