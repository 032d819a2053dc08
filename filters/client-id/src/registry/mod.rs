//! Deciding from a list of clients that is kept in step with the auth service.

mod document;

use std::collections::BTreeMap;
use std::time::Duration;

use portcullis_policy::host::{CallOut, CallToken, Level};
use portcullis_policy::time::Timestamp;
use portcullis_policy::{CallOutReply, Exchange, ExchangeId, Worker};

pub use document::{ClientEntry, ClientList, Document, SecretEntry};

use crate::auth_service::GRACE;
use crate::config::{BeforeFirstList, RegistrySource};
use crate::credentials::Credentials;
use crate::decision::{Outage, Released, Verification};
use crate::metrics::Metrics;

/// How soon the list is asked for again while there is none. It doubles with each failure, up to the interval.
const FIRST_RETRY: Duration = Duration::from_millis(200);

/// The list, and what is being done to have it.
pub(crate) struct Registry {
    source: RegistrySource,
    interval: Duration,
    max_waiting: usize,
    list: Option<ClientList>,
    /// When the service last gave the list or said that it had not changed.
    confirmed: Timestamp,
    etag: Option<Vec<u8>>,
    poll: Poll,
    retry_in: Duration,
    health: Health,
    /// Exchanges that are held for the first list, with what they gave and until when.
    held: BTreeMap<ExchangeId, Held>,
}

enum Poll {
    /// Nothing is under way; the next request is due.
    Due(Timestamp),
    /// A request is under way; its answer is given up at the time.
    Pending(CallToken, Timestamp),
}

/// Whether the last request for the list succeeded, so that the log tells of changes only.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Health {
    Unknown,
    Good,
    Bad,
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
        Self {
            source,
            interval: interval.saturating_add(longer),
            max_waiting: usize::try_from(max_waiting).unwrap_or(usize::MAX),
            list: None,
            confirmed: Timestamp::from_nanos(0),
            etag: None,
            poll: Poll::Due(Timestamp::from_nanos(0)),
            retry_in: FIRST_RETRY,
            health: Health::Unknown,
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
                return Verification::Outage(Outage::NoList);
            }
            return Verification::Decided(list.decide(&credentials));
        }
        if self.source.before_first_list == BeforeFirstList::Refuse {
            return Verification::Outage(Outage::NoList);
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
        match self.poll {
            Poll::Due(due) if due.is_due(now, self.interval.max(FIRST_RETRY)) => {
                self.ask(now, worker, metrics);
            }
            Poll::Pending(_, deadline) if deadline.is_due(now, self.answer_within()) => {
                self.failed("no answer came", now, worker, metrics);
            }
            Poll::Due(_) | Poll::Pending(..) => {}
        }
        let hold = self.hold();
        let overdue: Vec<ExchangeId> =
            self.held.iter().filter(|(_, held)| held.until.is_due(now, hold)).map(|(id, _)| *id).collect();
        overdue
            .into_iter()
            .filter_map(|id| {
                self.held.remove(&id)?;
                Some(Released { id, verification: Verification::Outage(Outage::NoList) })
            })
            .collect()
    }

    /// Takes the list over, if this is the answer with it. Gives the exchanges that were held for it.
    pub(crate) fn on_reply(
        &mut self,
        reply: CallOutReply,
        worker: &mut Worker<'_>,
        metrics: &Metrics,
    ) -> Vec<Released> {
        match self.poll {
            Poll::Pending(token, _) if token == reply.token => {}
            Poll::Pending(..) | Poll::Due(_) => return Vec::new(),
        }
        let now = worker.host().now();
        match self.read(reply, worker) {
            Ok(News::Unchanged) => {
                metrics.registry_unchanged.increment(worker.host());
                self.succeeded(now, worker);
                Vec::new()
            }
            Ok(News::List { list, etag }) => {
                metrics.registry_updated.increment(worker.host());
                let line = format!("client-id: took over a list of {} clients", list.len());
                worker.host().log(Level::Info, &line);
                let held = core::mem::take(&mut self.held);
                let release = |(id, held): (ExchangeId, Held)| Released {
                    id,
                    verification: Verification::Decided(list.decide(&held.credentials)),
                };
                let released = held.into_iter().map(release).collect();
                self.list = Some(list);
                self.etag = etag;
                self.succeeded(now, worker);
                released
            }
            Err(problem) => {
                if matches!(problem, Problem::Refused(_)) {
                    metrics.registry_refused.increment(worker.host());
                }
                self.failed(&problem.to_string(), now, worker, metrics);
                Vec::new()
            }
        }
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

    fn read(&self, reply: CallOutReply, worker: &Worker<'_>) -> Result<News, Problem> {
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
                let list = ClientList::parse(&body).map_err(|error| Problem::Refused(error.to_string()))?;
                Ok(News::List { list, etag: headers.first("etag").map(<[u8]>::to_vec) })
            }
            status => Err(Problem::Status(String::from_utf8_lossy(status).into_owned())),
        }
    }

    fn succeeded(&mut self, now: Timestamp, worker: &Worker<'_>) {
        if self.health == Health::Bad {
            worker.host().log(Level::Info, "client-id: the list of clients can be had again");
        }
        self.health = Health::Good;
        self.confirmed = now;
        self.retry_in = FIRST_RETRY;
        self.poll = Poll::Due(now.after(self.interval));
    }

    fn failed(&mut self, problem: &str, now: Timestamp, worker: &Worker<'_>, metrics: &Metrics) {
        metrics.registry_failed.increment(worker.host());
        if self.health != Health::Bad {
            let consequence = match &self.list {
                Some(list) => format!("the last list, of {} clients, stays in force", list.len()),
                None => "there is none yet".to_owned(),
            };
            worker
                .host()
                .log(Level::Warn, &format!("client-id: no new list of clients: {problem}; {consequence}"));
        }
        self.health = Health::Bad;
        let pause = self.retry_in.min(self.interval);
        self.poll = Poll::Due(now.after(pause));
        self.retry_in = pause.saturating_mul(2);
    }
}

enum News {
    Unchanged,
    List { list: ClientList, etag: Option<Vec<u8>> },
}

enum Problem {
    Reset,
    Status(String),
    Refused(String),
}

impl core::fmt::Display for Problem {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Reset => f.write_str("the connection failed"),
            Self::Status(status) => write!(f, "the answer's status is {status:?}"),
            Self::Refused(reason) => write!(f, "the list is refused: {reason}"),
        }
    }
}
