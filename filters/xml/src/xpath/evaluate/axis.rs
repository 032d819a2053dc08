//! The nodes of an axis, from one node.

use crate::tree::{Attributes, Children, Document, NodeId, NodeKind};
use crate::xpath::ast::Axis;
use crate::xpath::bindings::Matcher;
use crate::xpath::budget::Budget;
use crate::xpath::error::EvaluateError;

/// The nodes of an axis that a node test selects, in the axis's order.
#[derive(Debug)]
pub(super) struct Candidates<'a> {
    document: &'a Document,
    matcher: Matcher,
    nodes: Nodes<'a>,
}

#[derive(Debug)]
enum Nodes<'a> {
    One(Option<NodeId>),
    Children(Children<'a>),
    Attributes(Attributes),
    /// What begins from here to before there, but for attributes.
    Range(NodeId, NodeId),
    /// This one and its ancestors.
    Upwards(Option<NodeId>),
    /// This one and its previous siblings.
    Backwards(Option<NodeId>),
    /// What begins before here and not before there, but for attributes and the ancestors of the third.
    Before(NodeId, NodeId, NodeId),
}

impl<'a> Candidates<'a> {
    pub(super) fn new(document: &'a Document, axis: Axis, matcher: Matcher, node: NodeId) -> Self {
        let is_attribute = document.kind(node) == NodeKind::Attribute;
        let end = document.subtree_end(node);
        let nodes = match axis {
            Axis::SelfNode => Nodes::One(Some(node)),
            Axis::Parent => Nodes::One(document.parent(node)),
            Axis::Child => Nodes::Children(document.children(node)),
            Axis::Attribute => Nodes::Attributes(document.attributes(node)),
            Axis::Descendant => Nodes::Range(node.next(), end),
            Axis::DescendantOrSelf if is_attribute => Nodes::One(Some(node)),
            Axis::DescendantOrSelf => Nodes::Range(node, end),
            Axis::Ancestor => Nodes::Upwards(document.parent(node)),
            Axis::AncestorOrSelf => Nodes::Upwards(Some(node)),
            Axis::Following => Nodes::Range(end, document.subtree_end(document.root(node))),
            Axis::Preceding => Nodes::Before(node, document.root(node), node),
            Axis::FollowingSibling => Nodes::Children(document.following_siblings(node)),
            Axis::PrecedingSibling => Nodes::Backwards(document.previous_sibling(node)),
        };
        Self { document, matcher, nodes }
    }

    /// The next one. Each node that is looked at is a step.
    pub(super) fn next(&mut self, budget: &mut Budget) -> Result<Option<NodeId>, EvaluateError> {
        let document = self.document;
        if let (Nodes::Range(at, end), Matcher::Tag(wanted)) = (&mut self.nodes, self.matcher) {
            // No attribute has the tag of an element or the like: it is enough to look for the tag.
            let found = document.tags(*at, *end).iter().position(|tag| *tag == wanted);
            let passed =
                found.map_or(end.0.saturating_sub(at.0), |ahead| u32::try_from(ahead).unwrap_or(u32::MAX));
            budget.charge(u64::from(passed >> 3).saturating_add(1))?;
            let node = NodeId(at.0.saturating_add(passed));
            *at = node.next();
            return Ok(found.map(|_| node));
        }
        loop {
            let mut looked_at = 1;
            let next = self.nodes.next(document, &mut looked_at);
            budget.charge(looked_at)?;
            let Some(node) = next else { return Ok(None) };
            if self.matcher.matches(document.tag(node), document) {
                return Ok(Some(node));
            }
        }
    }
}

impl Nodes<'_> {
    fn next(&mut self, document: &Document, looked_at: &mut u64) -> Option<NodeId> {
        match self {
            Self::One(node) => node.take(),
            Self::Children(children) => children.next(),
            Self::Attributes(attributes) => attributes.next(),
            Self::Range(at, end) => loop {
                let node = *at;
                if node >= *end {
                    return None;
                }
                *at = node.next();
                if document.kind(node) != NodeKind::Attribute {
                    return Some(node);
                }
                *looked_at = looked_at.saturating_add(1);
            },
            Self::Upwards(at) => {
                let node = (*at)?;
                *at = document.parent(node);
                Some(node)
            }
            Self::Backwards(at) => {
                let node = (*at)?;
                *at = document.previous_sibling(node);
                Some(node)
            }
            Self::Before(at, root, origin) => loop {
                // The root is an ancestor.
                if at <= root {
                    return None;
                }
                *at = NodeId(at.0.saturating_sub(1));
                if document.kind(*at) != NodeKind::Attribute && !document.contains(*at, *origin) {
                    return Some(*at);
                }
                *looked_at = looked_at.saturating_add(1);
            },
        }
    }
}
