//! Expressions that need the whole document.

use portcullis_conditions::TextMatcher;
use portcullis_xml::xpath::{Budget, EvaluateError, Value};
use portcullis_xml::{Charset, Document, Limits, NodeId, Tokenizer, TreeBuilder, XPath};

use super::Undecidable;
use super::learning::Verdict;
use super::reading::undecidable;

/// How many steps all expressions together may take for each byte of the document, and for none: the time that an
/// expression takes can grow with the square of the document, or worse.
const STEPS_PER_BYTE: u64 = 16;
const STEPS: u64 = 1 << 16;
/// How many bytes of lists of nodes and texts an expression may take at once.
const MEMORY: usize = 64 << 20;

/// A document as a tree, and what may still be done with it.
pub(super) struct WholeDocument {
    document: Document,
    budget: Budget,
}

impl WholeDocument {
    pub(super) fn parse(
        bytes: &[u8],
        charset: Option<Charset>,
        limits: &Limits,
    ) -> Result<Self, Undecidable> {
        let mut builder = TreeBuilder::new(limits);
        let mut tokenizer = Tokenizer::new(limits);
        if let Some(charset) = charset {
            tokenizer = tokenizer.with_charset(charset);
        }
        tokenizer.feed(bytes, &mut builder).map_err(|error| undecidable(&error))?;
        if builder.failure().is_none() {
            tokenizer.finish(&mut builder).map_err(|error| undecidable(&error))?;
        }
        let document = builder.finish().map_err(|_| Undecidable::TooLarge)?;
        Ok(Self::of(document, bytes.len()))
    }

    /// A document that has been parsed, of so many bytes.
    pub(super) fn of(document: Document, bytes: usize) -> Self {
        let length = u64::try_from(bytes).unwrap_or(u64::MAX);
        let steps = length.saturating_mul(STEPS_PER_BYTE).saturating_add(STEPS);
        let budget = Budget::new(steps).with_memory(MEMORY);
        Self { document, budget }
    }

    pub(super) fn into_document(self) -> Document {
        self.document
    }

    /// Whether an expression is true, or its string-value passes a test.
    pub(super) fn verdict(&mut self, expression: &XPath, test: Option<&TextMatcher>) -> Verdict {
        self.truth(expression, test).map_or(Verdict::TooLarge, Verdict::Known)
    }

    fn truth(&mut self, expression: &XPath, test: Option<&TextMatcher>) -> Result<bool, EvaluateError> {
        let Self { document, budget } = self;
        let Some(test) = test else {
            return expression.matches(document, NodeId::ROOT, budget);
        };
        let held = budget.held();
        let passes = match expression.evaluate(document, NodeId::ROOT, budget)? {
            // What is not there has no value to pass a test.
            Value::Nodes(nodes) if nodes.is_empty() => false,
            value => test.passes(value.into_string(document).as_bytes()),
        };
        budget.release_to(held);
        Ok(passes)
    }
}
