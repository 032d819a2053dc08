//! The policy.

use std::time::Duration;

use portcullis_policy::host::{Direction, HeaderMap};
use portcullis_policy::{
    BodyEvent, CallOutReply, Callbacks, ConfigError, EndOfStream, Exchange, Flow, HeaderList, MostMemory,
    Policy, SecretName, Shutdown, Worker,
};

use crate::capture::{Capture, CapturedBody};
use crate::condition::{Condition, Early};
use crate::config::{Config, Phase};
use crate::format::Map;
use crate::redact::Redaction;
use crate::sight::{Remembered, Sight};
use crate::sink::Sinks;
use crate::writer::Writer;

/// Writes lines on exchanges, and lets everything pass.
///
/// By default it needs no callback but the one at the end: whatever the line says, the host still knows then. So it costs
/// an exchange nothing before the response has gone out, and it sees requests that never came to any policy.
#[derive(Debug)]
pub struct AccessLog {
    writer: Writer,
    condition: Condition,
    request_capture: Option<Capture>,
    response_capture: Option<Capture>,
    redaction: Redaction,
    sinks: Sinks,
}

/// What the policy remembers of an exchange.
#[derive(Debug, Default)]
pub struct State {
    /// What the request's headers say, once they have been looked at.
    early: Option<Early>,
    request: Message,
    response: Message,
    /// The response's headers, for a line that is due when the host has them no more.
    response_headers: Option<HeaderList>,
}

#[derive(Debug, Default)]
struct Message {
    line: MessageLine,
    body: CapturedBody,
}

impl Message {
    /// Whether the policy needs to see more of it.
    fn flow(&self) -> Flow {
        if self.body.wants_more() { Flow::Continue } else { Flow::PassRest }
    }
}

/// Whether a message's line is to be written.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum MessageLine {
    /// It is not: the message has none, or has not come yet, or its line has been written.
    #[default]
    NotDue,
    /// It is, as soon as the body has come.
    Due,
}

impl Policy for AccessLog {
    const NAME: &'static str = "access-log";
    const CALLBACKS: Callbacks = Callbacks::REQUEST_HEADERS
        .and(Callbacks::REQUEST_BODY)
        .and(Callbacks::RESPONSE_HEADERS)
        .and(Callbacks::RESPONSE_BODY)
        .and(Callbacks::CALL_OUT)
        .and(Callbacks::TICK)
        .and(Callbacks::LOG)
        .and(Callbacks::SHUTDOWN);
    type Config = Config;
    type State = State;

    fn from_config(config: Config) -> Result<Self, ConfigError> {
        let capture = |config: &Option<crate::config::BodyCapture>, field: &str| {
            let compiled = config.as_ref().map(Capture::compile).transpose();
            compiled.map_err(|error| error.within(&format!("capture.{field}")))
        };
        let log = Self {
            writer: Writer::compile(&config)?,
            condition: Condition::compile(&config.when, &config.phases)
                .map_err(|error| error.within("when"))?,
            request_capture: capture(&config.capture.request, "request")?,
            response_capture: capture(&config.capture.response, "response")?,
            redaction: Redaction::compile(&config.redact, config.query)
                .map_err(|error| error.within("redact"))?,
            sinks: Sinks::compile(&config)?,
        };
        log.check_bodies()?;
        Ok(log)
    }

    fn callbacks(&self) -> Callbacks {
        if self.sinks.is_empty() {
            return Callbacks::NONE;
        }
        let (request, response) = (self.writer.has(Phase::Request), self.writer.has(Phase::Response));
        let wanted = [
            // The response's line may show headers of the request, which the host has no more then.
            (request || response || self.captures(), Callbacks::REQUEST_HEADERS),
            (self.request_capture.is_some(), Callbacks::REQUEST_BODY),
            (response || self.response_capture.is_some(), Callbacks::RESPONSE_HEADERS),
            (self.response_capture.is_some(), Callbacks::RESPONSE_BODY),
            (
                self.sinks.tick_period().is_some(),
                Callbacks::CALL_OUT.and(Callbacks::TICK).and(Callbacks::SHUTDOWN),
            ),
        ];
        let wanted = wanted.into_iter().filter(|(wanted, _)| *wanted);
        wanted.fold(Callbacks::LOG, |all, (_, callbacks)| all.and(callbacks))
    }

    fn on_start(&mut self, worker: &mut Worker<'_>) -> Result<(), ConfigError> {
        for name in worker.secret_names() {
            match name {
                SecretName::Header(name) => self.redaction.hide_header(name),
                SecretName::Parameter(name) => self.redaction.hide_name(name),
            }
        }
        self.sinks.start(worker)
    }

    fn most_memory(&self) -> MostMemory {
        self.sinks.most_memory()
    }

    fn tick_period(&self) -> Option<Duration> {
        self.sinks.tick_period()
    }

    fn on_tick(&mut self, worker: &mut Worker<'_>) {
        self.sinks.on_tick(worker);
    }

    fn on_call_out_reply(&mut self, reply: CallOutReply, worker: &mut Worker<'_>) {
        self.sinks.on_reply(reply, worker);
    }

    fn on_shutdown(&mut self, worker: &mut Worker<'_>) -> Shutdown {
        self.sinks.on_shutdown(worker)
    }

    fn on_request_headers(
        &mut self,
        state: &mut State,
        exchange: &mut Exchange<'_>,
        end: EndOfStream,
    ) -> Flow {
        // The chain may call for other policies' sake.
        if self.sinks.is_empty() || !(self.is_early(Phase::Request) || self.is_early(Phase::Response)) {
            return Flow::PassRest;
        }
        let headers = exchange.request_headers().ok();
        let early = self.condition.early(headers);
        state.early = Some(early);
        if early == Early::Never {
            return Flow::PassRest;
        }
        if let (Some(capture), Some(headers), EndOfStream::No) = (&self.request_capture, headers, end) {
            state.request.body = capture.begin(headers, &self.redaction);
        }
        self.message_began(Direction::Request, state, exchange)
    }

    fn on_request_body(&mut self, state: &mut State, exchange: &mut Exchange<'_>, body: BodyEvent) -> Flow {
        self.body_came(Direction::Request, state, exchange, &body)
    }

    fn on_request_trailers(&mut self, state: &mut State, exchange: &mut Exchange<'_>) -> Flow {
        self.message_ended(Direction::Request, state, exchange);
        Flow::Continue
    }

    fn on_response_headers(
        &mut self,
        state: &mut State,
        exchange: &mut Exchange<'_>,
        end: EndOfStream,
    ) -> Flow {
        if self.sinks.is_empty() || !self.is_early(Phase::Response) {
            return Flow::PassRest;
        }
        // The request may not have come to this policy.
        if state.early.is_none() {
            state.early = self.early_at_the_response(state, exchange);
        }
        if state.early == Some(Early::Never) {
            return Flow::PassRest;
        }
        if let (Some(capture), EndOfStream::No) = (&self.response_capture, end)
            && let Ok(headers) = exchange.headers(HeaderMap::ResponseHeaders)
        {
            state.response.body = capture.begin(&headers, &self.redaction);
            if state.response.body.wants_more()
                && self.writer.has(Phase::Response)
                && exchange.keep(headers.memory()).is_ok()
            {
                state.response_headers = Some(headers);
            }
        }
        self.message_began(Direction::Response, state, exchange)
    }

    fn on_response_body(&mut self, state: &mut State, exchange: &mut Exchange<'_>, body: BodyEvent) -> Flow {
        self.body_came(Direction::Response, state, exchange, &body)
    }

    fn on_response_trailers(&mut self, state: &mut State, exchange: &mut Exchange<'_>) -> Flow {
        self.message_ended(Direction::Response, state, exchange);
        Flow::Continue
    }

    fn on_log(&mut self, state: &mut State, exchange: &mut Exchange<'_>) {
        if self.sinks.is_empty() {
            return;
        }
        // Messages that were cut off have their lines, too.
        self.write_due(Direction::Request, state, exchange);
        self.write_due(Direction::Response, state, exchange);
        if self.writer.has(Phase::End) {
            self.write_end(state, exchange);
        }
    }
}

impl AccessLog {
    /// Bodies that are kept must be shown, and those that are shown must be kept.
    fn check_bodies(&self) -> Result<(), ConfigError> {
        for (direction, capture, field) in [
            (Direction::Request, &self.request_capture, "capture.request"),
            (Direction::Response, &self.response_capture, "capture.response"),
        ] {
            let named = self.writer.names_body(direction) || self.sinks.names_body(direction);
            let shown = self.writer.shows_body(direction) || self.sinks.names_body(direction);
            if capture.is_some() && !shown {
                return Err(ConfigError::new(field, "no format of a line in `phases` shows this body"));
            }
            if capture.is_none() && named {
                return Err(ConfigError::new(field, "must be there: a format shows this body"));
            }
        }
        Ok(())
    }

    fn captures(&self) -> bool {
        self.request_capture.is_some() || self.response_capture.is_some()
    }

    /// Whether the policy has to look at a message when it comes.
    fn is_early(&self, phase: Phase) -> bool {
        let capture = match phase {
            Phase::Request => &self.request_capture,
            Phase::Response => &self.response_capture,
            Phase::End => return false,
        };
        capture.is_some() || self.writer.has(phase)
    }

    fn message_began(
        &mut self,
        direction: Direction,
        state: &mut State,
        exchange: &mut Exchange<'_>,
    ) -> Flow {
        let message = state.message(direction);
        if self.writer.has(phase(direction)) {
            message.line = MessageLine::Due;
            if !message.body.wants_more() {
                self.write_due(direction, state, exchange);
            }
        }
        state.message(direction).flow()
    }

    fn body_came(
        &mut self,
        direction: Direction,
        state: &mut State,
        exchange: &mut Exchange<'_>,
        event: &BodyEvent,
    ) -> Flow {
        let capture = match direction {
            Direction::Request => &self.request_capture,
            Direction::Response => &self.response_capture,
        };
        let message = state.message(direction);
        let Some(capture) = capture.as_ref().filter(|_| message.body.wants_more()) else {
            return Flow::PassRest;
        };
        let wanted = capture.wanted(&message.body, &event.fresh);
        // Where there is no memory for more of it, what has been kept is shown as a body that was cut.
        let may_keep = !wanted.is_empty() && exchange.keep(wanted.len()).is_ok();
        let bytes = if may_keep { exchange.body(direction, wanted).ok() } else { None };
        message.body.take(bytes, event.fresh.len());
        if event.end == EndOfStream::Yes {
            self.message_ended(direction, state, exchange);
        } else if !message.body.wants_more() {
            self.write_due(direction, state, exchange);
        }
        state.message(direction).flow()
    }

    fn message_ended(&mut self, direction: Direction, state: &mut State, exchange: &mut Exchange<'_>) {
        state.message(direction).body.end();
        self.write_due(direction, state, exchange);
    }

    /// Writes the line of a message if it is due.
    fn write_due(&mut self, direction: Direction, state: &mut State, exchange: &mut Exchange<'_>) {
        if core::mem::take(&mut state.message(direction).line) == MessageLine::Due {
            self.write(phase(direction), state.early, state, exchange);
        }
    }

    /// What the request's headers say if they can be had when the response has come.
    fn early_at_the_response(&self, state: &State, exchange: &Exchange<'_>) -> Option<Early> {
        if !self.condition.looks_at_request() {
            return Some(Early::Perhaps);
        }
        let mut sight = Sight::new(exchange, Phase::Response, &self.redaction, state.remembered());
        sight.headers(Map::Request).map(|headers| self.condition.early(Some(headers)))
    }

    fn write_end(&mut self, state: &State, exchange: &mut Exchange<'_>) {
        let known = match state.early {
            Some(early) => Some(early),
            None if !self.condition.looks_at_request() => Some(Early::Perhaps),
            // Another policy may have read the headers.
            None => exchange.known_request_headers().map(|headers| self.condition.early(Some(headers))),
        };
        self.write(Phase::End, known, state, exchange);
    }

    fn write(&mut self, phase: Phase, known: Option<Early>, state: &State, exchange: &mut Exchange<'_>) {
        let Self { writer, condition, redaction, sinks, .. } = self;
        let mut sight = Sight::new(exchange, phase, redaction, state.remembered());
        if condition.holds(known, &mut sight) {
            writer.write(&mut sight, |line, sight| sinks.write(line, sight));
        }
    }
}

fn phase(direction: Direction) -> Phase {
    match direction {
        Direction::Request => Phase::Request,
        Direction::Response => Phase::Response,
    }
}

impl State {
    fn remembered(&self) -> Remembered<'_> {
        Remembered {
            request_body: &self.request.body,
            response_body: &self.response.body,
            response_headers: self.response_headers.as_ref(),
        }
    }

    fn message(&mut self, direction: Direction) -> &mut Message {
        match direction {
            Direction::Request => &mut self.request,
            Direction::Response => &mut self.response,
        }
    }
}
