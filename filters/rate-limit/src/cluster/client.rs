//! Asking the rate limit service about one request at a time.

use std::collections::BTreeMap;
use std::time::Duration;

use portcullis_policy::call_out::{NotSent, says_overload};
use portcullis_policy::host::{CallOut, CallToken, Host, Level};
use portcullis_policy::time::MonotonicTime;
use portcullis_policy::{CallOutReply, Complaint, Exchange, ExchangeId, HeaderList, HostError, Worker};

use super::added_headers::PermittedHeaders;
use super::config::ServiceConfig;
use super::descriptor::{Description, Descriptors};
use super::frame;
use super::metrics::ServiceMetrics;
use super::reply::{self, Ruled, Ruling};

/// The method, as gRPC names it in `:path`.
const PATH: &str = "/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit";

/// How much longer than the call's own timeout an answer is waited for. The host reports timeouts by itself; this is for
/// answers that get lost on the way, so that no request waits for ever.
const GRACE: Duration = Duration::from_secs(1);

/// gRPC status codes ("Status codes and their use in gRPC").
mod grpc_status {
    pub(super) const OK: u32 = 0;
    pub(super) const DEADLINE_EXCEEDED: u32 = 4;
    pub(super) const RESOURCE_EXHAUSTED: u32 = 8;
    pub(super) const UNAVAILABLE: u32 = 14;
}

/// What Envoy says in `grpc-message` when it gives up on a call in the service's name. Its status is the same as when the
/// connection fails.
const ENVOY_TIMEOUT: &[u8] = b"upstream request timeout";

/// The service, and what it is being asked now.
pub(crate) struct RateLimitService {
    cluster: String,
    authority: String,
    timeout: Duration,
    /// The `grpc-timeout` header, with which the service stops working on what nobody waits for any more.
    grpc_timeout: String,
    descriptors: Descriptors,
    permitted: PermittedHeaders,
    max_waiting: usize,
    /// Calls under way, one for each request, for each counts; and answers that have not been collected yet.
    calls: BTreeMap<CallToken, Call>,
    metrics: ServiceMetrics,
    complaint: Complaint,
}

enum Call {
    /// The service has not answered yet.
    UnderWay {
        /// None when it has gone away: it has been counted all the same.
        waiter: Option<ExchangeId>,
        deadline: MonotonicTime,
    },
    /// The one who waits is about to be woken. An exchange that is over before that has the answer forgotten.
    Answered(Answer),
}

/// What asking gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asked {
    /// An answer to this call will come: the exchange will be woken, and can [collect](RateLimitService::collect) it
    /// unless the call is [forgotten](RateLimitService::forget).
    Pending(CallToken),
    /// None will come.
    Outage(Outage),
}

/// What has come of asking.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Answer {
    /// The service has decided.
    Ruled(Box<Ruling>),
    /// It has not.
    Outage(Outage),
}

/// Why the service has not decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outage {
    /// Envoy knows no such cluster.
    Unreachable,
    /// The connection failed, or the service says of itself that it is unavailable.
    Unavailable,
    /// The answer broke off.
    Reset,
    /// No answer came in time.
    Timeout,
    /// The answer is an error: the service's store is out, for one.
    Error,
    /// The answer makes no sense.
    Nonsense,
    /// Too many requests are waiting, or Envoy refused the call because too many are under way.
    Overload,
    /// The host does not do what is needed.
    Host,
}

impl Outage {
    /// Whether `on_outage: open` lets requests pass. Not when it is the requests themselves that are too many, for
    /// whoever sends them would open the gate; and not when it is the host that does not do what is asked of it, which
    /// `on_failure` is for.
    pub(crate) const fn may_open(self) -> bool {
        !matches!(self, Self::Overload | Self::Host)
    }

    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Unreachable => "service-unreachable",
            Self::Unavailable => "service-unavailable",
            Self::Reset => "service-reset",
            Self::Timeout => "service-timeout",
            Self::Error => "service-error",
            Self::Nonsense => "service-nonsense",
            Self::Overload => "service-overload",
            Self::Host => "host",
        }
    }
}

impl RateLimitService {
    pub(crate) fn new(config: &ServiceConfig, metrics: ServiceMetrics) -> Self {
        Self {
            cluster: config.cluster.clone(),
            authority: config.authority().to_owned(),
            timeout: Duration::from_millis(config.timeout_ms.into()),
            grpc_timeout: format!("{}m", config.timeout_ms),
            descriptors: Descriptors::new(config),
            // The configuration has been checked.
            permitted: PermittedHeaders::compile(config).unwrap_or_default(),
            max_waiting: usize::try_from(config.max_waiting).unwrap_or(usize::MAX),
            calls: BTreeMap::new(),
            metrics,
            complaint: Complaint::default(),
        }
    }

    /// Begins to describe a request of a client of this tier.
    pub(crate) fn describe(&self, tier: Option<&str>) -> Description {
        self.descriptors.describe(tier)
    }

    /// Goes on with a part of its key, which has no value if it is not there.
    pub(crate) fn describe_part(&self, part: &str, value: Option<&[u8]>, description: &mut Description) {
        self.descriptors.append(part, value, description);
    }

    /// Asks about the exchange. It counts, whether anybody waits for the answer or not.
    pub(crate) fn ask(&mut self, description: &Description, exchange: &mut Exchange<'_>) -> Asked {
        // Those who ask and go away leave their call behind until it is answered.
        if self.calls.len() >= self.max_waiting {
            return Asked::Outage(self.count(Outage::Overload, exchange.host()));
        }
        let Ok(now) = exchange.host().monotonic() else {
            return Asked::Outage(self.count(Outage::Host, exchange.host()));
        };
        let outage = match self.send(description, exchange).map_err(NotSent::from) {
            Ok(token) => {
                self.metrics.calls.increment(exchange.host());
                let deadline = now.after(self.timeout).after(GRACE);
                self.calls.insert(token, Call::UnderWay { waiter: Some(exchange.id()), deadline });
                return Asked::Pending(token);
            }
            Err(NotSent::UnknownCluster) => Outage::Unreachable,
            Err(NotSent::Refused) => {
                self.metrics.calls.increment(exchange.host());
                Outage::Overload
            }
        };
        Asked::Outage(self.count(outage, exchange.host()))
    }

    fn send(&self, description: &Description, exchange: &mut Exchange<'_>) -> Result<CallToken, HostError> {
        let headers: [(&str, &[u8]); 6] = [
            (":method", b"POST"),
            (":path", PATH.as_bytes()),
            (":authority", self.authority.as_bytes()),
            ("content-type", b"application/grpc"),
            ("te", b"trailers"),
            ("grpc-timeout", self.grpc_timeout.as_bytes()),
        ];
        let body = frame::wrap(&self.descriptors.request(description));
        let call = CallOut { cluster: &self.cluster, headers: &headers, body: &body, timeout: self.timeout };
        exchange.call_out(&call)
    }

    /// An answer has come, or the news that none will. Gives the one who waits for it, to be woken; none if it is not
    /// ours, or nobody waits for it.
    pub(crate) fn on_reply(&mut self, reply: CallOutReply, worker: &mut Worker<'_>) -> Option<ExchangeId> {
        let token = reply.token;
        if !matches!(self.calls.get(&token), Some(Call::UnderWay { .. })) {
            return None;
        }
        let answer = match read(reply, &self.permitted, worker.host()) {
            Ok(ruling) => {
                self.count_ruling(&ruling, worker.host());
                Answer::Ruled(Box::new(ruling))
            }
            Err(outage) => Answer::Outage(self.count(outage, worker.host())),
        };
        self.answer(token, answer)
    }

    /// Gives up on calls whose answer is overdue. Gives those who wait for them, to be woken.
    pub(crate) fn on_tick(&mut self, worker: &mut Worker<'_>) -> Vec<ExchangeId> {
        // Without a clock nobody knows for how long yet: better now than never.
        let now = worker.host().monotonic().unwrap_or(MonotonicTime::from_nanos(u64::MAX));
        let is_overdue = |call: &Call| matches!(call, Call::UnderWay { deadline, .. } if *deadline <= now);
        let overdue: Vec<CallToken> =
            self.calls.iter().filter(|(_, call)| is_overdue(call)).map(|(token, _)| *token).collect();
        let give_up = |token| {
            let outage = self.count(Outage::Timeout, worker.host());
            self.answer(token, Answer::Outage(outage))
        };
        overdue.into_iter().filter_map(give_up).collect()
    }

    /// Keeps the answer to a call for the one who waits for it, if anybody does.
    fn answer(&mut self, token: CallToken, answer: Answer) -> Option<ExchangeId> {
        let Some(Call::UnderWay { waiter: Some(waiter), .. }) = self.calls.remove(&token) else {
            return None;
        };
        self.calls.insert(token, Call::Answered(answer));
        Some(waiter)
    }

    /// What has come of this call; none if nothing has yet.
    pub(crate) fn collect(&mut self, token: CallToken) -> Option<Answer> {
        match self.calls.remove(&token)? {
            Call::Answered(answer) => Some(answer),
            call @ Call::UnderWay { .. } => {
                self.calls.insert(token, call);
                None
            }
        }
    }

    /// The exchange that waits for this call is gone.
    pub(crate) fn forget(&mut self, token: CallToken) {
        match self.calls.get_mut(&token) {
            Some(Call::UnderWay { waiter, .. }) => *waiter = None,
            Some(Call::Answered(_)) => drop(self.calls.remove(&token)),
            None => {}
        }
    }

    fn count(&self, outage: Outage, host: &dyn Host) -> Outage {
        self.metrics.outage(outage).increment(host);
        outage
    }

    fn count_ruling(&self, ruling: &Ruling, host: &dyn Host) {
        match ruling.ruled {
            Ruled::Within => self.metrics.ok,
            Ruled::Over => self.metrics.over_limit,
        }
        .increment(host);
        if ruling.unlimited > 0 || ruling.statuses < self.descriptors.count() {
            self.metrics.no_limit.increment(host);
        }
        let refused = &ruling.refused;
        if refused.count > 0 {
            self.metrics.headers_refused.add(host, refused.count);
            let line = format!(
                "rate-limit: headers that the service wants added are left out, such as {refused}: \
                 service.request_headers and service.response_headers do not permit them, or their values are none"
            );
            self.complaint.say(Level::Warn, &line, host);
        }
    }
}

/// The ruling in a reply, or what it is instead. No headers at all means that there was no reply.
fn read(reply: CallOutReply, permitted: &PermittedHeaders, host: &dyn Host) -> Result<Ruling, Outage> {
    if reply.headers == 0 {
        return Err(Outage::Reset);
    }
    let headers = host.call_out_headers().map_err(|_| Outage::Reset)?;
    match headers.first(":status") {
        Some(b"200") => {}
        _ if says_overload(&headers) => return Err(Outage::Overload),
        Some(b"502" | b"503") => return Err(Outage::Unavailable),
        Some(b"504") => return Err(Outage::Timeout),
        _ => return Err(Outage::Error),
    }
    let trailers = host.call_out_trailers().map_err(|_| Outage::Host)?;
    // A reply that is nothing but a status has it in its headers ("Trailers-Only").
    let end = if trailers.contains("grpc-status") { &trailers } else { &headers };
    match grpc_status(end)? {
        grpc_status::OK => {}
        grpc_status::RESOURCE_EXHAUSTED => return Err(Outage::Overload),
        _ if says_overload(&headers) => return Err(Outage::Overload),
        grpc_status::UNAVAILABLE if end.first("grpc-message") == Some(ENVOY_TIMEOUT) => {
            return Err(Outage::Timeout);
        }
        grpc_status::UNAVAILABLE => return Err(Outage::Unavailable),
        grpc_status::DEADLINE_EXCEEDED => return Err(Outage::Timeout),
        _ => return Err(Outage::Error),
    }
    if reply.body > reply::MAX_BYTES {
        return Err(Outage::Nonsense);
    }
    let body = host.call_out_body(reply.body).map_err(|_| Outage::Reset)?;
    reply::read(&body, permitted).map_err(|_| Outage::Nonsense)
}

fn grpc_status(fields: &HeaderList) -> Result<u32, Outage> {
    let status = fields.first("grpc-status").ok_or(Outage::Nonsense)?;
    core::str::from_utf8(status).ok().and_then(|digits| digits.parse().ok()).ok_or(Outage::Nonsense)
}

#[cfg(test)]
#[path = "client_tests.rs"]
mod tests;
