//! How much an evaluation may do.

use super::error::EvaluateError;

/// How many bytes of text are read or written for one step.
const BYTES_PER_STEP: usize = 16;

/// The steps that evaluations may take before they are given up.
///
/// A step is a node that is looked at, an expression that is evaluated, or 16 bytes of text that are read or written.
/// As nothing is kept without being counted, steps bound memory too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    left: u64,
}

impl Budget {
    /// So many steps.
    #[must_use]
    pub fn new(steps: u64) -> Self {
        Self { left: steps }
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
}
