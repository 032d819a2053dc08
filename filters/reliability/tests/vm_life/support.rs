//! What the tests have in common.

use std::collections::BTreeSet;
use std::sync::Arc;

use portcullis_reliability::load::{Client, Headers};
use portcullis_testkit::envoy::{
    Backend, Cluster, EnvoyConfig, FailurePolicy, Http, PATIENCE, Reply, WasmPlugin, wait_until,
    workspace_root,
};
use serde_json::{Value, json};

/// What surrounds an Envoy: an upstream, an auth service that admits everybody, and a collector.
pub(crate) struct Peers {
    pub(crate) backend: Backend,
    pub(crate) auth: Backend,
    pub(crate) collector: Backend,
}

impl Peers {
    pub(crate) fn start() -> Self {
        let taken = Reply::ok("{}").header("content-type", "application/json");
        Self { backend: Backend::start(), auth: Backend::start(), collector: Backend::replying(taken) }
    }

    /// An Envoy between them, with this plugin.
    pub(crate) fn envoy(&self, plugin: WasmPlugin) -> EnvoyConfig {
        EnvoyConfig::new()
            .workers(2)
            .cluster(Cluster::http1("backend", self.backend.addr()))
            .cluster(Cluster::http1("auth", self.auth.addr()))
            .cluster(Cluster::http1("collector", self.collector.addr()))
            .filter(plugin)
    }

    /// Waits until the collector has had a line of each of so many requests, and asserts that each had one.
    #[track_caller]
    pub(crate) fn assert_logged(&self, requests: u64) {
        let requests = usize::try_from(requests).expect("a number of requests");
        wait_until(&format!("the lines of {requests} requests"), PATIENCE, || {
            self.logged_paths().len() >= requests
        });
        let paths = self.logged_paths();
        let distinct: BTreeSet<_> = paths.iter().collect();
        assert_eq!((paths.len(), distinct.len()), (requests, requests), "each has one line");
    }

    fn logged_paths(&self) -> Vec<String> {
        let requests = self.collector.requests();
        let documents = requests.iter().filter_map(|request| serde_json::from_slice(&request.body).ok());
        documents.flat_map(|document: Value| paths_in(&document)).collect()
    }
}

/// The paths in the records of an OTLP request.
fn paths_in(document: &Value) -> Vec<String> {
    let records = &document["resourceLogs"][0]["scopeLogs"][0]["logRecords"];
    let lines = records.as_array().into_iter().flatten();
    lines
        .filter_map(|record| {
            let line: Value = serde_json::from_str(record["body"]["stringValue"].as_str()?).ok()?;
            Some(line["path"].as_str()?.to_owned())
        })
        .collect()
}

/// A chain of client-id, rate-limit with this quota for each tenant, and access-log to the collector.
pub(crate) fn policies(realm: &str, max: u64, period_ms: u64) -> Vec<Value> {
    vec![
        json!({"client-id": {
            "auth": {"per-request": {"cluster": "auth", "timeout_ms": 60_000}},
            "rejection": {"realm": realm},
        }}),
        json!({"rate-limit": {
            "name": "tenants", "key": [{"header": {"name": "x-tenant"}}], "missing_key": "skip",
            "limits": [{"max": max, "period_ms": period_ms}],
        }}),
        json!({"access-log": {"sinks": [{"otlp": {"cluster": "collector", "flush_interval_ms": 100}}]}}),
    ]
}

/// The gateway with these policies.
pub(crate) fn gateway(policies: &[Value]) -> WasmPlugin {
    WasmPlugin::module("gateway")
        .json_configuration(&json!({"policies": policies}))
        .vm_id("life")
        .failure_policy(FailurePolicy::FailReload)
}

/// The module that traps where a request says, with a policy `trap` of this document before the others.
pub(crate) fn trapping(policies: &[Value], trap: Value) -> WasmPlugin {
    let path = workspace_root().join("dist/test/trapping.wasm");
    assert!(path.is_file(), "{} is missing: run `make trapping-module`", path.display());
    let policies = [&[json!({"trap": trap})], policies].concat();
    WasmPlugin::at("trapping", path)
        .json_configuration(&json!({"policies": policies}))
        .vm_id("traps")
        .failure_policy(FailurePolicy::FailReload)
}

/// A client that is known; each request has other credentials if `fresh`.
pub(crate) fn client(name: &str, http: Http) -> Client {
    let id = name.to_owned();
    let headers: Headers = Arc::new(move |n| {
        // So that some decisions are cached and others are not.
        let secret = format!("secret-{}", n % 100);
        vec![("client_id", id.clone()), ("client_secret", secret)]
    });
    Client { name: name.to_owned(), http, headers, body: b"a body", per_connection: u64::MAX }
}

/// A client whose requests count against the quota of a tenant.
pub(crate) fn tenant(name: &'static str, http: Http) -> Client {
    let headers: Headers = Arc::new(move |_| {
        let own = [("client_id", name), ("client_secret", "s3cret"), ("x-tenant", name)];
        own.map(|(header, value)| (header, value.to_owned())).to_vec()
    });
    Client { name: name.to_owned(), http, headers, body: b"a body", per_connection: u64::MAX }
}
