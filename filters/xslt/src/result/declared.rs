//! Namespaces of a tree that is being built.

use portcullis_xml::tree::{PrefixId, UriId};

/// Which prefixes stand for what where a tree is being built, so that each is declared where that is new, and once.
#[derive(Debug, Default)]
pub(super) struct Declared {
    /// For each prefix, by their numbers.
    prefixes: Vec<Entry>,
    /// What to restore when elements end.
    undo: Vec<(PrefixId, UriId)>,
    /// For each open element, how much there was to restore when it began.
    open: Vec<usize>,
    /// The number of the element that was started last, from 1.
    tag: usize,
    /// What its own name needs.
    own: Option<(PrefixId, UriId)>,
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    uri: UriId,
    /// The last element that had a namespace node for the prefix.
    tag: usize,
}

impl Declared {
    /// An element begins, the name of which has that prefix and is in that namespace.
    pub(super) fn start(&mut self, prefix: PrefixId, uri: UriId) {
        self.open.push(self.undo.len());
        self.tag = self.tag.saturating_add(1);
        self.own = Some((if uri == UriId::NONE { PrefixId::NONE } else { prefix }, uri));
    }

    /// The innermost element ends.
    pub(super) fn end(&mut self) {
        let before = self.open.pop().unwrap_or_default();
        while self.undo.len() > before {
            let Some((prefix, uri)) = self.undo.pop() else { return };
            if let Some(entry) = self.prefixes.get_mut(prefix.index()) {
                entry.uri = uri;
            }
        }
    }

    /// A namespace node of the element that has just begun: whether it has to be declared there. It has not if it is in
    /// scope, and cannot if the prefix stands for another namespace on the element.
    pub(super) fn take(&mut self, prefix: PrefixId, uri: UriId) -> bool {
        if self.own.is_some_and(|(own, needs)| own == prefix && needs != uri) {
            return false;
        }
        if self.prefixes.len() <= prefix.index() {
            let none = Entry { uri: UriId::NONE, tag: 0 };
            self.prefixes.resize(prefix.index().saturating_add(1), none);
        }
        let Some(entry) = self.prefixes.get_mut(prefix.index()) else { return false };
        let is_first = entry.tag != self.tag;
        entry.tag = self.tag;
        if !is_first || entry.uri == uri {
            return false;
        }
        self.undo.push((prefix, entry.uri));
        entry.uri = uri;
        true
    }
}
