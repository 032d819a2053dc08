//! Runs a chain for one worker, driven by the host's callbacks.

use core::hash::{BuildHasherDefault, Hasher};
use std::collections::HashMap;

use crate::body_watch::{BodyWatch, starvation};
use crate::chain::Chain;
use crate::config::ConfigError;
use crate::exchange::{Exchange, ExchangeId, Outcome, Verdict, Wake, Worker};
use crate::held_memory::ExchangeMemory;
use crate::host::{Direction, Focus, Level, Platform};
use crate::metrics::Counter;
use crate::own_headers::{self, OwnHeaders};
use crate::policy::{CallOutReply, EndOfStream, Flow, Shutdown};
use crate::reply::{RenderedReply, Reply};
use crate::slot::{Arrival, Replied, Slot};
use crate::time::Timestamp;

/// What the host shall do when a callback of an exchange returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// Pass on what it has.
    Continue,
    /// Hold what it has, until resumed or replied to.
    Hold,
}

/// A chain at work: its exchanges, and who of them waits.
pub struct Engine {
    chain: Chain,
    own_headers: OwnHeaders,
    body_watch: BodyWatch,
    exchanges: HashMap<ExchangeId, Place, BuildHasherDefault<SequentialIdHasher>>,
    slots: Vec<Slot>,
    free: Vec<usize>,
    wakes: Vec<Wake>,
    life: Life,
    memory: MemoryLimit,
}

/// Where the engine keeps an exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// In this slot.
    Slot(usize),
    /// Nowhere: it is refused, for there was no memory left for it. Only its number is known, so that it is not taken for
    /// one that the host has never announced.
    Refused,
}

impl Place {
    fn slot(self) -> Option<usize> {
        match self {
            Self::Slot(index) => Some(index),
            Self::Refused => None,
        }
    }
}

/// What the log says of an exchange for which there was no memory.
const OUT_OF_MEMORY: Outcome =
    Outcome { policy: "engine", verdict: Verdict::FailedClosed, reason: "memory-full" };

/// What open exchanges may take of the worker's memory, and what comes of those that would take more.
struct MemoryLimit {
    /// What each takes at least, in bytes.
    footprint: usize,
    /// What all together may take, in bytes.
    most: usize,
    refused: Counter,
    /// Written once: a refusal costs neither a look at the request nor memory.
    refusal: RenderedReply,
}

impl MemoryLimit {
    fn of(chain: &Chain) -> Self {
        let refusal = Reply::new(503, "Service Unavailable", "portcullis_memory_full")
            .with_detail("The gateway holds too many requests.");
        Self {
            footprint: chain.footprint(size_of::<Slot>()),
            most: chain.max_exchange_bytes(),
            refused: Counter::default(),
            refusal: refusal.render(None),
        }
    }

    /// Whether there is room for another exchange.
    fn has_room(&self) -> bool {
        ExchangeMemory::of_worker().saturating_add(self.footprint) <= self.most
    }
}

/// Whether the plugin is about to end.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Life {
    #[default]
    Running,
    /// The host waits until the policies have done what they have left to do.
    Ending,
    Ended,
}

impl Engine {
    /// An engine that runs `chain`; [`start`](Engine::start) it before its first exchange.
    pub fn new(mut chain: Chain) -> Self {
        Self {
            own_headers: chain.take_own_headers(),
            memory: MemoryLimit::of(&chain),
            chain,
            body_watch: BodyWatch::default(),
            exchanges: HashMap::default(),
            slots: Vec::new(),
            free: Vec::new(),
            wakes: Vec::new(),
            life: Life::Running,
        }
    }

    /// Starts the policies and the tick.
    ///
    /// # Errors
    /// The first policy's refusal: the host lacks something that its configuration needs. Or that the chain could take more
    /// memory than it may.
    pub fn start(&mut self, platform: &dyn Platform) -> Result<(), ConfigError> {
        self.chain.check_memory()?;
        if platform.now() == Timestamp::END {
            let problem =
                "the host does not tell the time; grant the capability proxy_get_current_time_nanoseconds";
            return Err(ConfigError::new("", problem));
        }
        self.memory.refused = Counter::define(platform.as_host(), "engine", "memory_refused");
        let mut wakes = core::mem::take(&mut self.wakes);
        let started = self.chain.start(&mut Worker::new(platform, &mut wakes));
        self.wakes = wakes;
        started?;
        if let Some(period) = self.chain.tick_period() {
            platform.tick_every(period).map_err(|error| {
                let problem = format!("the host refused a periodic tick, which is needed: {error}");
                ConfigError::new("", problem)
            })?;
            self.body_watch.tick_is_on();
        }
        Ok(())
    }

    /// A new exchange begins. It is refused when its headers come if the open ones take all the memory that they may.
    pub fn open(&mut self, platform: &dyn Platform, id: ExchangeId) {
        // A host that uses an identifier again has forgotten to say that the exchange before is over.
        self.close(platform, id);
        if self.memory.has_room() {
            self.open_slot_for(id);
        } else {
            self.exchanges.insert(id, Place::Refused);
        }
    }

    fn open_slot_for(&mut self, id: ExchangeId) {
        let slot = self.free.pop().unwrap_or(self.slots.len());
        if slot == self.slots.len() {
            self.slots.push(Slot::default());
        }
        if let Some(slot) = self.slots.get_mut(slot) {
            slot.id = id;
            slot.facts.begin(self.memory.footprint, self.memory.most);
        }
        self.chain.open(slot);
        self.exchanges.insert(id, Place::Slot(slot));
    }

    /// Whether the exchange is open here.
    pub fn has(&self, id: ExchangeId) -> bool {
        self.exchanges.contains_key(&id)
    }

    /// How many exchanges are open.
    pub fn open_exchanges(&self) -> usize {
        self.exchanges.len()
    }

    /// Headers came.
    pub fn on_headers(
        &mut self,
        platform: &dyn Platform,
        id: ExchangeId,
        direction: Direction,
        end: EndOfStream,
    ) -> Next {
        self.on_arrival(platform, id, direction, Arrival::Headers(end))
    }

    /// Body came: the host's buffer now holds `held` bytes that have not been passed on.
    pub fn on_body(
        &mut self,
        platform: &dyn Platform,
        id: ExchangeId,
        direction: Direction,
        held: usize,
        end: EndOfStream,
    ) -> Next {
        if self.open_slot(id).is_some_and(|slot| slot.lets_rest_pass(direction)) {
            return Next::Continue;
        }
        self.on_arrival(platform, id, direction, Arrival::Body { held, end })
    }

    fn open_slot(&mut self, id: ExchangeId) -> Option<&mut Slot> {
        self.exchanges.get(&id).and_then(|place| self.slots.get_mut(place.slot()?))
    }

    /// Trailers came.
    pub fn on_trailers(&mut self, platform: &dyn Platform, id: ExchangeId, direction: Direction) -> Next {
        self.on_arrival(platform, id, direction, Arrival::Trailers)
    }

    fn on_arrival(
        &mut self,
        platform: &dyn Platform,
        id: ExchangeId,
        direction: Direction,
        arrival: Arrival,
    ) -> Next {
        let Self { chain, own_headers, body_watch, exchanges, slots, wakes, .. } = self;
        let place = exchanges.get(&id).copied();
        let Some((index, slot)) = place.and_then(Place::slot).and_then(|at| Some((at, slots.get_mut(at)?)))
        else {
            if place == Some(Place::Refused) {
                return self.refuse_for_memory(platform, direction, arrival);
            }
            // The host speaks of an exchange that it never announced. Nobody has looked at it, so it stays out.
            platform.log(Level::Error, "callback for an unknown exchange; it is refused");
            let _ = platform.reply(&Reply::internal_error().render(None));
            return Next::Hold;
        };
        if slot.replied.ends(direction) {
            return Next::Hold;
        }
        slot.take_in(direction, arrival, chain);
        if !slot.passage(direction).has_begun() {
            // A body without headers (the headers callback is not exported, say) concerns no policy.
            return Next::Continue;
        }
        starvation::note_delivery(slot, direction, arrival, body_watch, platform);
        let Slot { facts, request, response, replied, request_supply, response_supply, .. } = slot;
        let (passage, supply) = match direction {
            Direction::Request => (request, request_supply),
            Direction::Response => (&mut *response, response_supply),
        };
        let mut exchange = Exchange::new(platform, id, facts, wakes, own_headers);
        let flow = match own_headers::guard(direction, arrival, &mut exchange) {
            Ok(()) => chain.advance(index, passage, direction, &mut exchange),
            Err(refusal) => Flow::Reply(refusal),
        };
        let policy = chain.needing_body(passage);
        let next = match starvation::checked(flow, direction, policy, (body_watch, supply), &mut exchange) {
            Flow::Continue | Flow::PassRest => Next::Continue,
            Flow::Wait | Flow::NeedBody => Next::Hold,
            Flow::Reply(reply) => {
                *replied = Replied::in_place_of(response);
                send(platform, &mut exchange, &reply);
                Next::Hold
            }
        };
        slot.settle(chain);
        self.deliver_wakes(platform, Some((id, direction))).unwrap_or(next)
    }

    /// What becomes of an exchange for which there was no memory: its request gets the prepared reply and goes nowhere, and
    /// that reply passes.
    fn refuse_for_memory(&self, platform: &dyn Platform, direction: Direction, arrival: Arrival) -> Next {
        match (direction, arrival) {
            (Direction::Response, _) => return Next::Continue,
            (Direction::Request, Arrival::Headers(_)) => {
                self.memory.refused.increment(platform.as_host());
                send_rendered(platform, &self.memory.refusal);
            }
            (Direction::Request, Arrival::Body { .. } | Arrival::Trailers) => {}
        }
        Next::Hold
    }

    /// The reply to a call-out came, or the news that there is none (no headers).
    pub fn on_call_out_reply(&mut self, platform: &dyn Platform, reply: CallOutReply) {
        let Self { chain, wakes, .. } = self;
        chain.call_out_reply(reply, &mut Worker::new(platform, wakes));
        self.deliver_wakes(platform, None);
        self.try_to_end(platform);
    }

    /// The tick came.
    pub fn on_tick(&mut self, platform: &dyn Platform) {
        let Self { chain, wakes, .. } = self;
        chain.tick(&mut Worker::new(platform, wakes));
        self.deliver_wakes(platform, None);
        let Self { chain, own_headers, body_watch, slots, wakes, .. } = self;
        starvation::refuse_the_starved(slots, body_watch, chain, own_headers, wakes, platform);
        self.try_to_end(platform);
    }

    /// The plugin is about to end. If the answer is [`Shutdown::Pending`], the host should wait until the engine tells
    /// it that the [shutdown is complete](crate::host::Steering::shutdown_complete).
    pub fn on_shutdown(&mut self, platform: &dyn Platform) -> Shutdown {
        let Self { chain, wakes, .. } = self;
        let answer = chain.shutdown(&mut Worker::new(platform, wakes));
        self.life = match answer {
            Shutdown::Done => Life::Ended,
            Shutdown::Pending => Life::Ending,
        };
        self.deliver_wakes(platform, None);
        answer
    }

    fn try_to_end(&mut self, platform: &dyn Platform) {
        if self.life == Life::Ending
            && self.on_shutdown(platform) == Shutdown::Done
            && let Err(error) = platform.shutdown_complete()
        {
            platform.log(Level::Warn, &format!("the host was not told of the end: {error}"));
        }
    }

    /// The exchange is over, and it is time to log it.
    pub fn on_log(&mut self, platform: &dyn Platform, id: ExchangeId) {
        let place = self.exchanges.get(&id).copied();
        if place == Some(Place::Refused) {
            // It gets its lines all the same, and has a slot for as long as that takes.
            self.open_slot_for(id);
            if let Some(slot) = self.open_slot(id) {
                slot.facts.outcomes.push(OUT_OF_MEMORY);
            }
        }
        let Self { chain, own_headers, exchanges, slots, wakes, .. } = self;
        let place = exchanges.get(&id).and_then(|place| place.slot());
        let Some((index, slot)) = place.and_then(|at| Some((at, slots.get_mut(at)?))) else {
            return;
        };
        let facts = &mut slot.facts;
        chain.log(index, &mut Exchange::new(platform, id, facts, wakes, own_headers));
    }

    /// Logs an exchange of which nothing else comes here: the host uses the plugin as an access logger and calls it
    /// in the plugin's own name, `plugin`.
    pub fn on_log_alone(&mut self, platform: &dyn Platform, plugin: ExchangeId) {
        self.open(platform, plugin);
        self.on_log(platform, plugin);
        self.close(platform, plugin);
    }

    /// The host forgets the exchange.
    pub fn close(&mut self, platform: &dyn Platform, id: ExchangeId) {
        let Some(index) = self.exchanges.remove(&id).and_then(Place::slot) else {
            return;
        };
        self.chain.close(index, id);
        if let Some(slot) = self.slots.get_mut(index) {
            slot.reset();
        }
        self.free.push(index);
        self.deliver_wakes(platform, None);
    }

    /// Lets woken exchanges decide, in the order of their waking. Deciding may wake others; policies that wake each
    /// other without end get their turns one callback at a time, so that they cannot occupy the worker.
    ///
    /// The message that is `arriving` is not resumed, for its callback still runs, and a host may hold it all the
    /// same when that returns (Envoy does, a response): if it has been woken and may go on, this says so.
    fn deliver_wakes(
        &mut self,
        platform: &dyn Platform,
        arriving: Option<(ExchangeId, Direction)>,
    ) -> Option<Next> {
        const ROUNDS: usize = 16;
        let mut next = None;
        for _ in 0..ROUNDS {
            if self.wakes.is_empty() {
                break;
            }
            for wake in core::mem::take(&mut self.wakes) {
                let Some(direction) = self.wake(platform, wake) else {
                    continue;
                };
                if arriving == Some((wake.id, direction)) {
                    next = Some(Next::Continue);
                } else if let Err(error) = platform.resume(direction) {
                    platform.log(Level::Warn, &format!("the host did not resume an exchange: {error}"));
                }
            }
        }
        next
    }

    /// Lets a policy decide on an exchange that waits for it; says which of its messages may go on.
    fn wake(&mut self, platform: &dyn Platform, Wake { id, link }: Wake) -> Option<Direction> {
        let Self { chain, own_headers, body_watch, exchanges, slots, wakes, .. } = self;
        let index = exchanges.get(&id)?.slot()?;
        let slot = slots.get_mut(index)?;
        let Slot { facts, request, response, replied, request_supply, response_supply, .. } = &mut *slot;
        let direction = [Direction::Response, Direction::Request].into_iter().find(|direction| {
            let passage = match direction {
                Direction::Request => &*request,
                Direction::Response => &*response,
            };
            passage.waits_for(link) && !replied.ends(*direction)
        })?;
        // The host may have dropped it without a word, as it does with aborted requests; `close` will come or not.
        platform.focus(Focus::Exchange(id)).ok()?;
        let mut exchange = Exchange::new(platform, id, facts, wakes, own_headers);
        exchange.link = link;
        let (passage, supply) = match direction {
            Direction::Request => (request, request_supply),
            Direction::Response => (&mut *response, response_supply),
        };
        let flow = chain.wake(link, index, passage, direction, &mut exchange);
        let policy = chain.needing_body(passage);
        let passes = match starvation::checked(flow, direction, policy, (body_watch, supply), &mut exchange) {
            Flow::Continue | Flow::PassRest => Some(direction),
            Flow::Wait | Flow::NeedBody => None,
            Flow::Reply(reply) => {
                *replied = Replied::in_place_of(response);
                send(platform, &mut exchange, &reply);
                None
            }
        };
        slot.settle(chain);
        passes
    }
}

/// Sends a reply to the exchange in focus.
pub(crate) fn send(platform: &dyn Platform, exchange: &mut Exchange<'_>, reply: &Reply) {
    let rendered = reply.render(exchange.request_headers().ok());
    send_rendered(platform, &rendered);
}

fn send_rendered(platform: &dyn Platform, reply: &RenderedReply) {
    if let Err(error) = platform.reply(reply) {
        // The exchange stays held, so nothing slips through; the host's own timeout ends it.
        platform.log(Level::Error, &format!("the host did not send a reply: {error}"));
    }
}

/// Hosts number exchanges one after the other, so the number itself spreads well over a table's buckets; the
/// multiplication (by 2^32 over the golden ratio) sets the high bits, which the table also uses.
#[derive(Default)]
struct SequentialIdHasher(u64);

impl Hasher for SequentialIdHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u32(u32::from(*byte));
        }
    }

    fn write_u32(&mut self, id: u32) {
        self.0 = (self.0 ^ u64::from(id)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }
}

#[cfg(test)]
mod tests {
    use core::hash::BuildHasher;
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn spreads_exchanges_that_follow_each_other_over_its_table() {
        let hasher = BuildHasherDefault::<SequentialIdHasher>::default();
        let hashes: Vec<u64> = (1..=256).map(|id| hasher.hash_one(ExchangeId(id))).collect();
        // A table finds the bucket by the low bits, and tells those in it apart by the highest seven.
        let buckets: HashSet<u64> = hashes.iter().map(|hash| hash % 256).collect();
        let tags: HashSet<u64> = hashes.iter().map(|hash| hash >> 57).collect();
        assert_eq!((buckets.len(), tags.len()), (256, 128));
        assert_ne!(hasher.hash_one("a"), hasher.hash_one("b"));
    }
}
