//! How much an evaluation may do, and how much memory it may take.

use std::borrow::Cow;

use super::error::EvaluateError;
use super::value::Value;
use crate::tree::NodeId;

/// How many bytes of text are read or written for one step.
const BYTES_PER_STEP: usize = 16;
/// How many nodes a list has room for at first.
const LEAST_ROOM: usize = 4;
/// How many comparisons of two nodes' places in document order are one step.
const COMPARISONS_PER_STEP: usize = 8;

/// The steps that evaluations may take before they are given up.
///
/// A step is a node that is looked at or copied, an expression that is evaluated, 8 comparisons of nodes that are sorted,
/// or 16 bytes of text that are read or written.
///
/// A budget is an account of memory too: whatever makes a list of nodes or a text [holds](Self::hold) its bytes before it
/// grows. Each evaluation gives back what it has held but for its result, which is its caller's to give back, with
/// [`release_to`](Self::release_to).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    left: u64,
    held: usize,
    most: usize,
}

impl Budget {
    /// So many steps.
    #[must_use]
    pub fn new(steps: u64) -> Self {
        Self { left: steps, held: 0, most: usize::MAX }
    }

    /// With no more than so many bytes of lists and texts at once.
    #[must_use]
    pub fn with_memory(self, bytes: usize) -> Self {
        Self { most: bytes, ..self }
    }

    /// The bytes that are held now.
    #[must_use]
    pub fn held(&self) -> usize {
        self.held
    }

    /// Takes bytes from the account, before they are allocated.
    ///
    /// # Errors
    /// [`EvaluateError::MemoryExceeded`] if more would be held than may be.
    #[inline]
    pub fn hold(&mut self, bytes: usize) -> Result<(), EvaluateError> {
        self.held = self.held.saturating_add(bytes);
        if self.held > self.most { Err(EvaluateError::MemoryExceeded) } else { Ok(()) }
    }

    /// Takes bytes from the account if no more than `bound` are held then, and says whether it has.
    #[inline]
    pub fn hold_within(&mut self, bytes: usize, bound: usize) -> bool {
        let held = self.held.saturating_add(bytes);
        let fits = held <= bound.min(self.most);
        if fits {
            self.held = held;
        }
        fits
    }

    /// Gives bytes back that were held.
    #[inline]
    pub fn release(&mut self, bytes: usize) {
        self.held = self.held.saturating_sub(bytes);
    }

    /// Gives back what has been held since `held` bytes were: what was made since is gone.
    #[inline]
    pub fn release_to(&mut self, held: usize) {
        self.held = held;
    }

    /// The same, but for what the caller of an evaluation is given.
    #[inline]
    pub(super) fn settle(&mut self, held: usize, result: usize) {
        self.held = held.saturating_add(result);
    }

    /// Appends a node to a list whose memory the account holds.
    #[inline]
    pub(super) fn push(&mut self, nodes: &mut Vec<NodeId>, node: NodeId) -> Result<(), EvaluateError> {
        if nodes.len() == nodes.capacity() {
            self.grow(nodes, 1)?;
        }
        nodes.push(node);
        Ok(())
    }

    /// Makes room for more nodes in a list whose memory the account holds.
    #[cold]
    fn grow(&mut self, nodes: &mut Vec<NodeId>, more: usize) -> Result<(), EvaluateError> {
        let before = list_bytes(nodes);
        let room = nodes.len().saturating_add(more).max(nodes.capacity().saturating_mul(2)).max(LEAST_ROOM);
        // The old list is there until it has been copied.
        self.hold(room.saturating_mul(size_of::<NodeId>()))?;
        nodes.reserve_exact(room.saturating_sub(nodes.len()));
        self.release(before);
        Ok(())
    }

    /// Appends nodes to a list whose memory the account holds.
    pub(super) fn extend(&mut self, nodes: &mut Vec<NodeId>, more: &[NodeId]) -> Result<(), EvaluateError> {
        if nodes.capacity().saturating_sub(nodes.len()) < more.len() {
            self.grow(nodes, more.len())?;
        }
        nodes.extend_from_slice(more);
        Ok(())
    }

    /// The steps that are left.
    #[must_use]
    pub fn left(&self) -> u64 {
        self.left
    }

    /// Takes steps off.
    ///
    /// # Errors
    /// [`EvaluateError::BudgetExceeded`] if there are not that many; then none are left.
    #[inline]
    pub fn charge(&mut self, steps: u64) -> Result<(), EvaluateError> {
        if let Some(left) = self.left.checked_sub(steps) {
            self.left = left;
            Ok(())
        } else {
            self.left = 0;
            Err(EvaluateError::BudgetExceeded)
        }
    }

    /// Takes off what the text of so many bytes costs.
    ///
    /// # Errors
    /// As for [`charge`](Self::charge).
    #[inline]
    pub fn charge_bytes(&mut self, bytes: usize) -> Result<(), EvaluateError> {
        self.charge(u64::try_from(bytes.wrapping_div(BYTES_PER_STEP)).unwrap_or(u64::MAX))
    }

    /// Takes off what so many nodes cost that are handed on or copied: a step for each.
    #[inline]
    pub(super) fn charge_nodes(&mut self, nodes: usize) -> Result<(), EvaluateError> {
        self.charge(u64::try_from(nodes).unwrap_or(u64::MAX))
    }

    /// Takes off what it costs to look whether so many nodes are in order.
    #[inline]
    pub(super) fn charge_comparisons(&mut self, comparisons: usize) -> Result<(), EvaluateError> {
        self.charge_nodes(comparisons.wrapping_div(COMPARISONS_PER_STEP))
    }

    /// Takes off what it costs to sort so many nodes.
    ///
    /// # Errors
    /// As for [`charge`](Self::charge).
    pub fn charge_sort(&mut self, nodes: usize) -> Result<(), EvaluateError> {
        let rounds = usize::try_from(nodes.checked_ilog2().unwrap_or_default()).unwrap_or(usize::MAX);
        self.charge_comparisons(nodes.saturating_mul(rounds))
    }

    /// Takes off what it costs to look so many texts up among `known` ones, or to put that many into order: a comparison
    /// of texts takes as long as four of nodes.
    pub(super) fn charge_lookups(&mut self, texts: usize, known: usize) -> Result<(), EvaluateError> {
        let rounds = usize::try_from(known.checked_ilog2().unwrap_or_default()).unwrap_or(usize::MAX);
        self.charge_comparisons(texts.saturating_mul(rounds).saturating_mul(4))
    }
}

/// The bytes that a list of nodes takes.
pub(super) fn list_bytes(nodes: &Vec<NodeId>) -> usize {
    nodes.capacity().saturating_mul(size_of::<NodeId>())
}

/// The bytes that a value takes of its own: nothing for what it borrows.
#[must_use]
pub fn owned_bytes(value: &Value<'_>) -> usize {
    match value {
        Value::Nodes(Cow::Owned(nodes)) => list_bytes(nodes),
        Value::String(Cow::Owned(text)) => text.capacity(),
        Value::Nodes(Cow::Borrowed(_))
        | Value::String(Cow::Borrowed(_))
        | Value::Boolean(_)
        | Value::Number(_) => 0,
    }
}
