//! Configurations that Envoy refuses, while the one before serves on.

use portcullis_reliability::load::Load;
use portcullis_testkit::envoy::{Delivery, Envoy, Http, PATIENCE, WasmPlugin, wait_until, workspace_root};
use serde_json::json;

use crate::support::*;

const HOUR_MS: u64 = 3_600_000;

#[test]
fn a_bad_push_is_refused_and_the_configuration_of_before_serves_on() {
    let peers = Peers::start();
    let good = policies("good", 1_000_000, HOUR_MS);
    let with = |plugin: WasmPlugin| peers.envoy(plugin).delivery(Delivery::Files);
    let envoy = Envoy::start(&with(gateway(&good)));
    let clients = [client("one", Http::One), client("two", Http::Two)];
    let load = Load::start(envoy.addr(), &clients);

    let mut with_a_mistake = good.clone();
    with_a_mistake[1]["rate-limit"]["limits"][0]["max"] = json!("hunter2");
    let not_a_module = workspace_root().join("Cargo.toml");
    let document = json!({"policies": good});
    let bad = [
        ("a mistake", gateway(&with_a_mistake), "policies[1].rate-limit.limits[0].max: expected u64"),
        ("no policies", gateway(&[]), "policies: must name at least one"),
        ("a policy that there is not", gateway(&[json!({"trap": {}})]), "policies[0]: must be one of"),
        (
            "no module",
            WasmPlugin::at("gateway", "/nowhere/gateway.wasm").json_configuration(&document),
            "/nowhere/gateway.wasm",
        ),
        (
            "a file that is no module",
            WasmPlugin::at("gateway", not_a_module).json_configuration(&document),
            "Unable to create Wasm plugin",
        ),
        ("a trap at the start", trapping(&good, json!({"at_start": true})), "a trap at the start"),
    ];
    for (case, plugin, expected) in bad {
        let before = load.answered();
        let refusal = envoy.push(&with(plugin)).expect_err(case);
        assert!(refusal.details.contains(expected), "{case}: {refusal}");
        assert!(!refusal.details.contains("hunter2"), "{case}: {refusal}");
        wait_until("requests go on", PATIENCE, || load.answered() >= before + 50);
        let challenge = Http::One.get(envoy.addr(), "/", &[]);
        assert_eq!(challenge.status, 401, "{case}");
        assert!(
            challenge.headers.text("www-authenticate").is_some_and(|value| value.contains("good")),
            "{case}"
        );
    }

    envoy.push(&with(gateway(&policies("better", 1_000_000, HOUR_MS)))).unwrap();
    let challenge = Http::Two.get(envoy.addr(), "/", &[]);
    assert!(challenge.headers.text("www-authenticate").is_some_and(|value| value.contains("better")));
    for tally in load.stop() {
        assert_eq!((tally.statuses.get(&200), tally.lost.len()), (Some(&tally.sent), 0), "{tally:?}");
    }
}
