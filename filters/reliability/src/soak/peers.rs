//! What surrounds the Envoy of a long run, and who calls it.

use std::path::PathBuf;
use std::sync::Arc;

use portcullis_testkit::envoy::{
    Backend, Cluster, EnvoyConfig, FailurePolicy, Http, Reply, WasmPlugin, module_path,
};
use serde_json::json;

use crate::load::{Client, Headers};

/// An upstream, an auth service that admits everybody, and a collector.
pub(super) struct Peers {
    backend: Backend,
    auth: Backend,
    collector: Backend,
    /// A copy: where the module is built anew meanwhile, Envoy would take it for another one.
    module: PathBuf,
}

impl Peers {
    pub(super) fn start() -> Self {
        let reply = Reply::ok("<answer><k>v</k></answer>").header("content-type", "text/xml");
        let taken = Reply::ok("{}").header("content-type", "application/json");
        let (backend, auth) = (Backend::replying(reply), Backend::start());
        let module = std::env::temp_dir().join(format!("portcullis-soak-{}.wasm", std::process::id()));
        std::fs::copy(module_path("gateway"), &module).expect("a copy of the module");
        Self { backend, auth, collector: Backend::replying(taken), module }
    }

    /// They remember every request; that is not what is measured.
    pub(super) fn forget(&self) {
        [&self.backend, &self.auth, &self.collector].into_iter().for_each(Backend::clear);
    }

    /// An Envoy with two workers and all policies. Tables and caches are small, so that they are full soon. Each revision
    /// of it is another configuration.
    pub(super) fn envoy(&self, revision: u64) -> EnvoyConfig {
        let renaming = |from: &str, to: &str| {
            let sheet = format!(
                "<xsl:stylesheet version='1.0' xmlns:xsl='http://www.w3.org/1999/XSL/Transform'>\
                 <xsl:template match='/{from}'><{to}><xsl:copy-of select='*'/></{to}></xsl:template>\
                 </xsl:stylesheet>"
            );
            json!({"stylesheet": {"inline": sheet}})
        };
        let document = json!({"policies": [
            {"client-id": {
                "auth": {"per-request": {"cluster": "auth", "timeout_ms": 60_000}},
                "cache": {"entries": 2000, "shared_slots": 4000},
                "rejection": {"realm": format!("revision {revision}")},
            }},
            {"rate-limit": {
                "key": ["client-id", "path"],
                "limits": [{"max": 100 + revision, "period_ms": 1000}],
                "headers": "ietf",
                "store": {"slots": 16_384, "when_full": "share"},
            }},
            {"content-router": {
                "rules": [{"name": "all", "when": {"xpath": {"expression": "/order/k"}}, "then": {"route": "all"}}],
                "default": {"route": "all"},
            }},
            {"xslt-transform": {"request": renaming("order", "redro"), "response": renaming("answer", "rewsna")}},
            {"access-log": {"sinks": [{"otlp": {"cluster": "collector", "max_queue": 100_000,
                "max_queue_bytes": 200_000_000}}]}},
        ]});
        EnvoyConfig::new()
            .workers(2)
            .cluster(Cluster::http1("backend", self.backend.addr()))
            .cluster(Cluster::http1("auth", self.auth.addr()))
            .cluster(Cluster::http1("collector", self.collector.addr()))
            .filter(
                WasmPlugin::at("gateway", &self.module)
                    .json_configuration(&document)
                    .vm_id("soak")
                    .allow_on_headers_stop_iteration(true)
                    .failure_policy(FailurePolicy::FailReload),
            )
    }
}

impl Drop for Peers {
    fn drop(&mut self) {
        // It may have gone with the folder of temporary files.
        let _ = std::fs::remove_file(&self.module);
    }
}

/// Clients over both versions of HTTP, each of whose requests comes from somebody else. Paths are unique by themselves.
pub(super) fn clients() -> Vec<Client> {
    let client = |name: &'static str, http| {
        let headers: Headers = Arc::new(move |n| {
            vec![
                ("client_id", format!("{name}-{n}")),
                ("client_secret", format!("secret-{n}")),
                ("content-type", "text/xml".to_owned()),
            ]
        });
        let body = b"<order><k>v</k></order>";
        Client { name: name.to_owned(), http, headers, body, per_connection: 500 }
    };
    let names = ["one", "two", "three", "four", "five", "six", "seven", "eight"];
    names.into_iter().zip(Http::BOTH.into_iter().cycle()).map(|(name, http)| client(name, http)).collect()
}
