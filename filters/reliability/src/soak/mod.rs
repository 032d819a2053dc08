//! Long runs: whether an Envoy under load, with everything new in each request or with ever new configurations, keeps its
//! memory and its file descriptors.

mod judge;
mod peers;
mod process;

use std::time::{Duration, Instant};

use portcullis_testkit::envoy::{Delivery, Envoy, EnvoyConfig, PATIENCE, wait_until};

use crate::load::{Load, Tally};
use crate::results::LongRun;
use judge::{Sample, judge};
use peers::Peers;

/// How often is looked.
const INTERVAL: Duration = Duration::from_secs(5);

const VMS: &str = "wasm.envoy.wasm.runtime.v8.active";

/// Lets clients send as fast as they can for so long, each request with a client, a key and a path of its own.
///
/// # Panics
/// When Envoy or a fixture does not start.
pub fn soak(duration: Duration) -> LongRun {
    let peers = Peers::start();
    let envoy = Envoy::start(&peers.envoy(0));
    let vms = envoy.counter(VMS);
    let run = run(&envoy, &peers, duration, || {});
    finish(&envoy, vms, run)
}

/// Pushes so many configurations a minute for so long, each unlike the one before, while requests come.
///
/// # Panics
/// When Envoy or a fixture does not start, or Envoy does not take a configuration.
pub fn pushes(duration: Duration, per_minute: u32) -> LongRun {
    let peers = Peers::start();
    let with = |revision| {
        let arguments = ["--drain-strategy", "immediate", "--drain-time-s", "5"];
        let config = peers.envoy(revision).delivery(Delivery::Files);
        arguments.into_iter().fold(config, EnvoyConfig::argument)
    };
    let envoy = Envoy::start(&with(0));
    let vms = envoy.counter(VMS);
    let every = Duration::from_secs(60) / per_minute.max(1);
    let (mut revision, mut due) = (0_u64, Instant::now());
    let run = run(&envoy, &peers, duration, || {
        if Instant::now() >= due {
            due += every;
            revision += 1;
            envoy.push(&with(revision)).expect("a good configuration is taken");
        }
    });
    LongRun { pushes: revision, ..finish(&envoy, vms, run) }
}

/// What was seen during a run.
struct Run {
    samples: Vec<Sample>,
    tallies: Vec<Tally>,
}

fn run(envoy: &Envoy, peers: &Peers, duration: Duration, mut now_and_then: impl FnMut()) -> Run {
    let load = Load::start(envoy.addr(), &peers::clients());
    let begun = Instant::now();
    let (mut samples, mut due) = (Vec::new(), begun);
    while begun.elapsed() < duration {
        now_and_then();
        peers.forget();
        if Instant::now() >= due {
            due += INTERVAL;
            let sample = Sample {
                at: begun.elapsed(),
                resident_kib: process::resident_kib(envoy.pid()),
                descriptors: process::descriptors(envoy.pid()),
                answered: load.answered(),
            };
            println!(
                "{:>6.0} s  {:>8} KiB  {:>4} descriptors  {:>3} VMs  {:>9} answered",
                sample.at.as_secs_f64(),
                sample.resident_kib,
                sample.descriptors,
                envoy.counter(VMS),
                sample.answered
            );
            samples.push(sample);
        }
        std::thread::sleep(Duration::from_millis(200));
    }
    Run { samples, tallies: load.stop() }
}

fn finish(envoy: &Envoy, vms: u64, run: Run) -> LongRun {
    let mut long_run = judge(&run.samples);
    let faults = &mut long_run.faults;
    for tally in &run.tallies {
        let passed = tally.statuses.get(&200).copied().unwrap_or(0);
        if passed != tally.sent {
            let Tally { sent, statuses, lost, .. } = tally;
            let some = lost.iter().take(3).collect::<Vec<_>>();
            faults
                .push(format!("of {sent} requests of a client not all passed: {statuses:?}, lost {some:?}"));
        }
    }
    wait_until("VMs that nobody needs are gone", PATIENCE, || envoy.counter(VMS) <= vms);
    let stats = envoy.stats();
    for (name, value) in &stats {
        let is_bad = ["host_failed", "store_corrupt", "body_withheld", "dropped", "vm_reload"];
        if *value > 0 && is_bad.iter().any(|bad| name.contains(bad)) && name.contains("wasm") {
            faults.push(format!("{name} is {value}"));
        }
    }
    long_run
}
