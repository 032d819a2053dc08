//! Envoy with the policy, between a client and two backends.

use std::net::SocketAddr;

use portcullis_testkit::envoy::{
    Backend, Cluster, Envoy, EnvoyConfig, FailurePolicy, PATIENCE, WasmPlugin, h1,
};
use serde_json::{Value, json};

use super::{Fields, ROUTING};

/// Whether Envoy is told to deliver bodies while headers are held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flag {
    True,
    False,
    Absent,
}

/// The headers of a SOAP 1.1 request.
pub(crate) const SOAP: Fields = &[("content-type", b"text/xml"), ("soapaction", b"\"urn:buyStocks\"")];

/// Routes by the header block `routing`: `blue` and `green` are backends, `red` is refused, the rest has no route.
pub(crate) fn by_soap_header() -> Value {
    let rule = |value: &str, then: Value| {
        json!({"name": value, "then": then,
            "when": {"soap-header": {"namespace": ROUTING, "name": "routing", "value": {"exact": value}}}})
    };
    json!({"rules": [
        // What the tests ask Envoy itself.
        {"name": "barrier", "when": {"path": {"exact": "/barrier"}}, "then": "pass"},
        rule("blue", json!({"route": "blue"})),
        rule("green", json!({"route": "green"})),
        rule("red", json!({"reply": {"status": 403, "detail": "Red is closed."}})),
    ]})
}

/// The module with this configuration.
pub(crate) fn plugin(policy: &Value, flag: Flag) -> WasmPlugin {
    let plugin = WasmPlugin::module("content-router")
        .json_configuration(policy)
        .failure_policy(FailurePolicy::FailClosed);
    match flag {
        Flag::Absent => plugin,
        Flag::True => plugin.allow_on_headers_stop_iteration(true),
        Flag::False => plugin.allow_on_headers_stop_iteration(false),
    }
}

/// A running Envoy and its backends.
pub(crate) struct Gateway {
    pub(crate) envoy: Envoy,
    pub(crate) blue: Backend,
    pub(crate) green: Backend,
    /// Gets what has no route.
    pub(crate) other: Backend,
}

impl Gateway {
    /// Starts Envoy with the policy as its only filter.
    #[track_caller]
    pub(crate) fn start(policy: &Value, flag: Flag) -> Self {
        Self::start_with(|config| config.filter(plugin(policy, flag)))
    }

    /// Starts Envoy with what `change` adds to the backends, and the routes to them: `blue` by a header match, and every
    /// other name by `cluster_header`; what has no name goes to `other`, and `/barrier` is answered by Envoy itself.
    #[track_caller]
    pub(crate) fn start_with(change: impl FnOnce(EnvoyConfig) -> EnvoyConfig) -> Self {
        let (blue, green, other) = (Backend::start(), Backend::start(), Backend::start());
        let has = |name: &str, test: Value| json!({"prefix": "/", "headers": [{"name": name, "string_match": test}]});
        let config = EnvoyConfig::new()
            .cluster(Cluster::http1("blue-cluster", blue.addr()))
            .cluster(Cluster::http1("green", green.addr()))
            .cluster(Cluster::http1("other", other.addr()))
            .http1_trailers()
            .route(json!({"match": {"path": "/barrier"}, "direct_response": {"status": 200}}))
            .route(json!({"match": has("x-portcullis-route", json!({"exact": "blue"})),
                "route": {"cluster": "blue-cluster", "timeout": "0s"}}))
            .route(json!({"match": {"prefix": "/", "headers": [{"name": "x-portcullis-route", "present_match": true}]},
                "route": {"cluster_header": "x-portcullis-route", "timeout": "0s"}}))
            .route(json!({"match": {"prefix": "/"}, "route": {"cluster": "other", "timeout": "0s"}}));
        let envoy = Envoy::start(&change(config));
        Self { envoy, blue, green, other }
    }

    pub(crate) fn addr(&self) -> SocketAddr {
        self.envoy.addr()
    }

    /// A counter of the policy.
    #[track_caller]
    pub(crate) fn count(&self, name: &str) -> u64 {
        self.envoy.counter(&format!("wasmcustom.portcullis.content_router.{name}"))
    }

    /// How many requests each backend has had: blue, green, other.
    pub(crate) fn counts(&self) -> [usize; 3] {
        [self.blue.count(), self.green.count(), self.other.count()]
    }

    /// Forgets the requests that backends have had.
    pub(crate) fn clear(&self) {
        for backend in [&self.blue, &self.green, &self.other] {
            backend.clear();
        }
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
}
