//! What becomes of messages, transformed or not.

use portcullis_policy::host::Level;
use portcullis_policy::{Direction, Exchange, Flow, HostError, Outcome, Policy, Verdict, outcome_property};

use super::{Ending, Obstacle, XsltTransform};
use crate::config::OnFailure;
use crate::failure::Failure;
use crate::message::Unread;
use crate::metrics::SideMetrics;
use crate::reading::{Length, NewBody, STALE};
use crate::reply::{Event, host_failure, refusal, word};
use crate::side::Side;

impl XsltTransform {
    /// Puts a new body in the place of the old one.
    pub(super) fn put(
        &self,
        side: &Side,
        body: &NewBody,
        ending: Ending,
        exchange: &mut Exchange<'_>,
    ) -> Flow {
        if put(side, body, ending, exchange).is_err() {
            return self.fail(side.direction, exchange);
        }
        self.metrics(side).transformed.increment(exchange.host());
        record(exchange, Verdict::Passed, word(side.direction, Event::Transformed));
        Flow::PassRest
    }

    /// The message stays as it is, or is refused.
    pub(super) fn without_transformation(
        &self,
        side: &Side,
        obstacle: Obstacle,
        exchange: &mut Exchange<'_>,
    ) -> Flow {
        let failure = match obstacle {
            Obstacle::Host => return self.fail(side.direction, exchange),
            Obstacle::Message(Unread::Exempt(_)) => {
                self.metrics(side).exempt.increment(exchange.host());
                let reason = word(side.direction, Event::Exempt);
                exchange.record(Outcome { policy: Self::NAME, verdict: Verdict::Skipped, reason });
                return Flow::PassRest;
            }
            Obstacle::Message(Unread::Failed(failure)) => failure,
        };
        self.metrics(side).failure(failure).increment(exchange.host());
        let reason = word(side.direction, Event::Failed(failure));
        match failure.outcome(&side.on_error) {
            OnFailure::Pass => {
                record(exchange, Verdict::FailedOpen, reason);
                Flow::PassRest
            }
            OnFailure::Refuse => {
                let is_clients = failure.is_clients(side.direction);
                record(exchange, if is_clients { Verdict::Rejected } else { Verdict::FailedClosed }, reason);
                Flow::Reply(Box::new(refusal(side.direction, failure)))
            }
        }
    }

    /// The stylesheet has failed; the log says how. Nothing of the message is in what it says.
    pub(super) fn stylesheet_failed(&self, side: &Side, problem: &str, exchange: &mut Exchange<'_>) -> Flow {
        let line = format!("xslt-transform: a {}'s stylesheet failed: {problem}", side.as_str());
        self.complaint.say(Level::Warn, &line, exchange.host());
        self.without_transformation(side, Failure::Stylesheet.into(), exchange)
    }

    /// The host does not do what is needed.
    pub(super) fn fail(&self, at: Direction, exchange: &mut Exchange<'_>) -> Flow {
        self.metrics.host_failed.increment(exchange.host());
        record(exchange, Verdict::FailedClosed, word(at, Event::Host));
        Flow::Reply(Box::new(host_failure(at)))
    }

    fn metrics(&self, side: &Side) -> &SideMetrics {
        match side.direction {
            Direction::Request => &self.metrics.request,
            Direction::Response => &self.metrics.response,
        }
    }
}

fn put(side: &Side, body: &NewBody, ending: Ending, exchange: &mut Exchange<'_>) -> Result<(), HostError> {
    let NewBody { bytes, content_type, length, stale } = body;
    exchange.replace_body(side.direction, bytes)?;
    if *length == Length::Announced {
        exchange.set_header(side.headers(), "content-length", bytes.len().to_string().as_bytes())?;
    }
    if let Some(content_type) = content_type {
        exchange.set_header(side.headers(), "content-type", content_type)?;
    }
    for name in stale {
        exchange.remove_header(side.headers(), name)?;
    }
    if ending == Ending::Trailers {
        // They may say of the old body what headers say elsewhere.
        let trailers = exchange.headers(side.trailers())?;
        for name in STALE.into_iter().filter(|name| trailers.contains(name)) {
            exchange.remove_header(side.trailers(), name)?;
        }
    }
    Ok(())
}

/// Writes the outcome down for the log: the chain's, and by filter state that of a separate module.
fn record(exchange: &mut Exchange<'_>, verdict: Verdict, reason: &'static str) {
    let outcome = Outcome { policy: XsltTransform::NAME, verdict, reason };
    exchange.record(outcome);
    let property = outcome_property(XsltTransform::NAME);
    let _ = exchange.host().set_property(&[&property], outcome.to_string().as_bytes());
}
