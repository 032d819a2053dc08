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
    token: CallToken,
    credentials: Credentials,
    waiters: BTreeSet<ExchangeId>,
    deadline: Timestamp,
    retries_left: u8,
    /// Why it has no answer, while it is not clear yet whether the service is out.
    failed: Option<Outage>,
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
        match self.endpoint.ask(&credentials, |call| exchange.call_out(call)) {
            Ok(token) => {
                metrics.auth_calls.increment(exchange.host());
                let waiters = BTreeSet::from([exchange.id()]);
                let deadline = now.after(self.endpoint.answer_within());
                let retries_left = self.endpoint.config.retries;
                let inquiry = Inquiry { token, credentials, waiters, deadline, retries_left, failed: None };
                self.inquiries.insert(key, inquiry);
                self.by_token.insert(token, key);
                self.waiting.insert(exchange.id(), key);
                Verification::Pending
            }
            Err(error) => self.without_answer(&key, not_sent(error), now, exchange.host(), metrics),
        }
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
            let answer = self.endpoint.read(reply, doubt::ID, worker.host());
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
            match self.endpoint.ask(&inquiry.credentials, |call| worker.host().call_out(call)) {
                Ok(token) => {
                    if let Some(counter) = metrics.outage(outage) {
                        counter.increment(worker.host());
                    }
                    metrics.auth_calls.increment(worker.host());
                    inquiry.token = token;
                    inquiry.retries_left = inquiry.retries_left.saturating_sub(1);
                    inquiry.deadline = now.after(self.endpoint.answer_within());
                    self.by_token.insert(token, key);
                    return Vec::new();
                }
                Err(error) => answer = Err(NoAnswer::Final(not_sent(error))),
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
                released.extend(self.dispel_doubt(now, worker.host(), metrics));
                released
            }
            Err(NoAnswer::BrokenOff(outage) | NoAnswer::Final(outage)) => {
                self.fail(key, outage, now, worker, metrics)
            }
        }
    }

    /// Gives up on inquiries whose answer is overdue.
    pub(crate) fn on_tick(&mut self, worker: &mut Worker<'_>, metrics: &Metrics) -> Vec<Released> {
        let now = worker.host().now();
        let longest = self.endpoint.answer_within();
        let is_overdue =
            |inquiry: &Inquiry| inquiry.failed.is_none() && inquiry.deadline.is_due(now, longest);
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
        released
    }

    /// An exchange is gone. The inquiry that it waited for goes on: others may wait for it too, and its answer is
    /// worth remembering.
    pub(crate) fn forget(&mut self, id: ExchangeId) {
        if let Some(key) = self.waiting.remove(&id)
            && let Some(inquiry) = self.inquiries.get_mut(&key)
        {
            inquiry.waiters.remove(&id);
        }
    }

    /// Ends an inquiry and tells those who wait for it.
    fn settle(&mut self, key: &Key, verification: &Verification) -> Vec<Released> {
        let Some(inquiry) = self.inquiries.remove(key) else {
            return Vec::new();
        };
        self.by_token.remove(&inquiry.token);
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
        if let Some(counter) = metrics.outage(outage) {
            counter.increment(host);
        }
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

    /// 2xx admits; 401 and 403 refuse; all else is no answer. No headers at all means that there was no reply. To ask again
    /// would add to an overload.
    fn read(&self, reply: CallOutReply, client_id: &str, host: &dyn Host) -> Result<Decision, NoAnswer> {
        if reply.headers == 0 {
            return Err(NoAnswer::BrokenOff(Outage::Reset));
        }
        let headers = host.call_out_headers().map_err(|_| NoAnswer::BrokenOff(Outage::Reset))?;
        match headers.first(":status") {
            Some([b'2', b'0'..=b'9', b'0'..=b'9']) => {
                let identity = self.config.identity.read(&headers, client_id);
                identity
                    .map(|identity| Decision::Admit(Rc::new(identity)))
                    .ok_or(NoAnswer::Final(Outage::Status))
            }
            Some(b"401") => Ok(Decision::Deny(Denial::Invalid)),
            Some(b"403") => Ok(Decision::Deny(Denial::Disabled)),
            _ if says_overload(&headers) => Err(NoAnswer::Final(Outage::Overload)),
            Some(b"502" | b"503") => Err(NoAnswer::BrokenOff(Outage::Status)),
            Some(_) => Err(NoAnswer::Final(Outage::Status)),
            None => Err(NoAnswer::BrokenOff(Outage::Reset)),
        }
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
    /// To ask again may help: the connection broke. When that happens before the answer begins, Envoy answers in the
    /// service's name, with 503, or with 502 if what came is no HTTP.
    BrokenOff(Outage),
    /// To ask again would give the same.
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
