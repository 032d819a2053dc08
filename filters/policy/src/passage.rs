//! How far one message has come on its way through the policies of a chain.

use crate::exchange::Exchange;
use crate::host::{Direction, Level};
use crate::link::Link;
use crate::policy::{BodyEvent, EndOfStream, Flow};
use crate::reply::Reply;

/// How far one message of an exchange has come.
#[derive(Debug, Default)]
pub(crate) struct Passage {
    /// One for each policy of the chain.
    pub(crate) stages: Vec<Stage>,
    /// Bytes of body in the host's buffer.
    held: usize,
    ended: bool,
    has_trailers: bool,
    pub(crate) progress: Progress,
}

/// Whether the host has passed on anything of a message.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Progress {
    /// A policy still holds all of it.
    #[default]
    Held,
    /// At least its headers went on, and some policy sees what follows.
    Watched,
    /// At least its headers went on, and what follows does so without being shown to any policy.
    Unwatched,
}

impl Passage {
    /// A message's headers have come, for so many policies to see.
    pub(crate) fn begin(&mut self, end: EndOfStream, policies: usize) {
        self.held = 0;
        self.ended = end == EndOfStream::Yes;
        self.has_trailers = false;
        self.progress = Progress::Held;
        self.stages.clear();
        self.stages.resize(policies, Stage::default());
    }

    /// Shows the policy at `place` what is new to it.
    pub(crate) fn show(
        &mut self,
        place: usize,
        link: &mut dyn Link,
        slot: usize,
        at: Direction,
        exchange: &mut Exchange<'_>,
    ) -> Flow {
        let mut input = Input { held: self.held, ended: self.ended, has_trailers: self.has_trailers };
        let Some(stage) = self.stages.get_mut(place) else {
            // There are as many as there are policies, since the passage began.
            return Flow::Reply(Box::new(Reply::internal_error()));
        };
        exchange.link = place;
        let flow = stage.take(&mut input, link, slot, at, exchange);
        self.body_became(input.held);
        flow
    }

    pub(crate) fn has_begun(&self) -> bool {
        !self.stages.is_empty()
    }

    pub(crate) fn reset(&mut self) {
        self.stages.clear();
    }

    /// Whether a policy still holds all of the message.
    pub(crate) fn is_held_back(&self) -> bool {
        self.has_begun() && self.progress == Progress::Held
    }

    /// Whether the rest of the message's body goes on without being shown to any policy.
    pub(crate) fn is_unwatched(&self) -> bool {
        self.has_begun() && self.progress == Progress::Unwatched
    }

    /// Whether the message waits for the policy at `place`.
    pub(crate) fn waits_for(&self, place: usize) -> bool {
        self.stages.get(place).is_some_and(|stage| stage.answer == Answer::Waits)
    }

    /// The host now holds `held` bytes of body.
    pub(crate) fn body_came(&mut self, held: usize, end: EndOfStream) {
        self.held = held;
        self.ended = end == EndOfStream::Yes;
    }

    /// A policy has replaced the body, and the host now holds `held` bytes of it. Policies that had seen all of what was
    /// there before have seen all that is there now.
    fn body_became(&mut self, held: usize) {
        if held != self.held {
            for stage in &mut self.stages {
                if stage.body_seen >= self.held {
                    stage.body_seen = held;
                }
            }
            self.held = held;
        }
    }

    pub(crate) fn trailers_came(&mut self) {
        self.has_trailers = true;
        self.ended = true;
    }

    /// No policy wants to see the message: it counts as seen by all.
    pub(crate) fn pass_unseen(&mut self) {
        self.release(Progress::Unwatched);
        for stage in &mut self.stages {
            stage.headers_seen = true;
        }
    }

    /// The host passes on what it held: the next piece of body starts an empty buffer.
    pub(crate) fn release(&mut self, progress: Progress) {
        self.progress = progress;
        self.held = 0;
        for stage in &mut self.stages {
            stage.body_seen = 0;
        }
    }
}

#[derive(Debug, Clone, Copy)]
struct Input {
    held: usize,
    ended: bool,
    has_trailers: bool,
}

/// How much of a message one policy has seen, and what it answered last.
#[derive(Debug, Clone, Default)]
pub(crate) struct Stage {
    pub(crate) headers_seen: bool,
    body_seen: usize,
    end_seen: bool,
    trailers_seen: bool,
    pub(crate) answer: Answer,
    hold: Hold,
}

/// Whether a policy has held all of a message since its headers came.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Hold {
    /// It has let some of it pass, or would have, but for another policy.
    #[default]
    Partial,
    Whole,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    #[default]
    Passes,
    /// It sees nothing more of the message, or nothing at all: on the response to a request that it has not seen.
    PassesRest,
    Waits,
    NeedsBody,
}

impl Answer {
    pub(crate) fn lets_pass(self) -> bool {
        matches!(self, Self::Passes | Self::PassesRest)
    }
}

impl Stage {
    /// Gives the policy whatever is new to it, piece by piece, until it stops the message or has seen all.
    fn take(
        &mut self,
        input: &mut Input,
        link: &mut dyn Link,
        slot: usize,
        at: Direction,
        exchange: &mut Exchange<'_>,
    ) -> Flow {
        loop {
            match self.answer {
                Answer::PassesRest => return Flow::PassRest,
                Answer::Waits => return Flow::Wait,
                Answer::Passes | Answer::NeedsBody => {}
            }
            let flow = if !self.headers_seen {
                self.headers_seen = true;
                self.end_seen = input.ended && !input.has_trailers && input.held == 0;
                let flow = link.headers(slot, exchange, at, EndOfStream::from(self.end_seen));
                self.hold = if matches!(flow, Flow::NeedBody) { Hold::Whole } else { Hold::Partial };
                match flow {
                    Flow::Continue if !link.reads_on(at) => Flow::PassRest,
                    flow => flow,
                }
            } else if self.body_seen < input.held || (input.ended && !input.has_trailers && !self.end_seen) {
                let fresh = self.body_seen.min(input.held)..input.held;
                self.body_seen = input.held;
                self.end_seen = input.ended && !input.has_trailers;
                let body = BodyEvent { fresh, end: EndOfStream::from(self.end_seen) };
                self.with_body(input, exchange, |exchange| link.body(slot, exchange, at, body))
            } else if input.has_trailers && !self.trailers_seen {
                self.trailers_seen = true;
                self.with_body(input, exchange, |exchange| link.trailers(slot, exchange, at))
            } else {
                break;
            };
            if let Flow::Reply(reply) = self.heed(flow) {
                return Flow::Reply(reply);
            }
        }
        match self.answer {
            Answer::Passes => Flow::Continue,
            Answer::PassesRest => Flow::PassRest,
            Answer::NeedsBody if input.ended => {
                // Nothing more will come, so to hold the message would be to hang it.
                exchange.host().log(
                    Level::Error,
                    &format!(
                        "{}: asked for more of a body that has ended; the exchange is refused",
                        link.name()
                    ),
                );
                Flow::Reply(Box::new(Reply::internal_error()))
            }
            Answer::NeedsBody => Flow::NeedBody,
            Answer::Waits => Flow::Wait,
        }
    }

    /// Runs a callback that may replace the body, if the policy has held all of it.
    fn with_body(
        &mut self,
        input: &mut Input,
        exchange: &mut Exchange<'_>,
        callback: impl FnOnce(&mut Exchange<'_>) -> Flow,
    ) -> Flow {
        exchange.replaceable = (self.hold == Hold::Whole).then_some(input.held);
        let flow = callback(exchange);
        if let Some(held) = exchange.replaceable.take() {
            input.held = held;
            self.body_seen = held;
        }
        if !matches!(flow, Flow::NeedBody) {
            self.hold = Hold::Partial;
        }
        flow
    }

    pub(crate) fn heed(&mut self, flow: Flow) -> Flow {
        self.answer = match flow {
            Flow::Wait => Answer::Waits,
            Flow::NeedBody => Answer::NeedsBody,
            Flow::PassRest => Answer::PassesRest,
            Flow::Continue | Flow::Reply(_) => Answer::Passes,
        };
        flow
    }
}
