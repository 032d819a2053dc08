//! What a module did to its host, in order, for assertions.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use super::header_map::HeaderMap;
use super::hostcall::Hostcall;

/// A context of the VM: the root context, or one exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContextId(pub u32);

impl ContextId {
    /// The context of the VM itself, which no callback of a policy sees.
    pub const VM: Self = Self(0);
    /// The root context of the one plugin that runs in the VM.
    pub const ROOT: Self = Self(1);
}

/// The severity of a log line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LogLevel {
    /// Finest.
    Trace,
    /// For developers.
    Debug,
    /// Ordinary.
    Info,
    /// Something is off.
    Warn,
    /// Something failed.
    Error,
    /// The VM cannot go on.
    Critical,
}

impl LogLevel {
    /// The level as the ABI numbers it, from 0 (trace) to 5 (critical).
    #[must_use]
    pub fn from_wire(level: u32) -> Option<Self> {
        [Self::Trace, Self::Debug, Self::Info, Self::Warn, Self::Error, Self::Critical]
            .into_iter()
            .nth(usize::try_from(level).ok()?)
    }
}

/// Where a log line came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogSource {
    /// `proxy_log`.
    Hostcall,
    /// `fd_write` on standard output; logged as info, as Envoy does.
    Stdout,
    /// `fd_write` on standard error; logged as an error, as Envoy does.
    Stderr,
}

/// A line that the module logged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogLine {
    /// How severe.
    pub level: LogLevel,
    /// By which way.
    pub source: LogSource,
    /// The context it acted in.
    pub context: ContextId,
    /// The text; bytes that are not UTF-8 become U+FFFD.
    pub text: String,
}

impl fmt::Display for LogLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{:?}] {}", self.level, self.text)
    }
}

/// An HTTP call-out that the host accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpCall {
    /// The token under which the reply will come.
    pub token: u32,
    /// The context in effect when it was dispatched. The reply comes to the root context.
    pub context: ContextId,
    /// The cluster.
    pub upstream: Vec<u8>,
    /// Request headers.
    pub headers: HeaderMap,
    /// Request body.
    pub body: Vec<u8>,
    /// Request trailers.
    pub trailers: HeaderMap,
    /// Zero means none.
    pub timeout: Duration,
}

/// How a gRPC call-out was opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GrpcKind {
    /// One request, one response.
    Unary {
        /// The request message.
        message: Vec<u8>,
        /// Zero means none.
        timeout: Duration,
    },
    /// Messages both ways.
    Stream,
}

/// A gRPC call or stream that the host accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GrpcCall {
    /// Odd for calls, even for streams, as Envoy numbers them.
    pub token: u32,
    /// The context in effect when it was dispatched. Events come to the root context.
    pub context: ContextId,
    /// A serialized `GrpcService`, or whatever the module passed.
    pub service: Vec<u8>,
    /// The full service name.
    pub service_name: Vec<u8>,
    /// The method.
    pub method: Vec<u8>,
    /// Initial metadata.
    pub metadata: HeaderMap,
    /// Call or stream.
    pub kind: GrpcKind,
}

/// What a module did with an open gRPC call or stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GrpcAction {
    /// Sent a message.
    Send {
        /// The stream.
        token: u32,
        /// The message.
        message: Vec<u8>,
        /// Whether it was the last one.
        end_of_stream: bool,
    },
    /// Cancelled it.
    Cancel {
        /// The call or stream.
        token: u32,
    },
    /// Closed its side.
    Close {
        /// The call or stream.
        token: u32,
    },
}

/// An answer that the module gave in the upstream's stead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalResponse {
    /// The exchange it answers.
    pub context: ContextId,
    /// HTTP status.
    pub status: u32,
    /// Response code details, for Envoy's access log.
    pub details: Vec<u8>,
    /// Headers beside those that Envoy makes.
    pub headers: HeaderMap,
    /// Body.
    pub body: Vec<u8>,
    /// The gRPC status, unless the module left it to Envoy with -1.
    pub grpc_status: Option<i32>,
}

/// The half of an exchange, or side of a connection, that a stream call is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamKind {
    /// The request.
    Request,
    /// The response.
    Response,
    /// The connection to the client.
    Downstream,
    /// The connection to the upstream.
    Upstream,
}

impl StreamKind {
    pub(super) fn from_wire(kind: u32) -> Option<Self> {
        [Self::Request, Self::Response, Self::Downstream, Self::Upstream]
            .into_iter()
            .nth(usize::try_from(kind).ok()?)
    }
}

/// A stream let go on, or reset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamAction {
    /// `proxy_continue_stream`.
    Continue(StreamKind),
    /// `proxy_close_stream`.
    Close(StreamKind),
}

/// A call of a function that the proxy registered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForeignCall {
    /// The context in effect.
    pub context: ContextId,
    /// The function's name.
    pub function: String,
    /// Its arguments.
    pub arguments: Vec<u8>,
}

/// Everything the module did, in order.
#[derive(Clone, Debug, Default)]
pub struct Record {
    /// Log lines, standard output and standard error.
    pub log: Vec<LogLine>,
    /// HTTP call-outs.
    pub http_calls: Vec<HttpCall>,
    /// gRPC calls and streams.
    pub grpc_calls: Vec<GrpcCall>,
    /// What became of them from the module's side.
    pub grpc_actions: Vec<GrpcAction>,
    /// Local responses.
    pub local_responses: Vec<LocalResponse>,
    /// Streams continued and closed, with the context in effect.
    pub stream_actions: Vec<(ContextId, StreamAction)>,
    /// Foreign function calls, known or not.
    pub foreign_calls: Vec<ForeignCall>,
    /// The last tick period asked for; zero stops the ticks.
    pub tick_period: Option<Duration>,
    /// How often a change of request headers cleared the route cache.
    pub route_cache_clears: u64,
    /// Contexts for which the module said `proxy_done`.
    pub done: Vec<ContextId>,
    calls: BTreeMap<Hostcall, u64>,
}

impl Record {
    /// How often a hostcall was made, struck by faults or not.
    #[must_use]
    pub fn calls(&self, hostcall: Hostcall) -> u64 {
        self.calls.get(&hostcall).copied().unwrap_or(0)
    }

    /// How many hostcalls were made in all: what a callback costs, in part.
    #[must_use]
    pub fn total_calls(&self) -> u64 {
        self.calls.values().sum()
    }

    /// Whether some log line contains this text.
    #[must_use]
    pub fn logged(&self, text: &str) -> bool {
        self.log.iter().any(|line| line.text.contains(text))
    }

    pub(super) fn count(&mut self, hostcall: Hostcall) {
        *self.calls.entry(hostcall).or_default() += 1;
    }
}
