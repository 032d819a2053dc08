//! A document as a tree of nodes (the data model of XPath 1.0, section 5).
//!
//! All nodes lie in one arena, in document order: a subtree is a range of numbers, and to walk through it is to count.
//! Character data lies in one string, so that the string-value of an element is a slice of it, and takes no time to
//! compute. An arena can hold several trees, one behind the other: a document, and fragments built later.

mod builder;
mod interner;
mod mark;
mod names;
mod navigation;
mod node;
mod parse;
mod scope;
mod sink;

pub use builder::{Attached, Full, TreeBuilder};
pub use mark::Mark;
pub use names::{NameId, Names, PrefixId, UriId};
pub use navigation::{Ancestors, Attributes, Children};
pub use node::{NodeId, NodeKind};
pub use scope::ScopeId;

pub(crate) use node::Tag;

use node::Links;
use scope::Scopes;

/// One or more trees of nodes.
#[derive(Debug, Clone, Default)]
pub struct Document {
    tags: Vec<Tag>,
    links: Vec<Links>,
    /// The character data of all text nodes, in document order.
    text: String,
    /// The values of attributes, comments and processing instructions.
    values: String,
    names: Names,
    scopes: Scopes,
    /// The roots of the trees, in ascending order.
    roots: Vec<NodeId>,
}

impl Document {
    /// How many nodes there are, attributes and roots included.
    #[must_use]
    pub fn len(&self) -> usize {
        self.tags.len()
    }

    /// Whether there are no nodes: not so in any document that was parsed, which has a root.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tags.is_empty()
    }

    /// How many bytes of text and values all nodes have.
    #[must_use]
    pub fn text_bytes(&self) -> usize {
        self.text.len().saturating_add(self.values.len())
    }

    /// How many bytes the namespace declarations of all trees take.
    #[must_use]
    pub fn declaration_bytes(&self) -> usize {
        self.scopes.bytes()
    }

    /// How many bytes of memory it takes, room that it has reserved included.
    #[must_use]
    pub fn memory(&self) -> usize {
        let tags = self.tags.capacity().saturating_mul(size_of::<Tag>());
        let links = self.links.capacity().saturating_mul(size_of::<Links>());
        let texts = self.text.capacity().saturating_add(self.values.capacity());
        let parts = [tags, links, texts, self.names.memory(), self.scopes.memory()];
        parts.into_iter().fold(size_of::<Self>(), usize::saturating_add)
    }

    /// The names, namespaces and prefixes in use.
    #[must_use]
    pub fn names(&self) -> &Names {
        &self.names
    }

    /// The same, to add to: names that no node has yet, but that a stylesheet tests for or writes.
    pub fn names_mut(&mut self) -> &mut Names {
        &mut self.names
    }

    /// What kind of node it is.
    #[must_use]
    pub fn kind(&self, node: NodeId) -> NodeKind {
        self.tag(node).kind()
    }

    /// The expanded name of an element or an attribute, or the target of a processing instruction.
    #[must_use]
    pub fn name(&self, node: NodeId) -> Option<NameId> {
        let tag = self.tag(node);
        match tag.kind() {
            NodeKind::Element | NodeKind::Attribute | NodeKind::ProcessingInstruction => Some(tag.name()),
            NodeKind::Root | NodeKind::Text | NodeKind::Comment => None,
        }
    }

    /// The local part of a node's name, or the target of a processing instruction; empty if it has no name.
    #[must_use]
    pub fn local_name(&self, node: NodeId) -> &str {
        self.name(node).map_or("", |name| self.names.local(name))
    }

    /// The URI of the namespace of a node's name, empty if there is none.
    #[must_use]
    pub fn namespace(&self, node: NodeId) -> &str {
        self.name(node).map_or("", |name| self.names.uri_text(self.names.namespace(name)))
    }

    /// The prefix that a node's name was written with, empty if there was none.
    #[must_use]
    pub fn prefix(&self, node: NodeId) -> &str {
        self.names.prefix_text(self.prefix_id(node))
    }

    /// The same as a number.
    #[must_use]
    pub fn prefix_id(&self, node: NodeId) -> PrefixId {
        self.links(node).map_or(PrefixId::NONE, |links| links.prefix)
    }

    /// The string-value (XPath 1.0, section 5): of a root or an element, the text of all its descendants; of the other
    /// kinds, their own.
    #[must_use]
    pub fn string_value(&self, node: NodeId) -> &str {
        let Some(links) = self.links(node) else { return "" };
        let among = match self.kind(node) {
            NodeKind::Root | NodeKind::Element | NodeKind::Text => &self.text,
            NodeKind::Attribute | NodeKind::Comment | NodeKind::ProcessingInstruction => &self.values,
        };
        let (start, end) = links.text;
        let range = usize::try_from(start).unwrap_or(usize::MAX)..usize::try_from(end).unwrap_or_default();
        among.get(range).unwrap_or_default()
    }

    /// The namespaces in scope at an element.
    #[must_use]
    pub fn scope(&self, element: NodeId) -> ScopeId {
        self.links(element).map_or(ScopeId::EMPTY, |links| links.scope)
    }

    /// What is in a scope: each prefix once, the latest declared first. The prefix `xml` is not among them.
    pub fn in_scope(&self, scope: ScopeId) -> impl Iterator<Item = (PrefixId, UriId)> + '_ {
        self.scopes.in_scope(scope)
    }

    /// The declarations that stand on an element itself, the last one first; an empty URI undeclares.
    pub fn declarations(&self, element: NodeId) -> impl Iterator<Item = (PrefixId, UriId)> + '_ {
        let outer = self.parent(element).map_or(ScopeId::EMPTY, |parent| self.scope(parent));
        self.scopes.between(self.scope(element), outer)
    }

    pub(crate) fn tag(&self, node: NodeId) -> Tag {
        self.tags.get(node.index()).copied().unwrap_or(Tag::NEVER)
    }

    /// The tags of the nodes from `from` to before `to`.
    pub(crate) fn tags(&self, from: NodeId, to: NodeId) -> &[Tag] {
        self.tags.get(from.index()..to.index()).unwrap_or_default()
    }

    fn links(&self, node: NodeId) -> Option<&Links> {
        self.links.get(node.index())
    }
}
