//! The policy.

mod following;
mod log_messages;

use core::mem;
use core::time::Duration;

use portcullis_policy::headers::is_identity;
use portcullis_policy::{
    BodyEvent, Callbacks, Complaint, ConfigError, Dependency, Direction, EndOfStream, Exchange, Flow,
    HeaderList, HostError, MostMemory, Policy, SharedDocument, Worker,
};
use portcullis_xml::Limits;
use portcullis_xslt::Parameters;

use crate::condition::Facts;
use crate::config::{Config, size};
use crate::failure::{Exemption, Failure};
use crate::message::{self, Unread};
use crate::metrics::Metrics;
use crate::parameters;
use crate::reading::{Bounds, Expected, Head, NoBody, Reading, can_share};
use crate::side::Side;
use log_messages::LogMessages;

/// How much of a body is read from the host at a time, in bytes.
const PIECE: usize = 64 << 10;

/// Transforms requests, responses, or both.
pub struct XsltTransform {
    request: Option<Side>,
    response: Option<Side>,
    bounds: Bounds,
    metrics: Metrics,
    reads: Vec<Dependency>,
    most_memory: MostMemory,
    /// Of a stylesheet that fails.
    complaint: Complaint,
}

/// What the policy remembers of an exchange.
#[derive(Debug, Default)]
pub struct State {
    request: Phase,
    response: Phase,
}

impl State {
    fn of(&mut self, at: Direction) -> &mut Phase {
        match at {
            Direction::Request => &mut self.request,
            Direction::Response => &mut self.response,
        }
    }
}

#[derive(Debug, Default)]
enum Phase {
    /// Nothing has come, or what comes passes.
    #[default]
    Passing,
    /// The body is being read, and held.
    Reading(Box<Reading>),
}

/// With what a message ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ending {
    Body,
    Trailers,
}

/// Why a message is not transformed.
enum Obstacle {
    /// It is such that it is not.
    Message(Unread),
    /// The host does not do what is needed.
    Host,
}

impl<T: Into<Unread>> From<T> for Obstacle {
    fn from(reason: T) -> Self {
        Self::Message(reason.into())
    }
}

impl Policy for XsltTransform {
    const NAME: &'static str = "xslt-transform";
    const CALLBACKS: Callbacks = Callbacks::REQUEST_HEADERS
        .and(Callbacks::REQUEST_BODY)
        .and(Callbacks::RESPONSE_HEADERS)
        .and(Callbacks::RESPONSE_BODY)
        .and(Callbacks::TICK);
    type Config = Config;
    type State = State;

    fn from_config(config: Config) -> Result<Self, ConfigError> {
        config.check()?;
        let compile = |at, side: &Option<_>, field: &str| {
            let compiled = side.as_ref().map(|side| Side::compile(at, side, &config.stylesheets));
            compiled.transpose().map_err(|error| error.within(field))
        };
        Ok(Self {
            request: compile(Direction::Request, &config.request, "request")?,
            response: compile(Direction::Response, &config.response, "response")?,
            bounds: Bounds {
                xml: config.limits.of_documents(),
                transform: config.limits.of_transformations(),
                held: size(config.limits.max_held_bytes),
            },
            metrics: Metrics::default(),
            reads: config.reads(),
            most_memory: config.limits.most_memory(),
            complaint: Complaint::default(),
        })
    }

    /// A response is transformed by what its request was, too.
    fn callbacks(&self) -> Callbacks {
        let mut callbacks = Callbacks::REQUEST_HEADERS.and(Callbacks::TICK);
        if self.request.is_some() {
            callbacks = callbacks.and(Callbacks::REQUEST_BODY);
        }
        if self.response.is_some() {
            callbacks = callbacks.and(Callbacks::RESPONSE_HEADERS).and(Callbacks::RESPONSE_BODY);
        }
        callbacks
    }

    fn reads(&self) -> Vec<Dependency> {
        self.reads.clone()
    }

    fn document_limits(&self) -> Option<Limits> {
        let side = self.request.as_ref()?;
        can_share(side).then(|| self.bounds.xml.clone())
    }

    fn most_memory(&self) -> MostMemory {
        self.most_memory
    }

    fn on_start(&mut self, worker: &mut Worker<'_>) -> Result<(), ConfigError> {
        self.metrics = Metrics::define(worker.host());
        Ok(())
    }

    /// The engine watches by it whether bodies come.
    fn tick_period(&self) -> Option<Duration> {
        Some(Duration::from_millis(250))
    }

    fn on_request_headers(
        &mut self,
        state: &mut State,
        exchange: &mut Exchange<'_>,
        end: EndOfStream,
    ) -> Flow {
        if exchange.request_headers().is_err() || self.ask_for_a_whole(exchange).is_err() {
            return self.fail(Direction::Request, exchange);
        }
        let Some(side) = &self.request else {
            return Flow::PassRest;
        };
        let begun = match exchange.known_request_headers() {
            Some(headers) => self.begin(side, headers, exchange, end),
            None => Err(Obstacle::Host),
        };
        // What a policy before this one may have read for it.
        let shared = match begun {
            Ok(Head { expected: Expected::Document(charset), .. }) if can_share(side) => {
                exchange.take_document(&self.bounds.xml, charset)
            }
            _ => None,
        };
        if shared.is_none() {
            exchange.decline_document();
        }
        self.hold(side, begun, shared, state, exchange)
    }

    fn on_request_body(&mut self, state: &mut State, exchange: &mut Exchange<'_>, body: BodyEvent) -> Flow {
        self.on_body(Direction::Request, state, exchange, &body)
    }

    fn on_request_trailers(&mut self, state: &mut State, exchange: &mut Exchange<'_>) -> Flow {
        self.on_end(Direction::Request, Ending::Trailers, state, exchange)
    }

    fn on_response_headers(
        &mut self,
        state: &mut State,
        exchange: &mut Exchange<'_>,
        end: EndOfStream,
    ) -> Flow {
        let Some(side) = &self.response else {
            return Flow::PassRest;
        };
        let facts = Facts { request: exchange.known_request_headers(), message: None };
        let begun = if side.rules_out(facts) {
            Err(Exemption::Condition.into())
        } else if end == EndOfStream::Yes && side.vary.is_empty() {
            Err(Exemption::NoBody.into())
        } else {
            self.begin_response(side, exchange, end)
        };
        self.hold(side, begun, None, state, exchange)
    }

    fn on_response_body(&mut self, state: &mut State, exchange: &mut Exchange<'_>, body: BodyEvent) -> Flow {
        self.on_body(Direction::Response, state, exchange, &body)
    }

    fn on_response_trailers(&mut self, state: &mut State, exchange: &mut Exchange<'_>) -> Flow {
        self.on_end(Direction::Response, Ending::Trailers, state, exchange)
    }
}

impl XsltTransform {
    /// Has the upstream send a response that is to be transformed as a whole and not compressed, which a server may do
    /// whatever it is asked for (RFC 9110, sections 12.5.3 and 14.2). Nor may it say that what the client has is still
    /// true (section 13.1): the client may have it from before, of another stylesheet, or untransformed.
    fn ask_for_a_whole(&self, exchange: &mut Exchange<'_>) -> Result<(), HostError> {
        let Some(side) = &self.response else {
            return Ok(());
        };
        let headers = exchange.request_headers()?;
        let method = headers.first(":method").unwrap_or_default();
        if method == b"CONNECT" || headers.asks_for_upgrade() {
            return Ok(());
        }
        if side.rules_out(Facts { request: Some(headers), message: None }) {
            return Ok(());
        }
        let is_plain = headers.all_spellings("accept-encoding").all(is_identity);
        if matches!(method, b"GET" | b"HEAD") {
            exchange.remove_request_header("if-none-match")?;
            exchange.remove_request_header("if-modified-since")?;
        }
        exchange.remove_request_header("range")?;
        exchange.remove_request_header("if-range")?;
        if is_plain { Ok(()) } else { exchange.set_request_header("accept-encoding", b"identity") }
    }

    /// The same as [`begin`](Self::begin), of a response, which tells caches by what it could have been another one.
    fn begin_response(
        &self,
        side: &Side,
        exchange: &mut Exchange<'_>,
        end: EndOfStream,
    ) -> Result<Head, Obstacle> {
        let headers = exchange.headers(side.headers()).map_err(|_| Obstacle::Host)?;
        if let Some(missing) = side.vary.missing(&headers, exchange.known_request_headers())
            && is_upstreams(exchange)
        {
            let added = exchange.add_header(side.headers(), "vary", missing.as_bytes());
            added.map_err(|_| Obstacle::Host)?;
        }
        self.begin(side, &headers, exchange, end)
    }

    /// Finds out by a message's headers whether it is to be transformed, and can be.
    fn begin(
        &self,
        side: &Side,
        headers: &HeaderList,
        exchange: &Exchange<'_>,
        end: EndOfStream,
    ) -> Result<Head, Obstacle> {
        let request = exchange.known_request_headers();
        message::has_body(side.direction, headers, request, end)?;
        let facts = Facts { request, message: Some(headers) };
        let truth = side.when.as_ref().map_or(Some(true), |when| when.truth(facts));
        if truth == Some(false) {
            return Err(Exemption::Condition.into());
        }
        if side.direction == Direction::Response && !is_upstreams(exchange) {
            return Err(Exemption::LocalReply.into());
        }
        // The condition depends on a media type that cannot be read.
        if truth.is_none() {
            return Err(Failure::ContentType.into());
        }
        if message::is_redirected(side.direction, headers) {
            return Err(Failure::Redirected.into());
        }
        if message::is_bodiless(side.direction, headers, request) {
            let expected = Expected::Nothing(Failure::Malformed);
            return Ok(Head::new(side.direction, headers, expected, Parameters::new()));
        }
        let expected = match message::charset(side.direction, headers, self.bounds.xml.document_bytes) {
            Ok(charset) => Expected::Document(charset),
            Err(failure) if message::expects_nothing(side.direction, headers) => Expected::Nothing(failure),
            Err(failure) => return Err(failure.into()),
        };
        let parameters = parameters::gather(&side.parameters, headers, request, exchange);
        Ok(Head::new(side.direction, headers, expected, parameters))
    }

    fn hold(
        &self,
        side: &Side,
        begun: Result<Head, Obstacle>,
        shared: Option<SharedDocument>,
        state: &mut State,
        exchange: &mut Exchange<'_>,
    ) -> Flow {
        let reading =
            begun.and_then(|head| Reading::new(side, &self.bounds, head, shared).map_err(Obstacle::from));
        match reading {
            Ok(reading) => {
                *state.of(side.direction) = Phase::Reading(Box::new(reading));
                Flow::NeedBody
            }
            Err(obstacle) => self.without_transformation(side, obstacle, exchange),
        }
    }

    fn on_body(
        &self,
        at: Direction,
        state: &mut State,
        exchange: &mut Exchange<'_>,
        body: &BodyEvent,
    ) -> Flow {
        let phase = state.of(at);
        let (Some(side), Phase::Reading(reading)) = (self.side(at), &mut *phase) else {
            return Flow::PassRest;
        };
        match (self.read(side, reading, body.fresh.end, exchange), body.end) {
            (Ok(()), EndOfStream::No) => Flow::NeedBody,
            (Ok(()), EndOfStream::Yes) => self.on_end(at, Ending::Body, state, exchange),
            (Err(obstacle), _) => {
                *phase = Phase::Passing;
                self.without_transformation(side, obstacle, exchange)
            }
        }
    }

    /// The body has ended.
    fn on_end(&self, at: Direction, ending: Ending, state: &mut State, exchange: &mut Exchange<'_>) -> Flow {
        let (Some(side), Phase::Reading(reading)) = (self.side(at), mem::take(state.of(at))) else {
            return Flow::PassRest;
        };
        let mut messages = LogMessages::new(exchange.host());
        match reading.finish(side, &self.bounds, &mut messages) {
            Ok(body) => self.put(side, &body, ending, exchange),
            Err(NoBody::Empty) => self.without_transformation(side, Exemption::NoBody.into(), exchange),
            Err(NoBody::Failed(failure)) => self.without_transformation(side, failure.into(), exchange),
            Err(NoBody::Stylesheet(error)) => self.stylesheet_failed(side, &error.to_string(), exchange),
            Err(NoBody::TooLarge) => self.stylesheet_failed(
                side,
                "the new envelope is larger than limits.max_output_bytes",
                exchange,
            ),
        }
    }

    /// Reads on, up to `end`.
    fn read(
        &self,
        side: &Side,
        reading: &mut Reading,
        end: usize,
        exchange: &mut Exchange<'_>,
    ) -> Result<(), Obstacle> {
        while reading.read() < end {
            let from = reading.read();
            let to = from.saturating_add(PIECE).min(end);
            let piece = exchange.body(side.direction, from..to).map_err(|_| Obstacle::Host)?;
            if piece.len() != to.saturating_sub(from) {
                return Err(Obstacle::Host);
            }
            reading.feed(&piece, &self.bounds)?;
        }
        Ok(())
    }

    fn side(&self, at: Direction) -> Option<&Side> {
        match at {
            Direction::Request => self.request.as_ref(),
            Direction::Response => self.response.as_ref(),
        }
    }
}

/// Whether the response comes from an upstream. A host that does not say is taken to have no responses of its own.
fn is_upstreams(exchange: &Exchange<'_>) -> bool {
    let details = exchange.host().property(&["response", "code_details"]);
    details.map_or(true, |details| details == b"via_upstream")
}
