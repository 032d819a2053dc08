//! Whether the service is out, or only a client's question has no answer.
//!
//! A client chooses its credentials, and how many questions it causes. Where an outage lets requests pass or old answers
//! serve, a question that makes the service fail would open the gate. So a failure counts as an outage there only if a
//! question of the gateway's own, which no client can influence, fails as well:
//!
//! - Its credentials are random, so that nobody can have them locked out or admitted.
//! - It is sent when no client's question is with the service. Over HTTP/2 they would share a connection, and a client's
//!   question on which the service drops the connection would take it along. Other questions are held back until it is clear
//!   whether the service is out.
//! - A connection that breaks, or an error, must come [`QUESTIONS`] times, a tick apart: the service may have dropped the
//!   connection for an earlier question only now.
//!
//! Any answer with a status below 500, on whatever question, shows that the service is up.

use std::time::Duration;

use portcullis_policy::Worker;
use portcullis_policy::host::CallToken;
use portcullis_policy::time::Timestamp;

use super::{AuthService, NoAnswer, Stage, count, not_sent};
use crate::cache::Key;
use crate::credentials::Credentials;
use crate::decision::{Decision, Outage, Released};
use crate::metrics::Metrics;

/// How many questions of the gateway's own must break off before the service counts as out. One is enough if it was out
/// before and has answered nothing since.
const QUESTIONS: u8 = 3;

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
    question: Question,
    /// When the service was last found to be out, if it has answered nothing since.
    out: Option<Timestamp>,
}

/// The gateway's own question.
#[derive(Clone, Copy)]
enum Question {
    /// There is no doubt, and no question.
    None,
    /// It is to be sent when no client's question is with the service; so many have broken off.
    Due { broken_off: u8 },
    /// It is with the service; its answer is given up at the deadline.
    Asked { token: CallToken, deadline: Timestamp, broken_off: u8 },
}

/// What has become clear.
#[derive(Clone, Copy)]
enum Finding {
    Up,
    /// Questions that were held back fall by the same as the gateway's own.
    Out(Outage),
    /// Nothing, and this is why.
    Unknown(Outage),
}

impl Doubt {
    pub(super) fn new(leniency: Leniency) -> Self {
        Self { leniency, question: Question::None, out: None }
    }

    /// Whether clients' questions may be sent.
    pub(super) fn is_over(&self) -> bool {
        matches!(self.question, Question::None)
    }

    pub(super) fn is_asked_by(&self, token: CallToken) -> bool {
        matches!(self.question, Question::Asked { token: asked, .. } if asked == token)
    }

    pub(super) fn is_overdue(&self, now: Timestamp, longest: Duration) -> bool {
        matches!(self.question, Question::Asked { deadline, .. } if deadline.is_due(now, longest))
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
        let mut released = Vec::new();
        if is_clear {
            let verification = self.without_answer(&key, outage, now, worker.host(), metrics);
            released = self.settle(&key, &verification);
        } else if let Some(inquiry) = self.inquiries.get_mut(&key) {
            count(outage, worker.host(), metrics);
            if let Stage::UnderWay { token, .. } = inquiry.stage {
                self.by_token.remove(&token);
            }
            inquiry.stage = Stage::Failed(outage);
            if self.doubt.is_over() {
                self.doubt.question = Question::Due { broken_off: 0 };
            }
        }
        released.extend(self.pursue_doubt(now, worker, metrics));
        released
    }

    /// Sends the gateway's own question, once the last client's question has come back.
    pub(super) fn pursue_doubt(
        &mut self,
        now: Timestamp,
        worker: &Worker<'_>,
        metrics: &Metrics,
    ) -> Vec<Released> {
        match self.doubt.question {
            Question::Due { broken_off: 0 } => self.ask_again_in_doubt(now, worker, metrics),
            _ => Vec::new(),
        }
    }

    /// Sends the gateway's own question if it is due, whether or not one has broken off before.
    pub(super) fn ask_again_in_doubt(
        &mut self,
        now: Timestamp,
        worker: &Worker<'_>,
        metrics: &Metrics,
    ) -> Vec<Released> {
        let Question::Due { broken_off } = self.doubt.question else {
            return Vec::new();
        };
        if !self.by_token.is_empty() {
            return Vec::new();
        }
        let Ok(own) = Credentials::random() else {
            return self.end_doubt(Finding::Unknown(Outage::Host), now, worker, metrics);
        };
        match self.endpoint.ask(&own, |call| worker.host().call_out(call)) {
            Ok(token) => {
                let deadline = now.after(self.endpoint.answer_within());
                self.doubt.question = Question::Asked { token, deadline, broken_off };
                Vec::new()
            }
            Err(error) => self.hear_of_doubt(Err(NoAnswer::Final(not_sent(error))), now, worker, metrics),
        }
    }

    /// What has come of the gateway's own question.
    pub(super) fn hear_of_doubt(
        &mut self,
        answer: Result<Decision, NoAnswer>,
        now: Timestamp,
        worker: &Worker<'_>,
        metrics: &Metrics,
    ) -> Vec<Released> {
        let outage = match answer {
            Ok(_) | Err(NoAnswer::Alive(_)) => return self.dispel_doubt(now, worker, metrics),
            Err(NoAnswer::BrokenOff(outage) | NoAnswer::Error(outage)) => {
                if let Question::Asked { broken_off, .. } = self.doubt.question
                    && self.doubt.out.is_none()
                    && broken_off.saturating_add(1) < QUESTIONS
                {
                    self.doubt.question = Question::Due { broken_off: broken_off.saturating_add(1) };
                    return Vec::new();
                }
                outage
            }
            Err(NoAnswer::Final(outage)) => outage,
        };
        if outage.may_open() {
            self.doubt.out = Some(now);
            self.end_doubt(Finding::Out(outage), now, worker, metrics)
        } else {
            self.end_doubt(Finding::Unknown(outage), now, worker, metrics)
        }
    }

    /// The service has answered something: it is not out.
    pub(super) fn dispel_doubt(
        &mut self,
        now: Timestamp,
        worker: &Worker<'_>,
        metrics: &Metrics,
    ) -> Vec<Released> {
        self.doubt.out = None;
        self.end_doubt(Finding::Up, now, worker, metrics)
    }

    /// Tells those who wait for questions without an answer, and sends those that were held back if the service is up.
    fn end_doubt(
        &mut self,
        finding: Finding,
        now: Timestamp,
        worker: &Worker<'_>,
        metrics: &Metrics,
    ) -> Vec<Released> {
        if self.doubt.is_over() {
            return Vec::new();
        }
        self.doubt.question = Question::None;
        let is_idle = |stage| !matches!(stage, Stage::UnderWay { .. });
        let idle = self.inquiries.iter().filter(|(_, inquiry)| is_idle(inquiry.stage));
        let idle: Vec<(Key, Stage)> = idle.map(|(key, inquiry)| (*key, inquiry.stage)).collect();
        let mut released = Vec::new();
        for (key, stage) in idle {
            let verification = match (finding, stage) {
                (Finding::Up, Stage::HeldBack) => match self.ask_client(key, now, worker, metrics) {
                    Ok(()) => continue,
                    Err(outage) => self.without_answer(&key, outage, now, worker.host(), metrics),
                },
                (Finding::Up, _) => self.without_answer(&key, Outage::ServiceUp, now, worker.host(), metrics),
                (Finding::Unknown(why), _) => self.without_answer(&key, why, now, worker.host(), metrics),
                // It has been counted.
                (Finding::Out(_), Stage::Failed(outage)) | (Finding::Out(outage), _) => {
                    self.fall_back(&key, outage, now, worker.host(), metrics)
                }
            };
            released.extend(self.settle(&key, &verification));
        }
        released
    }
}
