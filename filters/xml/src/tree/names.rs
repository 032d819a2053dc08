//! The names of a document.

use super::interner::Interner;
use super::node::MAX_NAME;

/// An expanded name of a document: the same namespace and local name have the same number throughout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NameId(pub(super) u32);

impl NameId {
    /// The number: names are counted from 0, so that a table can be kept by it.
    #[must_use]
    pub fn index(self) -> usize {
        usize::try_from(self.0).unwrap_or(usize::MAX)
    }
}

/// A namespace URI of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct UriId(pub(super) u32);

impl UriId {
    /// No namespace.
    pub const NONE: Self = Self(0);

    /// The number: namespaces are counted from 0, so that a table can be kept by it.
    #[must_use]
    pub fn index(self) -> usize {
        usize::try_from(self.0).unwrap_or(usize::MAX)
    }
}

/// A prefix of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PrefixId(pub(super) u32);

impl PrefixId {
    /// No prefix.
    pub const NONE: Self = Self(0);

    /// The number: prefixes are counted from 0, so that a table can be kept by it.
    #[must_use]
    pub fn index(self) -> usize {
        usize::try_from(self.0).unwrap_or(usize::MAX)
    }
}

/// The names, namespaces and prefixes that a document uses, each once.
#[derive(Debug, Clone)]
pub struct Names {
    names: Interner,
    uris: Interner,
    prefixes: Interner,
}

impl Default for Names {
    fn default() -> Self {
        let mut names =
            Self { names: Interner::default(), uris: Interner::default(), prefixes: Interner::default() };
        // The numbers 0 are spoken for: see the constants `NONE`.
        names.uri("");
        names.prefix("");
        names
    }
}

impl Names {
    /// How many bytes they take, about.
    #[must_use]
    pub fn bytes(&self) -> usize {
        [&self.names, &self.uris, &self.prefixes]
            .map(Interner::bytes)
            .into_iter()
            .fold(0, usize::saturating_add)
    }

    pub(super) fn memory(&self) -> usize {
        [&self.names, &self.uris, &self.prefixes]
            .map(Interner::memory)
            .into_iter()
            .fold(0, usize::saturating_add)
    }

    /// The number of a namespace, a new one if it is new. `None` if there is no room for another.
    pub fn uri(&mut self, uri: &str) -> Option<UriId> {
        self.uris.intern(0, uri).map(UriId)
    }

    /// The number of a prefix, a new one if it is new. `None` if there is no room for another.
    pub fn prefix(&mut self, prefix: &str) -> Option<PrefixId> {
        self.prefixes.intern(0, prefix).map(PrefixId)
    }

    /// The number of an expanded name, a new one if it is new. `None` if there is no room for another.
    pub fn name(&mut self, uri: UriId, local: &str) -> Option<NameId> {
        self.names.intern(uri.0, local).filter(|number| *number <= MAX_NAME).map(NameId)
    }

    /// The number of a namespace, if the document has it.
    #[must_use]
    pub fn find_uri(&self, uri: &str) -> Option<UriId> {
        self.uris.find(0, uri).map(UriId)
    }

    /// The number of an expanded name, if the document has it.
    #[must_use]
    pub fn find(&self, uri: &str, local: &str) -> Option<NameId> {
        self.names.find(self.find_uri(uri)?.0, local).map(NameId)
    }

    /// The namespace of a name.
    #[must_use]
    pub fn namespace(&self, name: NameId) -> UriId {
        UriId(self.names.get(name.0).map_or(0, |(uri, _)| uri))
    }

    /// The local part of a name.
    #[must_use]
    pub fn local(&self, name: NameId) -> &str {
        self.names.get(name.0).map_or("", |(_, local)| local)
    }

    /// A namespace's URI, empty for none.
    #[must_use]
    pub fn uri_text(&self, uri: UriId) -> &str {
        self.uris.get(uri.0).map_or("", |(_, text)| text)
    }

    /// A prefix's text, empty for none.
    #[must_use]
    pub fn prefix_text(&self, prefix: PrefixId) -> &str {
        self.prefixes.get(prefix.0).map_or("", |(_, text)| text)
    }
}
