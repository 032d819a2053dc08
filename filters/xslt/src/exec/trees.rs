//! Temporary trees, for as long as they are needed.

use portcullis_xml::tree::{Document, Mark};

use super::error::Result;
use super::frame::Frame;
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
    /// How many bytes of text and namespace declarations the source has.
    source_bytes: usize,
}

impl Trees {
    pub(super) fn new(source: &Document) -> Self {
        Self { marks: Vec::new(), lasting: 0, source_bytes: bytes_of(source) }
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.marks.len()
    }

    /// How many bytes of text and namespace declarations they have. Their nodes are bounded by themselves.
    pub(super) fn bytes(&self, document: &Document) -> usize {
        let marks = self.marks.len().saturating_mul(size_of::<Mark>());
        bytes_of(document).saturating_sub(self.source_bytes).saturating_add(marks)
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
    #[inline]
    pub(super) fn release_trees(&mut self, count: usize) {
        if self.trees.len() > count {
            self.truncate_trees(count);
        }
    }

    fn truncate_trees(&mut self, count: usize) {
        let count = count.max(self.trees.lasting);
        if let Some(mark) = self.trees.marks.get(count) {
            self.document.truncate(*mark);
            self.trees.marks.truncate(count);
            self.writer.forget_scopes();
            self.settle();
        }
    }

    /// Whether so many bytes more can be kept. The account says so from here on, to expressions too.
    ///
    /// While little is held, the bytes are added to the account, and what goes is not taken off it: the account may say
    /// too much, never too little. Once it says [much](Self::much), the sum is made anew.
    #[inline]
    pub(super) fn check_kept(&mut self, more: usize) -> Result<()> {
        let grown = self.writer.take_grown();
        if self.budget.hold_within(more.saturating_add(grown), self.much()) {
            return Ok(());
        }
        self.settle();
        Ok(self.budget.hold(more)?)
    }

    /// Makes the sum anew after something has gone, if that matters.
    #[inline]
    pub(super) fn settle_if_much(&mut self) {
        if self.budget.held() > self.much() {
            self.settle();
        }
    }

    /// How many bytes may be held before it matters what exactly they are.
    #[inline]
    fn much(&self) -> usize {
        self.limits.temporary_bytes >> 4
    }

    /// Has the account say what is kept now, after some of it has gone. There is no evaluation under way.
    #[cold]
    pub(super) fn settle(&mut self) {
        self.writer.take_grown();
        let frames = self.frames.len().saturating_mul(size_of::<Frame>());
        let trees = self.trees.bytes(&self.document);
        let values = self.locals.bytes().saturating_add(self.arguments.bytes());
        let parts = [self.kept, self.listed, frames, trees, values, self.writer.memory()];
        self.budget.release_to(parts.into_iter().fold(0, usize::saturating_add));
    }
}

fn bytes_of(document: &Document) -> usize {
    document.text_bytes().saturating_add(document.declaration_bytes())
}
