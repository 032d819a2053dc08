//! What becomes of requests that do not simply pass.

use portcullis_policy::reply::CustomBody;
use portcullis_policy::{Exchange, Flow, Reply, Verdict};

use super::{Phase, RateLimit, State};
use crate::cluster::{AddedHeaders, OnOutage, Outage};
use crate::config::{Mode, OnFailure};
use crate::limiter::Standing;
use crate::outcome::{Refusal, pass, record};
use crate::quotas::Subject;
use crate::rejection;
use crate::told::Told;

impl RateLimit {
    /// The quota is used up. A body, if there is one, stands in place of the configured one.
    pub(super) fn exceed(
        &mut self,
        standings: &[Standing],
        headers: AddedHeaders,
        body: Option<CustomBody>,
        state: &mut State,
        exchange: &mut Exchange<'_>,
    ) -> Flow {
        let flow = self.refuse(Refusal::QuotaExceeded, exchange, |policy| {
            policy.rejection.quota_exceeded(standings, body, &mut policy.announcer)
        });
        let untold = match self.config.mode {
            // The reply comes by as a response, which says how the limits stand already.
            Mode::Enforce => &[],
            Mode::Shadow => standings,
        };
        state.0 = Phase::decided(Told::new(untold, headers, &self.announcer));
        flow
    }

    /// Refuses the request, or in shadow mode lets it pass.
    pub(super) fn refuse(
        &mut self,
        refusal: Refusal,
        exchange: &mut Exchange<'_>,
        reply: impl FnOnce(&mut Self) -> Reply,
    ) -> Flow {
        let reason = refusal.reason(self.config.mode);
        match self.config.mode {
            Mode::Enforce => {
                refusal.counter(&self.metrics).increment(exchange.host());
                record(exchange, Verdict::Rejected, reason);
                Flow::Reply(Box::new(reply(self)))
            }
            Mode::Shadow => pass(self.metrics.shadow_rejected, Verdict::Passed, reason, exchange),
        }
    }

    /// The service has not decided.
    pub(super) fn without_service(
        &mut self,
        outage: Outage,
        subject: &Subject,
        state: &mut State,
        exchange: &mut Exchange<'_>,
    ) -> Flow {
        let on_outage = self.config.service.as_ref().map_or(OnOutage::Closed, |service| service.on_outage);
        match (on_outage, outage) {
            (OnOutage::Local, _) => self.count(subject, state, exchange),
            // It is not the service that is out.
            (_, Outage::Host) => self.fail(exchange),
            (OnOutage::Open, outage) if outage.may_open() => {
                pass(self.metrics.failed_open, Verdict::FailedOpen, outage.as_str(), exchange)
            }
            (OnOutage::Open | OnOutage::Closed, outage) => self.fail_closed(outage.as_str(), exchange),
        }
    }

    /// The host does not do what is needed to count the request.
    pub(super) fn fail(&self, exchange: &mut Exchange<'_>) -> Flow {
        self.metrics.host_failed.increment(exchange.host());
        match self.config.on_failure {
            OnFailure::Closed => self.fail_closed("host", exchange),
            OnFailure::Open => pass(self.metrics.failed_open, Verdict::FailedOpen, "host", exchange),
        }
    }

    /// Refuses the request because nobody could decide; nothing is refused in shadow mode.
    pub(super) fn fail_closed(&self, reason: &'static str, exchange: &mut Exchange<'_>) -> Flow {
        match self.config.mode {
            Mode::Enforce => self.refuse_undecided(reason, exchange),
            Mode::Shadow => pass(self.metrics.failed_open, Verdict::FailedOpen, reason, exchange),
        }
    }

    /// Refuses a request whose headers cannot be read, and so not be cleaned, in every mode: it may have headers that the
    /// upstream would take for the service's.
    pub(super) fn refuse_uncleaned(&self, exchange: &mut Exchange<'_>) -> Flow {
        self.metrics.host_failed.increment(exchange.host());
        self.refuse_undecided("host", exchange)
    }

    fn refuse_undecided(&self, reason: &'static str, exchange: &mut Exchange<'_>) -> Flow {
        self.metrics.failed_closed.increment(exchange.host());
        record(exchange, Verdict::FailedClosed, reason);
        Flow::Reply(Box::new(rejection::failure()))
    }
}
