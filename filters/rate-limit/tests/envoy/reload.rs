//! A configuration that is pushed in the middle of a window.

use portcullis_testkit::envoy::{Backend, Delivery, Envoy, EnvoyConfig};
use serde_json::{Value, json};

use crate::support::*;

fn pushed(backend: &Backend, policy: &Value) -> EnvoyConfig {
    config(backend).delivery(Delivery::Files).workers(2).filter(plugin(policy).vm_id("rate-limit"))
}

/// How many of ten requests pass.
fn passing(envoy: &Envoy) -> usize {
    (0..10).filter(|n| Http::BOTH[n % 2].get(envoy.addr(), &[]).status == 200).count()
}

#[test]
fn goes_on_counting_when_a_maximum_changes_and_begins_anew_when_a_period_does() {
    let backend = Backend::start();
    let policy = |max: u64, period_ms: u64| json!({"limits": [{"max": max, "period_ms": period_ms}]});
    let envoy = Envoy::start(&pushed(&backend, &policy(3, 3_600_000)));
    assert_eq!(passing(&envoy), 3);
    envoy.push(&pushed(&backend, &policy(5, 3_600_000))).unwrap();
    assert_eq!(passing(&envoy), 2);
    envoy.push(&pushed(&backend, &policy(4, 3_600_000))).unwrap();
    assert_eq!(passing(&envoy), 0);
    envoy.push(&pushed(&backend, &policy(4, 7_200_000))).unwrap();
    assert_eq!(passing(&envoy), 4);
}

#[test]
fn keeps_the_old_limits_when_the_new_ones_make_no_sense() {
    let backend = Backend::start();
    let envoy = Envoy::start(&pushed(&backend, &two_an_hour(json!({}))));
    assert_eq!(passing(&envoy), 2);
    for (members, expected) in [
        (json!({"limits": []}), "limits: must be 1 to 8 limits"),
        (
            json!({"limits": [{"max": "hunter2", "period_ms": 1}]}),
            "limits[0].max: expected u64, found string",
        ),
    ] {
        let refusal = envoy.push(&pushed(&backend, &two_an_hour(members))).expect_err("Envoy refuses");
        assert!(refusal.details.contains(expected), "{refusal}");
        assert!(!refusal.details.contains("hunter2"), "{refusal}");
        assert_eq!(passing(&envoy), 0);
    }
}

#[test]
fn takes_a_struct_for_json() {
    let plugin = plugin(&json!({})).struct_configuration(two_an_hour(json!({})));
    let gateway = Gateway::start_with(|config| config.filter(plugin));
    assert_eq!(passing(&gateway.envoy), 2);
}
