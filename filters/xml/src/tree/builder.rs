//! Building a tree, node by node.

use core::fmt;

use super::Document;
use super::names::{NameId, Names, PrefixId, UriId};
use super::node::{Links, MAX_NODES, NodeId, NodeKind, Tag};
use super::scope::ScopeId;
use crate::limits::Limits;

/// Why a node could not be added.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Full {
    /// There are as many nodes as there may be: that many.
    Nodes(u32),
    /// There is no room for more text or names: what one document holds of a kind is less than 4 GiB.
    Text,
}

impl fmt::Display for Full {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nodes(limit) => write!(out, "a tree of more than {limit} nodes"),
            Self::Text => out.write_str("a tree of more than 4 GiB of text"),
        }
    }
}

impl core::error::Error for Full {}

/// Whether an attribute was added.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Attached {
    /// It is there; one of the same name that was there before has gone.
    Yes,
    /// Nothing has changed: there is no open element, or it has children already.
    TooLate,
}

/// Builds a tree, either from tokens (as a [`Sink`](crate::Sink)) or through its methods.
///
/// Elements that are still open when the tree is finished end there.
#[derive(Debug)]
pub struct TreeBuilder {
    pub(super) document: Document,
    open: Vec<Open>,
    max_nodes: u32,
    failed: Option<Full>,
    /// The number of each of the tokenizer's namespaces here, as far as they have been seen.
    pub(super) uris: Vec<Option<UriId>>,
    /// What the tokenizer's numbered names are here, as far as they have been seen.
    pub(super) known: Vec<Option<(NameId, PrefixId)>>,
}

/// A root or an element that has not ended yet.
#[derive(Debug, Clone, Copy)]
struct Open {
    node: NodeId,
    /// Its last child so far; itself if it has none.
    last: NodeId,
    scope: ScopeId,
}

impl Document {
    /// Makes room for the tree of a text of so many bytes.
    fn reserve(&mut self, bytes: usize) {
        // An ordinary message has a node for each ten bytes or so, and a quarter of it is text. A large one may be mostly
        // text: what it needs more will be found as it comes.
        let nodes = (bytes / 10).min(1 << 16);
        self.tags.reserve(nodes);
        self.links.reserve(nodes);
        self.text.reserve((bytes >> 2).min(1 << 20));
    }
}

impl TreeBuilder {
    /// For the first tree of a new document. Of the limits, those on nodes apply.
    #[must_use]
    pub fn new(limits: &Limits) -> Self {
        let mut document = Document::default();
        // A small message fits in without growing.
        document.reserve(1 << 10);
        Self::add_to(document, limits)
    }

    /// For one more tree in a document: it comes behind all others in document order, and shares their names.
    #[must_use]
    pub fn add_to(document: Document, limits: &Limits) -> Self {
        let max_nodes = limits.nodes.min(MAX_NODES);
        let mut builder =
            Self { document, open: Vec::new(), max_nodes, failed: None, uris: Vec::new(), known: Vec::new() };
        if let Ok(root) = builder.push(Tag::unnamed(NodeKind::Root), PrefixId::NONE, ScopeId::EMPTY) {
            builder.document.roots.push(root);
            builder.open.push(Open { node: root, last: root, scope: ScopeId::EMPTY });
        }
        builder
    }

    /// Makes room for the tree of a text of so many bytes. There need not be that many.
    pub fn reserve(&mut self, bytes: usize) {
        self.document.reserve(bytes);
    }

    /// The document as it is so far. The nodes of the tree that is being built may be looked at when it is finished.
    #[must_use]
    pub fn document(&self) -> &Document {
        &self.document
    }

    /// How many bytes of memory it takes: the document, and what is known of its open elements.
    #[must_use]
    pub fn memory(&self) -> usize {
        let open = self.open.capacity().saturating_mul(size_of::<Open>());
        let uris = self.uris.capacity().saturating_mul(size_of::<Option<UriId>>());
        let known = self.known.capacity().saturating_mul(size_of::<Option<(NameId, PrefixId)>>());
        [open, uris, known].into_iter().fold(self.document.memory(), usize::saturating_add)
    }

    /// The same, for whoever goes on with it within limits of their own: those on nodes apply.
    #[must_use]
    pub fn within(mut self, limits: &Limits) -> Self {
        self.max_nodes = limits.nodes.min(MAX_NODES);
        if self.failed.is_none() && self.document.next_node().0 > self.max_nodes {
            self.failed = Some(Full::Nodes(self.max_nodes));
        }
        self
    }

    /// The names in use, to add to.
    pub fn names(&mut self) -> &mut Names {
        &mut self.document.names
    }

    /// What has kept a node from being added, if anything has: the tree lacks it and all that came later.
    #[must_use]
    pub fn failure(&self) -> Option<Full> {
        self.failed
    }

    /// Ends the tree.
    ///
    /// # Errors
    /// What [`failure`](Self::failure) says: a tree that lacks nodes is not handed out.
    pub fn finish(mut self) -> Result<Document, Full> {
        while !self.open.is_empty() {
            self.close();
        }
        match self.failed {
            None => Ok(self.document),
            Some(failure) => Err(failure),
        }
    }

    /// Starts an element.
    ///
    /// # Errors
    /// If it does not fit in.
    pub fn start_element(&mut self, name: NameId, prefix: PrefixId) -> Result<NodeId, Full> {
        let scope = self.open.last().map_or(ScopeId::EMPTY, |open| open.scope);
        let node = self.push_child(Tag::named(NodeKind::Element, name), prefix, scope)?;
        self.open.push(Open { node, last: node, scope });
        Ok(node)
    }

    /// Declares a namespace on the element that was just started. The prefix must not have been declared on it yet.
    ///
    /// # Errors
    /// If it does not fit in.
    pub fn declare(&mut self, prefix: PrefixId, uri: UriId) -> Result<(), Full> {
        let Some(open) = self.open.last_mut() else { return Ok(()) };
        let declared = self.document.scopes.declare(open.scope, prefix, uri);
        let Some(scope) = declared else { return self.fail(Full::Text) };
        open.scope = scope;
        if let Some(links) = self.document.links.get_mut(open.node.index()) {
            links.scope = scope;
        }
        Ok(())
    }

    /// Adds an attribute to the element that was just started, in place of one of the same name that it may have.
    ///
    /// # Errors
    /// If it does not fit in.
    pub fn attribute(&mut self, name: NameId, prefix: PrefixId, value: &str) -> Result<Attached, Full> {
        let tag = Tag::named(NodeKind::Attribute, name);
        let Some(open) = self.open.last().copied() else { return Ok(Attached::TooLate) };
        if open.last != open.node || !self.document.tag(open.node).is(NodeKind::Element) {
            return Ok(Attached::TooLate);
        }
        let present = self.document.attributes(open.node).find(|node| self.document.tag(*node) == tag);
        match present {
            None => self.push_attribute(open.node, tag, prefix, value)?,
            Some(node) => {
                let text = self.push_value(value)?;
                if let Some(links) = self.document.links.get_mut(node.index()) {
                    (links.text, links.prefix) = (text, prefix);
                }
            }
        }
        Ok(Attached::Yes)
    }

    /// Adds character data to what is open, as part of the text node that comes before if there is one. No node is made
    /// of no text.
    ///
    /// # Errors
    /// If it does not fit in.
    pub fn characters(&mut self, text: &str) -> Result<(), Full> {
        if text.is_empty() || self.failed.is_some() {
            return self.failed.map_or(Ok(()), Err);
        }
        let Some(end) = end_of(&self.document.text, text) else { return self.fail(Full::Text) };
        let before =
            self.open.last().map(|open| open.last).filter(|last| self.document.tag(*last).is(NodeKind::Text));
        let node = match before {
            Some(node) => node,
            None => self.push_child(Tag::unnamed(NodeKind::Text), PrefixId::NONE, ScopeId::EMPTY)?,
        };
        self.document.text.push_str(text);
        if let Some(links) = self.document.links.get_mut(node.index()) {
            links.text.1 = end;
        }
        Ok(())
    }

    /// Adds a comment.
    ///
    /// # Errors
    /// If it does not fit in.
    pub fn add_comment(&mut self, text: &str) -> Result<(), Full> {
        self.push_leaf(Tag::unnamed(NodeKind::Comment), text)
    }

    /// Adds a processing instruction.
    ///
    /// # Errors
    /// If it does not fit in.
    pub fn add_processing_instruction(&mut self, target: &str, data: &str) -> Result<(), Full> {
        let Some(name) = self.document.names.name(UriId::NONE, target) else { return self.fail(Full::Text) };
        self.push_leaf(Tag::named(NodeKind::ProcessingInstruction, name), data)
    }

    /// Ends the innermost element that is open.
    pub fn end_element(&mut self) {
        if self.open.len() > 1 {
            self.close();
        }
    }

    fn close(&mut self) {
        let end = self.document.next_node();
        let text_end = u32::try_from(self.document.text.len()).unwrap_or(u32::MAX);
        let open = self.open.pop();
        if let Some(links) = open.and_then(|open| self.document.links.get_mut(open.node.index())) {
            links.end = end;
            links.text.1 = text_end;
        }
    }

    fn push_leaf(&mut self, tag: Tag, value: &str) -> Result<(), Full> {
        let text = self.push_value(value)?;
        let node = self.push_child(tag, PrefixId::NONE, ScopeId::EMPTY)?;
        if let Some(links) = self.document.links.get_mut(node.index()) {
            links.text = text;
        }
        Ok(())
    }

    pub(super) fn push_attribute(
        &mut self,
        element: NodeId,
        tag: Tag,
        prefix: PrefixId,
        value: &str,
    ) -> Result<(), Full> {
        let text = self.push_value(value)?;
        let node = self.push(tag, prefix, ScopeId::EMPTY)?;
        let before = NodeId(node.0.saturating_sub(1));
        if let Some(links) = self.document.links.get_mut(node.index()) {
            links.parent = element;
            links.previous = if before == element { node } else { before };
            links.text = text;
        }
        Ok(())
    }

    fn push_child(&mut self, tag: Tag, prefix: PrefixId, scope: ScopeId) -> Result<NodeId, Full> {
        let node = self.push(tag, prefix, scope)?;
        if let (Some(open), Some(links)) = (self.open.last_mut(), self.document.links.get_mut(node.index())) {
            links.parent = open.node;
            links.previous = if open.last == open.node { node } else { open.last };
            open.last = node;
        }
        Ok(node)
    }

    fn push(&mut self, tag: Tag, prefix: PrefixId, scope: ScopeId) -> Result<NodeId, Full> {
        if let Some(failure) = self.failed {
            return Err(failure);
        }
        let node = self.document.next_node();
        if node.0 >= self.max_nodes {
            return self.fail(Full::Nodes(self.max_nodes));
        }
        // Less than 4 GiB, as `end_of` has seen to.
        let at = u32::try_from(self.document.text.len()).unwrap_or(u32::MAX);
        let links = Links { parent: node, end: node.next(), previous: node, text: (at, at), prefix, scope };
        self.document.tags.push(tag);
        self.document.links.push(links);
        Ok(node)
    }

    fn push_value(&mut self, value: &str) -> Result<(u32, u32), Full> {
        let start = u32::try_from(self.document.values.len()).unwrap_or(u32::MAX);
        let Some(end) = end_of(&self.document.values, value) else { return self.fail(Full::Text) };
        self.document.values.push_str(value);
        Ok((start, end))
    }

    pub(super) fn fail<T>(&mut self, failure: Full) -> Result<T, Full> {
        self.failed = Some(failure);
        Err(failure)
    }
}

/// Where `more` would end behind `text`.
fn end_of(text: &str, more: &str) -> Option<u32> {
    u32::try_from(text.len().checked_add(more.len())?).ok()
}
