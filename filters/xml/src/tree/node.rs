//! What is kept of a node.

use super::names::{NameId, PrefixId};

/// A node, by its place in document order.
///
/// Nodes are numbered in document order (XPath 1.0, section 5), an element's attributes right behind it and before its
/// children: to compare two nodes of a [`Document`](super::Document) by their order, compare their numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(pub(crate) u32);

impl NodeId {
    /// The root of the first tree.
    pub const ROOT: Self = Self(0);

    /// The node behind this one in document order, if there is one.
    pub(crate) fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }

    /// The number: nodes are counted from 0 in document order.
    #[must_use]
    pub fn index(self) -> usize {
        usize::try_from(self.0).unwrap_or(usize::MAX)
    }
}

/// The kinds of nodes in XPath's data model (section 5), but for namespace nodes: in-scope namespaces are a property
/// of elements here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum NodeKind {
    /// The root of a tree, above the document element.
    Root = 0,
    /// An element.
    Element = 1,
    /// An attribute that is not a namespace declaration.
    Attribute = 2,
    /// Character data. No two text nodes are next to each other, and none is empty.
    Text = 3,
    /// A comment.
    Comment = 4,
    /// A processing instruction.
    ProcessingInstruction = 5,
}

/// A node's kind and name in one number, so that a name test is one comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Tag(u32);

/// How many bits of a tag are the name's.
const NAME_BITS: u32 = 29;
const NAME_MASK: u32 = (1 << NAME_BITS) - 1;

impl Tag {
    /// A tag that no node has.
    pub(crate) const NEVER: Self = Self(u32::MAX);

    /// The tag of nodes without a name.
    pub(crate) fn unnamed(kind: NodeKind) -> Self {
        Self(u32::from(kind as u8) << NAME_BITS)
    }

    /// The tag of nodes with a name, whose number is at most [`MAX_NAME`].
    pub(crate) fn named(kind: NodeKind, name: NameId) -> Self {
        Self(Self::unnamed(kind).0 | name.0 & NAME_MASK)
    }

    pub(crate) fn kind(self) -> NodeKind {
        match self.0 >> NAME_BITS {
            0 => NodeKind::Root,
            1 => NodeKind::Element,
            2 => NodeKind::Attribute,
            3 => NodeKind::Text,
            4 => NodeKind::Comment,
            _ => NodeKind::ProcessingInstruction,
        }
    }

    pub(crate) fn is(self, kind: NodeKind) -> bool {
        self.0 >> NAME_BITS == u32::from(kind as u8)
    }

    pub(crate) fn name(self) -> NameId {
        NameId(self.0 & NAME_MASK)
    }
}

/// The greatest number of a name.
pub(super) const MAX_NAME: u32 = NAME_MASK;
/// The most nodes that a document can have, whatever its limits say.
pub(super) const MAX_NODES: u32 = NAME_MASK;

/// What there is to know of a node besides its tag.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Links {
    /// The parent; a root has itself.
    pub(crate) parent: NodeId,
    /// One behind the last node of the subtree that begins here, attributes included.
    pub(crate) end: NodeId,
    /// The sibling (of an attribute, the attribute) before this one; the node itself if it is the first.
    pub(crate) previous: NodeId,
    /// Where its string-value begins and ends: for roots, elements and text among the document's character data, for
    /// the other kinds among the values.
    pub(crate) text: (u32, u32),
    /// The prefix that the name was written with.
    pub(crate) prefix: PrefixId,
    /// Of an element, the namespaces in scope.
    pub(crate) scope: super::scope::ScopeId,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_takes_32_bytes() {
        assert_eq!(size_of::<Tag>() + size_of::<Links>(), 32);
    }

    #[test]
    fn a_tag_is_a_kind_and_a_name() {
        for kind in [NodeKind::Element, NodeKind::Attribute, NodeKind::ProcessingInstruction] {
            for name in [0, 1, MAX_NAME].map(NameId) {
                let tag = Tag::named(kind, name);
                assert!(tag.kind() == kind && tag.is(kind) && tag.name() == name && tag != Tag::NEVER);
            }
        }
        assert_ne!(Tag::unnamed(NodeKind::Text), Tag::unnamed(NodeKind::Comment));
    }
}
