//! The policy.

mod following;

use core::mem;
use core::ops::RangeInclusive;
use core::time::Duration;

use portcullis_policy::host::Direction;
use portcullis_policy::{
    BodyEvent, Callbacks, ConfigError, Dependency, EndOfStream, Exchange, Flow, HeldMemory, HostError,
    MostMemory, Policy, Worker,
};

use crate::action::Action;
use crate::body::{Audience, BodyFacts, BodyReader, BodyTests, EnvelopeReading, Format, Undecidable};
use crate::condition::Facts;
use crate::config::{Config, Undecided, check};
use crate::metrics::Metrics;
use crate::rules::{Rules, Ruling};

/// How much of a body is read from the host at a time, in bytes: little at first, for what decides mostly stands at the
/// beginning, and then as much again as has been read.
const PIECES: RangeInclusive<usize> = 1 << 10..=16 << 10;

/// Finds out which route a request takes.
pub struct ContentRouter {
    header: String,
    reads: Vec<Dependency>,
    rules: Rules,
    rule_names: Vec<String>,
    default: Action,
    body: BodyReader,
    undecided: Undecided,
    metrics: Metrics,
}

/// What the policy remembers of an exchange.
#[derive(Debug, Default)]
pub struct State(Phase);

#[derive(Debug, Default)]
enum Phase {
    /// Nothing has come, or the rules have decided: what follows passes unread.
    #[default]
    Passing,
    /// The rules need to know what is in the body, of which `read` bytes have come.
    Reading { format: Reading, read: usize },
}

#[derive(Debug)]
enum Reading {
    Envelope(Box<EnvelopeReading>),
    /// It is read when it is there as a whole; until then the host holds it.
    Json(HeldMemory),
}

/// Why there is no ruling.
enum Obstacle {
    /// The body is not such that there could be one.
    Undecidable(Undecidable),
    /// The host does not give what is needed.
    Host,
}

impl From<Undecidable> for Obstacle {
    fn from(reason: Undecidable) -> Self {
        Self::Undecidable(reason)
    }
}

impl From<HostError> for Obstacle {
    fn from(_: HostError) -> Self {
        Self::Host
    }
}

impl Policy for ContentRouter {
    const NAME: &'static str = "content-router";
    const CALLBACKS: Callbacks = Callbacks::REQUEST_HEADERS.and(Callbacks::REQUEST_BODY).and(Callbacks::TICK);
    type Config = Config;
    type State = State;

    fn from_config(config: Config) -> Result<Self, ConfigError> {
        config.check()?;
        let mut tests = BodyTests::new(&config);
        let rules = Rules::compile(&config.rules, &mut tests)?;
        let names = config.rules.iter().enumerate().map(|(at, rule)| check::rule_name(at, rule));
        Ok(Self {
            rules,
            rule_names: names.collect(),
            default: Action::compile(&config.default, "content_router_no_route"),
            body: tests.finish(&config.body),
            undecided: config.undecided,
            metrics: Metrics::default(),
            reads: config.reads(),
            header: config.header,
        })
    }

    fn callbacks(&self) -> Callbacks {
        if self.body.needs().any() { Self::CALLBACKS } else { Callbacks::REQUEST_HEADERS }
    }

    fn own_headers(&self) -> Vec<String> {
        vec![self.header.clone()]
    }

    fn reads(&self) -> Vec<Dependency> {
        self.reads.clone()
    }

    fn most_memory(&self) -> MostMemory {
        self.body.most_memory()
    }

    fn on_start(&mut self, worker: &mut Worker<'_>) -> Result<(), ConfigError> {
        self.metrics = Metrics::define(worker.host(), &self.rule_names);
        Ok(())
    }

    /// The engine watches by it whether bodies come.
    fn tick_period(&self) -> Option<Duration> {
        self.body.needs().any().then_some(Duration::from_millis(250))
    }

    fn on_request_headers(
        &mut self,
        state: &mut State,
        exchange: &mut Exchange<'_>,
        end: EndOfStream,
    ) -> Flow {
        let wanted = exchange.document_wanted().filter(|wanted| wanted.read_the_same(&self.body.limits));
        let audience = wanted.map_or(Audience::None, |wanted| Audience::Policy { nodes: wanted.nodes });
        // Copies of the route's header that clients have sent are gone, or the headers cannot be read.
        let Ok(headers) = exchange.request_headers() else {
            return self.fail(exchange);
        };
        let format = Format::of(headers, end, self.body.needs());
        let body = match &format {
            Ok(Format::Envelope { .. }) => BodyFacts::Envelope(&[]),
            Ok(Format::Json) => BodyFacts::Json(&[]),
            Err(_) => BodyFacts::Nothing,
        };
        match (self.rules.decide(Facts { headers, body }), format) {
            (Ruling::Undecided, Ok(format)) => {
                let format = match format {
                    Format::Json => Reading::Json(HeldMemory::default()),
                    Format::Envelope { binding, charset } => {
                        let open: Vec<_> = self.rules.open(Facts { headers, body }).flatten().collect();
                        let reading = EnvelopeReading::new(&self.body, open, binding, charset, audience);
                        Reading::Envelope(Box::new(reading))
                    }
                };
                state.0 = Phase::Reading { format, read: 0 };
                Flow::NeedBody
            }
            (Ruling::Undecided, Err(reason)) => {
                // All that rules without interest in bodies can fail to learn is the action.
                let reason = if self.body.needs().any() { reason } else { Undecidable::ContentType };
                self.follow(Err(reason.into()), exchange)
            }
            (ruling, _) => self.follow(Ok(ruling), exchange),
        }
    }

    fn on_request_body(&mut self, state: &mut State, exchange: &mut Exchange<'_>, body: BodyEvent) -> Flow {
        let ruling = match &mut state.0 {
            Phase::Passing => return Flow::Continue,
            Phase::Reading { format, read } => {
                *read = body.fresh.end;
                self.read(format, body, exchange)
            }
        };
        if let Ok(Ruling::Undecided) = ruling {
            return Flow::NeedBody;
        }
        self.share(mem::take(&mut state.0), &ruling, exchange);
        self.follow(ruling, exchange)
    }

    fn on_request_trailers(&mut self, state: &mut State, exchange: &mut Exchange<'_>) -> Flow {
        let ruling = match &mut state.0 {
            Phase::Passing => return Flow::Continue,
            Phase::Reading { format, read } => self.finish(format, *read, exchange),
        };
        self.share(mem::take(&mut state.0), &ruling, exchange);
        self.follow(ruling, exchange)
    }
}

impl ContentRouter {
    /// Leaves what has been read to the policies behind this one that want it, unless it takes too much.
    fn share(&self, phase: Phase, ruling: &Result<Ruling, Obstacle>, exchange: &mut Exchange<'_>) {
        if !matches!(ruling, Err(Obstacle::Undecidable(Undecidable::Busy)))
            && let Phase::Reading { format: Reading::Envelope(reading), .. } = phase
            && let Some(document) = reading.into_shared(&self.body)
        {
            exchange.share_document(document);
        }
    }

    /// Reads a piece of a body, until the rules are decided.
    fn read(
        &self,
        format: &mut Reading,
        body: BodyEvent,
        exchange: &mut Exchange<'_>,
    ) -> Result<Ruling, Obstacle> {
        let BodyEvent { fresh, end } = body;
        if let Reading::Envelope(reading) = format {
            let until = fresh.end.min(self.body.max_bytes);
            let mut from = fresh.start;
            while from < until {
                let piece = from.clamp(*PIECES.start(), *PIECES.end());
                let to = from.saturating_add(piece).min(until);
                let piece = whole(exchange.body(Direction::Request, from..to)?, to.saturating_sub(from))?;
                let headers = exchange.request_headers()?;
                match reading.feed(&piece, &self.body, &self.rules, headers)? {
                    Ruling::Undecided => from = to,
                    ruling => return Ok(ruling),
                }
            }
        }
        if fresh.end > self.body.max_bytes {
            return Err(Undecidable::TooLarge.into());
        }
        match end {
            EndOfStream::Yes => self.finish(format, fresh.end, exchange),
            EndOfStream::No => {
                if let Reading::Json(held) = format {
                    held.set(fresh.end, self.body.max_held_bytes).map_err(Undecidable::from)?;
                }
                Ok(Ruling::Undecided)
            }
        }
    }

    /// The body has ended, after so many bytes.
    fn finish(
        &self,
        format: &mut Reading,
        length: usize,
        exchange: &mut Exchange<'_>,
    ) -> Result<Ruling, Obstacle> {
        if length == 0 {
            return Err(Undecidable::NoBody.into());
        }
        let whole_body = |exchange: &Exchange<'_>| {
            whole(exchange.body(Direction::Request, 0..length)?, length).map_err(Obstacle::from)
        };
        match format {
            Reading::Json(_) => {
                let document = whole_body(exchange)?;
                let headers = exchange.request_headers()?;
                let open: Vec<_> =
                    self.rules.open(Facts { headers, body: BodyFacts::Json(&[]) }).flatten().collect();
                let truths = self.body.run_json(&open, &document)?;
                Ok(self.rules.decide(Facts { headers, body: BodyFacts::Json(&truths) }))
            }
            Reading::Envelope(reading) => {
                match reading.finish(&self.body, &self.rules, exchange.request_headers()?)? {
                    Ruling::Undecided => {}
                    ruling => return Ok(ruling),
                }
                // They have been read.
                let headers = exchange.known_request_headers().ok_or(Obstacle::Host)?;
                reading.finish_with(|| whole_body(exchange), &self.body, &self.rules, headers)
            }
        }
    }
}

/// The bytes, if there are as many as were asked for.
fn whole(bytes: Vec<u8>, expected: usize) -> Result<Vec<u8>, HostError> {
    if bytes.len() == expected { Ok(bytes) } else { Err(HostError::Malformed) }
}
