//! The policy.

mod refusing;

use std::time::Duration;

use portcullis_policy::host::CallToken;
use portcullis_policy::scope::{CompiledScope, Concern};
use portcullis_policy::{
    CallOutReply, Callbacks, ConfigError, Dependency, EndOfStream, Exchange, ExchangeId, Flow, HeaderMap,
    HostError, MostMemory, Policy, Verdict, Worker,
};

use crate::caller::{Caller, Needs};
use crate::cluster::reply::{Ruled, Ruling};
use crate::cluster::{AddedHeaders, Answer, Asked, Description, RateLimitService, ServiceMetrics};
use crate::config::{Config, Headers, MissingKey, Mode};
use crate::headers::Announcer;
use crate::key::{Completeness, KeyReader};
use crate::limiter::{CountedIn, Decision, Stored, Taken};
use crate::metrics::Metrics;
use crate::outcome::{Refusal, pass};
use crate::quotas::{Quotas, Subject, scope_of};
use crate::rejection::{self, Rejection};
use crate::told::Told;

/// Refuses requests whose quota is used up.
pub struct RateLimit {
    config: Config,
    scope: CompiledScope,
    key: KeyReader,
    needs: Needs,
    quotas: Quotas,
    /// Who counts in this gateway's stead, if anybody does.
    service: Option<RateLimitService>,
    rejection: Rejection,
    announcer: Announcer,
    metrics: Metrics,
    /// What the request in hand is counted as; kept so that its memory serves again.
    subject: Subject,
}

/// What the policy remembers of an exchange.
#[derive(Debug, Default)]
pub struct State(Phase);

#[derive(Debug, Default)]
enum Phase {
    /// Nothing.
    #[default]
    Idle,
    /// It waits for the answer to this call; this is what to count it as should none come.
    Waiting(CallToken, Subject),
    /// It has been decided on, and this is what its client is still to be told.
    Decided(Told),
}

impl Phase {
    /// The request has been decided on, and its client is to be told this, if anything.
    fn decided(told: Option<Told>) -> Self {
        told.map_or(Self::Idle, Self::Decided)
    }
}

/// A request that is concerned, read once.
struct Reading {
    completeness: Completeness,
    /// What it is in the service's terms, if there is a service.
    description: Option<Description>,
}

impl Policy for RateLimit {
    const NAME: &'static str = "rate-limit";
    const CALLBACKS: Callbacks = Callbacks::REQUEST_HEADERS
        .and(Callbacks::REQUEST_BODY)
        .and(Callbacks::RESPONSE_HEADERS)
        .and(Callbacks::CALL_OUT)
        .and(Callbacks::TICK);
    type Config = Config;
    type State = State;

    fn from_config(config: Config) -> Result<Self, ConfigError> {
        config.check()?;
        let (key, quotas) = (KeyReader::compile(&config.key), Quotas::compile(&config)?);
        if let Some(service) = &config.service {
            service.check_entry_keys(key.entry_names()).map_err(|error| error.within("service"))?;
        }
        let tells_tier = config.service.as_ref().is_some_and(|service| service.tier_entry.is_some());
        Ok(Self {
            scope: CompiledScope::compile(&config.scope).map_err(|error| error.within("scope"))?,
            needs: Needs {
                identity: (key.needs_client_id() || quotas.has_tiers() || tells_tier).into(),
                source_address: key.needs_source_address().into(),
            },
            key,
            quotas,
            service: None,
            rejection: Rejection::compile(&config.rejection),
            announcer: Announcer::new(config.headers, config.name.as_deref()),
            metrics: Metrics::default(),
            subject: Subject::default(),
            config,
        })
    }

    fn callbacks(&self) -> Callbacks {
        let decides = Callbacks::REQUEST_HEADERS;
        match (&self.config.service, self.config.headers) {
            (Some(_), _) => Self::CALLBACKS,
            (None, Headers::Off) => decides,
            (None, _) => decides.and(Callbacks::RESPONSE_HEADERS),
        }
    }

    /// What the upstream believes to be the service's word must not be the client's.
    fn own_headers(&self) -> Vec<String> {
        let names = self.config.service.iter().flat_map(|service| &service.request_headers);
        names.map(|name| name.to_ascii_lowercase()).collect()
    }

    fn reads(&self) -> Vec<Dependency> {
        self.config.reads()
    }

    /// What counts requests is in the host's memory, but for leases and the calls that a service has not answered.
    fn most_memory(&self) -> MostMemory {
        const LEASES: usize = 2 << 20;
        const CALL: usize = 512;
        let tables = self.config.tiers.len().saturating_add(1).saturating_mul(LEASES);
        let waiting = self.config.service.as_ref().map_or(0, |service| service.max_waiting);
        let calls = usize::try_from(waiting).unwrap_or(usize::MAX).saturating_mul(CALL);
        MostMemory { kept: tables.saturating_add(calls), ..MostMemory::default() }
    }

    fn on_start(&mut self, worker: &mut Worker<'_>) -> Result<(), ConfigError> {
        let name = self.config.name.as_deref();
        self.metrics = Metrics::define(worker.host(), name);
        self.service = self
            .config
            .service
            .as_ref()
            .map(|service| RateLimitService::new(service, ServiceMetrics::define(worker.host(), name)));
        if let (None, instance @ 1..) = (name, worker.instance()) {
            // No two policies of a chain call their limits the same.
            let name = format!("default-{}", instance.saturating_add(1));
            self.announcer = Announcer::new(self.config.headers, Some(&name));
        }
        let scope = scope_of(name, worker);
        if worker.host().monotonic().is_err() {
            return Err(ConfigError::new(
                "",
                "the host does not tell the time; grant the capability clock_time_get",
            ));
        }
        self.quotas.start(scope, worker.host()).map_err(|error| {
            let needed = "proxy_get_shared_data, proxy_set_shared_data and random_get";
            ConfigError::new(
                "",
                format!("the host shares no data ({error}); grant the capabilities {needed}"),
            )
        })
    }

    fn tick_period(&self) -> Option<Duration> {
        self.config.service.as_ref().map(|_| Duration::from_millis(500))
    }

    fn on_tick(&mut self, worker: &mut Worker<'_>) {
        let answered = self.service.as_mut().map(|service| service.on_tick(worker)).unwrap_or_default();
        answered.into_iter().for_each(|id| worker.wake(id));
    }

    fn on_call_out_reply(&mut self, reply: CallOutReply, worker: &mut Worker<'_>) {
        if let Some(id) = self.service.as_mut().and_then(|service| service.on_reply(reply, worker)) {
            worker.wake(id);
        }
    }

    fn on_request_headers(&mut self, state: &mut State, exchange: &mut Exchange<'_>, _: EndOfStream) -> Flow {
        let Reading { completeness, description } = match self.read(exchange) {
            Ok(Some(reading)) => reading,
            Ok(None) => return pass(self.metrics.exempt, Verdict::Skipped, "exempt", exchange),
            Err(_) if exchange.known_request_headers().is_none() && self.owns_headers() => {
                return self.refuse_uncleaned(exchange);
            }
            Err(_) => return self.fail(exchange),
        };
        if completeness != Completeness::Whole {
            self.metrics.missing_key.increment(exchange.host());
        }
        match (self.config.missing_key, completeness) {
            (_, Completeness::Whole) | (MissingKey::OwnBucket, _) => {}
            (MissingKey::Refuse, _) => {
                return self.refuse(Refusal::MissingKey, exchange, |_| rejection::missing_key());
            }
            (MissingKey::Skip, Completeness::Lacking) => {
                return pass(self.metrics.skipped, Verdict::Skipped, "missing-key", exchange);
            }
            // Who has too much of it is not let off.
            (MissingKey::Skip, Completeness::Ambiguous) => {}
        }
        let subject = core::mem::take(&mut self.subject);
        match self.service.as_mut().zip(description).map(|(service, asked)| service.ask(&asked, exchange)) {
            None => {
                let flow = self.count(&subject, state, exchange);
                self.subject = subject;
                flow
            }
            Some(Asked::Pending(call)) => {
                state.0 = Phase::Waiting(call, subject);
                Flow::Wait
            }
            Some(Asked::Outage(outage)) => self.without_service(outage, &subject, state, exchange),
        }
    }

    fn on_wake(&mut self, state: &mut State, exchange: &mut Exchange<'_>) -> Flow {
        let (call, subject) = match core::mem::take(&mut state.0) {
            Phase::Waiting(call, subject) => (call, subject),
            Phase::Idle | Phase::Decided(_) => return self.fail(exchange),
        };
        match self.service.as_mut().and_then(|service| service.collect(call)) {
            None => {
                state.0 = Phase::Waiting(call, subject);
                Flow::Wait
            }
            Some(Answer::Outage(outage)) => self.without_service(outage, &subject, state, exchange),
            Some(Answer::Ruled(ruling)) => self.heed(*ruling, state, exchange),
        }
    }

    fn on_response_headers(
        &mut self,
        state: &mut State,
        exchange: &mut Exchange<'_>,
        _: EndOfStream,
    ) -> Flow {
        // A response that comes while the request waits is the host's own: the call is still under way.
        if let Phase::Decided(told) = &state.0 {
            told.tell(&mut self.announcer, exchange);
            state.0 = Phase::Idle;
        }
        Flow::Continue
    }

    fn on_close(&mut self, state: &mut State, _: ExchangeId) {
        if let (Phase::Waiting(call, _), Some(service)) = (&state.0, &mut self.service) {
            service.forget(*call);
        }
    }
}

impl RateLimit {
    /// Finds out what the request is counted as; `None` if it is not concerned.
    fn read(&mut self, exchange: &mut Exchange<'_>) -> Result<Option<Reading>, HostError> {
        exchange.request_headers()?;
        let exchange = &*exchange;
        let headers = exchange.known_request_headers().ok_or(HostError::NotFound)?;
        if self.scope.concern(headers) == Concern::Exempt {
            return Ok(None);
        }
        let caller = Caller::of(exchange, headers, self.needs)?;
        self.quotas.begin(&mut self.subject, caller.tier);
        let (request, key) = (caller.request(headers), self.subject.key_mut());
        let Some(service) = &self.service else {
            return Ok(Some(Reading { completeness: self.key.read(&request, key), description: None }));
        };
        let mut description = service.describe(caller.tier);
        let completeness = self.key.read_and_tell(&request, key, |part, value| {
            service.describe_part(part, value, &mut description);
        });
        Ok(Some(Reading { completeness, description: Some(description) }))
    }

    /// Whether the service may set headers of requests, which clients therefore may not.
    fn owns_headers(&self) -> bool {
        self.config.service.as_ref().is_some_and(|service| !service.request_headers.is_empty())
    }

    /// Does as the service has decided.
    fn heed(&mut self, ruling: Ruling, state: &mut State, exchange: &mut Exchange<'_>) -> Flow {
        let Ruling { ruled, standings, request_headers, mut response_headers, body, .. } = ruling;
        let passes = ruled == Ruled::Within || self.config.mode == Mode::Shadow;
        if passes && request_headers.append_to(HeaderMap::RequestHeaders, exchange).is_err() {
            return self.fail(exchange);
        }
        if !standings.is_empty() {
            response_headers.leave_out(|name| self.announcer.owns(name));
        }
        match ruled {
            Ruled::Within => {
                state.0 = Phase::decided(Told::new(&standings, response_headers, &self.announcer));
                pass(self.metrics.admitted, Verdict::Passed, "admitted", exchange)
            }
            Ruled::Over => {
                response_headers.leave_out(|name| name == "retry-after");
                self.exceed(&standings, response_headers, body, state, exchange)
            }
        }
    }

    /// Counts the request here.
    fn count(&mut self, subject: &Subject, state: &mut State, exchange: &mut Exchange<'_>) -> Flow {
        let Ok(taken) = self.quotas.take(subject, exchange.host()) else {
            return self.fail(exchange);
        };
        self.observe(&taken, exchange);
        match taken.decision {
            Decision::Admitted => {
                let told = Told::new(taken.standings.as_slice(), AddedHeaders::default(), &self.announcer);
                state.0 = Phase::decided(told);
                pass(self.metrics.admitted, Verdict::Passed, "admitted", exchange)
            }
            Decision::Refused => {
                self.exceed(taken.standings.as_slice(), AddedHeaders::default(), None, state, exchange)
            }
            Decision::Uncounted => {
                pass(self.metrics.table_full_admitted, Verdict::Passed, "table-full", exchange)
            }
            Decision::NoRoom => self
                .refuse(Refusal::TableFull, exchange, |_| rejection::table_full(taken.standings.as_slice())),
        }
    }

    /// Counts what is out of the ordinary.
    fn observe(&self, taken: &Taken, exchange: &Exchange<'_>) {
        match taken.counted_in {
            CountedIn::Own | CountedIn::Nowhere => {}
            CountedIn::Shared => self.metrics.table_full_shared.increment(exchange.host()),
            CountedIn::Lease => self.metrics.lease_served.increment(exchange.host()),
        }
        if taken.stored == Stored::Corrupt {
            self.metrics.store_corrupt.increment(exchange.host());
        }
        self.metrics.conflicts.add(exchange.host(), taken.conflicts);
    }
}
