//! A request under way, and the records in it.

use portcullis_policy::host::CallToken;
use portcullis_policy::time::MonotonicTime;

use super::collector::Epoch;

/// Records that go together, in one request that may be sent several times.
#[derive(Debug)]
pub(crate) struct Batch {
    /// The request's body.
    pub(crate) body: Vec<u8>,
    /// How many records it has.
    pub(crate) records: usize,
    /// When it is too old to be sent again.
    expires: MonotonicTime,
    stage: Stage,
    /// Attempts whose answer never came, and still might: each has cost a whole timeout, so there are few.
    overdue: Vec<CallToken>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// It has never been sent.
    New,
    /// It has been sent in vain.
    Failed,
    /// It has been sent.
    Sent(Sent),
}

/// An attempt that is under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sent {
    /// The host's name for it.
    pub(crate) token: CallToken,
    /// When its answer is given up.
    pub(crate) deadline: MonotonicTime,
    /// What was known of the collector when it was sent.
    pub(crate) epoch: Epoch,
}

/// Which attempt an answer is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Attempt {
    /// The one that is under way.
    Latest(Epoch),
    /// One that had been given up.
    Earlier,
}

impl Batch {
    pub(crate) fn new(body: Vec<u8>, records: usize, expires: MonotonicTime) -> Self {
        Self { body, records, expires, stage: Stage::New, overdue: Vec::new() }
    }

    /// Whether it waits to be sent.
    pub(crate) fn is_ready(&self) -> bool {
        !matches!(self.stage, Stage::Sent(..))
    }

    /// Whether sending it is a retry.
    pub(crate) fn has_failed(&self) -> bool {
        self.stage == Stage::Failed
    }

    /// Whether it is not to be sent any more.
    pub(crate) fn has_expired(&self, now: MonotonicTime) -> bool {
        self.stage == Stage::Failed && self.expires <= now
    }

    pub(crate) fn sent(&mut self, sent: Sent) {
        self.stage = Stage::Sent(sent);
    }

    /// The attempt under way has failed, or there could be none.
    pub(crate) fn failed(&mut self) {
        self.stage = Stage::Failed;
    }

    /// Gives up the answer if it is overdue, and says in which epoch that attempt was sent.
    pub(crate) fn give_up(&mut self, now: MonotonicTime) -> Option<Epoch> {
        match self.stage {
            Stage::Sent(sent) if sent.deadline <= now => {
                self.overdue.push(sent.token);
                self.stage = Stage::Failed;
                Some(sent.epoch)
            }
            _ => None,
        }
    }

    /// Which of its attempts this token is of, if any.
    pub(crate) fn attempt(&self, token: CallToken) -> Option<Attempt> {
        match self.stage {
            Stage::Sent(latest) if latest.token == token => Some(Attempt::Latest(latest.epoch)),
            _ => self.overdue.contains(&token).then_some(Attempt::Earlier),
        }
    }
}
