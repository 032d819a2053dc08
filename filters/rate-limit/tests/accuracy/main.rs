//! How exactly a real Envoy keeps a limit, with one worker and with several.
#![cfg(test)]
// Of milliseconds and tens of thousands.
#![allow(clippy::arithmetic_side_effects)]

mod load;
mod memory;
mod windows;

use std::time::Duration;

use portcullis_testkit::envoy::{Backend, Cluster, Envoy, EnvoyConfig, FailurePolicy, WasmPlugin};
use serde_json::json;

use crate::load::{Load, Shot};
use crate::windows::Judgement;

const MAX: u64 = 60;
const PERIOD: Duration = Duration::from_millis(250);
/// How many windows must have been used up before the load ends.
const WINDOWS: usize = 20;

fn envoy(backend: &Backend, workers: u32) -> Envoy {
    let policy = json!({"limits": [{"max": MAX, "period_ms": PERIOD.as_millis()}], "headers": "mule"});
    Envoy::start(
        &EnvoyConfig::new()
            .cluster(Cluster::http1("backend", backend.addr()))
            .filter(
                WasmPlugin::module("rate-limit")
                    .json_configuration(&policy)
                    .failure_policy(FailurePolicy::FailClosed),
            )
            .workers(workers),
    )
}

fn keeps_the_limit_exactly(workers: u32, load: &Load) {
    let backend = Backend::start();
    let envoy = envoy(&backend, workers);

    let shots = load::fire(envoy.addr(), load, |shots| windows::used_up(shots) >= WINDOWS);

    let admitted = shots.iter().filter(|shot| shot.admitted()).count();
    assert_eq!(backend.count(), admitted, "what the upstream saw is what the clients were told");
    assert!(shots.iter().any(|shot| !shot.admitted()), "the load is more than the limit");
    assert!(
        envoy.connections_by_worker().iter().filter(|count| **count > 0).count() == workers as usize,
        "every worker had a part in it"
    );
    let Judgement { overfull, short, unfounded } = windows::judge(&shots, MAX, PERIOD);
    assert_eq!(overfull, Vec::<u64>::new(), "quota was given out twice in a window");
    assert_eq!(short, 0, "a window began before the one before it had ended");
    assert_eq!(unfounded, Vec::<Shot>::new(), "a request was refused while quota remained");
}

#[test]
fn one_worker_keeps_the_limit_under_closed_load() {
    keeps_the_limit_exactly(1, &Load::Closed { connections: 16 });
}

#[test]
fn one_worker_keeps_the_limit_under_open_load() {
    keeps_the_limit_exactly(1, &Load::Open { connections: 32, every: Duration::from_micros(500) });
}

#[test]
fn two_workers_keep_the_limit_under_closed_load() {
    keeps_the_limit_exactly(2, &Load::Closed { connections: 16 });
}

#[test]
fn two_workers_keep_the_limit_under_open_load() {
    keeps_the_limit_exactly(2, &Load::Open { connections: 32, every: Duration::from_micros(500) });
}

#[test]
fn four_workers_keep_the_limit_under_closed_load() {
    keeps_the_limit_exactly(4, &Load::Closed { connections: 32 });
}

#[test]
fn four_workers_keep_the_limit_under_open_load() {
    keeps_the_limit_exactly(4, &Load::Open { connections: 32, every: Duration::from_micros(500) });
}
