//! Workers that are stopped at each call to the host, so that all orders of their calls come up.

use std::thread;

use proptest::prelude::*;

use portcullis_rate_limit::limiter::{Decision, Limits};

use super::agreement::{algorithm, quotas, requests};
use super::support::baton::relay;
use super::support::model::Model;
use super::support::process::{Order, Process};
use super::support::{EXACT, Rig, limits};

struct Run {
    decisions: Vec<(Order, u8, Decision)>,
    conflicts: u32,
}

/// Deals the requests out to workers, and runs these one call at a time.
fn run(workers: usize, seed: u64, requests: &[(u8, u64)], limits: &Limits) -> Run {
    let process = Process::at(100);
    let runs: Vec<_> = thread::scope(|scope| {
        let threads: Vec<_> = relay(workers, seed)
            .into_iter()
            .enumerate()
            .map(|(number, baton)| {
                let process = &process;
                scope.spawn(move || {
                    let mut rig = Rig::new(EXACT, process.worker_in_turn(baton));
                    let mut run = Run { decisions: Vec::new(), conflicts: 0 };
                    for (key, pause) in requests.iter().skip(number).step_by(workers) {
                        process.advance(*pause);
                        let taken = rig.take(&[*key], limits);
                        run.decisions.push((rig.worker.order(), *key, taken.decision));
                        run.conflicts += taken.conflicts;
                    }
                    run
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let conflicts = runs.iter().map(|run| run.conflicts).sum();
    let mut decisions: Vec<_> = runs.into_iter().flat_map(|run| run.decisions).collect();
    decisions.sort_by_key(|(order, ..)| *order);
    Run { decisions, conflicts }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 120, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_the_order_of_calls_decisions_are_those_of_one_worker(
        algorithm in algorithm(), quotas in quotas(), requests in requests(), workers in 2..5usize, seed: u64,
    ) {
        let run = run(workers, seed, &requests, &limits(algorithm, &quotas));
        prop_assert_eq!(run.decisions.len(), requests.len());
        let mut model = Model::default();
        for (order, key, decision) in run.decisions {
            model.check(algorithm, &quotas, &[key], order.now, decision == Decision::Admitted);
        }
    }
}

#[test]
fn workers_do_meet() {
    let requests = vec![(1, 0); 200];
    let quotas = [super::support::quota(1000, 1000)];
    let run = run(4, 7, &requests, &limits(portcullis_rate_limit::limiter::Algorithm::FixedWindow, &quotas));
    assert!(run.conflicts > 50, "{} conflicts", run.conflicts);
    assert!(run.decisions.iter().all(|(.., decision)| *decision == Decision::Admitted));
}
