//! `generate-id()` (XSLT 1.0, section 12.4).

use portcullis_xml::NodeId;

/// A name that no other node of the transformation has: the same for every run over the same document.
pub(crate) fn generate_id(node: Option<NodeId>) -> String {
    node.map_or_else(String::new, |node| format!("n{}", node.index()))
}
