//! Configurations that are pushed while requests come.

use portcullis_reliability::load::Load;
use portcullis_testkit::envoy::{Body, Delivery, Envoy, EnvoyConfig, Http, PATIENCE, WasmPlugin, wait_until};
use serde_json::json;

use crate::support::*;

const HOUR_MS: u64 = 3_600_000;
const VMS: &str = "wasm.envoy.wasm.runtime.v8.active";

/// Old connections are told to end with their next response.
fn pushed(config: EnvoyConfig) -> EnvoyConfig {
    config.delivery(Delivery::Files).argument("--drain-strategy").argument("immediate")
}

#[test]
fn a_push_under_load_loses_no_request_no_line_and_no_count() {
    const QUOTA: u64 = 40;
    let peers = Peers::start();
    let with = |realm: &str, period_ms| pushed(peers.envoy(gateway(&policies(realm, QUOTA, period_ms))));
    let envoy = Envoy::start(&with("first", HOUR_MS));
    let clients = [
        client("one", Http::One),
        client("two", Http::Two),
        tenant("metered", Http::One),
        tenant("metered-too", Http::Two),
    ];
    // A request that is there before the first push, and ends after the last.
    let headers: [(&str, &[u8]); 2] = [("client_id", b"long"), ("client_secret", b"s3cret")];
    let mut long = Http::Two.begin(envoy.addr(), "POST", "/long/0", &headers, Body::Chunked);
    long.send(b"begun before ").unwrap();
    peers.backend.wait_for_headers(1, PATIENCE);

    let load = Load::start(envoy.addr(), &clients);
    for realm in ["second", "third", "fourth", "fifth"] {
        let before = load.answered();
        envoy.push(&with(realm, HOUR_MS)).unwrap();
        wait_until("requests go on", PATIENCE, || load.answered() >= before + 200);
    }
    let tallies = load.stop();
    long.send(b"and ended after").unwrap();
    long.end(&[]).unwrap();
    assert_eq!(long.response().unwrap().status, 200);

    let mut sent = 1;
    for (client, tally) in clients.iter().zip(&tallies) {
        assert_eq!(tally.lost, Vec::<String>::new(), "{}", client.name);
        // Each push took the connections of before.
        assert!(tally.connections >= 4, "{}: {tally:?}", client.name);
        sent += tally.sent;
    }
    let count = |at: usize, status| tallies[at].statuses.get(&status).copied().unwrap_or(0);
    for at in [0, 1] {
        assert_eq!(count(at, 200), tallies[at].sent);
    }
    // Whatever came meanwhile, the tenants had their quota once: a limit goes on counting when others change.
    for at in [2, 3] {
        assert_eq!((count(at, 200), count(at, 429)), (QUOTA, tallies[at].sent - QUOTA));
    }
    let passed: u64 = tallies.iter().flat_map(|tally| tally.statuses.get(&200)).sum();
    let received = peers.backend.requests();
    assert_eq!(received.len() as u64, passed + 1);
    assert_eq!(received[0].body, b"begun before and ended after");
    assert!(received.iter().all(|request| request.headers.contains("x-portcullis-client-id")));
    peers.assert_logged(sent);

    // Another period begins new counts.
    envoy.push(&with("sixth", 2 * HOUR_MS)).unwrap();
    let load = Load::start(envoy.addr(), &[tenant("metered", Http::One)]);
    wait_until("the quota is used up", PATIENCE, || load.answered() > QUOTA);
    let tallies = load.stop();
    assert_eq!(tallies[0].statuses.get(&200), Some(&QUOTA), "{tallies:?}");
}

/// Old plugins, and VMs that nobody needs any more, go when their listener has drained.
#[test]
fn pushes_leave_no_vm_behind() {
    let peers = Peers::start();
    let with = |revision: u64, vm: &str| {
        let policy = json!({"limits": [{"max": 1_000_000, "period_ms": 60_000 + revision}]});
        let plugin = WasmPlugin::module("rate-limit").json_configuration(&policy).vm_id(vm);
        pushed(peers.envoy(plugin)).argument("--drain-time-s").argument("1")
    };
    let envoy = Envoy::start(&with(0, "a"));
    let vms = envoy.counter(VMS);
    assert!(vms >= 3, "one for each worker, one for the main thread: {vms}");
    let load = Load::start(envoy.addr(), &[client("one", Http::One), client("two", Http::Two)]);
    for revision in 1..=6 {
        // Plugins with the same id share a VM; with another one they take another.
        let before = load.answered();
        envoy.push(&with(revision, if revision % 2 == 0 { "a" } else { "b" })).unwrap();
        wait_until("requests go on", PATIENCE, || load.answered() >= before + 50);
    }
    wait_until("old VMs are gone", PATIENCE, || envoy.counter(VMS) == vms);
    for tally in load.stop() {
        assert_eq!((tally.statuses.get(&200), tally.lost.len()), (Some(&tally.sent), 0), "{tally:?}");
    }
    wait_until("old listeners are gone", PATIENCE, || {
        envoy.counter("listener_manager.total_filter_chains_draining") == 0
    });
}
