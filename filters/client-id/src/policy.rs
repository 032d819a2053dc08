//! The policy.

use std::collections::BTreeMap;
use std::time::Duration;

use portcullis_policy::scope::{CompiledScope, Concern};
use portcullis_policy::{
    CallOutReply, Callbacks, ConfigError, EndOfStream, Exchange, ExchangeId, Fact, Flow, MostMemory, Outcome,
    Policy, Reply, SecretName, Verdict, Worker,
};

use crate::auth_service::AuthService;
use crate::cache::Cache;
use crate::config::{Auth, Config, OnOutage, Origin, UpstreamCredentials};
use crate::credentials::{self, Credentials, Found};
use crate::decision::{Decision, Denial, Outage, Released, Verification};
use crate::metrics::Metrics;
use crate::registry::Registry;
use crate::rejection::Rejection;
use crate::upstream;

/// Lets requests of known clients pass, and says who they are.
pub struct ClientId {
    config: Config,
    origins: Vec<Origin>,
    scope: CompiledScope,
    rejection: Rejection,
    verifier: Verifier,
    metrics: Metrics,
    /// What has been found out for exchanges that were waiting and are about to be woken.
    verified: BTreeMap<ExchangeId, Verification>,
}

enum Verifier {
    /// Before [`Policy::on_start`].
    NotStarted,
    PerRequest(Box<AuthService>),
    Registry(Box<Registry>),
}

/// What the policy remembers of an exchange.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// It waits for nothing.
    #[default]
    Idle,
    /// It waits for a decision.
    Waiting,
}

impl Policy for ClientId {
    const NAME: &'static str = "client-id";
    const CALLBACKS: Callbacks =
        Callbacks::REQUEST_HEADERS.and(Callbacks::REQUEST_BODY).and(Callbacks::CALL_OUT).and(Callbacks::TICK);
    type Config = Config;
    type State = State;

    fn from_config(config: Config) -> Result<Self, ConfigError> {
        config.check()?;
        Ok(Self {
            origins: config.origins(),
            scope: CompiledScope::compile(&config.scope).map_err(|error| error.within("scope"))?,
            rejection: Rejection::compile(&config.rejection).map_err(|error| error.within("rejection"))?,
            verifier: Verifier::NotStarted,
            metrics: Metrics::default(),
            verified: BTreeMap::new(),
            config,
        })
    }

    fn secret_names(&self) -> Vec<SecretName> {
        let names = |origin: &Origin| match origin {
            Origin::Basic => vec![SecretName::Header("authorization".to_owned())],
            Origin::Headers { id, secret } => {
                [id, secret].map(|name| SecretName::Header(name.clone())).to_vec()
            }
            Origin::Query { id, secret } => {
                [id, secret].map(|name| SecretName::Parameter(name.clone())).to_vec()
            }
        };
        self.origins.iter().flat_map(names).collect()
    }

    fn own_headers(&self) -> Vec<String> {
        upstream::own_headers()
    }

    fn provides(&self) -> Vec<Fact> {
        vec![Fact::Identity]
    }

    fn most_memory(&self) -> MostMemory {
        self.config.most_memory()
    }

    fn on_start(&mut self, worker: &mut Worker<'_>) -> Result<(), ConfigError> {
        self.metrics = Metrics::define(worker.host());
        self.verifier = Verifier::build(&self.config, worker)?;
        // The list is asked for now, not a tick later: there may be requests already.
        self.on_tick(worker);
        Ok(())
    }

    fn tick_period(&self) -> Option<Duration> {
        Some(match self.config.auth {
            Auth::PerRequest(_) => Duration::from_millis(500),
            Auth::Registry(_) => Duration::from_millis(100),
        })
    }

    fn on_tick(&mut self, worker: &mut Worker<'_>) {
        let released = match &mut self.verifier {
            Verifier::NotStarted => Vec::new(),
            Verifier::PerRequest(service) => service.on_tick(worker, &self.metrics),
            Verifier::Registry(registry) => registry.on_tick(worker, &self.metrics),
        };
        self.wake(released, worker);
    }

    fn on_call_out_reply(&mut self, reply: CallOutReply, worker: &mut Worker<'_>) {
        let released = match &mut self.verifier {
            Verifier::NotStarted => Vec::new(),
            Verifier::PerRequest(service) => service.on_reply(reply, worker, &self.metrics),
            Verifier::Registry(registry) => registry.on_reply(reply, worker, &self.metrics),
        };
        self.wake(released, worker);
    }

    fn on_request_headers(&mut self, state: &mut State, exchange: &mut Exchange<'_>, _: EndOfStream) -> Flow {
        // The engine has removed what only the suite may set, or the headers cannot be read.
        let Ok(headers) = exchange.request_headers() else {
            return self.fail_closed(exchange);
        };
        if self.scope.concern(headers) == Concern::Exempt {
            self.metrics.exempt.increment(exchange.host());
            record(exchange, Verdict::Skipped, "exempt");
            return Flow::PassRest;
        }
        let (found, origin) = credentials::find(&self.origins, self.config.secret, headers);
        let kept = match self.config.upstream_credentials {
            UpstreamCredentials::Remove => None,
            UpstreamCredentials::Keep => origin,
        };
        // At once, whatever will be decided: logs show the path of refused and abandoned requests too.
        if upstream::remove_credentials(exchange, &self.origins, kept).is_err() {
            return self.fail_closed(exchange);
        }
        match found {
            Found::Missing => self.deny(Denial::Missing, exchange),
            Found::Malformed(malformed) => {
                self.metrics.rejected_malformed.increment(exchange.host());
                record(exchange, Verdict::Rejected, "malformed");
                reject(self.rejection.malformed(malformed))
            }
            Found::Credentials(credentials) => match self.verify(credentials, exchange) {
                Verification::Pending => {
                    *state = State::Waiting;
                    Flow::Wait
                }
                verification => self.conclude(verification, exchange),
            },
        }
    }

    fn on_wake(&mut self, state: &mut State, exchange: &mut Exchange<'_>) -> Flow {
        match self.verified.remove(&exchange.id()) {
            Some(verification) => {
                *state = State::Idle;
                self.conclude(verification, exchange)
            }
            None => Flow::Wait,
        }
    }

    fn on_close(&mut self, state: &mut State, id: ExchangeId) {
        if *state == State::Waiting {
            self.verified.remove(&id);
            match &mut self.verifier {
                Verifier::NotStarted => {}
                Verifier::PerRequest(service) => service.forget(id),
                Verifier::Registry(registry) => registry.forget(id),
            }
        }
    }
}

impl ClientId {
    fn wake(&mut self, released: Vec<Released>, worker: &mut Worker<'_>) {
        for Released { id, verification } in released {
            self.verified.insert(id, verification);
            worker.wake(id);
        }
    }

    fn verify(&mut self, credentials: Credentials, exchange: &mut Exchange<'_>) -> Verification {
        match &mut self.verifier {
            Verifier::NotStarted => Verification::Outage(Outage::Host),
            Verifier::PerRequest(service) => service.verify(credentials, exchange, &self.metrics),
            Verifier::Registry(registry) => registry.verify(credentials, exchange, &self.metrics),
        }
    }

    fn conclude(&self, verification: Verification, exchange: &mut Exchange<'_>) -> Flow {
        match verification {
            Verification::Pending => Flow::Wait,
            Verification::Decided(Decision::Deny(denial)) => self.deny(denial, exchange),
            Verification::Decided(Decision::Admit(identity)) => {
                if upstream::set_identity(exchange, &identity).is_err() {
                    return self.fail_closed(exchange);
                }
                self.metrics.admitted.increment(exchange.host());
                record(exchange, Verdict::Passed, "admitted");
                Flow::PassRest
            }
            Verification::Outage(outage) => match self.config.on_outage {
                OnOutage::Open if outage.may_open() => {
                    let mark = outage.as_str().as_bytes();
                    if exchange.set_request_header(upstream::UNVERIFIED_HEADER, mark).is_err() {
                        return self.fail_closed(exchange);
                    }
                    self.metrics.outage_open.increment(exchange.host());
                    record(exchange, Verdict::FailedOpen, outage.as_str());
                    Flow::PassRest
                }
                OnOutage::Open | OnOutage::Closed => self.refuse_for(outage, exchange),
            },
        }
    }

    fn deny(&self, denial: Denial, exchange: &mut Exchange<'_>) -> Flow {
        self.metrics.denial(denial).increment(exchange.host());
        record(exchange, Verdict::Rejected, denial.as_str());
        reject(self.rejection.denied(denial))
    }

    fn refuse_for(&self, outage: Outage, exchange: &mut Exchange<'_>) -> Flow {
        self.metrics.outage_closed.increment(exchange.host());
        record(exchange, Verdict::FailedClosed, outage.as_str());
        reject(self.rejection.outage(outage))
    }

    /// The host does not do what is needed to treat the request safely; `on_outage: open` is no licence to pass on
    /// headers that could not be checked.
    fn fail_closed(&self, exchange: &mut Exchange<'_>) -> Flow {
        self.metrics.host_failed.increment(exchange.host());
        self.refuse_for(Outage::Host, exchange)
    }
}

impl Verifier {
    fn build(config: &Config, worker: &mut Worker<'_>) -> Result<Self, ConfigError> {
        let no_randomness =
            |_| ConfigError::new("", "the host gives no random numbers; grant the capability random_get");
        match &config.auth {
            Auth::PerRequest(service) => {
                let realm = serde_json::to_vec(service)
                    .map_err(|error| ConfigError::new("auth", format!("cannot be written down: {error}")))?;
                let cache = Cache::new(&config.cache, &realm, worker.host()).map_err(no_randomness)?;
                let service = AuthService::new(service.clone(), cache, config.max_waiting, config.on_outage);
                Ok(Self::PerRequest(Box::new(service)))
            }
            Auth::Registry(source) => {
                let mut random = [0];
                getrandom::fill(&mut random).map_err(no_randomness)?;
                let [jitter] = random;
                Ok(Self::Registry(Box::new(Registry::new(source.clone(), jitter, config.max_waiting))))
            }
        }
    }
}

fn reject(reply: Reply) -> Flow {
    Flow::Reply(Box::new(reply))
}

/// Writes the outcome down for the log: the chain's, and by filter state that of a separate module.
fn record(exchange: &mut Exchange<'_>, verdict: Verdict, reason: &'static str) {
    let outcome = Outcome { policy: ClientId::NAME, verdict, reason };
    exchange.record(outcome);
    let _ = exchange.host().set_property(&[upstream::OUTCOME_PROPERTY], outcome.to_string().as_bytes());
}
