//! Whether the service is out, or only a client's question has no answer.
//!
//! A client chooses its credentials, and how many questions it causes. Where an outage lets requests pass or old answers
//! serve, a question that makes the service fail would open the gate. So before a failure counts as an outage there, the
//! gateway asks a question of its own. If the service decides that one, or any other meanwhile, it is not out.

use std::time::Duration;

use portcullis_policy::Worker;
use portcullis_policy::host::{CallToken, Host};
use portcullis_policy::time::Timestamp;

use super::{AuthService, NoAnswer, not_sent};
use crate::cache::Key;
use crate::credentials::Credentials;
use crate::decision::{Decision, Outage, Released};
use crate::metrics::Metrics;

/// The identifier in the gateway's own question, and its secret. Any decision on it will do.
pub(super) const ID: &str = "portcullis-probe";

/// For how long an outage is believed without another question of the gateway's own.
const BELIEVED_FOR: Duration = Duration::from_secs(1);

/// Whether an outage has any other effect than that requests are refused.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Leniency {
    None,
    Some,
}

/// What is known of the service as a whole.
pub(super) struct Doubt {
    leniency: Leniency,
    /// The gateway's own question, and when its answer is given up.
    asked: Option<(CallToken, Timestamp)>,
    /// The questions without an answer that are held until it is clear whether the service is out.
    doubted: Vec<Key>,
    /// When the service was last found to be out, if it has decided nothing since.
    out: Option<Timestamp>,
}

impl Doubt {
    pub(super) fn new(leniency: Leniency) -> Self {
        Self { leniency, asked: None, doubted: Vec::new(), out: None }
    }

    pub(super) fn is_asked_by(&self, token: CallToken) -> bool {
        self.asked.is_some_and(|(asked, _)| asked == token)
    }

    pub(super) fn is_overdue(&self, now: Timestamp, longest: Duration) -> bool {
        self.asked.is_some_and(|(_, deadline)| deadline.is_due(now, longest))
    }

    fn is_out(&self, now: Timestamp) -> bool {
        self.out.is_some_and(|out| out <= now && now.since(out) < BELIEVED_FOR)
    }
}

impl AuthService {
    /// A question has no answer. Those who wait for it are told at once, unless it matters whether the service is out
    /// and that is not known.
    pub(super) fn fail(
        &mut self,
        key: Key,
        outage: Outage,
        now: Timestamp,
        worker: &Worker<'_>,
        metrics: &Metrics,
    ) -> Vec<Released> {
        let is_clear = self.doubt.leniency == Leniency::None
            || !outage.may_open()
            || self.doubt.is_out(now)
            || self.inquiries.get(&key).is_none_or(|inquiry| inquiry.waiters.is_empty());
        if is_clear {
            let verification = self.without_answer(&key, outage, now, worker.host(), metrics);
            return self.settle(&key, &verification);
        }
        if self.doubt.asked.is_none() {
            let own = Credentials { id: ID.to_owned(), secret: Some(ID.as_bytes().to_vec()) };
            match self.endpoint.ask(&own, |call| worker.host().call_out(call)) {
                Ok(token) => {
                    self.doubt.asked = Some((token, now.after(self.endpoint.answer_within())));
                }
                Err(error) => {
                    let verification =
                        self.without_answer(&key, not_sent(error), now, worker.host(), metrics);
                    return self.settle(&key, &verification);
                }
            }
        }
        if let Some(counter) = metrics.outage(outage) {
            counter.increment(worker.host());
        }
        if let Some(inquiry) = self.inquiries.get_mut(&key) {
            self.by_token.remove(&inquiry.token);
            inquiry.failed = Some(outage);
            self.doubt.doubted.push(key);
        }
        Vec::new()
    }

    /// What has come of the gateway's own question.
    pub(super) fn hear_of_doubt(
        &mut self,
        answer: Result<Decision, NoAnswer>,
        now: Timestamp,
        worker: &Worker<'_>,
        metrics: &Metrics,
    ) -> Vec<Released> {
        match answer {
            Ok(_) => self.dispel_doubt(now, worker.host(), metrics),
            Err(NoAnswer::BrokenOff(Outage::Overload) | NoAnswer::Final(Outage::Overload)) => {
                self.end_doubt(Some(Outage::Overload), now, worker.host(), metrics)
            }
            Err(_) => {
                self.doubt.out = Some(now);
                self.end_doubt(None, now, worker.host(), metrics)
            }
        }
    }

    /// The service has decided something: it is not out.
    pub(super) fn dispel_doubt(
        &mut self,
        now: Timestamp,
        host: &dyn Host,
        metrics: &Metrics,
    ) -> Vec<Released> {
        self.doubt.out = None;
        self.end_doubt(Some(Outage::ServiceUp), now, host, metrics)
    }

    /// Tells those who wait for questions without an answer: that this is why, or what each failed by.
    fn end_doubt(
        &mut self,
        why: Option<Outage>,
        now: Timestamp,
        host: &dyn Host,
        metrics: &Metrics,
    ) -> Vec<Released> {
        self.doubt.asked = None;
        let mut released = Vec::new();
        for key in core::mem::take(&mut self.doubt.doubted) {
            let verification = match (why, self.inquiries.get(&key).and_then(|inquiry| inquiry.failed)) {
                (Some(why), _) => self.without_answer(&key, why, now, host, metrics),
                // It has been counted.
                (None, Some(outage)) => self.fall_back(&key, outage, now, host, metrics),
                (None, None) => continue,
            };
            released.extend(self.settle(&key, &verification));
        }
        released
    }
}
