//! Envoy between a hostile client and an upstream that keeps everything.

use std::net::SocketAddr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use portcullis_testkit::envoy::{
    Backend, Cluster, Envoy, EnvoyConfig, FailurePolicy, PATIENCE, Reply, WasmPlugin, h1, wait_for,
};
use serde_json::{Value, json};

use super::policies::{GOOD, WRONG};
use super::tap::Tap;

/// A running Envoy with its peers: the upstream, and an auth service that takes every secret but [`WRONG`].
pub struct Gateway {
    /// Envoy.
    pub envoy: Envoy,
    /// The upstream of everything.
    pub upstream: Tap,
    /// The auth service. It sees `Authorization`, and nothing else of a client's request.
    pub auth: Backend,
}

impl Gateway {
    /// Starts Envoy with the gateway's module and these policies.
    ///
    /// # Panics
    /// When Envoy does not start.
    #[track_caller]
    pub fn start(policies: &[Value]) -> Self {
        Self::start_with(policies, |config| config)
    }

    /// The same with what `change` adds to Envoy's configuration, behind the policies.
    ///
    /// # Panics
    /// When Envoy does not start.
    #[track_caller]
    pub fn start_with(policies: &[Value], change: impl FnOnce(EnvoyConfig) -> EnvoyConfig) -> Self {
        Self::launch(|config| change(config.filter(plugin(policies))))
    }

    /// Starts Envoy without any policy: what it does by itself.
    ///
    /// # Panics
    /// When Envoy does not start.
    #[track_caller]
    pub fn bare() -> Self {
        Self::launch(|config| config)
    }

    /// Starts Envoy with the filters that `change` adds.
    ///
    /// # Panics
    /// When Envoy does not start.
    #[track_caller]
    pub fn launch(change: impl FnOnce(EnvoyConfig) -> EnvoyConfig) -> Self {
        let (upstream, auth) = (Tap::start(), Backend::start());
        let wrong = format!(":{WRONG}");
        auth.reply_with(move |request| {
            let value = request.headers.text("authorization").unwrap_or_default();
            let is_wrong = decoded(&value).is_some_and(|pair| pair.ends_with(wrong.as_bytes()));
            if is_wrong { Reply::status(401) } else { Reply::status(200).header("x-client-tier", "gold") }
        });
        let config = EnvoyConfig::new()
            .cluster(Cluster::http1("upstream", upstream.addr()))
            .cluster(Cluster::http1("auth", auth.addr()))
            .http1_trailers()
            // Or Envoy waits a second for the client of each request that it has refused for its bytes.
            .merge_connection_manager(json!({"delayed_close_timeout": "0s"}));
        Self { envoy: Envoy::start(&change(config)), upstream, auth }
    }

    /// Where Envoy listens.
    pub fn addr(&self) -> SocketAddr {
        self.envoy.addr()
    }

    /// How many requests Envoy has sent to the upstream, or begun to send.
    ///
    /// # Panics
    /// When Envoy does not answer.
    #[track_caller]
    pub fn sent(&self) -> u64 {
        self.envoy.counter("cluster.upstream.upstream_rq_total")
    }

    /// Asserts what [`assert_no_failures`](Self::assert_no_failures) does, and that a good request passes still.
    ///
    /// # Panics
    /// When one of these does not hold.
    #[track_caller]
    pub fn assert_sound(&self) {
        self.assert_no_failures();
        let response = h1::request(self.addr(), "GET", "/still-alive", &GOOD, b"");
        assert_eq!(response.status, 200, "{response:?}");
    }

    /// Asserts that no VM has failed, that no policy had to do without its host, and that the upstream has got nothing
    /// that could be read in two ways.
    ///
    /// # Panics
    /// When one of these does not hold.
    #[track_caller]
    pub fn assert_no_failures(&self) {
        let lines = self.envoy.log_lines();
        let failed = lines.iter().find(|line| {
            ["panic", "Function: proxy_on", "[critical]"].iter().any(|sign| line.contains(sign))
        });
        assert_eq!(failed, None);
        let failures: Vec<_> =
            self.envoy.stats().into_iter().filter(|(name, value)| *value > 0 && is_failure(name)).collect();
        assert_eq!(failures, []);
        assert_eq!(self.upstream.ambiguities(), Vec::<String>::new());
    }

    /// Waits for the line of the access log of [`policies`](super::policies) at this place, from 0.
    ///
    /// # Panics
    /// When there is none.
    #[track_caller]
    pub fn line(&self, at: usize) -> Value {
        wait_for("a line of the access log", PATIENCE, || self.lines().into_iter().nth(at))
    }

    /// The lines of that log so far.
    pub fn lines(&self) -> Vec<Value> {
        let json = |line: String| serde_json::from_str(line.split_once("wasm log gateway: ")?.1).ok();
        self.envoy
            .log_lines()
            .into_iter()
            .filter_map(json)
            .filter(|line: &Value| line["mark"] == "abuse")
            .collect()
    }
}

/// The gateway's module with these policies. A VM that fails stays so: the requests after it tell.
pub fn plugin(policies: &[Value]) -> WasmPlugin {
    WasmPlugin::module("gateway")
        .json_configuration(&json!({"policies": policies}))
        .failure_policy(FailurePolicy::FailClosed)
        .allow_on_headers_stop_iteration(true)
}

/// Whether a counter tells of a VM that failed, or of a policy whose host did not do what is needed.
fn is_failure(name: &str) -> bool {
    let of_vm =
        name.starts_with("wasm.") && ["vm_reload", "fail", "crash"].iter().any(|kind| name.contains(kind));
    of_vm
        || (name.starts_with("wasmcustom.")
            && (name.ends_with("host_failed") || name.ends_with("store_corrupt")))
}

/// The pair in a Basic Authorization header (RFC 7617), if it is one.
fn decoded(value: &str) -> Option<Vec<u8>> {
    STANDARD.decode(value.strip_prefix("Basic ")?).ok()
}
