//! What a policy may ask of its host.
//!
//! The traits are small so that a test fakes only what it uses; [`Host`] is all of them together. Every call
//! can fail and none may panic. A host has interior state: it is shared by reference.

use core::fmt;
use core::ops::Range;
use core::time::Duration;

use crate::exchange::ExchangeId;
use crate::headers::HeaderList;
use crate::reply::RenderedReply;
use crate::time::{MonotonicTime, Timestamp};

/// Why a host call failed. The names are those of the proxy-wasm ABI's status codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HostError {
    /// There is no such thing, or not in this phase of the exchange.
    NotFound,
    /// The host did not accept an argument: for a call-out, mostly a cluster that does not exist.
    BadArgument,
    /// A compare-and-set lost its race.
    CasMismatch,
    /// The host failed, or its configuration forbids the call.
    InternalFailure,
    /// The call succeeded but what it returned cannot be read.
    Malformed,
    /// Any other status.
    Other(u32),
}

impl fmt::Display for HostError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFound => f.write_str("not found"),
            Self::BadArgument => f.write_str("bad argument"),
            Self::CasMismatch => f.write_str("compare-and-set mismatch"),
            Self::InternalFailure => f.write_str("internal failure, or a capability that is not granted"),
            Self::Malformed => f.write_str("malformed result"),
            Self::Other(status) => write!(f, "status {status}"),
        }
    }
}

impl std::error::Error for HostError {}

/// The two halves of an exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// From the downstream client to the upstream.
    Request,
    /// From the upstream to the downstream client.
    Response,
}

/// A header or trailer map of the exchange that is being served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeaderMap {
    /// Request headers, pseudo-headers included.
    RequestHeaders,
    /// Request trailers.
    RequestTrailers,
    /// Response headers, `:status` included.
    ResponseHeaders,
    /// Response trailers.
    ResponseTrailers,
}

/// Headers, trailers and bodies of the exchange that is being served.
pub trait Messages {
    /// All fields of a map, in order, duplicates included.
    ///
    /// # Errors
    /// The host's refusal; a map that is not there in this phase is an error or empty, as the host pleases.
    fn headers(&self, map: HeaderMap) -> Result<HeaderList, HostError>;
    /// Appends a field, keeping those of the same name.
    ///
    /// # Errors
    /// The host's refusal.
    fn add_header(&self, map: HeaderMap, name: &str, value: &[u8]) -> Result<(), HostError>;
    /// Replaces all fields of this name by one, or appends it.
    ///
    /// # Errors
    /// The host's refusal.
    fn set_header(&self, map: HeaderMap, name: &str, value: &[u8]) -> Result<(), HostError>;
    /// Removes all fields of this name; it is no error when there is none.
    ///
    /// # Errors
    /// The host's refusal.
    fn remove_header(&self, map: HeaderMap, name: &str) -> Result<(), HostError>;
    /// The bytes of the body buffer that lie in `range` (in bytes, from the start of what is held now); fewer
    /// when the buffer is shorter.
    ///
    /// # Errors
    /// The host's refusal.
    fn body(&self, direction: Direction, range: Range<usize>) -> Result<Vec<u8>, HostError>;
    /// Replaces the bytes of the body buffer in `range` by `with`.
    ///
    /// # Errors
    /// The host's refusal.
    fn replace_body(&self, direction: Direction, range: Range<usize>, with: &[u8]) -> Result<(), HostError>;
}

/// Attributes of the exchange, the connection and the host, by path.
pub trait Properties {
    /// The attribute's raw value; numbers are little-endian 64-bit.
    ///
    /// # Errors
    /// [`HostError::NotFound`] when there is none.
    fn property(&self, path: &[&str]) -> Result<Vec<u8>, HostError>;
    /// Sets an attribute of the exchange that later filters and access loggers can read.
    ///
    /// # Errors
    /// The host's refusal.
    fn set_property(&self, path: &[&str], value: &[u8]) -> Result<(), HostError>;
}

/// The clocks.
pub trait Clock {
    /// The wall clock's time, which administrators and time servers can set; [`Timestamp::END`] if the host does not
    /// say.
    fn now(&self) -> Timestamp;
    /// The time of the clock that never steps.
    ///
    /// # Errors
    /// The host has no such clock.
    fn monotonic(&self) -> Result<MonotonicTime, HostError>;
}

/// The condition on which a shared value is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Write {
    /// Whatever is there.
    Always,
    /// Only when nothing is there.
    IfAbsent,
    /// Only when the value still has this version.
    IfVersion(u32),
}

/// A key-value store that all workers of the process share. Nothing in it ever expires: a policy that writes
/// must bound its keys.
pub trait SharedStore {
    /// The value and its version.
    ///
    /// # Errors
    /// [`HostError::NotFound`] when there is none.
    fn shared(&self, key: &str) -> Result<(Vec<u8>, u32), HostError>;
    /// Writes a value.
    ///
    /// # Errors
    /// [`HostError::CasMismatch`] when the condition does not hold.
    fn set_shared(&self, key: &str, value: &[u8], write: Write) -> Result<(), HostError>;
}

/// Names one HTTP call-out until its reply has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CallToken(pub u32);

/// An HTTP request to a cluster that the host knows.
#[derive(Debug, Clone, Copy)]
pub struct CallOut<'a> {
    /// The cluster's name.
    pub cluster: &'a str,
    /// Pseudo-headers (`:method`, `:path` and `:authority` are required) and headers.
    pub headers: &'a [(&'a str, &'a [u8])],
    /// The request's body; empty for none.
    pub body: &'a [u8],
    /// When the host gives up; never zero, which some hosts take for "never".
    pub timeout: Duration,
}

/// HTTP call-outs of the worker. They belong to the worker, not to the exchange that caused them: an exchange
/// that is aborted takes nothing with it.
pub trait CallOuts {
    /// Sends a request. The reply comes to [`Policy::on_call_out_reply`](crate::Policy::on_call_out_reply).
    ///
    /// # Errors
    /// The host could not send it: the cluster is unknown or has no healthy endpoint. No reply will come.
    fn call_out(&self, request: &CallOut<'_>) -> Result<CallToken, HostError>;
    /// The headers of the reply that is being delivered.
    ///
    /// # Errors
    /// The host's refusal.
    fn call_out_headers(&self) -> Result<HeaderList, HostError>;
    /// The first `limit` bytes of the body of the reply that is being delivered.
    ///
    /// # Errors
    /// The host's refusal.
    fn call_out_body(&self, limit: usize) -> Result<Vec<u8>, HostError>;
    /// The trailers of the reply that is being delivered; empty when it has none.
    ///
    /// # Errors
    /// The host's refusal.
    fn call_out_trailers(&self) -> Result<HeaderList, HostError>;
}

/// Names a metric that the host has defined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MetricId(pub u32);

/// What a metric counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MetricKind {
    /// Only ever grows.
    Counter,
    /// Goes up and down.
    Gauge,
}

/// The host's metrics.
pub trait Metrics {
    /// Defines a metric, or finds the one that has this name.
    ///
    /// # Errors
    /// The host's refusal.
    fn define_metric(&self, kind: MetricKind, name: &str) -> Result<MetricId, HostError>;
    /// Adds to a counter or gauge.
    ///
    /// # Errors
    /// The host's refusal.
    fn increment_metric(&self, metric: MetricId, by: i64) -> Result<(), HostError>;
    /// Sets a gauge.
    ///
    /// # Errors
    /// The host's refusal.
    fn record_metric(&self, metric: MetricId, value: u64) -> Result<(), HostError>;
}

/// How much a log line matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// For somebody who follows single exchanges.
    Debug,
    /// Normal and worth knowing.
    Info,
    /// Wrong, and the policy copes.
    Warn,
    /// Wrong, and somebody must act.
    Error,
}

/// The host's log.
pub trait LogLines {
    /// Writes one line. A log that fails is nobody's concern: there is no error.
    fn log(&self, level: Level, line: &str);
}

/// Everything that a policy may ask of its host directly. The exchange's messages are not among it: they go through
/// [`Exchange`](crate::Exchange), which keeps what the policies of a chain see of them in step.
pub trait Host: Properties + Clock + SharedStore + CallOuts + Metrics + LogLines {}

impl<T: Properties + Clock + SharedStore + CallOuts + Metrics + LogLines> Host for T {}

/// The steering of exchanges, which is the engine's alone: policies say what they want by their [`Flow`].
///
/// [`Flow`]: crate::Flow
pub trait Steering {
    /// Makes the host calls that follow apply to this exchange, or to the worker itself.
    ///
    /// # Errors
    /// There is no such exchange (any more).
    fn focus(&self, on: Focus) -> Result<(), HostError>;
    /// Lets the exchange that is in focus go on.
    ///
    /// # Errors
    /// The host's refusal.
    fn resume(&self, direction: Direction) -> Result<(), HostError>;
    /// Ends the exchange that is in focus with this response.
    ///
    /// # Errors
    /// The host's refusal: for one, a response that has already begun.
    fn reply(&self, reply: &RenderedReply) -> Result<(), HostError>;
    /// Has the worker called at this interval; zero stops it.
    ///
    /// # Errors
    /// The host's refusal.
    fn tick_every(&self, period: Duration) -> Result<(), HostError>;
    /// Tells the host, which was asked to wait with the plugin's end, that it need not wait any longer.
    ///
    /// # Errors
    /// The host's refusal.
    fn shutdown_complete(&self) -> Result<(), HostError>;
}

/// What host calls apply to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Focus {
    /// The worker, whatever happens to its exchanges.
    Worker,
    /// One exchange.
    Exchange(ExchangeId),
}

/// What drives an [`Engine`](crate::Engine): a host with messages that can be steered.
pub trait Platform: Host + Messages + Steering {
    /// The same host, as policies see it.
    fn as_host(&self) -> &dyn Host;
}

impl<T: Host + Messages + Steering> Platform for T {
    fn as_host(&self) -> &dyn Host {
        self
    }
}
