//! What has been decided on a request, for logs and metrics.

use portcullis_policy::{Exchange, Flow, Outcome, Policy, Verdict};

use crate::config::Mode;
use crate::metrics::{Count, Metrics};
use crate::policy::RateLimit;

/// The filter state that holds the outcome.
const OUTCOME_PROPERTY: &str = "portcullis.rate-limit.outcome";

/// Why a request is refused. In shadow mode it passes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refusal {
    QuotaExceeded,
    MissingKey,
    TableFull,
}

impl Refusal {
    /// The word for the log.
    pub(crate) const fn reason(self, mode: Mode) -> &'static str {
        match (self, mode) {
            (Self::QuotaExceeded, Mode::Enforce) => "quota-exceeded",
            (Self::QuotaExceeded, Mode::Shadow) => "shadow-exceeded",
            (Self::MissingKey, Mode::Enforce) => "missing-key",
            (Self::MissingKey, Mode::Shadow) => "shadow-missing-key",
            (Self::TableFull, Mode::Enforce) => "table-full",
            (Self::TableFull, Mode::Shadow) => "shadow-table-full",
        }
    }

    /// What counts such refusals where they are enforced.
    pub(crate) const fn counter(self, metrics: &Metrics) -> Count {
        match self {
            Self::QuotaExceeded => metrics.rejected,
            Self::MissingKey => metrics.missing_key_refused,
            Self::TableFull => metrics.table_full_refused,
        }
    }
}

/// Lets the request pass.
pub(crate) fn pass(
    count: Count,
    verdict: Verdict,
    reason: &'static str,
    exchange: &mut Exchange<'_>,
) -> Flow {
    count.increment(exchange.host());
    record(exchange, verdict, reason);
    Flow::PassRest
}

/// Writes the outcome down for the log: the chain's, and by filter state that of a separate module.
pub(crate) fn record(exchange: &mut Exchange<'_>, verdict: Verdict, reason: &'static str) {
    let outcome = Outcome { policy: RateLimit::NAME, verdict, reason };
    exchange.record(outcome);
    let _ = exchange.host().set_property(&[OUTCOME_PROPERTY], outcome.to_string().as_bytes());
}
