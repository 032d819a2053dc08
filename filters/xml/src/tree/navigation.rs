//! From node to node.

use super::Document;
use super::node::{NodeId, NodeKind};

impl Document {
    /// The root of the tree that has the node.
    #[must_use]
    pub fn root(&self, node: NodeId) -> NodeId {
        let before = self.roots.partition_point(|root| *root <= node);
        before.checked_sub(1).and_then(|index| self.roots.get(index)).copied().unwrap_or(NodeId::ROOT)
    }

    /// The roots of all trees, in the order in which they were built.
    #[must_use]
    pub fn roots(&self) -> &[NodeId] {
        &self.roots
    }

    /// The parent; an attribute's is its element. `None` of a root.
    #[must_use]
    pub fn parent(&self, node: NodeId) -> Option<NodeId> {
        self.links(node).map(|links| links.parent).filter(|parent| *parent != node)
    }

    /// One behind the last node of the subtree of a node, attributes included: those from `node` to before it are the
    /// subtree.
    #[must_use]
    pub fn subtree_end(&self, node: NodeId) -> NodeId {
        self.links(node).map_or(node, |links| links.end)
    }

    /// Whether `ancestor` is `node` or one of its ancestors.
    #[must_use]
    pub fn contains(&self, ancestor: NodeId, node: NodeId) -> bool {
        ancestor <= node && node < self.subtree_end(ancestor)
    }

    /// The first child. Attributes are no children.
    #[must_use]
    pub fn first_child(&self, node: NodeId) -> Option<NodeId> {
        self.children(node).next()
    }

    /// The next sibling. Attributes and roots have none.
    #[must_use]
    pub fn next_sibling(&self, node: NodeId) -> Option<NodeId> {
        let links = self.links(node).filter(|_| !self.tag(node).is(NodeKind::Attribute))?;
        let inside = links.parent != node && links.end < self.subtree_end(links.parent);
        inside.then_some(links.end)
    }

    /// The previous sibling. Attributes and roots have none.
    #[must_use]
    pub fn previous_sibling(&self, node: NodeId) -> Option<NodeId> {
        let links = self.links(node).filter(|_| !self.tag(node).is(NodeKind::Attribute))?;
        (links.previous != node).then_some(links.previous)
    }

    /// The children, in document order.
    #[must_use]
    pub fn children(&self, node: NodeId) -> Children<'_> {
        let end = self.subtree_end(node);
        Children { document: self, at: self.attributes(node).end.min(end), end }
    }

    /// A node's following siblings, in document order.
    #[must_use]
    pub fn following_siblings(&self, node: NodeId) -> Children<'_> {
        match self.next_sibling(node) {
            Some(at) => {
                Children { document: self, at, end: self.parent(node).map_or(at, |up| self.subtree_end(up)) }
            }
            None => Children { document: self, at: node, end: node },
        }
    }

    /// The attributes of an element, in document order; of other nodes, none.
    #[must_use]
    pub fn attributes(&self, node: NodeId) -> Attributes {
        let first = node.next();
        let rest = if self.tag(node).is(NodeKind::Element) { self.tags.get(first.index()..) } else { None };
        let count = rest.unwrap_or_default().iter().take_while(|tag| tag.is(NodeKind::Attribute)).count();
        let count = u32::try_from(count).unwrap_or(u32::MAX);
        Attributes { at: first, end: NodeId(first.0.saturating_add(count)) }
    }

    /// The parent, its parent and so on.
    #[must_use]
    pub fn ancestors(&self, node: NodeId) -> Ancestors<'_> {
        Ancestors { document: self, at: node }
    }

    /// The number that the next node gets.
    pub(super) fn next_node(&self) -> NodeId {
        NodeId(u32::try_from(self.tags.len()).unwrap_or(u32::MAX))
    }
}

/// See [`Document::children`].
#[derive(Debug, Clone)]
pub struct Children<'a> {
    document: &'a Document,
    at: NodeId,
    end: NodeId,
}

impl Iterator for Children<'_> {
    type Item = NodeId;

    fn next(&mut self) -> Option<NodeId> {
        if self.at >= self.end {
            return None;
        }
        let node = self.at;
        self.at = self.document.subtree_end(node);
        Some(node)
    }
}

/// See [`Document::attributes`].
#[derive(Debug, Clone)]
pub struct Attributes {
    at: NodeId,
    end: NodeId,
}

impl Iterator for Attributes {
    type Item = NodeId;

    fn next(&mut self) -> Option<NodeId> {
        let node = self.at;
        (node < self.end).then(|| {
            self.at = node.next();
            node
        })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let count = usize::try_from(self.end.0.saturating_sub(self.at.0)).unwrap_or(usize::MAX);
        (count, Some(count))
    }
}

impl ExactSizeIterator for Attributes {}

/// See [`Document::ancestors`].
#[derive(Debug, Clone)]
pub struct Ancestors<'a> {
    document: &'a Document,
    at: NodeId,
}

impl Iterator for Ancestors<'_> {
    type Item = NodeId;

    fn next(&mut self) -> Option<NodeId> {
        self.at = self.document.parent(self.at)?;
        Some(self.at)
    }
}
