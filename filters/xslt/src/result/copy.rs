//! Copying nodes of the source (XSLT 1.0, sections 7.5 and 11.3).

use portcullis_xml::tree::{Children, Document, NodeId, NodeKind};

use super::{Receiver, ResultError, ResultName};

/// How many nodes a namespace is worth: each is compared with those declared further in.
const NAMESPACE: u64 = 4;

/// Starts a copy of an element, with its namespaces and without its attributes and children. It is the caller's to end
/// it. How many nodes' worth of namespaces there were to look at.
///
/// # Errors
/// If the result gets too large.
pub(crate) fn copy_element<R: Receiver>(
    to: &mut R,
    document: &Document,
    element: NodeId,
) -> Result<u64, ResultError> {
    start(to, document, element)?;
    let namespaces = u64::try_from(to.namespaces_of(document, element)?).unwrap_or(u64::MAX);
    Ok(namespaces.saturating_mul(NAMESPACE))
}

fn copy_attribute<R: Receiver>(
    to: &mut R,
    document: &Document,
    attribute: NodeId,
) -> Result<(), ResultError> {
    let Some(name) = document.name(attribute) else { return Ok(()) };
    let name = ResultName { name, prefix: document.prefix_id(attribute) };
    to.attribute(document.names(), name, document.string_value(attribute)).map(|_| ())
}

/// Copies a node with all that is in it; of a root, the children. How many nodes and namespaces there were to look at.
///
/// # Errors
/// If the result gets too large.
pub(crate) fn copy_of<R: Receiver>(
    to: &mut R,
    document: &Document,
    node: NodeId,
) -> Result<u64, ResultError> {
    let mut count = 1_u64;
    // The elements that are open, the innermost one last; the root, which has no end, may be the first.
    let mut open: Vec<Children<'_>> = Vec::new();
    match document.kind(node) {
        NodeKind::Root => open.push(document.children(node)),
        NodeKind::Element => {
            count = count.saturating_add(copy_element(to, document, node)?);
            count = count.saturating_add(copy_attributes(to, document, node)?);
            open.push(document.children(node));
        }
        _ => copy_leaf(to, document, node)?,
    }
    while let Some(children) = open.last_mut() {
        match children.next() {
            Some(child) if document.kind(child) == NodeKind::Element => {
                start(to, document, child)?;
                // Its parent has the others already.
                for (prefix, uri) in document.declarations(child) {
                    to.namespace(document.names(), prefix, uri)?;
                    count = count.saturating_add(1);
                }
                count = count.saturating_add(copy_attributes(to, document, child)?).saturating_add(1);
                open.push(document.children(child));
            }
            Some(child) => {
                copy_leaf(to, document, child)?;
                count = count.saturating_add(1);
            }
            None => {
                open.pop();
                if !open.is_empty() || document.kind(node) == NodeKind::Element {
                    to.end_element()?;
                }
            }
        }
    }
    Ok(count)
}

fn start<R: Receiver>(to: &mut R, document: &Document, element: NodeId) -> Result<(), ResultError> {
    let Some(name) = document.name(element) else { return Ok(()) };
    to.start_element(document.names(), ResultName { name, prefix: document.prefix_id(element) })
}

fn copy_attributes<R: Receiver>(
    to: &mut R,
    document: &Document,
    element: NodeId,
) -> Result<u64, ResultError> {
    let mut count = 0_u64;
    for attribute in document.attributes(element) {
        copy_attribute(to, document, attribute)?;
        count = count.saturating_add(1);
    }
    Ok(count)
}

fn copy_leaf<R: Receiver>(to: &mut R, document: &Document, node: NodeId) -> Result<(), ResultError> {
    match document.kind(node) {
        NodeKind::Text => to.text(document.string_value(node)),
        NodeKind::Comment => to.comment(document.string_value(node)),
        NodeKind::ProcessingInstruction => {
            to.processing_instruction(document.local_name(node), document.string_value(node))
        }
        NodeKind::Attribute => copy_attribute(to, document, node),
        NodeKind::Root | NodeKind::Element => Ok(()),
    }
}
