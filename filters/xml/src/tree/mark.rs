//! Taking trees off again.

use super::Document;

/// How much there was of a document at some time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mark {
    nodes: usize,
    text: usize,
    values: usize,
    declarations: usize,
    roots: usize,
}

impl Document {
    /// How much there is now.
    #[must_use]
    pub fn mark(&self) -> Mark {
        Mark {
            nodes: self.tags.len(),
            text: self.text.len(),
            values: self.values.len(),
            declarations: self.scopes.len(),
            roots: self.roots.len(),
        }
    }

    /// Takes off what has been added since: trees as a whole. Their nodes and scopes are gone, and their numbers will be
    /// those of others; names stay.
    pub fn truncate(&mut self, mark: Mark) {
        self.tags.truncate(mark.nodes);
        self.links.truncate(mark.nodes);
        // Marks lie between texts, and so between characters.
        if self.text.is_char_boundary(mark.text) && self.values.is_char_boundary(mark.values) {
            self.text.truncate(mark.text);
            self.values.truncate(mark.values);
        }
        self.scopes.truncate(mark.declarations);
        self.roots.truncate(mark.roots);
    }
}
