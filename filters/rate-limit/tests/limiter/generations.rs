//! Limiters of several configurations, and of several generations of one, over the same store.

use proptest::prelude::*;

use portcullis_rate_limit::limiter::{Algorithm, Decision, Key, Limiter, Settings};

use super::agreement::{algorithm, quotas, requests};
use super::support::model::Model;
use super::support::process::Process;
use super::support::{EXACT, Rig, SECOND, limits, quota};

const ALGORITHMS: [Algorithm; 3] = [Algorithm::FixedWindow, Algorithm::SlidingWindow, Algorithm::TokenBucket];

#[test]
fn a_new_limiter_goes_on_with_the_counts_of_the_one_before() {
    for algorithm in ALGORITHMS {
        let process = Process::at(SECOND);
        let before = limits(algorithm, &[quota(5, SECOND)]);
        assert_eq!(Rig::new(EXACT, process.worker()).passing(b"key", &before, 3), 3);
        assert_eq!(Rig::new(EXACT, process.worker()).passing(b"key", &before, 9), 2, "{algorithm:?}");
    }
}

#[test]
fn a_max_that_changes_keeps_the_counts() {
    for algorithm in [Algorithm::FixedWindow, Algorithm::SlidingWindow] {
        let process = Process::at(SECOND);
        let [before, after] = [5, 7].map(|max| limits(algorithm, &[quota(max, SECOND)]));
        let mut rig = Rig::new(EXACT, process.worker());
        assert_eq!(rig.passing(b"key", &before, 9), 5);
        assert_eq!(rig.passing(b"key", &after, 9), 2, "{algorithm:?}");
        assert_eq!(rig.passing(b"key", &before, 9), 0, "{algorithm:?}");
    }
}

#[test]
fn another_period_algorithm_scope_or_table_counts_for_itself() {
    let process = Process::at(SECOND);
    let fixed = |seconds| limits(Algorithm::FixedWindow, &[quota(2, seconds * SECOND)]);
    let mut rig = Rig::new(EXACT, process.worker());
    assert_eq!(rig.passing(b"key", &fixed(1), 9), 2);
    assert_eq!(rig.passing(b"key", &fixed(2), 9), 2);
    assert_eq!(rig.passing(b"key", &limits(Algorithm::TokenBucket, &[quota(2, SECOND)]), 9), 2);
    assert_eq!(rig.take_in("scop", b"ekey", &fixed(1)).standings.as_slice()[0].remaining, 1);
    assert_eq!(rig.passing(b"key", &fixed(1), 9), 0);
}

#[test]
fn tables_of_different_sizes_count_for_themselves() {
    let process = Process::at(SECOND);
    let limits = limits(Algorithm::FixedWindow, &[quota(2, SECOND)]);
    // Half of the keys are in the first of two buckets.
    for slots in [16, 32] {
        let mut rig = Rig::new(Settings { slots, ..EXACT }, process.worker());
        for key in 0..12u8 {
            assert_eq!(rig.passing(&[key], &limits, 9), 2, "{slots}");
        }
    }
}

#[test]
fn a_limiter_that_was_not_started_starts_with_its_first_request() {
    let process = Process::at(SECOND);
    let worker = process.worker();
    let limits = limits(Algorithm::FixedWindow, &[quota(2, SECOND)]);
    let mut limiter = Limiter::new(EXACT);
    let taken = limiter.take(&Key { scope: "scope", bytes: b"key" }, &limits, &worker).unwrap();
    assert_eq!(taken.decision, Decision::Admitted);
    assert_eq!(Rig::new(EXACT, process.worker()).passing(b"key", &limits, 9), 1);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn limits_that_share_a_table_do_not_disturb_each_other(
        policies in prop::collection::vec((algorithm(), quotas()), 2..4),
        requests in requests(),
        restarts in prop::collection::vec(any::<prop::sample::Index>(), 0..3),
    ) {
        // Room for all keys, even if all are in one bucket.
        let settings = Settings { slots: 16, ..EXACT };
        let process = Process::at(1000);
        let restarts: Vec<_> = restarts.iter().map(|at| at.index(requests.len())).collect();
        let mut rig = Rig::new(settings, process.worker());
        let mut models: Vec<_> = policies.iter().map(|_| Model::default()).collect();
        for (number, (key, pause)) in requests.into_iter().enumerate() {
            if restarts.contains(&number) {
                rig = Rig::new(settings, process.worker());
            }
            let now = process.advance(pause);
            for (policy, ((algorithm, quotas), model)) in (0..).zip(policies.iter().zip(&mut models)) {
                let taken = rig.take(&[policy, key], &limits(*algorithm, quotas));
                model.check(*algorithm, quotas, &[key], now, taken.decision == Decision::Admitted);
            }
        }
    }
}
