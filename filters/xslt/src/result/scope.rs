//! Which prefixes stand for what, in the result.

use std::collections::BTreeMap;

use portcullis_xml::tree::{Names, PrefixId, UriId};

use super::ResultError;
use crate::qname;

/// A prefix of the result. Those of the document have one each, and so have those that were made up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Prefix(usize);

impl Prefix {
    const DEFAULT: Self = Self(0);
    const XML: Self = Self(1);
    const XMLNS: Self = Self(2);
}

/// What has to be done for a name to be written with a prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Binding {
    /// Nothing: the prefix stands for the namespace already.
    Present(Prefix),
    /// The prefix has to be declared on this element.
    New(Prefix),
}

impl Binding {
    pub(super) fn prefix(self) -> Prefix {
        match self {
            Self::Present(prefix) | Self::New(prefix) => prefix,
        }
    }
}

/// The namespaces in scope where the result is being written (Namespaces in XML 1.0, section 6), and the choice of
/// prefixes (XSLT 1.0, sections 7.1.1 to 7.1.3: "namespace fixup", as later versions call it).
///
/// Every question is answered in constant time: for each prefix there is what it stands for now, and for each
/// namespace the prefix that was last declared for it.
#[derive(Debug)]
pub(super) struct Scope {
    /// The prefix of each of the document's prefixes, by their numbers.
    of_document: Vec<Option<Prefix>>,
    by_text: BTreeMap<Box<str>, Prefix>,
    prefixes: Vec<Entry>,
    /// The prefix that was last declared for each namespace, by their numbers; never the default one.
    last_for: Vec<Option<Prefix>>,
    /// What to restore when elements end.
    undo: Vec<(Prefix, UriId)>,
    /// The number of the start tag that is being written, from 1.
    tag: u64,
    /// How many prefixes have been made up.
    made_up: u32,
}

#[derive(Debug)]
struct Entry {
    text: Box<str>,
    /// What it stands for; [`UriId::NONE`] for nothing.
    uri: UriId,
    /// The last tag in which it was declared or used: there it cannot stand for anything else.
    fixed: u64,
}

impl Scope {
    pub(super) fn new() -> Self {
        let mut scope = Self {
            of_document: Vec::new(),
            by_text: BTreeMap::new(),
            prefixes: Vec::new(),
            last_for: Vec::new(),
            undo: Vec::new(),
            tag: 0,
            made_up: 0,
        };
        // In the order of the constants.
        for text in ["", "xml", "xmlns"] {
            scope.prefix(text);
        }
        scope
    }

    /// A new element begins. What it declares is gone at [`leave`](Self::leave) with the number returned.
    pub(super) fn enter(&mut self) -> usize {
        self.tag = self.tag.saturating_add(1);
        self.undo.len()
    }

    /// The element ends.
    pub(super) fn leave(&mut self, entered: usize) {
        while self.undo.len() > entered {
            let Some((prefix, uri)) = self.undo.pop() else { return };
            if let Some(entry) = self.prefixes.get_mut(prefix.0) {
                entry.uri = uri;
            }
        }
    }

    /// How the name of the element that was just entered is written.
    pub(super) fn of_element(
        &mut self,
        names: &Names,
        prefix: PrefixId,
        uri: UriId,
    ) -> Result<Binding, ResultError> {
        let prefix = if uri == UriId::NONE { Prefix::DEFAULT } else { self.resolve(names, prefix) };
        if let Some(binding) = self.try_bind(names, prefix, uri)? {
            return Ok(binding);
        }
        self.other(names, uri)
    }

    /// How the name of an attribute in a namespace is written.
    pub(super) fn of_attribute(
        &mut self,
        names: &Names,
        prefix: PrefixId,
        uri: UriId,
    ) -> Result<Binding, ResultError> {
        let prefix = self.resolve(names, prefix);
        if prefix != Prefix::DEFAULT
            && let Some(binding) = self.try_bind(names, prefix, uri)?
        {
            return Ok(binding);
        }
        self.other(names, uri)
    }

    /// What a namespace node takes; `None` if the prefix stands for something else on this element.
    pub(super) fn of_node(
        &mut self,
        names: &Names,
        prefix: PrefixId,
        uri: UriId,
    ) -> Result<Option<Binding>, ResultError> {
        let prefix = self.resolve(names, prefix);
        if uri == UriId::NONE {
            return Ok(None);
        }
        if self.is_xml(names, uri) {
            // In scope everywhere, under its one prefix.
            return Ok((prefix == Prefix::XML).then_some(Binding::Present(prefix)));
        }
        self.try_bind(names, prefix, uri)
    }

    /// Whether the prefix stands for the namespace. If so, it is used on this element.
    pub(super) fn uses(&mut self, prefix: Prefix, uri: UriId) -> bool {
        let tag = self.tag;
        self.prefixes.get_mut(prefix.0).filter(|entry| entry.uri == uri).is_some_and(|entry| {
            entry.fixed = tag;
            true
        })
    }

    /// Whether the prefix is the one that is asked for, or no namespace is: then it is the first choice.
    pub(super) fn is_first_choice(
        &mut self,
        names: &Names,
        asked: PrefixId,
        uri: UriId,
        prefix: Prefix,
    ) -> bool {
        uri == UriId::NONE || self.resolve(names, asked) == prefix
    }

    /// A prefix as it is written.
    pub(super) fn text(&self, prefix: Prefix) -> &str {
        self.prefixes.get(prefix.0).map_or("", |entry| &entry.text)
    }

    /// The prefix for a namespace on this tag; `None` if it stands for another one there.
    fn try_bind(
        &mut self,
        names: &Names,
        prefix: Prefix,
        uri: UriId,
    ) -> Result<Option<Binding>, ResultError> {
        let tag = self.tag;
        let Some(entry) = self.prefixes.get_mut(prefix.0) else { return Ok(None) };
        if entry.uri == uri {
            entry.fixed = tag;
            return Ok(Some(Binding::Present(prefix)));
        }
        if entry.fixed == tag {
            return Ok(None);
        }
        match names.uri_text(uri) {
            qname::XML => return Ok((prefix == Prefix::XML).then_some(Binding::Present(prefix))),
            qname::XMLNS => return Err(ResultError::ReservedNamespace),
            _ if prefix == Prefix::XML || prefix == Prefix::XMLNS => return Ok(None),
            _ => {}
        }
        self.undo.push((prefix, entry.uri));
        (entry.uri, entry.fixed) = (uri, tag);
        if prefix != Prefix::DEFAULT {
            self.remember(prefix, uri);
        }
        Ok(Some(Binding::New(prefix)))
    }

    /// A prefix for a namespace, other than the one that was asked for.
    fn other(&mut self, names: &Names, uri: UriId) -> Result<Binding, ResultError> {
        if self.is_xml(names, uri) {
            return Ok(Binding::Present(Prefix::XML));
        }
        if let Some(last) = self.last_for.get(uri.index()).copied().flatten()
            && let Some(binding) = self.try_bind(names, last, uri)?
        {
            return Ok(binding);
        }
        loop {
            let text = format!("ns{}", self.made_up);
            self.made_up = self.made_up.saturating_add(1);
            let prefix = self.prefix(&text);
            let free = self.prefixes.get(prefix.0).is_some_and(|entry| entry.uri == UriId::NONE);
            if free && let Some(binding) = self.try_bind(names, prefix, uri)? {
                return Ok(binding);
            }
        }
    }

    fn is_xml(&self, names: &Names, uri: UriId) -> bool {
        names.uri_text(uri) == qname::XML
    }

    fn remember(&mut self, prefix: Prefix, uri: UriId) {
        if self.last_for.len() <= uri.index() {
            self.last_for.resize(uri.index().saturating_add(1), None);
        }
        if let Some(last) = self.last_for.get_mut(uri.index()) {
            *last = Some(prefix);
        }
    }

    fn resolve(&mut self, names: &Names, prefix: PrefixId) -> Prefix {
        if let Some(Some(known)) = self.of_document.get(prefix.index()) {
            return *known;
        }
        let resolved = self.prefix(names.prefix_text(prefix));
        if self.of_document.len() <= prefix.index() {
            self.of_document.resize(prefix.index().saturating_add(1), None);
        }
        if let Some(slot) = self.of_document.get_mut(prefix.index()) {
            *slot = Some(resolved);
        }
        resolved
    }

    fn prefix(&mut self, text: &str) -> Prefix {
        if let Some(known) = self.by_text.get(text) {
            return *known;
        }
        let prefix = Prefix(self.prefixes.len());
        self.prefixes.push(Entry { text: text.into(), uri: UriId::NONE, fixed: 0 });
        self.by_text.insert(text.into(), prefix);
        prefix
    }
}
