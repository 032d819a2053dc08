//! Asking the auth service about one pair of credentials at a time.

mod doubt;

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::time::Duration;

use portcullis_policy::call_out::{NotSent, says_overload};
use portcullis_policy::headers::without_ows;
use portcullis_policy::host::{CallOut, CallToken, Host};
use portcullis_policy::time::Timestamp;
use portcullis_policy::{CallOutReply, Exchange, ExchangeId, HeaderList, HostError, Identity, Worker};

use crate::cache::{Cache, Key};
use crate::config::{IdentityHeaders, OnOutage, PerRequest};
use crate::credentials::{Credentials, basic, is_identifier, is_label};
use crate::decision::{Decision, Denial, Outage, Released, Verification};
use crate::metrics::Metrics;

use doubt::{Doubt, Leniency};

/// How much longer than the call-out's own timeout an answer is waited for. The host reports timeouts by itself;
/// this is for answers that get lost on the way, so that no request waits for ever.
pub(crate) const GRACE: Duration = Duration::from_secs(1);

/// The auth service, what it has said before, and what it is being asked now.
pub(crate) struct AuthService {
    endpoint: Endpoint,
    cache: Cache,
    /// Call-outs under way, by what they ask about: one for each pair of credentials, however many exchanges wait.
    inquiries: BTreeMap<Key, Inquiry>,
    by_token: BTreeMap<CallToken, Key>,
    waiting: BTreeMap<ExchangeId, Key>,
    max_waiting: usize,
    doubt: Doubt,
}

/// Where and how to ask.
struct Endpoint {
    config: PerRequest,
    timeout: Duration,
}

struct Inquiry {
    credentials: Credentials,
    waiters: BTreeSet<ExchangeId>,
    retries_left: u8,
    stage: Stage,
}

/// How far a question has come.
#[derive(Clone, Copy)]
enum Stage {
    /// It is with the service; its answer is given up at the deadline.
    UnderWay { token: CallToken, deadline: Timestamp },
    /// It is sent, or sent again, once it is clear that the service is not out.
    HeldBack,
    /// It has no answer, and it is not clear yet whether the service is out.
    Failed(Outage),
}

impl AuthService {
    pub(crate) fn new(config: PerRequest, cache: Cache, max_waiting: u32, on_outage: OnOutage) -> Self {
        let leniency = match on_outage {
            OnOutage::Closed if !cache.serves_stale() => Leniency::None,
            OnOutage::Closed | OnOutage::Open => Leniency::Some,
        };
        Self {
            doubt: Doubt::new(leniency),
            endpoint: Endpoint { timeout: Duration::from_millis(config.timeout_ms.into()), config },
            cache,
            inquiries: BTreeMap::new(),
            by_token: BTreeMap::new(),
            waiting: BTreeMap::new(),
            max_waiting: usize::try_from(max_waiting).unwrap_or(usize::MAX),
        }
    }

    /// Decides from memory, or joins or begins an inquiry.
    pub(crate) fn verify(
        &mut self,
        credentials: Credentials,
        exchange: &mut Exchange<'_>,
        metrics: &Metrics,
    ) -> Verification {
        let now = exchange.host().now();
        let key = self.cache.key(&credentials);
        if let Some(decision) = self.cache.fresh(&key, now, exchange.host(), metrics) {
            return Verification::Decided(decision);
        }
        if self.waiting.len() >= self.max_waiting {
            return self.without_answer(&key, Outage::Overload, now, exchange.host(), metrics);
        }
        if let Some(inquiry) = self.inquiries.get_mut(&key) {
            metrics.coalesced.increment(exchange.host());
            inquiry.waiters.insert(exchange.id());
            self.waiting.insert(exchange.id(), key);
            return Verification::Pending;
        }
        // Those who ask and go away leave their inquiry behind until it is answered.
        if self.inquiries.len() >= self.max_waiting {
            return self.without_answer(&key, Outage::Overload, now, exchange.host(), metrics);
        }
        let stage = if self.doubt.is_over() {
            match self.endpoint.ask(&credentials, |call| exchange.call_out(call)) {
                Ok(token) => {
                    metrics.auth_calls.increment(exchange.host());
                    self.by_token.insert(token, key);
                    Stage::UnderWay { token, deadline: now.after(self.endpoint.answer_within()) }
                }
                Err(error) => {
                    return self.without_answer(&key, not_sent(error), now, exchange.host(), metrics);
                }
            }
        } else {
            Stage::HeldBack
        };
        let waiters = BTreeSet::from([exchange.id()]);
        let retries_left = self.endpoint.config.retries;
        self.inquiries.insert(key, Inquiry { credentials, waiters, retries_left, stage });
        self.waiting.insert(exchange.id(), key);
        Verification::Pending
    }

    /// An answer has come, or the news that none will. Gives those who waited for it; none if it is not ours, or the
    /// question is asked again.
    pub(crate) fn on_reply(
        &mut self,
        reply: CallOutReply,
        worker: &mut Worker<'_>,
        metrics: &Metrics,
    ) -> Vec<Released> {
        let now = worker.host().now();
        if self.doubt.is_asked_by(reply.token) {
            let answer = self.endpoint.read(reply, "", worker.host());
            return self.hear_of_doubt(answer, now, worker, metrics);
        }
        let Some(key) = self.by_token.remove(&reply.token) else {
            return Vec::new();
        };
        let Some(inquiry) = self.inquiries.get_mut(&key) else {
            return Vec::new();
        };
        let mut answer = self.endpoint.read(reply, &inquiry.credentials.id, worker.host());
        if let Err(NoAnswer::BrokenOff(outage)) = answer
            && inquiry.retries_left > 0
        {
            inquiry.retries_left = inquiry.retries_left.saturating_sub(1);
            if !self.doubt.is_over() {
                count(outage, worker.host(), metrics);
                inquiry.stage = Stage::HeldBack;
                return self.pursue_doubt(now, worker, metrics);
            }
            match self.ask_client(key, now, worker, metrics) {
                Ok(()) => {
                    count(outage, worker.host(), metrics);
                    return Vec::new();
                }
                Err(outage) => answer = Err(NoAnswer::Final(outage)),
            }
        }
        match answer {
            Ok(decision) => {
                match decision {
                    Decision::Admit(_) => metrics.auth_admitted,
                    Decision::Deny(_) => metrics.auth_denied,
                }
                .increment(worker.host());
                self.cache.remember(key, &decision, now, worker.host());
                let mut released = self.settle(&key, &Verification::Decided(decision));
                released.extend(self.dispel_doubt(now, worker, metrics));
                released
            }
            Err(NoAnswer::Alive(outage)) => {
                let verification = self.without_answer(&key, outage, now, worker.host(), metrics);
                let mut released = self.settle(&key, &verification);
                released.extend(self.dispel_doubt(now, worker, metrics));
                released
            }
            Err(NoAnswer::BrokenOff(outage) | NoAnswer::Error(outage) | NoAnswer::Final(outage)) => {
                self.fail(key, outage, now, worker, metrics)
            }
        }
    }

    /// Sends the question of an inquiry.
    fn ask_client(
        &mut self,
        key: Key,
        now: Timestamp,
        worker: &Worker<'_>,
        metrics: &Metrics,
    ) -> Result<(), Outage> {
        let Some(inquiry) = self.inquiries.get_mut(&key) else {
            return Ok(());
        };
        let sent = self.endpoint.ask(&inquiry.credentials, |call| worker.host().call_out(call));
        let token = sent.map_err(not_sent)?;
        metrics.auth_calls.increment(worker.host());
        inquiry.stage = Stage::UnderWay { token, deadline: now.after(self.endpoint.answer_within()) };
        self.by_token.insert(token, key);
        Ok(())
    }

    /// Gives up on inquiries whose answer is overdue.
    pub(crate) fn on_tick(&mut self, worker: &mut Worker<'_>, metrics: &Metrics) -> Vec<Released> {
        let now = worker.host().now();
        let longest = self.endpoint.answer_within();
        let is_overdue = |inquiry: &Inquiry| matches!(inquiry.stage, Stage::UnderWay { deadline, .. } if deadline.is_due(now, longest));
        let overdue: Vec<Key> =
            self.inquiries.iter().filter(|(_, inquiry)| is_overdue(inquiry)).map(|(key, _)| *key).collect();
        let mut released: Vec<Released> = Vec::new();
        for key in overdue {
            released.extend(self.fail(key, Outage::NoAnswer, now, worker, metrics));
        }
        if self.doubt.is_overdue(now, longest) {
            let answer = Err(NoAnswer::Final(Outage::NoAnswer));
            released.extend(self.hear_of_doubt(answer, now, worker, metrics));
        }
        released.extend(self.ask_again_in_doubt(now, worker, metrics));
        released
    }

    /// An exchange is gone. The inquiry that it waited for goes on if its question is with the service: the answer is
    /// worth remembering. Otherwise it goes with the last who waits for it.
    pub(crate) fn forget(&mut self, id: ExchangeId) {
        if let Some(key) = self.waiting.remove(&id)
            && let Some(inquiry) = self.inquiries.get_mut(&key)
        {
            inquiry.waiters.remove(&id);
            if inquiry.waiters.is_empty() && !matches!(inquiry.stage, Stage::UnderWay { .. }) {
                self.inquiries.remove(&key);
            }
        }
    }

    /// Ends an inquiry and tells those who wait for it.
    fn settle(&mut self, key: &Key, verification: &Verification) -> Vec<Released> {
        let Some(inquiry) = self.inquiries.remove(key) else {
            return Vec::new();
        };
        if let Stage::UnderWay { token, .. } = inquiry.stage {
            self.by_token.remove(&token);
        }
        for id in &inquiry.waiters {
            self.waiting.remove(id);
        }
        inquiry.waiters.into_iter().map(|id| Released { id, verification: verification.clone() }).collect()
    }

    /// A decision whose time is over if there is one and it may serve; otherwise an outage.
    fn without_answer(
        &mut self,
        key: &Key,
        outage: Outage,
        now: Timestamp,
        host: &dyn Host,
        metrics: &Metrics,
    ) -> Verification {
        count(outage, host, metrics);
        self.fall_back(key, outage, now, host, metrics)
    }

    fn fall_back(
        &mut self,
        key: &Key,
        outage: Outage,
        now: Timestamp,
        host: &dyn Host,
        metrics: &Metrics,
    ) -> Verification {
        let stale = if outage.may_open() { self.cache.stale(key, now) } else { None };
        match stale {
            Some(decision) => {
                metrics.cache_stale.increment(host);
                Verification::Decided(decision)
            }
            None => Verification::Outage(outage),
        }
    }
}

impl Endpoint {
    fn answer_within(&self) -> Duration {
        self.timeout.saturating_add(GRACE)
    }

    fn ask(
        &self,
        credentials: &Credentials,
        send: impl FnOnce(&CallOut<'_>) -> Result<CallToken, HostError>,
    ) -> Result<CallToken, HostError> {
        let authorization = basic::write(&credentials.id, credentials.secret.as_deref().unwrap_or_default());
        let headers: [(&str, &[u8]); 4] = [
            (":method", self.config.method.as_bytes()),
            (":path", self.config.path.as_bytes()),
            (":authority", self.config.authority.as_bytes()),
            ("authorization", authorization.as_bytes()),
        ];
        send(&CallOut { cluster: &self.config.cluster, headers: &headers, body: b"", timeout: self.timeout })
    }

    /// 2xx admits; 401 and 403 refuse; all else is no answer. No headers at all means that there was no reply.
    fn read(&self, reply: CallOutReply, client_id: &str, host: &dyn Host) -> Result<Decision, NoAnswer> {
        if reply.headers == 0 {
            return Err(NoAnswer::BrokenOff(Outage::Reset));
        }
        let headers = host.call_out_headers().map_err(|_| NoAnswer::BrokenOff(Outage::Reset))?;
        let status = headers.first(":status").ok_or(NoAnswer::BrokenOff(Outage::Reset))?;
        match status {
            [b'2', b'0'..=b'9', b'0'..=b'9'] => {
                let identity = self.config.identity.read(&headers, client_id);
                identity
                    .map(|identity| Decision::Admit(Rc::new(identity)))
                    .ok_or(NoAnswer::Alive(Outage::Undecided))
            }
            b"401" => Ok(Decision::Deny(Denial::Invalid)),
            b"403" => Ok(Decision::Deny(Denial::Disabled)),
            [b'5', ..] if says_overload(&headers) => Err(NoAnswer::Final(Outage::Overload)),
            b"502" | b"503" => Err(NoAnswer::BrokenOff(Outage::Status)),
            b"504" => Err(NoAnswer::Final(Outage::Status)),
            [b'5', ..] => Err(NoAnswer::Error(Outage::Status)),
            _ if says_overload(&headers) => Err(NoAnswer::Alive(Outage::Overload)),
            _ => Err(NoAnswer::Alive(Outage::Undecided)),
        }
    }
}

fn count(outage: Outage, host: &dyn Host, metrics: &Metrics) {
    if let Some(counter) = metrics.outage(outage) {
        counter.increment(host);
    }
}

fn not_sent(error: HostError) -> Outage {
    match NotSent::from(error) {
        NotSent::UnknownCluster => Outage::Unreachable,
        NotSent::Refused => Outage::Overload,
    }
}

/// A reply that decides nothing.
enum NoAnswer {
    /// The service has answered, with a status below 500. Whatever else fails, it is not out.
    Alive(Outage),
    /// The connection broke, so that to ask again may help. When that happens before the answer begins, Envoy answers in
    /// the service's name, with 503, or with 502 if what came is no HTTP.
    BrokenOff(Outage),
    /// The service has answered with an error of its own. To ask the same again would give the same.
    Error(Outage),
    /// Time is up, or to ask again would add to an overload.
    Final(Outage),
}

impl IdentityHeaders {
    /// The identity in an admission; none if it lacks the identifier that it must have, or has anything twice.
    fn read(&self, headers: &HeaderList, client_id: &str) -> Option<Identity> {
        let text = |name: &Option<String>| -> Option<Option<String>> {
            let Some(name) = name else {
                return Some(None);
            };
            let mut values = headers.all_spellings(name);
            let value = values.next().map(without_ows).and_then(|value| core::str::from_utf8(value).ok());
            let only = values.next().is_none();
            only.then(|| value.filter(|value| is_label(value)).map(str::to_owned))
        };
        let client_id = match &self.client_id {
            None => client_id.to_owned(),
            // What the client calls itself is not what the service would call it.
            Some(_) => text(&self.client_id)?.filter(|id| is_identifier(id))?,
        };
        Some(Identity { client_id, name: text(&self.name)?, tier: text(&self.tier)? })
    }
}
