//! A policy that answers as the test says and tells what it has seen, and a worker that runs a chain of them.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use portcullis_policy::host::Direction;
use portcullis_policy::{
    BodyEvent, Callbacks, Chain, ConfigError, EndOfStream, Exchange, ExchangeId, Flow, Next, Policy, Reply,
    Worker as PolicyWorker,
};
use portcullis_testkit::inprocess::{Fate, Worker};

/// A callback of a policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum On {
    RequestHeaders,
    RequestBody,
    RequestTrailers,
    ResponseHeaders,
    ResponseBody,
    ResponseTrailers,
    Wake,
}

/// An answer of a script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Say {
    Wait,
    NeedBody,
    PassRest,
    Reply(u16),
}

impl From<Say> for Flow {
    fn from(say: Say) -> Self {
        match say {
            Say::Wait => Self::Wait,
            Say::NeedBody => Self::NeedBody,
            Say::PassRest => Self::PassRest,
            Say::Reply(status) => Self::Reply(Box::new(Reply::new(status, "Refused", "test"))),
        }
    }
}

/// What one policy answers: to each callback the answers given here, one after the other, then `Continue`.
pub(crate) type Script = &'static [(On, Say)];

/// Everything that all policies of a chain have seen, in order.
type Seen = Rc<RefCell<Vec<String>>>;

pub(crate) struct Probe {
    name: &'static str,
    script: Script,
    seen: Seen,
    to_wake: Rc<RefCell<Vec<ExchangeId>>>,
}

/// How many of the script's answers an exchange has had.
#[derive(Default)]
pub(crate) struct Given(Vec<On>);

impl Probe {
    fn tell(&self, event: &str) {
        self.seen.borrow_mut().push(format!("{} {event}", self.name));
    }

    fn answer(&self, given: &mut Given, on: On) -> Flow {
        let before = given.0.iter().filter(|past| **past == on).count();
        given.0.push(on);
        let answer = self.script.iter().filter(|(of, _)| *of == on).nth(before);
        answer.map_or(Flow::Continue, |(_, say)| Flow::from(*say))
    }
}

fn mark(end: EndOfStream) -> &'static str {
    match end {
        EndOfStream::Yes => " end",
        EndOfStream::No => "",
    }
}

impl Policy for Probe {
    const NAME: &'static str = "probe";
    const CALLBACKS: Callbacks = Callbacks::REQUEST_HEADERS
        .and(Callbacks::REQUEST_BODY)
        .and(Callbacks::RESPONSE_HEADERS)
        .and(Callbacks::RESPONSE_BODY);
    type Config = ();
    type State = Given;

    fn from_config((): ()) -> Result<Self, ConfigError> {
        Err(ConfigError::new("", "probes are made, not configured"))
    }

    fn tick_period(&self) -> Option<Duration> {
        Some(Duration::from_secs(1))
    }

    fn on_tick(&mut self, worker: &mut PolicyWorker<'_>) {
        for id in self.to_wake.borrow_mut().drain(..) {
            worker.wake(id);
        }
    }

    fn on_request_headers(&mut self, given: &mut Given, _: &mut Exchange<'_>, end: EndOfStream) -> Flow {
        self.tell(&format!("request headers{}", mark(end)));
        self.answer(given, On::RequestHeaders)
    }

    fn on_request_body(&mut self, given: &mut Given, _: &mut Exchange<'_>, body: BodyEvent) -> Flow {
        self.tell(&format!("request body {:?}{}", body.fresh, mark(body.end)));
        self.answer(given, On::RequestBody)
    }

    fn on_request_trailers(&mut self, given: &mut Given, _: &mut Exchange<'_>) -> Flow {
        self.tell("request trailers");
        self.answer(given, On::RequestTrailers)
    }

    fn on_response_headers(&mut self, given: &mut Given, _: &mut Exchange<'_>, end: EndOfStream) -> Flow {
        self.tell(&format!("response headers{}", mark(end)));
        self.answer(given, On::ResponseHeaders)
    }

    fn on_response_body(&mut self, given: &mut Given, _: &mut Exchange<'_>, body: BodyEvent) -> Flow {
        self.tell(&format!("response body {:?}{}", body.fresh, mark(body.end)));
        self.answer(given, On::ResponseBody)
    }

    fn on_response_trailers(&mut self, given: &mut Given, _: &mut Exchange<'_>) -> Flow {
        self.tell("response trailers");
        self.answer(given, On::ResponseTrailers)
    }

    fn on_wake(&mut self, given: &mut Given, _: &mut Exchange<'_>) -> Flow {
        self.tell("wake");
        self.answer(given, On::Wake)
    }

    fn on_log(&mut self, _: &mut Given, _: &mut Exchange<'_>) {
        self.tell("log");
    }

    fn on_close(&mut self, _: &mut Given, _: ExchangeId) {
        self.tell("close");
    }
}

/// A worker with a chain of probes.
pub(crate) struct Bench {
    pub(crate) worker: Worker,
    seen: Seen,
    to_wake: Vec<(&'static str, Rc<RefCell<Vec<ExchangeId>>>)>,
}

impl Bench {
    pub(crate) fn new(policies: &[(&'static str, Script)]) -> Self {
        let seen = Seen::default();
        let mut chain = Chain::new();
        let mut queues = Vec::new();
        for (name, script) in policies {
            let to_wake = Rc::<RefCell<Vec<ExchangeId>>>::default();
            queues.push((*name, Rc::clone(&to_wake)));
            chain = chain.then(Probe { name, script, seen: Rc::clone(&seen), to_wake });
        }
        Self { worker: Worker::start(chain).unwrap(), seen, to_wake: queues }
    }

    /// What the policies have seen since the last time this was asked.
    pub(crate) fn seen(&self) -> Vec<String> {
        self.seen.take()
    }

    /// Has a policy wake exchanges from a callback that belongs to none.
    pub(crate) fn wake_all(&mut self, policy: &str, ids: &[ExchangeId]) {
        let (_, queue) = self.to_wake.iter().find(|(name, _)| *name == policy).unwrap();
        queue.borrow_mut().extend(ids);
        self.worker.advance(Duration::from_secs(1));
    }

    pub(crate) fn wake(&mut self, policy: &str, id: ExchangeId) {
        self.wake_all(policy, &[id]);
    }

    /// A request's headers come, with more of the request to follow.
    pub(crate) fn begin(&mut self) -> ExchangeId {
        let id = self.worker.open();
        self.worker.request_headers(id, [(":method", "POST"), (":path", "/")], false);
        id
    }

    pub(crate) fn request_body(&mut self, id: ExchangeId, bytes: &[u8], end: bool) -> Next {
        self.worker.body(id, Direction::Request, bytes, end)
    }

    pub(crate) fn request_trailers(&mut self, id: ExchangeId) -> Next {
        self.worker.trailers(id, Direction::Request)
    }

    pub(crate) fn response_headers(&mut self, id: ExchangeId, end: bool) -> Next {
        self.worker.response_headers(id, [(":status", "200")], end)
    }

    /// The status of the reply that a policy gave, or none.
    pub(crate) fn replied(&self, id: ExchangeId) -> Option<u16> {
        match self.worker.fate(id) {
            Fate::Replied(reply) => Some(reply.status),
            Fate::Held | Fate::Admitted => None,
        }
    }

    /// The request's body bytes that have reached the upstream.
    pub(crate) fn upstream_got(&self, id: ExchangeId) -> Vec<u8> {
        self.worker.host.passed_body(id, Direction::Request)
    }
}
