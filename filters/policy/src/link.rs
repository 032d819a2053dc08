//! One policy in a chain, with its type erased.

use core::time::Duration;

use crate::config::ConfigError;
use crate::exchange::{Exchange, ExchangeId, Worker};
use crate::host::Direction;
use crate::policy::{BodyEvent, CallOutReply, Callbacks, EndOfStream, Flow, Policy, Shutdown};
use crate::reply::Reply;

/// A policy together with its state for every open exchange, found by the exchange's slot.
pub(crate) trait Link {
    fn name(&self) -> &'static str;
    /// How many bytes the policy's state of one exchange takes.
    fn state_size(&self) -> usize;
    /// Whether the policy wants to see what follows the headers of a message of this direction.
    fn reads_on(&self, at: Direction) -> bool;
    fn start(&mut self, worker: &mut Worker<'_>) -> Result<(), ConfigError>;
    fn tick_period(&self) -> Option<Duration>;
    fn tick(&mut self, worker: &mut Worker<'_>);
    fn call_out_reply(&mut self, reply: CallOutReply, worker: &mut Worker<'_>);
    fn shutdown(&mut self, worker: &mut Worker<'_>) -> Shutdown;

    fn open(&mut self, slot: usize);
    fn headers(&mut self, slot: usize, exchange: &mut Exchange<'_>, at: Direction, end: EndOfStream) -> Flow;
    fn body(&mut self, slot: usize, exchange: &mut Exchange<'_>, at: Direction, body: BodyEvent) -> Flow;
    fn trailers(&mut self, slot: usize, exchange: &mut Exchange<'_>, at: Direction) -> Flow;
    fn wake(&mut self, slot: usize, exchange: &mut Exchange<'_>) -> Flow;
    fn log(&mut self, slot: usize, exchange: &mut Exchange<'_>);
    fn close(&mut self, slot: usize, id: ExchangeId);
}

pub(crate) struct PolicyLink<P: Policy> {
    policy: P,
    callbacks: Callbacks,
    states: Vec<P::State>,
}

impl<P: Policy> PolicyLink<P> {
    pub(crate) fn new(policy: P) -> Self {
        Self { callbacks: policy.callbacks(), policy, states: Vec::new() }
    }

    /// Runs a callback on the state in `slot`. A slot that was never opened is a defect of the engine; the
    /// exchange is refused then, for a policy that did not run has not agreed.
    fn with(&mut self, slot: usize, callback: impl FnOnce(&mut P, &mut P::State) -> Flow) -> Flow {
        match self.states.get_mut(slot) {
            Some(state) => callback(&mut self.policy, state),
            None => Flow::Reply(Box::new(Reply::internal_error())),
        }
    }
}

impl<P: Policy> Link for PolicyLink<P> {
    fn name(&self) -> &'static str {
        P::NAME
    }

    fn state_size(&self) -> usize {
        size_of::<P::State>()
    }

    fn reads_on(&self, at: Direction) -> bool {
        self.callbacks.intersects(match at {
            Direction::Request => Callbacks::REQUEST_BODY,
            Direction::Response => Callbacks::RESPONSE_BODY,
        })
    }

    fn start(&mut self, worker: &mut Worker<'_>) -> Result<(), ConfigError> {
        self.policy.on_start(worker)
    }

    fn tick_period(&self) -> Option<Duration> {
        self.policy.tick_period()
    }

    fn tick(&mut self, worker: &mut Worker<'_>) {
        self.policy.on_tick(worker);
    }

    fn call_out_reply(&mut self, reply: CallOutReply, worker: &mut Worker<'_>) {
        self.policy.on_call_out_reply(reply, worker);
    }

    fn shutdown(&mut self, worker: &mut Worker<'_>) -> Shutdown {
        self.policy.on_shutdown(worker)
    }

    fn open(&mut self, slot: usize) {
        match self.states.get_mut(slot) {
            Some(state) => *state = P::State::default(),
            None => self.states.resize_with(slot.saturating_add(1), P::State::default),
        }
    }

    fn headers(&mut self, slot: usize, exchange: &mut Exchange<'_>, at: Direction, end: EndOfStream) -> Flow {
        self.with(slot, |policy, state| match at {
            Direction::Request => policy.on_request_headers(state, exchange, end),
            Direction::Response => policy.on_response_headers(state, exchange, end),
        })
    }

    fn body(&mut self, slot: usize, exchange: &mut Exchange<'_>, at: Direction, body: BodyEvent) -> Flow {
        self.with(slot, |policy, state| match at {
            Direction::Request => policy.on_request_body(state, exchange, body),
            Direction::Response => policy.on_response_body(state, exchange, body),
        })
    }

    fn trailers(&mut self, slot: usize, exchange: &mut Exchange<'_>, at: Direction) -> Flow {
        self.with(slot, |policy, state| match at {
            Direction::Request => policy.on_request_trailers(state, exchange),
            Direction::Response => policy.on_response_trailers(state, exchange),
        })
    }

    fn wake(&mut self, slot: usize, exchange: &mut Exchange<'_>) -> Flow {
        self.with(slot, |policy, state| policy.on_wake(state, exchange))
    }

    fn log(&mut self, slot: usize, exchange: &mut Exchange<'_>) {
        if let Some(state) = self.states.get_mut(slot) {
            self.policy.on_log(state, exchange);
        }
    }

    fn close(&mut self, slot: usize, id: ExchangeId) {
        if let Some(state) = self.states.get_mut(slot) {
            self.policy.on_close(state, id);
            *state = P::State::default();
        }
    }
}
