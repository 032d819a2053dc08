//! All nodes of a tree.

use portcullis_xml::{Document, NodeId};

/// The node behind another one in document order, attributes left out: without recursion, however deep the tree.
pub(super) fn following(document: &Document, node: NodeId) -> Option<NodeId> {
    document.first_child(node).or_else(|| {
        let mut at = node;
        loop {
            if let Some(sibling) = document.next_sibling(at) {
                return Some(sibling);
            }
            at = document.parent(at)?;
        }
    })
}
