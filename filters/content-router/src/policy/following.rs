//! What becomes of a request once the rules have spoken, or cannot speak.

use portcullis_policy::metrics::Counter;
use portcullis_policy::{Exchange, Flow, Outcome, Policy, Reply, Verdict, outcome_property};

use super::{ContentRouter, Obstacle};
use crate::action::Action;
use crate::body::Undecidable;
use crate::config::OnUndecided;
use crate::rules::Ruling;

impl ContentRouter {
    pub(super) fn follow(&self, ruling: Result<Ruling, Obstacle>, exchange: &mut Exchange<'_>) -> Flow {
        match ruling {
            Ok(Ruling::Rule(rule)) => {
                let action = self.rules.action(rule).unwrap_or(&self.default);
                self.act(action, self.metrics.rule(rule), "rule", exchange)
            }
            Ok(Ruling::Default) => self.act(&self.default, self.metrics.defaulted, "default", exchange),
            // Nothing more will come that could decide.
            Ok(Ruling::Undecided) | Err(Obstacle::Host) => self.fail(exchange),
            Err(Obstacle::Undecidable(reason)) => self.without_ruling(reason, exchange),
        }
    }

    fn without_ruling(&self, reason: Undecidable, exchange: &mut Exchange<'_>) -> Flow {
        let count = self.metrics.undecidable(reason);
        match reason.outcome(&self.undecided) {
            OnUndecided::Default => self.act(&self.default, count, reason.as_str(), exchange),
            OnUndecided::Refuse => {
                count.increment(exchange.host());
                let is_clients = reason != Undecidable::Busy;
                let verdict = if is_clients { Verdict::Rejected } else { Verdict::FailedClosed };
                record(exchange, verdict, reason.as_str());
                Flow::Reply(Box::new(refusal(reason)))
            }
            OnUndecided::Pass => {
                count.increment(exchange.host());
                record(exchange, Verdict::FailedOpen, reason.as_str());
                Flow::PassRest
            }
        }
    }

    fn act(
        &self,
        action: &Action,
        count: Counter,
        reason: &'static str,
        exchange: &mut Exchange<'_>,
    ) -> Flow {
        let verdict = match action {
            Action::Route(name) => {
                if exchange.set_request_header(&self.header, name).is_err() {
                    return self.fail(exchange);
                }
                Verdict::Passed
            }
            Action::Pass => Verdict::Passed,
            Action::Reply(_) => Verdict::Rejected,
        };
        count.increment(exchange.host());
        record(exchange, verdict, reason);
        match action {
            Action::Reply(reply) => Flow::Reply(reply.clone()),
            Action::Route(_) | Action::Pass => Flow::PassRest,
        }
    }

    /// The host does not do what is needed to tell where the request goes.
    pub(super) fn fail(&self, exchange: &mut Exchange<'_>) -> Flow {
        self.metrics.host_failed.increment(exchange.host());
        record(exchange, Verdict::FailedClosed, "host");
        let reply = Reply::new(503, "Service Unavailable", "content_router_host")
            .with_detail("The request cannot be routed at the moment.");
        Flow::Reply(Box::new(reply))
    }
}

/// Writes the outcome down for the log: the chain's, and by filter state that of a separate module. The filter state
/// vouches for the route's header to filters behind this one.
fn record(exchange: &mut Exchange<'_>, verdict: Verdict, reason: &'static str) {
    let outcome = Outcome { policy: ContentRouter::NAME, verdict, reason };
    exchange.record(outcome);
    let property = outcome_property(ContentRouter::NAME);
    let _ = exchange.host().set_property(&[&property], outcome.to_string().as_bytes());
}

/// What a client is told on whose request no rule could decide.
fn refusal(reason: Undecidable) -> Reply {
    match reason {
        Undecidable::NoBody => Reply::new(400, "Bad Request", "content_router_no_body")
            .with_detail("The request has no body, which it needs to be routed."),
        Undecidable::ContentType => Reply::new(415, "Unsupported Media Type", "content_router_content_type")
            .with_detail("Requests of this media type cannot be routed."),
        // RFC 9110, section 15.5.16: the field says that it is the coding.
        Undecidable::Encoded => Reply::new(415, "Unsupported Media Type", "content_router_encoded")
            .with_header("accept-encoding", "identity")
            .with_detail("Requests with a content coding cannot be routed."),
        Undecidable::Multipart => Reply::new(415, "Unsupported Media Type", "content_router_multipart")
            .with_detail("Requests of several parts cannot be routed."),
        Undecidable::TooLarge => Reply::new(413, "Content Too Large", "content_router_too_large")
            .with_detail("What the request is routed by does not come early enough in its body."),
        Undecidable::Malformed => Reply::new(400, "Bad Request", "content_router_malformed")
            .with_detail("The request's body is malformed, or is not what its headers say."),
        Undecidable::Busy => Reply::new(503, "Service Unavailable", "content_router_busy")
            .with_detail("There are too many requests to be read at the moment."),
    }
}
