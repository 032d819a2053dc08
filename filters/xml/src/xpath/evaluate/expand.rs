//! A step from many nodes at once.
//!
//! From many nodes, the same node is often on the way of several: all of `//a/following::b` would be visited for each
//! `a`. Where a step's predicates do not count positions, it is enough to go each way once, which is what happens here.

use crate::tree::{Document, NodeId, NodeKind};
use crate::xpath::ast::Axis;
use crate::xpath::bindings::Matcher;
use crate::xpath::budget::Budget;
use crate::xpath::error::EvaluateError;

use super::axis::Candidates;

/// Adds to `found` what a node test selects on the axis from any of `from`, which are in document order; the result may
/// be in any order, and have nodes more than once.
pub(super) fn expand(
    document: &Document,
    axis: Axis,
    matcher: Matcher,
    from: &[NodeId],
    found: &mut Vec<NodeId>,
    budget: &mut Budget,
) -> Result<(), EvaluateError> {
    if from.len() < 2 {
        return from.iter().try_for_each(|node| all(document, axis, matcher, *node, found, budget));
    }
    match axis {
        Axis::Child | Axis::Attribute | Axis::SelfNode => {
            from.iter().try_for_each(|node| all(document, axis, matcher, *node, found, budget))
        }
        Axis::Parent => parents(document, matcher, from, found, budget),
        Axis::Ancestor | Axis::AncestorOrSelf => ancestors(document, axis, matcher, from, found, budget),
        Axis::Descendant | Axis::DescendantOrSelf => {
            let mut covered = NodeId::ROOT;
            for node in from {
                budget.charge(1)?;
                // What begins in a subtree that has been walked through is there already, but for attributes.
                if *node >= covered || document.kind(*node) == NodeKind::Attribute {
                    all(document, axis, matcher, *node, found, budget)?;
                    covered = covered.max(document.subtree_end(*node));
                }
            }
            Ok(())
        }
        Axis::Following | Axis::Preceding => {
            for tree in from.chunk_by(|a, b| document.root(*a) == document.root(*b)) {
                budget.charge_nodes(tree.len())?;
                // What follows any of them follows the one that ends first, and what precedes any precedes the last.
                let origin = match axis {
                    Axis::Following => tree.iter().min_by_key(|node| document.subtree_end(**node)),
                    _ => tree.last(),
                };
                if let Some(origin) = origin {
                    all(document, axis, matcher, *origin, found, budget)?;
                }
            }
            Ok(())
        }
        Axis::FollowingSibling | Axis::PrecedingSibling => {
            siblings(document, axis, matcher, from, found, budget)
        }
    }
}

fn all(
    document: &Document,
    axis: Axis,
    matcher: Matcher,
    node: NodeId,
    found: &mut Vec<NodeId>,
    budget: &mut Budget,
) -> Result<(), EvaluateError> {
    let mut candidates = Candidates::new(document, axis, matcher, node);
    while let Some(node) = candidates.next(budget)? {
        budget.push(found, node)?;
    }
    Ok(())
}

fn parents(
    document: &Document,
    matcher: Matcher,
    from: &[NodeId],
    found: &mut Vec<NodeId>,
    budget: &mut Budget,
) -> Result<(), EvaluateError> {
    let mut last = None;
    for node in from {
        budget.charge(1)?;
        let parent = document.parent(*node);
        if let Some(parent) = parent.filter(|_| parent != last)
            && matcher.matches(document.tag(parent), document)
        {
            budget.push(found, parent)?;
        }
        last = parent;
    }
    Ok(())
}

/// Each way up ends where an earlier one has been.
fn ancestors(
    document: &Document,
    axis: Axis,
    matcher: Matcher,
    from: &[NodeId],
    found: &mut Vec<NodeId>,
    budget: &mut Budget,
) -> Result<(), EvaluateError> {
    let mut earlier: Option<NodeId> = None;
    for node in from {
        let mut candidates = Candidates::new(document, axis, Matcher::Any, *node);
        while let Some(at) = candidates.next(budget)? {
            // An earlier node's own ancestors are there, and, where each counts as its own, the node itself.
            let known = earlier.is_some_and(|earlier| {
                document.contains(at, earlier) && (at != earlier || axis == Axis::AncestorOrSelf)
            });
            if known {
                break;
            }
            if matcher.matches(document.tag(at), document) {
                budget.push(found, at)?;
            }
        }
        earlier = Some(*node);
    }
    Ok(())
}

/// Of each parent's children, only one has to be gone from: what follows any follows the first one, and what precedes
/// any precedes the last one.
fn siblings(
    document: &Document,
    axis: Axis,
    matcher: Matcher,
    from: &[NodeId],
    found: &mut Vec<NodeId>,
    budget: &mut Budget,
) -> Result<(), EvaluateError> {
    budget.charge_nodes(from.len())?;
    budget.charge_sort(from.len())?;
    let children = from.iter().filter(|node| document.kind(**node) != NodeKind::Attribute);
    let held = from.len().saturating_mul(size_of::<(Option<NodeId>, NodeId)>());
    budget.hold(held)?;
    let mut by_parent: Vec<_> = Vec::with_capacity(from.len());
    by_parent.extend(children.map(|node| (document.parent(*node), *node)));
    by_parent.sort_unstable();
    for family in by_parent.chunk_by(|(a, _), (b, _)| a == b) {
        let origin = if axis == Axis::FollowingSibling { family.first() } else { family.last() };
        if let Some((_, origin)) = origin {
            all(document, axis, matcher, *origin, found, budget)?;
        }
    }
    budget.release(held);
    Ok(())
}
