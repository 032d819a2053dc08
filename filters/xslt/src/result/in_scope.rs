//! The namespaces of the source that were copied last.

use portcullis_xml::tree::{Document, PrefixId, ScopeId, UriId};

/// The namespaces of one scope: what is copied next is likely to be in the same, and to list them takes a while.
#[derive(Debug, Default)]
pub(super) struct InScope {
    scope: Option<ScopeId>,
    namespaces: Vec<(PrefixId, UriId)>,
}

impl InScope {
    /// What is in a scope.
    pub(super) fn take(&mut self, document: &Document, scope: ScopeId) -> Vec<(PrefixId, UriId)> {
        let mut namespaces = core::mem::take(&mut self.namespaces);
        if self.scope.take() != Some(scope) {
            namespaces.clear();
            namespaces.extend(document.in_scope(scope));
        }
        namespaces
    }

    /// Gives back what was taken.
    pub(super) fn put_back(&mut self, scope: ScopeId, namespaces: Vec<(PrefixId, UriId)>) {
        self.scope = Some(scope);
        self.namespaces = namespaces;
    }
}
