//! Where records are sent, and what becomes of them meanwhile.

use core::fmt;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Sends log records to an OpenTelemetry collector, by OTLP over HTTP with the JSON encoding.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct OtlpConfig {
    /// The Envoy cluster of the collector.
    pub cluster: String,
    /// The request's authority (Host header). The cluster's name by default.
    #[serde(default)]
    pub authority: Option<String>,
    /// The request's path, query included.
    #[serde(default = "default_path")]
    pub path: String,
    /// Headers that each request has besides those of the protocol: `authorization`, for one. No message shows their
    /// values.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(with = "BTreeMap<String, String>"))]
    pub headers: BTreeMap<String, HeaderValue>,
    /// How long to wait for the collector's answer, in milliseconds.
    #[serde(default = "default_timeout_ms")]
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = 60_000)))]
    pub timeout_ms: u32,
    /// Attributes of the resource that the records come from. Where they do not say, `service.name` is the cluster of
    /// Envoy's node, or `envoy` if that has none, and `service.instance.id` is the identifier of Envoy's node.
    #[serde(default)]
    pub resource: BTreeMap<String, String>,
    /// The longest text that an attribute of a record may hold, in bytes; what is longer is cut and ends in `…`. Names
    /// are not cut.
    #[serde(default = "default_max_attribute_bytes")]
    #[cfg_attr(feature = "schema", schemars(range(min = 16, max = 16_384)))]
    pub max_attribute_bytes: u32,
    /// How many records a worker keeps that have not been sent. One more drops the oldest.
    #[serde(default = "default_max_queue")]
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = 1_000_000)))]
    pub max_queue: u32,
    /// How many bytes, as encoded, a worker keeps that have not been sent. More drop the oldest records.
    #[serde(default = "default_max_queue_bytes")]
    #[cfg_attr(feature = "schema", schemars(range(min = 65_536, max = 268_435_456)))]
    pub max_queue_bytes: u32,
    /// How many records a request has at most. As soon as there are as many they are sent, without waiting for
    /// `flush_interval_ms`. Not more than `max_queue`.
    #[serde(default = "default_max_batch")]
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = 100_000)))]
    pub max_batch: u32,
    /// How many bytes a request has at most. Not more than `max_queue_bytes`. A line may take up all that
    /// the rest of its record leaves; what is longer is cut and ends in `…`.
    #[serde(default = "default_max_batch_bytes")]
    #[cfg_attr(feature = "schema", schemars(range(min = 65_536, max = 16_777_216)))]
    pub max_batch_bytes: u32,
    /// How long a record waits for others to go with it, in milliseconds since it came into the empty queue.
    #[serde(default = "default_flush_interval_ms")]
    #[cfg_attr(feature = "schema", schemars(range(min = 100, max = 60_000)))]
    pub flush_interval_ms: u32,
    /// How many requests of a worker may be unanswered at a time. With one, the collector gets a worker's records in
    /// order.
    #[serde(default = "default_max_in_flight")]
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = 16)))]
    pub max_in_flight: u32,
    /// What is done when the collector cannot take records now.
    #[serde(default)]
    pub retry: Retry,
    /// How long a worker whose configuration is taken away waits for the collector to take what is left, in
    /// milliseconds. With 0 it sends nothing more, and what is left is dropped.
    #[serde(default = "default_shutdown_ms")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 60_000)))]
    pub shutdown_ms: u32,
}

/// What is done when the collector cannot take records now: no connection, no answer, or 429, 502, 503 or 504.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Retry {
    /// The pause after the first failure, in milliseconds. It doubles with each failure that follows; of every pause
    /// up to a half is taken off at random.
    #[cfg_attr(feature = "schema", schemars(range(min = 100, max = 60_000)))]
    pub initial_ms: u32,
    /// The longest pause, in milliseconds. The collector may ask for a longer one by `Retry-After`, of up to five
    /// minutes.
    #[cfg_attr(feature = "schema", schemars(range(min = 100, max = 300_000)))]
    pub max_ms: u32,
    /// How long a batch is kept, in milliseconds since it was first sent, before it is dropped; with 0 it is sent once.
    /// Records that are still queued have no such limit.
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 86_400_000)))]
    pub max_elapsed_ms: u32,
}

impl Default for Retry {
    fn default() -> Self {
        Self { initial_ms: 1_000, max_ms: 30_000, max_elapsed_ms: 300_000 }
    }
}

/// The value of a header, which may be a secret: no message shows it.
#[derive(Clone, Deserialize, Serialize)]
#[serde(transparent)]
pub struct HeaderValue(String);

impl HeaderValue {
    pub(crate) fn as_bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

impl From<&str> for HeaderValue {
    fn from(value: &str) -> Self {
        Self(value.to_owned())
    }
}

impl fmt::Debug for HeaderValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[redacted]")
    }
}

fn default_path() -> String {
    "/v1/logs".to_owned()
}

const fn default_timeout_ms() -> u32 {
    10_000
}

const fn default_max_attribute_bytes() -> u32 {
    1_024
}

const fn default_max_queue() -> u32 {
    8_192
}

const fn default_max_queue_bytes() -> u32 {
    16 << 20
}

const fn default_max_batch() -> u32 {
    1_024
}

const fn default_max_batch_bytes() -> u32 {
    2 << 20
}

const fn default_flush_interval_ms() -> u32 {
    1_000
}

const fn default_max_in_flight() -> u32 {
    1
}

const fn default_shutdown_ms() -> u32 {
    5_000
}

impl OtlpConfig {
    /// The configuration that says nothing but where to.
    pub fn to_cluster(cluster: &str) -> Self {
        Self {
            cluster: cluster.to_owned(),
            authority: None,
            path: default_path(),
            headers: BTreeMap::new(),
            timeout_ms: default_timeout_ms(),
            resource: BTreeMap::new(),
            max_attribute_bytes: default_max_attribute_bytes(),
            max_queue: default_max_queue(),
            max_queue_bytes: default_max_queue_bytes(),
            max_batch: default_max_batch(),
            max_batch_bytes: default_max_batch_bytes(),
            flush_interval_ms: default_flush_interval_ms(),
            max_in_flight: default_max_in_flight(),
            retry: Retry::default(),
            shutdown_ms: default_shutdown_ms(),
        }
    }
}
