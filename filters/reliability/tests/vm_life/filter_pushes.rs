//! Configurations of the filter alone, by extension config discovery (ECDS), as Istio delivers them: the listener stays, and
//! connections are not drained.

use std::fs;
use std::path::PathBuf;

use portcullis_reliability::load::Load;
use portcullis_testkit::envoy::{
    Body, Cluster, Envoy, EnvoyConfig, Http, PATIENCE, h1, module_path, wait_until,
};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::*;

const HOUR_MS: u64 = 3_600_000;
const SUBSCRIPTION: &str = "extension_config_discovery.http_filter.gateway";

/// The file in which Envoy looks for the filter.
struct Discovery {
    folder: TempDir,
    version: u64,
}

impl Discovery {
    fn with(policies: &[Value]) -> Self {
        let mut discovery = Self { folder: TempDir::new().expect("a folder"), version: 0 };
        discovery.write(policies);
        discovery
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("filter.json")
    }

    /// Puts the gateway with these policies there, in one step.
    fn write(&mut self, policies: &[Value]) {
        self.version += 1;
        let filter = json!({
            "@type": "type.googleapis.com/envoy.extensions.filters.http.wasm.v3.Wasm",
            "config": {
                "name": "gateway",
                "failure_policy": "FAIL_RELOAD",
                "configuration": {
                    "@type": "type.googleapis.com/google.protobuf.StringValue",
                    "value": json!({"policies": policies}).to_string(),
                },
                "vm_config": {
                    "vm_id": "life",
                    "runtime": "envoy.wasm.runtime.v8",
                    "code": {"local": {"filename": module_path("gateway")}},
                },
            },
        });
        let resources = json!({"version_info": self.version.to_string(), "resources": [{
            "@type": "type.googleapis.com/envoy.config.core.v3.TypedExtensionConfig",
            "name": "gateway",
            "typed_config": filter,
        }]});
        let unfinished = self.folder.path().join("unfinished");
        fs::write(&unfinished, resources.to_string()).expect("the file is written");
        fs::rename(unfinished, self.path()).expect("the file is put in its place");
    }

    /// The filter as it stands in the connection manager.
    fn filter(&self) -> Value {
        json!({"name": "gateway", "config_discovery": {
            "config_source": {"path_config_source": {"path": self.path()}, "resource_api_version": "V3"},
            "type_urls": ["type.googleapis.com/envoy.extensions.filters.http.wasm.v3.Wasm"],
        }})
    }
}

fn envoy_with(peers: &Peers, discovery: &Discovery) -> Envoy {
    let config = EnvoyConfig::new()
        .workers(2)
        .cluster(Cluster::http1("backend", peers.backend.addr()))
        .cluster(Cluster::http1("auth", peers.auth.addr()))
        .cluster(Cluster::http1("collector", peers.collector.addr()))
        .native_filter(discovery.filter());
    Envoy::start(&config)
}

fn realm(envoy: &Envoy) -> String {
    let challenge = h1::get(envoy.addr(), "/challenge");
    assert_eq!(challenge.status, 401);
    challenge.headers.text("www-authenticate").expect("a challenge")
}

#[test]
fn filters_are_exchanged_under_load_without_a_loss_and_without_draining() {
    const QUOTA: u64 = 40;
    let peers = Peers::start();
    let mut discovery = Discovery::with(&policies("first", QUOTA, HOUR_MS));
    let envoy = envoy_with(&peers, &discovery);
    let headers: [(&str, &[u8]); 2] = [("client_id", b"long"), ("client_secret", b"s3cret")];
    let mut long = Http::Two.begin(envoy.addr(), "POST", "/long/0", &headers, Body::Chunked);
    long.send(b"begun before ").unwrap();
    peers.backend.wait_for_headers(1, PATIENCE);
    let clients = [client("one", Http::One), client("two", Http::Two), tenant("metered", Http::One)];
    let load = Load::start(envoy.addr(), &clients);

    for realm in ["second", "third", "fourth"] {
        let before = (load.answered(), envoy.counter(&format!("{SUBSCRIPTION}.config_reload")));
        discovery.write(&policies(realm, QUOTA, HOUR_MS));
        envoy.wait_for_counter(&format!("{SUBSCRIPTION}.config_reload"), before.1 + 1, PATIENCE);
        wait_until("requests go on", PATIENCE, || load.answered() >= before.0 + 200);
    }
    // What is no good is refused, and the last good one serves on.
    let mut bad = policies("bad", QUOTA, HOUR_MS);
    bad[0]["client-id"]["no_such_field"] = json!("hunter2");
    let failed = envoy.counter(&format!("{SUBSCRIPTION}.config_fail"));
    discovery.write(&bad);
    envoy.wait_for_counter(&format!("{SUBSCRIPTION}.config_fail"), failed + 1, PATIENCE);
    let line = envoy.wait_for_log(PATIENCE, |line| line.contains("configuration refused"));
    assert!(line.contains("policies[0].client-id.no_such_field: unknown field"), "{line}");
    assert!(envoy.log_lines().iter().all(|line| !line.contains("hunter2")));
    assert!(realm(&envoy).contains("fourth"));
    let before = load.answered();
    wait_until("requests go on", PATIENCE, || load.answered() >= before + 200);

    let tallies = load.stop();
    long.send(b"and ended after").unwrap();
    long.end(&[]).unwrap();
    assert_eq!(long.response().unwrap().status, 200);
    let passed = |at: usize| tallies[at].statuses.get(&200).copied().unwrap_or(0);
    for at in [0, 1] {
        let tally = &tallies[at];
        assert_eq!((passed(at), tally.lost.len(), tally.connections), (tally.sent, 0, 1), "{tally:?}");
    }
    assert_eq!((passed(2), tallies[2].lost.len()), (QUOTA, 0), "{:?}", tallies[2]);
    assert_eq!(peers.backend.count() as u64, passed(0) + passed(1) + passed(2) + 1);
    // The challenge has its line, too.
    peers.assert_logged(tallies.iter().map(|tally| tally.sent).sum::<u64>() + 2);
}
