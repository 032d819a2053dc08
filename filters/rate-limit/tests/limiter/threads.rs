//! Workers in threads of their own, as the system runs them.

use std::sync::Barrier;
use std::thread;

use portcullis_rate_limit::limiter::{Algorithm, Decision, Key};

use super::support::model::Model;
use super::support::process::{Order, Process};
use super::support::random::Random;
use super::support::{EXACT, Rig, SECOND, limits, quota};

const KEY: Key<'_> = Key { scope: "scope", bytes: b"key" };

/// Runs `workers` threads through `windows` windows; all meet between two windows, where one moves the clock on.
/// Returns all decisions.
fn run(
    workers: usize,
    algorithm: Algorithm,
    max: u64,
    offered: u64,
    windows: usize,
) -> Vec<(Order, usize, Decision)> {
    let process = Process::at(SECOND);
    let limits = limits(algorithm, &[quota(max, SECOND), quota(max * 10, 100 * SECOND)]);
    let barrier = Barrier::new(workers);
    let mut decisions: Vec<_> = thread::scope(|scope| {
        let threads: Vec<_> = (0..workers)
            .map(|number| {
                let (process, limits, barrier) = (&process, &limits, &barrier);
                scope.spawn(move || {
                    let mut rig = Rig::new(EXACT, process.worker());
                    let mut random = Random(number as u64);
                    let mut decisions = Vec::new();
                    for window in 0..windows {
                        barrier.wait();
                        if barrier.wait().is_leader() && window > 0 {
                            // Past the end of the second that the first request of the last window opened.
                            process.advance(2 * SECOND);
                        }
                        barrier.wait();
                        for _ in 0..offered {
                            process.advance(random.below(3));
                            let taken = rig.limiter.take(&KEY, limits, &rig.worker);
                            decisions.push((rig.worker.order(), window, taken));
                        }
                    }
                    decisions
                })
            })
            .collect();
        // A thread that panicked would leave the others at the barrier: they only report.
        let decisions = threads.into_iter().flat_map(|thread| thread.join().unwrap());
        decisions.map(|(order, window, taken)| (order, window, taken.unwrap().decision)).collect()
    });
    decisions.sort_by_key(|(order, ..)| *order);
    decisions
}

#[test]
fn together_they_admit_exactly_the_quota_of_each_window() {
    for workers in [2, 4, 8] {
        let (max, windows) = (500, 8);
        let offered = 2 * max / workers as u64;
        let decisions = run(workers, Algorithm::FixedWindow, max, offered, windows);
        for window in 0..windows {
            let of_window = decisions.iter().filter(|(_, of, _)| *of == window);
            let admitted = of_window.filter(|(.., decision)| *decision == Decision::Admitted).count();
            assert_eq!(admitted as u64, max, "window {window} of {workers} workers");
        }
    }
}

#[test]
fn their_decisions_are_those_of_one_worker_in_the_order_of_versions() {
    for algorithm in [Algorithm::FixedWindow, Algorithm::SlidingWindow, Algorithm::TokenBucket] {
        for workers in [2, 4, 8] {
            let max = 40;
            let quotas = [quota(max, SECOND), quota(max * 10, 100 * SECOND)];
            let mut model = Model::default();
            for (order, _, decision) in run(workers, algorithm, max, 30, 6) {
                model.check(algorithm, &quotas, b"key", order.now, decision == Decision::Admitted);
            }
        }
    }
}
