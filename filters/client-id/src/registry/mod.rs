//! Deciding from a list of clients that is kept in step with the auth service.

mod document;
mod loader;

use std::collections::BTreeMap;
use std::time::Duration;

use portcullis_policy::call_out::{NotSent, says_overload};
use portcullis_policy::host::{CallOut, CallToken, Level};
use portcullis_policy::time::Timestamp;
use portcullis_policy::{CallOutReply, Exchange, ExchangeId, Trouble, Worker, printable};

pub use document::{ClientEntry, ClientList, Document, SecretEntry};
use loader::{ListLimits, Loader, Portion, Progress};

use crate::auth_service::GRACE;
use crate::config::{BeforeFirstList, RegistrySource};
use crate::credentials::Credentials;
use crate::decision::{Outage, Released, Verification};
use crate::metrics::Metrics;

/// How soon the list is asked for again while there is none. It doubles with each failure, up to the interval.
const FIRST_RETRY: Duration = Duration::from_millis(200);

/// How much of a list is read in a tick. A list that takes less is taken over at once.
const PORTION: Portion = Portion { bytes: 512 << 10, clients: 4_000 };

/// The longest ETag that is sent back.
const MAX_ETAG_BYTES: usize = 256;

/// The list, and what is being done to have it.
pub(crate) struct Registry {
    source: RegistrySource,
    interval: Duration,
    max_waiting: usize,
    list: Option<ClientList>,
    /// A list that is no longer in force, or could not be read to its end. Its memory is given back a part at a time, and
    /// no other list is asked for meanwhile.
    outdated: ClientList,
    limits: ListLimits,
    /// When the service last gave the list or said that it had not changed.
    confirmed: Timestamp,
    etag: Option<Vec<u8>>,
    poll: Poll,
    retry_in: Duration,
    /// No list can be had.
    trouble: Trouble,
    /// What it means that there is no list, by how the last request for it ended.
    lack: Outage,
    /// Exchanges that are held for the first list, with what they gave and until when.
    held: BTreeMap<ExchangeId, Held>,
}

enum Poll {
    /// Nothing is under way; the next request is due.
    Due(Timestamp),
    /// A request is under way; its answer is given up at the time.
    Pending(CallToken, Timestamp),
    /// A list has come, and is being read.
    Loading(Box<Arrived>),
}

/// A list that has come.
struct Arrived {
    loader: Loader,
    etag: Option<Vec<u8>>,
    /// When it came.
    at: Timestamp,
}

struct Held {
    credentials: Credentials,
    until: Timestamp,
}

impl Registry {
    /// `jitter` lengthens the interval between requests: by a tenth of itself for 255.
    pub(crate) fn new(source: RegistrySource, jitter: u8, max_waiting: u32) -> Self {
        let interval = Duration::from_millis(source.interval_ms.into());
        let longer = interval.saturating_mul(jitter.into()).checked_div(2550).unwrap_or_default();
        let size = |limit: u32| usize::try_from(limit).unwrap_or(usize::MAX);
        Self {
            limits: ListLimits { clients: size(source.max_clients), memory: size(source.max_memory_bytes) },
            outdated: ClientList::default(),
            lack: Outage::NoList,
            source,
            interval: interval.saturating_add(longer),
            max_waiting: usize::try_from(max_waiting).unwrap_or(usize::MAX),
            list: None,
            confirmed: Timestamp::from_nanos(0),
            etag: None,
            poll: Poll::Due(Timestamp::from_nanos(0)),
            retry_in: FIRST_RETRY,
            trouble: Trouble::default(),
            held: BTreeMap::new(),
        }
    }

    pub(crate) fn verify(
        &mut self,
        credentials: Credentials,
        exchange: &mut Exchange<'_>,
        metrics: &Metrics,
    ) -> Verification {
        if let Some(list) = &self.list {
            if self.is_too_old(exchange) {
                return Verification::Outage(self.lack);
            }
            return Verification::Decided(list.decide(&credentials));
        }
        if self.source.before_first_list == BeforeFirstList::Refuse {
            return Verification::Outage(self.lack);
        }
        if self.held.len() >= self.max_waiting {
            metrics.overload.increment(exchange.host());
            return Verification::Outage(Outage::Overload);
        }
        let until = exchange.host().now().after(self.hold());
        self.held.insert(exchange.id(), Held { credentials, until });
        Verification::Pending
    }

    /// Asks for the list when that is due, and gives up on what is overdue.
    pub(crate) fn on_tick(&mut self, worker: &mut Worker<'_>, metrics: &Metrics) -> Vec<Released> {
        let now = worker.host().now();
        // A list from the future means that the clock was set back. Its age counts from now on, or it would live on for as
        // long as by that.
        self.confirmed = self.confirmed.min(now);
        let is_tidy = !self.outdated.forget(PORTION.clients);
        let mut released = Vec::new();
        match &self.poll {
            Poll::Due(due) if is_tidy && due.is_due(now, self.interval.max(FIRST_RETRY)) => {
                self.ask(now, worker, metrics);
            }
            Poll::Pending(_, deadline) if deadline.is_due(now, self.answer_within()) => {
                self.lack = Outage::NoList;
                self.failed("no answer came", now, worker, metrics);
            }
            Poll::Loading(_) => released = self.load(now, worker, metrics),
            Poll::Due(_) | Poll::Pending(..) => {}
        }
        let hold = self.hold();
        let overdue: Vec<ExchangeId> =
            self.held.iter().filter(|(_, held)| held.until.is_due(now, hold)).map(|(id, _)| *id).collect();
        let why = self.lack;
        released.extend(overdue.into_iter().filter_map(|id| {
            self.held.remove(&id)?;
            Some(Released { id, verification: Verification::Outage(why) })
        }));
        released
    }

    /// Takes the list over, if this is the answer with it. Gives the exchanges that were held for it.
    pub(crate) fn on_reply(
        &mut self,
        reply: CallOutReply,
        worker: &mut Worker<'_>,
        metrics: &Metrics,
    ) -> Vec<Released> {
        if !matches!(self.poll, Poll::Pending(token, _) if token == reply.token) {
            return Vec::new();
        }
        let now = worker.host().now();
        match self.read(reply, now, worker) {
            Ok(News::Unchanged) => {
                metrics.registry_unchanged.increment(worker.host());
                self.succeeded(now, now, worker);
                Vec::new()
            }
            Ok(News::List(arrived)) => {
                self.poll = Poll::Loading(arrived);
                self.load(now, worker, metrics)
            }
            Err(problem) => {
                self.refused(&problem, now, worker, metrics);
                Vec::new()
            }
        }
    }

    /// Reads on in the list that has come. Takes it over when it is whole, and gives the exchanges that were held for it.
    fn load(&mut self, now: Timestamp, worker: &Worker<'_>, metrics: &Metrics) -> Vec<Released> {
        let Poll::Loading(arrived) = &mut self.poll else {
            return Vec::new();
        };
        let progress = arrived.loader.advance(PORTION);
        if let Ok(Progress::Unfinished) = progress {
            return Vec::new();
        }
        let Poll::Loading(arrived) = core::mem::replace(&mut self.poll, Poll::Due(now)) else {
            return Vec::new();
        };
        let Arrived { loader, etag, at } = *arrived;
        let list = loader.finish();
        if let Err(error) = progress {
            self.outdated = list;
            self.refused(&Problem::Refused(error.to_string()), now, worker, metrics);
            return Vec::new();
        }
        metrics.registry_updated.increment(worker.host());
        let line = format!("client-id: took over a list of {} clients", list.len());
        worker.host().log(Level::Info, &line);
        let held = core::mem::take(&mut self.held);
        let release = |(id, held): (ExchangeId, Held)| Released {
            id,
            verification: Verification::Decided(list.decide(&held.credentials)),
        };
        let released = held.into_iter().map(release).collect();
        self.outdated = self.list.replace(list).unwrap_or_default();
        self.etag = etag;
        self.succeeded(at, now, worker);
        released
    }

    fn refused(&mut self, problem: &Problem, now: Timestamp, worker: &Worker<'_>, metrics: &Metrics) {
        if matches!(problem, Problem::Refused(_)) {
            metrics.registry_refused.increment(worker.host());
        }
        self.lack = problem.lack();
        self.failed(&problem.to_string(), now, worker, metrics);
    }

    pub(crate) fn forget(&mut self, id: ExchangeId) {
        self.held.remove(&id);
    }

    fn ask(&mut self, now: Timestamp, worker: &mut Worker<'_>, metrics: &Metrics) {
        let mut headers: Vec<(&str, &[u8])> = vec![
            (":method", b"GET"),
            (":path", self.source.path.as_bytes()),
            (":authority", self.source.authority.as_bytes()),
            ("accept", b"application/json"),
        ];
        if let Some(etag) = &self.etag {
            headers.push(("if-none-match", etag));
        }
        let call =
            CallOut { cluster: &self.source.cluster, headers: &headers, body: b"", timeout: self.timeout() };
        match worker.host().call_out(&call) {
            Ok(token) => self.poll = Poll::Pending(token, now.after(self.answer_within())),
            Err(error) => {
                self.lack = match NotSent::from(error) {
                    NotSent::UnknownCluster => Outage::NoList,
                    NotSent::Refused => Outage::Overload,
                };
                self.failed(&format!("the request could not be sent: {error}"), now, worker, metrics);
            }
        }
    }

    fn is_too_old(&self, exchange: &Exchange<'_>) -> bool {
        let max_age = Duration::from_millis(self.source.max_age_ms.into());
        !max_age.is_zero() && exchange.host().now().since(self.confirmed) > max_age
    }

    fn answer_within(&self) -> Duration {
        self.timeout().saturating_add(GRACE)
    }

    fn timeout(&self) -> Duration {
        Duration::from_millis(self.source.timeout_ms.into())
    }

    fn hold(&self) -> Duration {
        Duration::from_millis(self.source.hold_ms.into())
    }

    fn read(&self, reply: CallOutReply, now: Timestamp, worker: &Worker<'_>) -> Result<News, Problem> {
        if reply.headers == 0 {
            return Err(Problem::Reset);
        }
        let headers = worker.host().call_out_headers().map_err(|_| Problem::Reset)?;
        match headers.first(":status").unwrap_or_default() {
            // Nothing was asked for conditionally unless there is a list.
            b"304" if self.list.is_some() => Ok(News::Unchanged),
            b"200" => {
                let limit = usize::try_from(self.source.max_bytes).unwrap_or(usize::MAX);
                if reply.body > limit {
                    return Err(Problem::Refused(format!("it has {} bytes, more than {limit}", reply.body)));
                }
                let body = worker.host().call_out_body(reply.body).map_err(|_| Problem::Reset)?;
                let etag =
                    headers.first("etag").filter(|etag| etag.len() <= MAX_ETAG_BYTES).map(<[u8]>::to_vec);
                let loader = Loader::new(body, self.limits);
                Ok(News::List(Box::new(Arrived { loader, etag, at: now })))
            }
            _ if says_overload(&headers) => Err(Problem::Overload),
            status => Err(Problem::Status(String::from_utf8_lossy(status).into_owned())),
        }
    }

    /// The service said at this time what is in force now.
    fn succeeded(&mut self, at: Timestamp, now: Timestamp, worker: &Worker<'_>) {
        if self.trouble.is_over() {
            worker.host().log(Level::Info, "client-id: the list of clients can be had again");
        }
        self.lack = Outage::NoList;
        self.confirmed = at;
        self.retry_in = FIRST_RETRY;
        self.poll = Poll::Due(now.after(self.interval));
    }

    fn failed(&mut self, problem: &str, now: Timestamp, worker: &Worker<'_>, metrics: &Metrics) {
        metrics.registry_failed.increment(worker.host());
        let consequence = match &self.list {
            Some(list) => format!("the last list, of {} clients, stays in force", list.len()),
            None => "there is none yet".to_owned(),
        };
        let line = format!("client-id: no new list of clients: {problem}; {consequence}");
        self.trouble.lasts(Level::Warn, &line, worker.host());
        let pause = self.retry_in.min(self.interval);
        self.poll = Poll::Due(now.after(pause));
        self.retry_in = pause.saturating_mul(2);
    }
}

enum News {
    Unchanged,
    List(Box<Arrived>),
}

enum Problem {
    Reset,
    Overload,
    Status(String),
    Refused(String),
}

impl Problem {
    /// What a lack of the list means after this. A service that answers is not out, and whoever makes it answer that it is
    /// asked too often, or fills the cluster's circuit breaker, opens nothing.
    fn lack(&self) -> Outage {
        match self {
            Self::Overload => Outage::Overload,
            Self::Status(status) if !status.starts_with('5') => Outage::Undecided,
            Self::Refused(_) => Outage::Undecided,
            Self::Reset | Self::Status(_) => Outage::NoList,
        }
    }
}

impl core::fmt::Display for Problem {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Reset => f.write_str("the connection failed"),
            Self::Overload => f.write_str("too many requests, says the service or Envoy"),
            Self::Status(status) => write!(f, "the answer's status is \"{}\"", printable::name(status)),
            Self::Refused(reason) => write!(f, "the list is refused: {reason}"),
        }
    }
}
