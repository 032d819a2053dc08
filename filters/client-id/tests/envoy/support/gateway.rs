//! Envoy with the policy, between a client and a backend.

use std::net::SocketAddr;

use portcullis_testkit::envoy::{
    Backend, Cluster, Envoy, EnvoyConfig, FailurePolicy, PATIENCE, WasmPlugin, h1, wait_until,
};
use serde_json::{Value, json};

/// The module with this configuration.
pub(crate) fn plugin(policy: &Value) -> WasmPlugin {
    WasmPlugin::module("client-id").json_configuration(policy).failure_policy(FailurePolicy::FailClosed)
}

/// Everything but the filters: the clusters `backend` and `auth`, and `/barrier`, which Envoy answers by itself.
pub(crate) fn config(backend: SocketAddr, auth: SocketAddr) -> EnvoyConfig {
    EnvoyConfig::new()
        .cluster(Cluster::http1("backend", backend))
        .cluster(Cluster::http1("auth", auth))
        .route(json!({"match": {"path": "/barrier"}, "direct_response": {"status": 200}}))
        .route(json!({"match": {"prefix": "/"}, "route": {"cluster": "backend", "timeout": "0s"}}))
}

/// A running Envoy and its backend.
pub(crate) struct Gateway {
    pub(crate) envoy: Envoy,
    pub(crate) backend: Backend,
}

/// What the backend had seen at some moment.
pub(crate) struct Mark(Seen);

#[derive(Debug, PartialEq, Eq)]
struct Seen {
    requests: usize,
    bytes: u64,
    sent_by_envoy: u64,
    connections_by_envoy: u64,
}

impl Gateway {
    /// Starts Envoy with the policy as its only filter.
    #[track_caller]
    pub(crate) fn start(policy: &Value, auth: SocketAddr) -> Self {
        Self::start_with(auth, |config| config.filter(plugin(policy)))
    }

    /// Starts Envoy with what `change` adds to [`config`].
    #[track_caller]
    pub(crate) fn start_with(auth: SocketAddr, change: impl FnOnce(EnvoyConfig) -> EnvoyConfig) -> Self {
        let backend = Backend::start();
        let envoy = Envoy::start(&change(config(backend.addr(), auth)));
        Self { envoy, backend }
    }

    pub(crate) fn addr(&self) -> SocketAddr {
        self.envoy.addr()
    }

    /// A counter of the policy.
    #[track_caller]
    pub(crate) fn count(&self, name: &str) -> u64 {
        self.envoy.counter(&counter(name))
    }

    #[track_caller]
    pub(crate) fn wait_for_count(&self, name: &str, at_least: u64) {
        self.envoy.wait_for_counter(&counter(name), at_least, PATIENCE);
    }

    /// Waits until Envoy serves exactly so many requests at the moment.
    #[track_caller]
    pub(crate) fn wait_for_active(&self, n: u64) {
        wait_until(&format!("{n} active requests"), PATIENCE, || {
            self.envoy.counter("http.ingress.downstream_rq_active") == n
        });
    }

    /// How many bytes Envoy has read from clients.
    #[track_caller]
    pub(crate) fn received(&self) -> u64 {
        self.envoy.counter("http.ingress.downstream_cx_rx_bytes_total")
    }

    /// Waits until Envoy has read so many bytes from clients, and its (only) worker has treated them: it serves
    /// another request only after that.
    #[track_caller]
    pub(crate) fn wait_for_received(&self, bytes: u64) {
        self.envoy.wait_for_counter("http.ingress.downstream_cx_rx_bytes_total", bytes, PATIENCE);
        assert_eq!(h1::get(self.addr(), "/barrier").status, 200);
    }

    /// What the backend has seen so far.
    #[track_caller]
    pub(crate) fn mark(&self) -> Mark {
        Mark(self.seen())
    }

    /// Asserts that not a byte went to the backend since the mark, and that Envoy has not begun to send any.
    #[track_caller]
    pub(crate) fn assert_backend_untouched_since(&self, Mark(before): &Mark) {
        assert_eq!(self.seen(), *before, "the backend has not been reached");
    }

    #[track_caller]
    fn seen(&self) -> Seen {
        let stats = self.envoy.stats();
        let stat = |name: &str| stats.get(name).copied().expect("the cluster's counter");
        Seen {
            requests: self.backend.count(),
            bytes: self.backend.bytes_received(),
            sent_by_envoy: stat("cluster.backend.upstream_rq_total"),
            connections_by_envoy: stat("cluster.backend.upstream_cx_total"),
        }
    }
}

fn counter(name: &str) -> String {
    format!("wasmcustom.portcullis.client_id.{name}")
}
