//! The proxy-wasm host as policies see it.

use core::ops::Range;
use core::time::Duration;

use portcullis_policy::host::{
    CallOut, CallOuts, CallToken, Clock, Direction, Focus, HeaderMap, Level, LogLines, Messages, MetricId,
    MetricKind, Metrics, Properties, SharedStore, Steering, Write,
};
use portcullis_policy::reply::RenderedReply;
use portcullis_policy::time::{MonotonicTime, Timestamp};
use portcullis_policy::{HeaderList, HostError};

use crate::abi;

/// The host calls, on behalf of one plugin (root context).
#[derive(Debug)]
pub struct WasmHost {
    root_id: u32,
}

impl WasmHost {
    /// The host of the plugin whose root context is `root_id`.
    pub const fn new(root_id: u32) -> Self {
        Self { root_id }
    }
}

fn map(map: HeaderMap) -> abi::Map {
    match map {
        HeaderMap::RequestHeaders => abi::Map::HttpRequestHeaders,
        HeaderMap::RequestTrailers => abi::Map::HttpRequestTrailers,
        HeaderMap::ResponseHeaders => abi::Map::HttpResponseHeaders,
        HeaderMap::ResponseTrailers => abi::Map::HttpResponseTrailers,
    }
}

fn body_buffer(direction: Direction) -> abi::Buffer {
    match direction {
        Direction::Request => abi::Buffer::HttpRequestBody,
        Direction::Response => abi::Buffer::HttpResponseBody,
    }
}

fn read_map(map: abi::Map) -> Result<HeaderList, HostError> {
    HeaderList::from_serialized(abi::header_map(map)?).ok_or(HostError::Malformed)
}

/// Milliseconds for the ABI: at least one, for zero means "never" to the host.
fn milliseconds(duration: Duration) -> u32 {
    u32::try_from(duration.as_millis()).unwrap_or(u32::MAX).max(1)
}

fn join_path(path: &[&str]) -> Vec<u8> {
    path.join("\0").into_bytes()
}

impl Messages for WasmHost {
    fn headers(&self, of: HeaderMap) -> Result<HeaderList, HostError> {
        read_map(map(of))
    }

    fn add_header(&self, of: HeaderMap, name: &str, value: &[u8]) -> Result<(), HostError> {
        abi::add_header(map(of), name, value)
    }

    fn set_header(&self, of: HeaderMap, name: &str, value: &[u8]) -> Result<(), HostError> {
        abi::replace_header(map(of), name, value)
    }

    fn remove_header(&self, of: HeaderMap, name: &str) -> Result<(), HostError> {
        abi::remove_header(map(of), name)
    }

    fn body(&self, direction: Direction, range: Range<usize>) -> Result<Vec<u8>, HostError> {
        abi::buffer(body_buffer(direction), range.start, range.end.saturating_sub(range.start))
    }

    fn replace_body(&self, direction: Direction, range: Range<usize>, with: &[u8]) -> Result<(), HostError> {
        abi::set_buffer(body_buffer(direction), range.start, range.end.saturating_sub(range.start), with)
    }
}

impl Properties for WasmHost {
    fn property(&self, path: &[&str]) -> Result<Vec<u8>, HostError> {
        abi::property(&join_path(path))
    }

    fn set_property(&self, path: &[&str], value: &[u8]) -> Result<(), HostError> {
        abi::set_property(&join_path(path), value)
    }
}

impl Clock for WasmHost {
    fn now(&self) -> Timestamp {
        abi::current_time().map_or(Timestamp::END, Timestamp::from_nanos)
    }

    fn monotonic(&self) -> Result<MonotonicTime, HostError> {
        abi::monotonic_time().map(MonotonicTime::from_nanos)
    }
}

impl SharedStore for WasmHost {
    fn shared(&self, key: &str) -> Result<(Vec<u8>, u32), HostError> {
        abi::shared_data(key)
    }

    fn set_shared(&self, key: &str, value: &[u8], write: Write) -> Result<(), HostError> {
        let version = match write {
            Write::Always => 0,
            // An absent value takes any version but 0; one that is there has another version by all likelihood,
            // for they count up from 1.
            Write::IfAbsent => u32::MAX,
            // To the host 0 means "whatever is there". No value has that version; one that claims to is not to be trusted.
            Write::IfVersion(0) => return Err(HostError::Malformed),
            Write::IfVersion(version) => version,
        };
        abi::set_shared_data(key, value, version)
    }
}

impl CallOuts for WasmHost {
    fn call_out(&self, request: &CallOut<'_>) -> Result<CallToken, HostError> {
        abi::http_call(request.cluster, request.headers, request.body, milliseconds(request.timeout))
            .map(CallToken)
    }

    fn call_out_headers(&self) -> Result<HeaderList, HostError> {
        read_map(abi::Map::HttpCallResponseHeaders)
    }

    fn call_out_body(&self, limit: usize) -> Result<Vec<u8>, HostError> {
        abi::buffer(abi::Buffer::HttpCallResponseBody, 0, limit)
    }

    fn call_out_trailers(&self) -> Result<HeaderList, HostError> {
        read_map(abi::Map::HttpCallResponseTrailers)
    }
}

impl Metrics for WasmHost {
    fn define_metric(&self, kind: MetricKind, name: &str) -> Result<MetricId, HostError> {
        let kind = match kind {
            MetricKind::Counter => abi::Metric::Counter,
            MetricKind::Gauge => abi::Metric::Gauge,
        };
        abi::define_metric(kind, name).map(MetricId)
    }

    fn increment_metric(&self, metric: MetricId, by: i64) -> Result<(), HostError> {
        abi::increment_metric(metric.0, by)
    }

    fn record_metric(&self, metric: MetricId, value: u64) -> Result<(), HostError> {
        abi::record_metric(metric.0, value)
    }
}

impl LogLines for WasmHost {
    fn log(&self, level: Level, line: &str) {
        let level = match level {
            Level::Debug => abi::LogLevel::Debug,
            Level::Info => abi::LogLevel::Info,
            Level::Warn => abi::LogLevel::Warn,
            Level::Error => abi::LogLevel::Error,
        };
        let _ = abi::log(level, line);
    }
}

impl Steering for WasmHost {
    fn focus(&self, on: Focus) -> Result<(), HostError> {
        abi::set_effective_context(match on {
            Focus::Worker => self.root_id,
            Focus::Exchange(id) => id.0,
        })
    }

    fn resume(&self, direction: Direction) -> Result<(), HostError> {
        abi::continue_stream(match direction {
            Direction::Request => abi::Stream::HttpRequest,
            Direction::Response => abi::Stream::HttpResponse,
        })
    }

    fn reply(&self, reply: &RenderedReply) -> Result<(), HostError> {
        let headers: Vec<(&str, &[u8])> =
            reply.headers.iter().map(|(name, value)| (*name, value.as_slice())).collect();
        abi::send_local_response(u32::from(reply.status), reply.code_details, &headers, &reply.body)
    }

    fn tick_every(&self, period: Duration) -> Result<(), HostError> {
        abi::set_tick_period(if period.is_zero() { 0 } else { milliseconds(period) })
    }

    fn shutdown_complete(&self) -> Result<(), HostError> {
        abi::done()
    }
}
