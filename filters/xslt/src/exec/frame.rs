//! What is open while instructions are carried out.

use core::ops::Range;

use portcullis_xml::NodeId;
use portcullis_xml::tree::{Attributes, Document};
use portcullis_xml::xpath::Context;

use crate::program::Address;

/// What instructions refer to without saying so (XSLT 1.0, sections 1 and 5).
#[derive(Debug, Clone, Copy)]
pub(super) struct Focus {
    /// The current node, and where it stands in the current node list.
    pub(super) context: Context,
    /// The current template rule.
    pub(super) rule: Option<usize>,
    /// The mode that it was applied in.
    pub(super) mode: usize,
}

/// Something that is open.
#[derive(Debug)]
pub(super) enum Frame {
    Call(Call),
    Loop(Loop),
    Apply(Application),
}

/// Instructions that will come back: a template, an attribute set, a global variable. What it holds is what there was
/// before.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) return_to: Address,
    pub(super) focus: Focus,
    /// Where the local variables began.
    pub(super) base: usize,
    /// The arguments that were given.
    pub(super) given: Range<usize>,
    /// How many arguments there are to be again.
    pub(super) arguments: usize,
    /// How many temporary trees there were.
    pub(super) trees: usize,
}

/// `xsl:for-each`
#[derive(Debug)]
pub(super) struct Loop {
    pub(super) nodes: Vec<NodeId>,
    /// How many nodes have been taken.
    pub(super) taken: usize,
    /// What there was before.
    pub(super) focus: Focus,
    /// How many temporary trees there were.
    pub(super) trees: usize,
}

/// Nodes that templates are applied to.
#[derive(Debug)]
pub(super) struct Application {
    pub(super) nodes: Nodes,
    pub(super) position: u32,
    pub(super) size: u32,
    pub(super) mode: usize,
    /// The arguments that each template is given.
    pub(super) arguments: Range<usize>,
    /// What there was before.
    pub(super) focus: Focus,
}

/// Nodes in the order in which they are taken.
#[derive(Debug)]
pub(super) enum Nodes {
    /// The attributes of an element, from one on, and then its children.
    Contents(Attributes, NodeId),
    /// Siblings, from this one on.
    Siblings(Option<NodeId>),
    /// Those of a list, from this place on.
    List(Vec<NodeId>, usize),
}

impl Nodes {
    /// How many bytes the list takes, if there is one.
    pub(super) fn bytes(&self) -> usize {
        match self {
            Self::List(nodes, _) => size_of_val::<[NodeId]>(nodes),
            Self::Contents(..) | Self::Siblings(_) => 0,
        }
    }

    pub(super) fn take(&mut self, document: &Document) -> Option<NodeId> {
        if let Self::Contents(attributes, element) = self {
            match attributes.next() {
                Some(attribute) => return Some(attribute),
                None => *self = Self::Siblings(document.first_child(*element)),
            }
        }
        match self {
            // It has just become the next.
            Self::Contents(..) => None,
            Self::Siblings(next) => {
                let node = (*next)?;
                *next = document.next_sibling(node);
                Some(node)
            }
            Self::List(nodes, next) => {
                let node = nodes.get(*next).copied()?;
                *next = next.saturating_add(1);
                Some(node)
            }
        }
    }
}
