//! Many exchanges at once, in random order, against a ledger of what may happen to each.
//!
//! The ledger knows nothing of how the engine works. It is told what the host delivers and what the policies are
//! shown, gives the policies' answers at random, and holds both sides to the contract: every policy sees each part
//! of a message once and in order, none sees anything that the one before it has not let pass, none is called
//! while it waits, and a message goes on exactly when all have let it pass.
// An overflow panics in a test, and fails it, as it should.
#![allow(clippy::arithmetic_side_effects)]

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use portcullis_policy::host::Direction;
use portcullis_policy::{
    BodyEvent, Callbacks, Chain, ConfigError, EndOfStream, Exchange, ExchangeId, Flow, Policy, Reply,
    Worker as PolicyWorker,
};
use portcullis_testkit::inprocess::{Fate, Worker};

const POLICIES: usize = 3;
const OPEN_AT_MOST: usize = 20;
const STEPS: usize = 1_500;
const SEEDS: u64 = 40;

/// xorshift64* (S. Vigna, "An experimental exploration of Marsaglia's xorshift generators, scrambled").
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let high = self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33;
        usize::try_from(high).unwrap() % limit
    }

    fn one_in(&mut self, chances: usize) -> bool {
        self.below(chances) == 0
    }
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Answer {
    #[default]
    Passes,
    Waits,
    NeedsBody,
}

/// What one policy has seen of one message.
#[derive(Debug, Default, Clone)]
struct View {
    headers: bool,
    bytes: usize,
    trailers: bool,
    end: bool,
    answer: Answer,
    wakes: usize,
}

/// One message of an exchange.
#[derive(Debug, Default)]
struct Message {
    headers: bool,
    bytes: usize,
    trailers: bool,
    ended: bool,
    /// Bytes that have gone on.
    passed: usize,
    /// In the order in which policies are called.
    views: [View; POLICIES],
}

impl Message {
    fn first_that_stops_it(&self) -> Option<usize> {
        self.views.iter().position(|view| view.answer != Answer::Passes)
    }

    fn seen_whole_by(&self, view: &View) -> bool {
        view.headers
            && view.bytes == self.bytes
            && view.trailers == self.trailers
            && view.end == (self.ended && !self.trailers)
    }
}

#[derive(Debug, Default)]
struct Life {
    request: Message,
    response: Message,
    replied: bool,
    closed: usize,
}

impl Life {
    fn message(&mut self, direction: Direction) -> &mut Message {
        match direction {
            Direction::Request => &mut self.request,
            Direction::Response => &mut self.response,
        }
    }

    fn waits_at(&self, policy: usize) -> bool {
        self.request.views[policy].answer == Answer::Waits
            || self.response.views[POLICIES - 1 - policy].answer == Answer::Waits
    }
}

/// What a policy is shown.
#[derive(Debug, Clone)]
enum Shown {
    Headers(EndOfStream),
    Body(BodyEvent),
    Trailers,
    Wake,
}

struct Ledger {
    random: Random,
    lives: BTreeMap<ExchangeId, Life>,
    /// Who may be woken in this step.
    woken: Vec<(usize, ExchangeId)>,
}

impl Ledger {
    fn shown(&mut self, id: ExchangeId, policy: usize, direction: Direction, shown: Shown) -> Flow {
        let life = self.lives.get_mut(&id).unwrap();
        assert_eq!(life.closed, 0, "called after the exchange was closed");
        assert!(!life.replied || direction == Direction::Response, "called after a reply");
        let message = life.message(direction);
        let place = if direction == Direction::Request { policy } else { POLICIES - 1 - policy };
        let before = place.checked_sub(1).map(|place| message.views[place].clone());
        let (arrived, ended, trailers, passed) =
            (message.bytes, message.ended, message.trailers, message.passed);
        let view = &mut message.views[place];

        if matches!(shown, Shown::Wake) {
            assert_eq!(view.answer, Answer::Waits, "woken though it does not wait");
            assert!(self.woken.contains(&(policy, id)), "woken though nobody asked for it");
            view.wakes += 1;
        } else {
            assert_ne!(view.answer, Answer::Waits, "called while it waits: {shown:?}");
            assert!(
                before.as_ref().is_none_or(|before| before.answer == Answer::Passes),
                "let through too early"
            );
        }
        match &shown {
            Shown::Headers(end) => {
                assert!(!view.headers, "headers twice");
                assert!(before.is_none_or(|before| before.headers));
                view.headers = true;
                view.end = *end == EndOfStream::Yes;
                assert_eq!(view.end, ended && arrived == 0 && !trailers);
            }
            Shown::Body(BodyEvent { fresh, end }) => {
                assert!(view.headers && !view.trailers && !view.end, "body out of order");
                assert_eq!(fresh.start + passed, view.bytes, "a gap or a repetition");
                view.bytes = fresh.end + passed;
                assert!(view.bytes <= arrived);
                assert!(before.is_none_or(|before| before.bytes >= view.bytes), "body overtakes a policy");
                view.end = *end == EndOfStream::Yes;
                assert_eq!(view.end, ended && !trailers && view.bytes == arrived);
            }
            Shown::Trailers => {
                assert!(view.headers && !view.trailers && !view.end && view.bytes == arrived);
                assert!(before.is_none_or(|before| before.trailers), "trailers overtake a policy");
                view.trailers = true;
            }
            Shown::Wake => {}
        }

        // More body can only be asked for if some may follow; a policy cannot know of trailers that are on their way.
        let more_may_follow = matches!(&shown, Shown::Headers(EndOfStream::No))
            || matches!(&shown, Shown::Body(BodyEvent { end: EndOfStream::No, .. }));
        let view = &mut message.views[place];
        match self.random.below(12) {
            0 | 1 => {
                view.answer = Answer::Waits;
                Flow::Wait
            }
            2 | 3 if more_may_follow => {
                view.answer = Answer::NeedsBody;
                Flow::NeedBody
            }
            4 if direction == Direction::Request && self.random.one_in(3) => {
                view.answer = Answer::Passes;
                life.replied = true;
                Flow::Reply(Box::new(Reply::new(400, "Refused", "test")))
            }
            _ => {
                view.answer = Answer::Passes;
                Flow::Continue
            }
        }
    }

    /// Holds a message to what must be true whenever the host is not in a callback.
    fn check(&mut self, worker: &Worker, id: ExchangeId, direction: Direction) {
        let life = self.lives.get_mut(&id).unwrap();
        let (replied, closed) = (life.replied, life.closed > 0);
        let message = life.message(direction);
        if closed || !message.headers || (replied && direction == Direction::Request) {
            let passed = worker.host.passed_body(id, direction).len();
            assert_eq!(passed, message.passed, "went on after its end");
            return;
        }
        let stopped = message.first_that_stops_it();
        for view in message.views.iter().take(stopped.unwrap_or(POLICIES)) {
            assert!(message.seen_whole_by(view), "a policy has not been shown all: {message:?}");
        }
        message.passed = worker.host.passed_body(id, direction).len();
        if stopped.is_none() {
            assert_eq!(message.passed, message.bytes, "all have let it pass, and it is held: {message:?}");
        } else {
            assert!(message.passed <= message.views.iter().map(|view| view.bytes).min().unwrap());
        }
    }
}

/// Where a policy keeps what the ledger must find unchanged: which exchange its state belongs to.
#[derive(Default)]
struct Owner(Option<ExchangeId>);

impl Owner {
    fn claim(&mut self, id: ExchangeId) {
        assert_eq!(*self.0.get_or_insert(id), id, "state of another exchange");
    }
}

struct Roller {
    policy: usize,
    ledger: Rc<RefCell<Ledger>>,
    to_wake: Rc<RefCell<Vec<ExchangeId>>>,
    /// The direction in which each waiting exchange waits here.
    waits: BTreeMap<ExchangeId, Direction>,
}

impl Roller {
    fn shown(&mut self, owner: &mut Owner, id: ExchangeId, direction: Direction, shown: Shown) -> Flow {
        owner.claim(id);
        let flow = self.ledger.borrow_mut().shown(id, self.policy, direction, shown);
        match flow {
            Flow::Wait => self.waits.insert(id, direction),
            _ => self.waits.remove(&id),
        };
        flow
    }
}

impl Policy for Roller {
    const NAME: &'static str = "roller";
    const CALLBACKS: Callbacks = Callbacks::REQUEST_HEADERS
        .and(Callbacks::REQUEST_BODY)
        .and(Callbacks::RESPONSE_HEADERS)
        .and(Callbacks::RESPONSE_BODY);
    type Config = ();
    type State = Owner;

    fn from_config((): ()) -> Result<Self, ConfigError> {
        Err(ConfigError::new("", "made by hand"))
    }

    fn tick_period(&self) -> Option<Duration> {
        Some(Duration::from_millis(1))
    }

    fn on_tick(&mut self, worker: &mut PolicyWorker<'_>) {
        for id in self.to_wake.borrow_mut().drain(..) {
            worker.wake(id);
        }
    }

    fn on_request_headers(
        &mut self,
        owner: &mut Owner,
        exchange: &mut Exchange<'_>,
        end: EndOfStream,
    ) -> Flow {
        self.shown(owner, exchange.id(), Direction::Request, Shown::Headers(end))
    }

    fn on_request_body(&mut self, owner: &mut Owner, exchange: &mut Exchange<'_>, body: BodyEvent) -> Flow {
        self.shown(owner, exchange.id(), Direction::Request, Shown::Body(body))
    }

    fn on_request_trailers(&mut self, owner: &mut Owner, exchange: &mut Exchange<'_>) -> Flow {
        self.shown(owner, exchange.id(), Direction::Request, Shown::Trailers)
    }

    fn on_response_headers(
        &mut self,
        owner: &mut Owner,
        exchange: &mut Exchange<'_>,
        end: EndOfStream,
    ) -> Flow {
        self.shown(owner, exchange.id(), Direction::Response, Shown::Headers(end))
    }

    fn on_response_body(&mut self, owner: &mut Owner, exchange: &mut Exchange<'_>, body: BodyEvent) -> Flow {
        self.shown(owner, exchange.id(), Direction::Response, Shown::Body(body))
    }

    fn on_response_trailers(&mut self, owner: &mut Owner, exchange: &mut Exchange<'_>) -> Flow {
        self.shown(owner, exchange.id(), Direction::Response, Shown::Trailers)
    }

    fn on_wake(&mut self, owner: &mut Owner, exchange: &mut Exchange<'_>) -> Flow {
        let direction = self.waits[&exchange.id()];
        self.shown(owner, exchange.id(), direction, Shown::Wake)
    }

    fn on_close(&mut self, owner: &mut Owner, id: ExchangeId) {
        owner.claim(id);
        self.ledger.borrow_mut().lives.get_mut(&id).unwrap().closed += 1;
    }
}

/// A host with many exchanges, which does one thing at a time.
struct Traffic {
    worker: Worker,
    ledger: Rc<RefCell<Ledger>>,
    to_wake: Vec<Rc<RefCell<Vec<ExchangeId>>>>,
    open: Vec<ExchangeId>,
    aborted: Vec<ExchangeId>,
    random: Random,
}

impl Traffic {
    fn new(seed: u64) -> Self {
        let ledger = Ledger { random: Random(seed ^ 0x5DEE_CE66), lives: BTreeMap::new(), woken: Vec::new() };
        let ledger = Rc::new(RefCell::new(ledger));
        let to_wake: Vec<Rc<RefCell<Vec<ExchangeId>>>> = (0..POLICIES).map(|_| Rc::default()).collect();
        let mut chain = Chain::new();
        for (policy, to_wake) in to_wake.iter().enumerate() {
            let (ledger, to_wake) = (Rc::clone(&ledger), Rc::clone(to_wake));
            chain = chain.then(Roller { policy, ledger, to_wake, waits: BTreeMap::new() });
        }
        let worker = Worker::start(chain).unwrap();
        Self { worker, ledger, to_wake, open: Vec::new(), aborted: Vec::new(), random: Random(seed) }
    }

    fn step(&mut self) {
        match self.random.below(20) {
            0..3 if self.open.len() < OPEN_AT_MOST => self.begin(),
            3..12 if !self.open.is_empty() => {
                let id = self.open[self.random.below(self.open.len())];
                self.deliver(id);
            }
            12..18 if !self.open.is_empty() => self.wake_some(),
            18 if !self.open.is_empty() && self.random.one_in(3) => {
                let at = self.random.below(self.open.len());
                self.abort(at);
            }
            _ => {}
        }
        self.check();
    }

    fn begin(&mut self) {
        let id = self.worker.open();
        self.ledger.borrow_mut().lives.insert(id, Life::default());
        self.open.push(id);
    }

    /// Delivers the next part of the request, or of the response once the request has gone on whole.
    fn deliver(&mut self, id: ExchangeId) {
        let direction = {
            let mut ledger = self.ledger.borrow_mut();
            let life = ledger.lives.get_mut(&id).unwrap();
            let request_done = life.request.ended && life.request.first_that_stops_it().is_none();
            if !request_done && !life.replied {
                Direction::Request
            } else if life.replied || life.response.ended {
                return;
            } else {
                Direction::Response
            }
        };
        let (ends, trailers, bytes) = (self.random.one_in(3), self.random.one_in(2), self.random.below(4));
        let first = {
            let mut ledger = self.ledger.borrow_mut();
            let message = ledger.lives.get_mut(&id).unwrap().message(direction);
            if message.ended {
                return;
            }
            let first = !message.headers;
            message.headers = true;
            message.ended = ends;
            if !first && ends && trailers {
                message.trailers = true;
            } else if !first {
                message.bytes += bytes;
            }
            first
        };
        if first {
            match direction {
                Direction::Request => self.worker.request_headers(id, [(":method", "GET")], ends),
                Direction::Response => self.worker.response_headers(id, [(":status", "200")], ends),
            };
        } else if ends && trailers {
            self.worker.trailers(id, direction);
        } else {
            self.worker.body(id, direction, &vec![b'x'; bytes], ends);
        }
    }

    /// Wakes a few exchanges: such as wait, such as do not, and such as are gone.
    fn wake_some(&mut self) {
        for _ in 0..=self.random.below(4) {
            let pool =
                if self.random.one_in(8) && !self.aborted.is_empty() { &self.aborted } else { &self.open };
            let id = pool[self.random.below(pool.len())];
            let policy = self.random.below(POLICIES);
            self.wake(policy, id);
        }
        self.let_wakes_happen();
    }

    fn wake(&mut self, policy: usize, id: ExchangeId) {
        self.to_wake[policy].borrow_mut().push(id);
        self.ledger.borrow_mut().woken.push((policy, id));
    }

    fn let_wakes_happen(&mut self) {
        let due: Vec<(usize, ExchangeId, usize)> = {
            let ledger = self.ledger.borrow();
            let waiting = ledger.woken.iter().filter(|(policy, id)| {
                let life = &ledger.lives[id];
                life.closed == 0 && !life.replied && life.waits_at(*policy)
            });
            waiting.map(|(policy, id)| (*policy, *id, wakes(&ledger.lives[id], *policy))).collect()
        };
        self.worker.advance(Duration::from_millis(1));
        let mut ledger = self.ledger.borrow_mut();
        for (policy, id, before) in due {
            let life = &ledger.lives[&id];
            assert!(
                life.replied || wakes(life, policy) > before,
                "a wake was lost: policy {policy}, {life:?}"
            );
        }
        ledger.woken.clear();
    }

    fn abort(&mut self, at: usize) {
        let id = self.open.swap_remove(at);
        self.aborted.push(id);
        if self.random.one_in(2) {
            self.worker.finish(id);
        } else {
            self.worker.abort(id);
        }
        assert_eq!(self.ledger.borrow().lives[&id].closed, POLICIES);
    }

    fn check(&self) {
        let mut ledger = self.ledger.borrow_mut();
        for id in self.open.iter().chain(&self.aborted) {
            ledger.check(&self.worker, *id, Direction::Request);
            ledger.check(&self.worker, *id, Direction::Response);
        }
        assert_eq!(self.worker.open_exchanges(), self.open.len());
    }

    /// Delivers and wakes until every exchange has come to its end.
    fn drain(&mut self) {
        for _ in 0..10_000 {
            let mut busy = false;
            for id in self.open.clone() {
                self.deliver(id);
                let life_over = {
                    let ledger = self.ledger.borrow();
                    let life = &ledger.lives[&id];
                    life.replied || (life.response.ended && life.response.first_that_stops_it().is_none())
                };
                if !life_over {
                    busy = true;
                    (0..POLICIES).for_each(|policy| self.wake(policy, id));
                    self.let_wakes_happen();
                }
            }
            self.check();
            if !busy {
                return;
            }
        }
        panic!("exchanges that never end");
    }
}

fn wakes(life: &Life, policy: usize) -> usize {
    life.request.views[policy].wakes + life.response.views[POLICIES - 1 - policy].wakes
}

#[test]
fn every_exchange_is_treated_as_if_it_were_alone() {
    let (mut replied, mut passed, mut waited) = (0, 0, 0);
    for seed in 1..=SEEDS {
        let mut traffic = Traffic::new(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        for _ in 0..STEPS {
            traffic.step();
        }
        traffic.drain();
        let ledger = traffic.ledger.borrow();
        for id in &traffic.open {
            let life = &ledger.lives[id];
            assert_eq!(matches!(traffic.worker.fate(*id), Fate::Replied(_)), life.replied);
        }
        replied += ledger.lives.values().filter(|life| life.replied).count();
        passed += ledger.lives.values().filter(|life| life.response.ended).count();
        waited +=
            ledger.lives.values().filter(|life| (0..POLICIES).any(|policy| wakes(life, policy) > 0)).count();
    }
    // A run in which hardly anything happened would prove nothing.
    assert!(replied > 50 && passed > 200 && waited > 500, "{replied} {passed} {waited}");
}
