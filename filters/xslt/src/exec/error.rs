//! From what goes wrong below to errors of a transformation.

use portcullis_xml::tree::Full;
use portcullis_xml::xpath::EvaluateError;

use crate::error::TransformErrorKind;
use crate::limits::{Bound, TransformLimits};
use crate::result::ResultError;

pub(super) type Result<T> = core::result::Result<T, Failure>;

/// What went wrong, before the limits that it may be about have been put in.
#[derive(Debug)]
pub(super) enum Failure {
    Evaluate(EvaluateError),
    Result(ResultError),
    Nodes,
    Depth,
    Kept,
    Kind(TransformErrorKind),
}

impl From<EvaluateError> for Failure {
    fn from(error: EvaluateError) -> Self {
        Self::Evaluate(error)
    }
}

impl From<ResultError> for Failure {
    fn from(error: ResultError) -> Self {
        Self::Result(error)
    }
}

impl From<Full> for Failure {
    fn from(_: Full) -> Self {
        Self::Nodes
    }
}

impl From<TransformErrorKind> for Failure {
    fn from(kind: TransformErrorKind) -> Self {
        Self::Kind(kind)
    }
}

impl Failure {
    pub(super) fn into_kind(self, limits: &TransformLimits) -> TransformErrorKind {
        let wide = |limit: usize| u64::try_from(limit).unwrap_or(u64::MAX);
        match self {
            Self::Evaluate(EvaluateError::BudgetExceeded) => {
                TransformErrorKind::LimitExceeded(Bound::Steps, limits.steps)
            }
            Self::Evaluate(EvaluateError::MemoryExceeded) => Self::Kept.into_kind(limits),
            Self::Evaluate(EvaluateError::NotNodes) => TransformErrorKind::NotNodes,
            Self::Evaluate(error) => TransformErrorKind::Evaluate(error),
            Self::Nodes | Self::Result(ResultError::FragmentTooLarge(_)) => {
                TransformErrorKind::LimitExceeded(Bound::Nodes, u64::from(limits.nodes))
            }
            Self::Depth => {
                TransformErrorKind::LimitExceeded(Bound::TemplateDepth, wide(limits.template_depth))
            }
            Self::Kept => {
                TransformErrorKind::LimitExceeded(Bound::TemporaryBytes, wide(limits.temporary_bytes))
            }
            Self::Result(ResultError::OutputTooLarge(limit)) => {
                TransformErrorKind::LimitExceeded(Bound::OutputBytes, wide(limit))
            }
            Self::Result(ResultError::CapturesTooLarge(limit)) => {
                TransformErrorKind::LimitExceeded(Bound::TemporaryBytes, wide(limit))
            }
            Self::Result(error) => TransformErrorKind::Result(error.to_string().into()),
            Self::Kind(kind) => kind,
        }
    }
}
