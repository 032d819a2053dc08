//! Tests of the values that a name has.

use std::borrow::Cow;

use portcullis_policy::ConfigError;

use crate::{Quantifier, TextMatcher, TextTest};

/// A compiled test of the values that a name has: of a header, a query parameter.
#[derive(Debug)]
pub struct Values {
    test: Option<TextMatcher>,
    quantifier: Quantifier,
}

impl Values {
    /// Compiles a test of values; without one, it is enough that there is a value.
    ///
    /// # Errors
    /// What is wrong with the test, in the field `value`.
    pub fn compile(test: Option<&TextTest>, quantifier: Quantifier) -> Result<Self, ConfigError> {
        let test = test.map(TextMatcher::compile).transpose().map_err(|error| error.within("value"))?;
        Ok(Self { test, quantifier })
    }

    /// Whether the values pass. `None` is a value that is there and cannot be read, which passes no test.
    pub fn pass<'a>(&self, values: impl Iterator<Item = Option<Cow<'a, [u8]>>>) -> bool {
        let mut values = values.peekable();
        let Some(test) = &self.test else {
            return values.peek().is_some();
        };
        let mut passing = values.map(|value| value.is_some_and(|value| test.passes(&value)));
        match self.quantifier {
            Quantifier::Any => passing.any(|passes| passes),
            // There is one at least: the first decides whether there is anything to be all of.
            Quantifier::All => passing.next() == Some(true) && passing.all(|passes| passes),
        }
    }
}
