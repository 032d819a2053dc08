//! Envoy with the chain, between a client, an auth service and a backend.

use std::net::SocketAddr;

use portcullis_testkit::envoy::{
    Backend, Cluster, Envoy, EnvoyConfig, FailurePolicy, PATIENCE, Reply, WasmPlugin, wait_for,
};
use serde_json::{Value, json};

/// A running Envoy and its peers. The auth service admits everybody.
pub(crate) struct Chain {
    pub(crate) envoy: Envoy,
    pub(crate) backend: Backend,
    pub(crate) auth: Backend,
}

impl Chain {
    #[track_caller]
    pub(crate) fn start(policies: &[Value]) -> Self {
        Self::start_with(policies, |config| config)
    }

    /// Starts Envoy with these policies and what `change` adds.
    #[track_caller]
    pub(crate) fn start_with(policies: &[Value], change: impl FnOnce(EnvoyConfig) -> EnvoyConfig) -> Self {
        Self::start_plugin(policies, |plugin| plugin, change)
    }

    /// Starts Envoy with these policies, some of which look into bodies.
    #[track_caller]
    pub(crate) fn start_reading_bodies(policies: &[Value]) -> Self {
        Self::start_plugin(policies, |plugin| plugin.allow_on_headers_stop_iteration(true), |config| config)
    }

    #[track_caller]
    fn start_plugin(
        policies: &[Value],
        change_plugin: impl FnOnce(WasmPlugin) -> WasmPlugin,
        change: impl FnOnce(EnvoyConfig) -> EnvoyConfig,
    ) -> Self {
        let (backend, auth) = (Backend::start(), Backend::replying(Reply::status(200)));
        let config = EnvoyConfig::new()
            .cluster(Cluster::http1("backend", backend.addr()))
            .cluster(Cluster::http1("auth", auth.addr()))
            .filter(change_plugin(
                WasmPlugin::module("gateway")
                    .json_configuration(&json!({"policies": policies}))
                    .failure_policy(FailurePolicy::FailClosed),
            ));
        Self { envoy: Envoy::start(&change(config)), backend, auth }
    }

    pub(crate) fn addr(&self) -> SocketAddr {
        self.envoy.addr()
    }

    /// The line of the access log at this place, from 0, as soon as it is there.
    #[track_caller]
    pub(crate) fn line(&self, at: usize) -> Value {
        let lines = || {
            self.envoy.log_lines().into_iter().filter_map(|line| {
                let (_, json) = line.split_once("{\"time\":")?;
                serde_json::from_str(&format!("{{\"time\":{json}")).ok()
            })
        };
        wait_for("a line of the access log", PATIENCE, || lines().nth(at))
    }
}

/// The headers that carry a client's credentials.
pub(crate) fn credentials(client: &'static str) -> [(&'static str, &'static [u8]); 2] {
    [("client_id", client.as_bytes()), ("client_secret", b"s3cret")]
}
