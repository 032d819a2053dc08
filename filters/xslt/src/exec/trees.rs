//! Temporary trees, for as long as they are needed.

use portcullis_xml::tree::{Document, Mark};

use super::error::{Failure, Result};
use super::machine::Machine;

/// The temporary trees of a transformation. They lie behind one another in the document of the source.
///
/// A tree is no node-set, so that nothing but a variable or an argument can refer to one, or to a node of it: it is
/// needed no longer than the template, or the round of a loop, that has built it, unless a global variable holds it.
#[derive(Debug)]
pub(super) struct Trees {
    /// What there was before each of them.
    marks: Vec<Mark>,
    /// How many stay to the end: the last one that a global variable holds, and those before it.
    lasting: usize,
    /// How many bytes of text the source has.
    source_text: usize,
}

impl Trees {
    pub(super) fn new(source: &Document) -> Self {
        Self { marks: Vec::new(), lasting: 0, source_text: source.text_bytes() }
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.marks.len()
    }

    /// How many bytes of text they have.
    pub(super) fn bytes(&self, document: &Document) -> usize {
        document.text_bytes().saturating_sub(self.source_text)
    }

    /// One more is going to be built.
    pub(super) fn begin(&mut self, document: &Document) {
        self.marks.push(document.mark());
    }

    /// Those that there are stay to the end.
    pub(super) fn keep_all(&mut self) {
        self.lasting = self.marks.len();
    }
}

impl Machine<'_, '_> {
    /// Takes off all trees but the first so many, and those that stay.
    pub(super) fn release_trees(&mut self, count: usize) {
        let count = count.max(self.trees.lasting);
        if let Some(mark) = self.trees.marks.get(count) {
            self.document.truncate(*mark);
            self.trees.marks.truncate(count);
            self.writer.forget_scopes();
        }
    }

    /// Whether what is kept, and so many bytes more, is as much as there may be.
    pub(super) fn check_kept(&self, more: usize) -> Result<()> {
        let trees = self.trees.bytes(&self.document);
        let all =
            [self.kept, self.listed, trees, self.locals.bytes(), self.arguments.bytes(), more].into_iter();
        if all.fold(0, usize::saturating_add) > self.limits.temporary_bytes {
            return Err(Failure::Kept);
        }
        Ok(())
    }
}
