//! What has been checked of a reader.

use std::fmt;

use crate::reader::Reader;

pub(crate) struct Tally {
    pub(crate) reader: &'static str,
    /// Cells in which the reader's program has answered, and the rule holds.
    kept: usize,
    /// Cells of requests that were refused.
    pub(crate) refused: usize,
    /// Cells in which the rule is broken: the case, and what the program has seen.
    pub(crate) broken: Vec<String>,
}

impl Tally {
    pub(crate) fn of(reader: &Reader) -> Self {
        Self { reader: reader.name, kept: 0, refused: 0, broken: Vec::new() }
    }

    /// A cell of the matrix: what the program has found, none if the request was refused, may be what the gateway has
    /// said, or nothing.
    pub(crate) fn cell(&mut self, found: Option<&[&str]>, said: Option<&str>, case: impl Fn() -> String) {
        match found {
            None => self.refused += 1,
            Some(found) if found.iter().all(|value| Some(*value) == said) => self.kept += 1,
            Some(found) => self.broken.push(format!("{}: {}: {found:?}", self.reader, case())),
        }
    }

    /// How many cells a program has answered for.
    pub(crate) fn checked(&self) -> usize {
        self.kept + self.broken.len()
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { reader, refused, broken, .. } = self;
        write!(f, "{reader:16} {:5} cells, {} broken, {refused} refused", self.checked(), broken.len())
    }
}
