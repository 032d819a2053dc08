//! Policies in order, and how a message passes through them.

use core::time::Duration;

use crate::config::ConfigError;
use crate::exchange::{Exchange, ExchangeId, Worker};
use crate::host::{Direction, Level};
use crate::link::{Link, PolicyLink};
use crate::own_headers::OwnHeaders;
use crate::policy::{BodyEvent, CallOutReply, Callbacks, EndOfStream, Flow, Policy, SecretName, Shutdown};
use crate::reply::Reply;

/// Policies in order. A policy that waits stops a message exactly there, and it goes on exactly there.
#[derive(Default)]
pub struct Chain {
    links: Vec<Box<dyn Link>>,
    /// The callbacks that the policies need as they are configured, taken together.
    callbacks: Callbacks,
    secret_names: Vec<SecretName>,
    own_headers: OwnHeaders,
}

impl Chain {
    /// A chain without policies: everything passes.
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends a policy.
    #[must_use]
    pub fn then<P: Policy>(mut self, policy: P) -> Self {
        self.callbacks = self.callbacks.and(policy.callbacks());
        self.secret_names.extend(policy.secret_names());
        self.own_headers.add(policy.own_headers());
        self.links.push(Box::new(PolicyLink::new(policy)));
        self
    }

    /// Appends the policy that `document` configures.
    ///
    /// # Errors
    /// What is wrong with the document.
    pub fn then_configured<P: Policy>(self, document: &[u8]) -> Result<Self, ConfigError> {
        let config = crate::config::parse::<P::Config>(document)?;
        Ok(self.then(P::from_config(config)?))
    }

    /// The policies' names in order.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.links.iter().map(|link| link.name())
    }

    /// The names that the policies own; they are the engine's to guard, and the chain keeps none.
    pub(crate) fn take_own_headers(&mut self) -> OwnHeaders {
        core::mem::take(&mut self.own_headers)
    }

    /// The name of the policy that holds the message because it needs more of its body.
    pub(crate) fn needing_body(&self, passage: &Passage) -> Option<&'static str> {
        let mut stages = self.links.iter().zip(&passage.stages);
        stages.find(|(_, stage)| stage.answer == Answer::NeedsBody).map(|(link, _)| link.name())
    }

    pub(crate) fn start(&mut self, worker: &mut Worker<'_>) -> Result<(), ConfigError> {
        let names: Vec<_> = self.names().collect();
        worker.secret_names.clone_from(&self.secret_names);
        self.links.iter_mut().enumerate().try_for_each(|(at, link)| {
            worker.link = at;
            worker.instance = names.iter().take(at).filter(|name| **name == link.name()).count();
            link.start(worker)
        })
    }

    /// Whether any policy needs something of the messages of this direction.
    fn concerns(&self, direction: Direction) -> bool {
        self.callbacks.intersects(match direction {
            Direction::Request => Callbacks::REQUEST_HEADERS.and(Callbacks::REQUEST_BODY),
            Direction::Response => Callbacks::RESPONSE_HEADERS.and(Callbacks::RESPONSE_BODY),
        })
    }

    /// Asks every policy, for each may have something to send before the end.
    pub(crate) fn shutdown(&mut self, worker: &mut Worker<'_>) -> Shutdown {
        let mut all = Shutdown::Done;
        for (at, link) in self.links.iter_mut().enumerate() {
            worker.link = at;
            if link.shutdown(worker) == Shutdown::Pending {
                all = Shutdown::Pending;
            }
        }
        all
    }

    pub(crate) fn tick_period(&self) -> Option<Duration> {
        self.links.iter().filter_map(|link| link.tick_period()).min()
    }

    pub(crate) fn tick(&mut self, worker: &mut Worker<'_>) {
        for (at, link) in self.links.iter_mut().enumerate() {
            worker.link = at;
            link.tick(worker);
        }
    }

    /// Offers the reply to each policy: tokens are unique in the worker, and a policy knows its own.
    pub(crate) fn call_out_reply(&mut self, reply: CallOutReply, worker: &mut Worker<'_>) {
        for (at, link) in self.links.iter_mut().enumerate() {
            worker.link = at;
            link.call_out_reply(reply, worker);
        }
    }

    pub(crate) fn open(&mut self, slot: usize) {
        for link in &mut self.links {
            link.open(slot);
        }
    }

    pub(crate) fn log(&mut self, slot: usize, exchange: &mut Exchange<'_>) {
        for (at, link) in self.links.iter_mut().enumerate() {
            exchange.link = at;
            link.log(slot, exchange);
        }
    }

    pub(crate) fn close(&mut self, slot: usize, id: ExchangeId) {
        for link in &mut self.links {
            link.close(slot, id);
        }
    }

    /// Begins a passage for a message whose headers have come, through the policies that `seen_by` picks.
    pub(crate) fn begin(&self, passage: &mut Passage, end: EndOfStream, seen_by: Option<&Passage>) {
        passage.held = 0;
        passage.ended = end == EndOfStream::Yes;
        passage.has_trailers = false;
        passage.went_on = false;
        passage.stages.clear();
        passage.stages.resize(self.links.len(), Stage::default());
        if let Some(request) = seen_by {
            let is_held_back = request.is_held_back();
            for (stage, request) in passage.stages.iter_mut().zip(&request.stages) {
                stage.skipped = !request.headers_seen || (is_held_back && request.answer != Answer::Passes);
            }
        }
    }

    /// Takes the message as far as it will go: each policy in turn gets what it has not seen yet, until one does
    /// not let it pass.
    pub(crate) fn advance(
        &mut self,
        slot: usize,
        passage: &mut Passage,
        at: Direction,
        exchange: &mut Exchange<'_>,
    ) -> Flow {
        if !self.concerns(at) {
            passage.pass_unseen();
            return Flow::Continue;
        }
        let Passage { stages, held, ended, has_trailers, .. } = passage;
        let input = Input { held: *held, ended: *ended, has_trailers: *has_trailers };
        let mut policies = self.links.iter_mut().zip(stages.iter_mut()).enumerate();
        while let Some((place, (link, stage))) = match at {
            Direction::Request => policies.next(),
            Direction::Response => policies.next_back(),
        } {
            exchange.link = place;
            match stage.take(input, link.as_mut(), slot, at, exchange) {
                Flow::Continue => {}
                stop => return stop,
            }
        }
        passage.release();
        Flow::Continue
    }

    /// Lets the policy at `place`, which waits, decide, and takes the message on from there.
    pub(crate) fn wake(
        &mut self,
        place: usize,
        slot: usize,
        passage: &mut Passage,
        at: Direction,
        exchange: &mut Exchange<'_>,
    ) -> Flow {
        let (Some(link), Some(stage)) = (self.links.get_mut(place), passage.stages.get_mut(place)) else {
            return Flow::Wait;
        };
        exchange.link = place;
        match stage.heed(link.wake(slot, exchange)) {
            Flow::Reply(reply) => Flow::Reply(reply),
            Flow::Wait => Flow::Wait,
            Flow::Continue | Flow::NeedBody => self.advance(slot, passage, at, exchange),
        }
    }
}

/// How far one message of an exchange has come.
#[derive(Debug, Default)]
pub(crate) struct Passage {
    /// One for each policy of the chain.
    stages: Vec<Stage>,
    /// Bytes of body in the host's buffer.
    held: usize,
    ended: bool,
    has_trailers: bool,
    /// The host has passed on at least its headers.
    went_on: bool,
}

impl Passage {
    pub(crate) fn has_begun(&self) -> bool {
        !self.stages.is_empty()
    }

    pub(crate) fn reset(&mut self) {
        self.stages.clear();
    }

    /// Whether a policy still holds all of the message.
    pub(crate) fn is_held_back(&self) -> bool {
        self.has_begun() && !self.went_on
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

    pub(crate) fn trailers_came(&mut self) {
        self.has_trailers = true;
        self.ended = true;
    }

    /// No policy wants to see the message: it counts as seen by all.
    fn pass_unseen(&mut self) {
        self.release();
        for stage in &mut self.stages {
            stage.headers_seen = true;
        }
    }

    /// The host passes on what it held: the next piece of body starts an empty buffer.
    fn release(&mut self) {
        self.went_on = true;
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
struct Stage {
    /// The policy is left out of this passage: it has not seen the request.
    skipped: bool,
    headers_seen: bool,
    body_seen: usize,
    end_seen: bool,
    trailers_seen: bool,
    answer: Answer,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Answer {
    #[default]
    Passes,
    Waits,
    NeedsBody,
}

impl Stage {
    /// Gives the policy whatever is new to it, piece by piece, until it stops the message or has seen all.
    fn take(
        &mut self,
        input: Input,
        link: &mut dyn Link,
        slot: usize,
        at: Direction,
        exchange: &mut Exchange<'_>,
    ) -> Flow {
        if self.skipped {
            return Flow::Continue;
        }
        if self.answer == Answer::Waits {
            return Flow::Wait;
        }
        loop {
            let flow = if !self.headers_seen {
                self.headers_seen = true;
                self.end_seen = input.ended && !input.has_trailers && input.held == 0;
                link.headers(slot, exchange, at, EndOfStream::from(self.end_seen))
            } else if self.body_seen < input.held || (input.ended && !input.has_trailers && !self.end_seen) {
                let fresh = self.body_seen.min(input.held)..input.held;
                self.body_seen = input.held;
                self.end_seen = input.ended && !input.has_trailers;
                let end = EndOfStream::from(self.end_seen);
                link.body(slot, exchange, at, BodyEvent { fresh, end })
            } else if input.has_trailers && !self.trailers_seen {
                self.trailers_seen = true;
                link.trailers(slot, exchange, at)
            } else {
                break;
            };
            match self.heed(flow) {
                Flow::Continue | Flow::NeedBody => {}
                stop => return stop,
            }
        }
        match self.answer {
            Answer::Passes => Flow::Continue,
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

    fn heed(&mut self, flow: Flow) -> Flow {
        self.answer = match flow {
            Flow::Wait => Answer::Waits,
            Flow::NeedBody => Answer::NeedsBody,
            Flow::Continue | Flow::Reply(_) => Answer::Passes,
        };
        flow
    }
}
