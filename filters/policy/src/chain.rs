//! Policies in order, and how a message passes through them.

use core::ops::RangeInclusive;
use core::time::Duration;
use std::rc::Rc;

use portcullis_xml::Limits;

use crate::config::ConfigError;
use crate::exchange::{Exchange, ExchangeId, Outcome, Worker};
use crate::host::Direction;
use crate::interface::{self, Interface};
use crate::link::{Link, PolicyLink};
use crate::most_memory::{self, MostMemory};
use crate::own_headers::OwnHeaders;
use crate::passage::{Answer, Passage, Progress, Stage};
use crate::policy::{CallOutReply, Callbacks, EndOfStream, Flow, Policy, SecretName, Shutdown};

/// Policies in order. A policy that waits stops a message exactly there, and it goes on exactly there.
#[derive(Default)]
pub struct Chain {
    links: Vec<Box<dyn Link>>,
    /// The callbacks that the policies need as they are configured, taken together.
    callbacks: Callbacks,
    secret_names: Vec<SecretName>,
    own_headers: OwnHeaders,
    interfaces: Vec<Interface>,
    /// For each policy, the limits within which the next one behind it that makes trees of requests does so.
    documents_wanted: Vec<Option<Rc<Limits>>>,
    max_exchange_bytes: ExchangeLimit,
    /// What each policy may take of memory besides.
    most_memory: Vec<(&'static str, MostMemory)>,
}

/// What all open exchanges of a worker may take of its memory, in bytes: headers, and what the policies keep of them.
#[derive(Debug, Clone, Copy)]
struct ExchangeLimit(usize);

impl Default for ExchangeLimit {
    fn default() -> Self {
        Self(Chain::DEFAULT_EXCHANGE_BYTES)
    }
}

impl Chain {
    /// A chain without policies: everything passes.
    pub fn new() -> Self {
        Self::default()
    }

    /// What all open exchanges of a worker may take of its memory, in bytes, if nobody says otherwise.
    pub const DEFAULT_EXCHANGE_BYTES: usize = 64 << 20;

    /// What that may be set to: a module's memory is 1 GiB at most, and messages that are being read take of it too.
    pub const EXCHANGE_BYTES: RangeInclusive<usize> = 1 << 20..=128 << 20;

    /// Sets what all open exchanges of a worker may take of its memory, in bytes. Further ones are refused with 503.
    #[must_use]
    pub fn with_max_exchange_bytes(mut self, most: usize) -> Self {
        self.max_exchange_bytes = ExchangeLimit(most);
        self
    }

    /// What all open exchanges of a worker may take of its memory, in bytes.
    pub(crate) fn max_exchange_bytes(&self) -> usize {
        self.max_exchange_bytes.0
    }

    /// What every open exchange takes of memory, in bytes: the engine's own part is `slot`.
    pub(crate) fn footprint(&self, slot: usize) -> usize {
        let policies = self.links.len();
        let states = self.links.iter().fold(0usize, |sum, link| sum.saturating_add(link.state_size()));
        // Two passages, an outcome of each policy, and the entry of the table of exchanges with its spare room.
        let each = size_of::<Stage>().saturating_mul(2).saturating_add(size_of::<Outcome>());
        slot.saturating_add(states).saturating_add(policies.saturating_mul(each)).saturating_add(32)
    }

    /// Whether a policy, as it is configured, has a callback in which it may ask for the request's headers once the request
    /// has passed all policies.
    pub(crate) fn looks_back(&self) -> bool {
        self.callbacks
            .intersects(Callbacks::RESPONSE_HEADERS.and(Callbacks::RESPONSE_BODY).and(Callbacks::LOG))
    }

    /// Appends a policy.
    #[must_use]
    pub fn then<P: Policy>(mut self, policy: P) -> Self {
        self.callbacks = self.callbacks.and(policy.callbacks());
        let secret_names = policy.secret_names();
        self.own_headers.add(policy.own_headers(), &secret_names);
        self.secret_names.extend(secret_names);
        self.most_memory.push((P::NAME, policy.most_memory()));
        let interface = Interface::of(&policy);
        if interface.reads_reserved() {
            self.own_headers.guard_reserved();
        }
        self.interfaces.push(interface);
        if let Some(limits) = policy.document_limits().map(Rc::new) {
            for wanted in self.documents_wanted.iter_mut().filter(|wanted| wanted.is_none()) {
                *wanted = Some(Rc::clone(&limits));
            }
        }
        self.documents_wanted.push(None);
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

    /// Checks that no policy gets in another one's way, and that all together do with the memory of a VM.
    ///
    /// # Errors
    /// Which one does: it reads what only a later one sets, or sets what another one sets or reads secrets from. Or that
    /// the chain could take more memory than it may.
    pub fn check(&self) -> Result<(), ConfigError> {
        interface::check(&self.interfaces)?;
        self.check_memory()
    }

    /// Checks that the policies, as they are configured, do with the memory of a VM.
    ///
    /// # Errors
    /// That they could take more.
    pub(crate) fn check_memory(&self) -> Result<(), ConfigError> {
        most_memory::check(&self.most_memory, self.max_exchange_bytes())
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
        passage.begin(end, self.links.len());
        if let Some(request) = seen_by {
            let is_held_back = request.is_held_back();
            for (stage, request) in passage.stages.iter_mut().zip(&request.stages) {
                let refused = is_held_back && !request.answer.lets_pass();
                if !request.headers_seen || refused {
                    stage.answer = Answer::PassesRest;
                }
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
        if passage.progress == Progress::Unwatched {
            passage.release(Progress::Unwatched);
            return Flow::Continue;
        }
        if !self.concerns(at) {
            passage.pass_unseen();
            return Flow::Continue;
        }
        let mut progress = Progress::Unwatched;
        let mut policies = self.links.iter_mut().enumerate();
        while let Some((place, link)) = match at {
            Direction::Request => policies.next(),
            Direction::Response => policies.next_back(),
        } {
            exchange.document_wanted = self.documents_wanted.get(place).cloned().flatten();
            match passage.show(place, link.as_mut(), slot, at, exchange) {
                Flow::Continue => progress = Progress::Watched,
                Flow::PassRest => {}
                stop => return stop,
            }
        }
        passage.release(progress);
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
            Flow::Continue | Flow::PassRest | Flow::NeedBody => self.advance(slot, passage, at, exchange),
        }
    }
}
