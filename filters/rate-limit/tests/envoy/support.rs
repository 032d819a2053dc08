//! Envoy with the policy, between a client and a backend.

use std::net::SocketAddr;

use portcullis_testkit::envoy::{
    Backend, Cluster, Envoy, EnvoyConfig, FailurePolicy, Response, WasmPlugin, h1, h2,
};
use serde_json::{Value, json};

/// Header fields as a test writes them.
pub(crate) type Fields<'a> = &'a [(&'a str, &'a [u8])];

/// A version of HTTP between client and Envoy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Http {
    One,
    Two,
}

impl Http {
    pub(crate) const BOTH: [Self; 2] = [Self::One, Self::Two];

    /// Sends a request over a connection of its own.
    #[track_caller]
    pub(crate) fn request(self, addr: SocketAddr, method: &str, path: &str, headers: Fields) -> Response {
        match self {
            Self::One => h1::request(addr, method, path, headers, b""),
            Self::Two => h2::request(addr, method, path, headers, &[], &[]),
        }
    }

    #[track_caller]
    pub(crate) fn get(self, addr: SocketAddr, headers: Fields) -> Response {
        self.request(addr, "GET", "/", headers)
    }
}

/// Two requests an hour, all counted together, with these members added or put in place of others. An hour is longer
/// than any test.
pub(crate) fn two_an_hour(members: Value) -> Value {
    let mut config = json!({"limits": [{"max": 2, "period_ms": 3_600_000}]});
    for (name, value) in members.as_object().expect("members") {
        config[name] = value.clone();
    }
    config
}

/// The module with this configuration.
pub(crate) fn plugin(policy: &Value) -> WasmPlugin {
    WasmPlugin::module("rate-limit").json_configuration(policy).failure_policy(FailurePolicy::FailClosed)
}

/// A running Envoy and its backend.
pub(crate) struct Gateway {
    pub(crate) envoy: Envoy,
    pub(crate) backend: Backend,
}

impl Gateway {
    /// Starts Envoy with the policy as its only filter.
    #[track_caller]
    pub(crate) fn start(policy: &Value) -> Self {
        Self::start_with(|config| config.filter(plugin(policy)))
    }

    /// Starts Envoy with what `change` adds to a backend and nothing else.
    #[track_caller]
    pub(crate) fn start_with(change: impl FnOnce(EnvoyConfig) -> EnvoyConfig) -> Self {
        let backend = Backend::start();
        let envoy = Envoy::start(&change(config(&backend)));
        Self { envoy, backend }
    }

    pub(crate) fn addr(&self) -> SocketAddr {
        self.envoy.addr()
    }

    /// A counter of the policy.
    #[track_caller]
    pub(crate) fn count(&self, name: &str) -> u64 {
        self.envoy.counter(&format!("wasmcustom.portcullis.rate_limit.{name}"))
    }

    /// Whether a GET with these headers passes; anything else must be a refusal for lack of quota.
    #[track_caller]
    pub(crate) fn passes(&self, http: Http, headers: Fields) -> bool {
        match http.get(self.addr(), headers).status {
            200 => true,
            429 => false,
            other => panic!("status {other}"),
        }
    }
}

/// A backend and nothing else.
pub(crate) fn config(backend: &Backend) -> EnvoyConfig {
    EnvoyConfig::new().cluster(Cluster::http1("backend", backend.addr()))
}

/// The fields of a response whose names speak of rate limits, as they stand there.
pub(crate) fn limit_fields(response: &Response) -> Vec<String> {
    response
        .headers
        .iter()
        .filter(|(name, _)| name.contains("ratelimit") || *name == "retry-after")
        .map(|(name, value)| format!("{name}: {}", String::from_utf8_lossy(value)))
        .collect()
}
