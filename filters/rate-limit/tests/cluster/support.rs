//! What the tests have in common.

use std::net::SocketAddr;

use portcullis_testkit::envoy::{
    Backend, Cluster, Envoy, EnvoyConfig, FailurePolicy, Response, WasmPlugin, h1, h2,
};
use serde_json::{Value, json};

/// Limits of the service, for its domain `test`: 40 for each tenant, 3 for those whose name begins with `small`. Each is for a year, so that the end of a period, at which counting
/// begins anew, hardly ever falls into a test.
pub(crate) const SERVICE: &str = "
domain: test
descriptors:
- key: header_x-tenant
  rate_limit: { unit: year, requests_per_unit: 40 }
- key: header_x-tenant
  value: small*
  rate_limit: { unit: year, requests_per_unit: 3 }
- key: plan
  value: yearly
  descriptors:
  - key: header_x-tenant
    rate_limit: { unit: year, requests_per_unit: 5 }
- key: plan
  value: monthly
  descriptors:
  - key: header_x-tenant
    rate_limit: { unit: year, requests_per_unit: 2 }
";

/// More than the service ever takes in a test that expects its answer.
const PLENTY_MS: u32 = 30_000;

/// The policy with the service; `change` is put over its `service`. By itself it allows two requests per year.
pub(crate) fn policy(change: Value) -> Value {
    let mut policy = json!({
        "key": [{"header": {"name": "x-tenant"}}],
        "limits": [{"max": 2, "period_ms": 31_536_000_000_u64}],
        "headers": "envoy",
        "service": {"cluster": "limits", "domain": "test", "timeout_ms": PLENTY_MS},
    });
    for (name, value) in change.as_object().expect("an object") {
        policy["service"][name] = value.clone();
    }
    policy
}

/// A version of HTTP between client and Envoy.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Http {
    One,
    Two,
}

impl Http {
    pub(crate) const BOTH: [Self; 2] = [Self::One, Self::Two];
}

/// An Envoy with the policy, and its backend.
pub(crate) struct Gateway {
    pub(crate) envoy: Envoy,
    pub(crate) backend: Backend,
}

impl Gateway {
    /// Starts Envoy. The service is the cluster `limits`, which speaks HTTP/2.
    #[track_caller]
    pub(crate) fn start(policy: &Value, service: SocketAddr) -> Self {
        Self::start_with(policy, EnvoyConfig::new().cluster(Cluster::http2("limits", service)))
    }

    /// Starts Envoy with the clusters and filters of `config`, and the policy behind them.
    #[track_caller]
    pub(crate) fn start_with(policy: &Value, config: EnvoyConfig) -> Self {
        let backend = Backend::start();
        let plugin = WasmPlugin::module("rate-limit")
            .json_configuration(policy)
            .vm_id("rate-limit")
            .failure_policy(FailurePolicy::FailClosed);
        let config = config
            .cluster(Cluster::http1("backend", backend.addr()))
            .route(json!({"match": {"prefix": "/"}, "route": {"cluster": "backend"}}))
            .filter(plugin);
        Self { envoy: Envoy::start(&config), backend }
    }

    /// A request of this tenant over a connection of its own.
    #[track_caller]
    pub(crate) fn get(&self, http: Http, tenant: &str) -> Response {
        let headers: [(&str, &[u8]); 1] = [("x-tenant", tenant.as_bytes())];
        match http {
            Http::One => h1::request(self.envoy.addr(), "GET", "/", &headers, b""),
            Http::Two => h2::request(self.envoy.addr(), "GET", "/", &headers, &[], &[]),
        }
    }

    /// The statuses of so many requests of this tenant, one after the other.
    #[track_caller]
    pub(crate) fn statuses(&self, http: Http, tenant: &str, n: usize) -> Vec<u16> {
        (0..n).map(|_| self.get(http, tenant).status).collect()
    }

    /// A counter of the policy.
    #[track_caller]
    pub(crate) fn count(&self, name: &str) -> u64 {
        self.envoy.counter(&format!("wasmcustom.portcullis.rate_limit.{name}"))
    }
}

/// A header of a response, as a number.
#[track_caller]
pub(crate) fn number(response: &Response, name: &str) -> u64 {
    let text = response.headers.text(name);
    match text.as_deref().and_then(|text| text.parse().ok()) {
        Some(number) => number,
        None => panic!("{name}: {text:?} in {response:?}"),
    }
}
