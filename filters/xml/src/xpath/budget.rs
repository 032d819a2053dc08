//! How much an evaluation may do.

use super::error::EvaluateError;

/// How many bytes of text are read or written for one step.
const BYTES_PER_STEP: usize = 16;
/// How many comparisons of two nodes' places in document order are one step.
const COMPARISONS_PER_STEP: usize = 8;

/// The steps that evaluations may take before they are given up.
///
/// A step is a node that is looked at or copied, an expression that is evaluated, 8 comparisons of nodes that are sorted,
/// or 16 bytes of text that are read or written.
/// As nothing is kept without being counted, steps bound memory too; how long a text may get that an expression makes can
/// be bounded more tightly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    left: u64,
    longest_text: usize,
}

impl Budget {
    /// So many steps.
    #[must_use]
    pub fn new(steps: u64) -> Self {
        Self { left: steps, longest_text: usize::MAX }
    }

    /// With no text longer than so many bytes.
    #[must_use]
    pub fn with_longest_text(self, bytes: usize) -> Self {
        Self { longest_text: bytes, ..self }
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

    /// Whether a text of so many bytes may be made.
    pub(super) fn check_text(&self, bytes: usize) -> Result<(), EvaluateError> {
        if bytes > self.longest_text { Err(EvaluateError::TextTooLong) } else { Ok(()) }
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
    pub(super) fn charge_sort(&mut self, nodes: usize) -> Result<(), EvaluateError> {
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
