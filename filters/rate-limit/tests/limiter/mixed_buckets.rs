//! Token buckets of different rates and bursts that count together: those of several policies, or of one before and
//! after it was configured anew.

use std::time::Duration;

use proptest::prelude::*;

use portcullis_rate_limit::limiter::{Algorithm, Limits, Quota};

use super::agreement::requests;
use super::support::model::{self, Model};
use super::support::process::Process;
use super::support::{EXACT, Rig, SECOND, limits};

fn bucket(max: u64, burst: u64) -> Limits {
    limits(Algorithm::TokenBucket, &[Quota { max, period: Duration::from_secs(1), burst }])
}

#[test]
fn a_refusal_under_a_smaller_burst_gives_nothing_back_to_the_larger_one() {
    let [large, small] = [bucket(1, 1000), bucket(1, 10)];
    let process = Process::at(SECOND);
    let mut rig = Rig::new(EXACT, process.worker());
    assert_eq!(rig.passing(b"key", &large, 2000), 1000);
    let refused = rig.take(b"key", &small);
    assert_eq!(refused.standings.as_slice()[0].retry, Duration::from_secs(991), "until one of ten is left");
    assert_eq!(rig.passing(b"key", &large, 2000), 0);
    process.advance(991 * SECOND);
    assert_eq!((rig.passing(b"key", &small, 9), rig.passing(b"key", &large, 2000)), (1, 990));
}

#[test]
fn a_lower_rate_fills_an_empty_bucket_no_faster_than_it_says() {
    let [before, after] = [bucket(100, 100), bucket(10, 100)];
    let process = Process::at(SECOND);
    assert_eq!(Rig::new(EXACT, process.worker()).passing(b"key", &before, 999), 100);
    let mut rig = Rig::new(EXACT, process.worker());
    assert_eq!(rig.passing(b"key", &after, 999), 0);
    for _ in 0..20 {
        process.advance(SECOND / 10 - 1);
        assert_eq!(rig.passing(b"key", &after, 999), 0);
        process.advance(1);
        assert_eq!(rig.passing(b"key", &after, 999), 1);
    }
}

#[test]
fn a_higher_rate_fills_a_bucket_from_the_first_request_that_it_sees() {
    let [before, after] = [bucket(1, 100), bucket(50, 100)];
    let process = Process::at(SECOND);
    let mut rig = Rig::new(EXACT, process.worker());
    assert_eq!(rig.passing(b"key", &before, 999), 100);
    process.advance(SECOND / 2);
    let refused = rig.take(b"key", &after);
    let standing = refused.standings.as_slice()[0];
    assert_eq!((standing.remaining, standing.retry), (0, Duration::from_millis(10)), "half a token is there");
    process.advance(SECOND / 100 - 1);
    assert_eq!(rig.passing(b"key", &after, 999), 0);
    process.advance(1);
    assert_eq!(rig.passing(b"key", &after, 999), 1);
    process.advance(SECOND);
    assert_eq!(rig.passing(b"key", &after, 999), 50);
}

#[test]
fn what_is_used_stays_used_through_any_change_of_rate_and_back() {
    let process = Process::at(SECOND);
    let mut rig = Rig::new(EXACT, process.worker());
    assert_eq!(rig.passing(b"key", &bucket(7, 40), 25), 25);
    for (max, burst) in [(3, 40), (999_999_937, 41), (80_000, 26), (1, 25), (1, u64::MAX), (u64::MAX, 40)] {
        let scratch = Rig::new(EXACT, process.fork().worker()).passing(b"key", &bucket(max, burst), 50);
        assert_eq!(scratch, (burst - 25).min(50), "{max} {burst}");
        // Refuses, and leaves the bucket as it was but for its rate.
        assert_eq!(rig.passing(b"key", &bucket(max, 25), 9), 0, "{max} {burst}");
    }
    assert_eq!(rig.passing(b"key", &bucket(7, 40), 99), 15);
}

#[test]
fn a_smaller_burst_says_when_the_debt_will_fit_into_it() {
    let process = Process::at(SECOND);
    let mut rig = Rig::new(EXACT, process.worker());
    assert_eq!(rig.passing(b"key", &bucket(10, 50), 30), 30);
    let standing = rig.take(b"key", &bucket(10, 5)).standings.as_slice()[0];
    assert_eq!((standing.max, standing.remaining), (5, 0));
    assert_eq!(standing.retry, Duration::from_millis(2600), "26 of the 30 must come back");
    assert_eq!(standing.reset, Duration::from_secs(3));
    assert_eq!((standing.period, standing.window), (Duration::from_secs(1), Duration::from_millis(500)));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn buckets_of_one_rate_and_different_bursts_decide_on_one_debt(
        max in 1..6u64,
        tens in 1..9u64,
        bursts in prop::collection::vec(1..12u64, 2..4),
        requests in requests(),
        policies in prop::collection::vec(any::<prop::sample::Index>(), 150),
    ) {
        let quotas: Vec<_> = bursts
            .iter()
            .map(|burst| Quota { max, period: Duration::from_nanos(tens * 10), burst: *burst })
            .collect();
        let largest = quotas.iter().max_by_key(|quota| quota.burst).unwrap();
        let process = Process::at(1000);
        let mut rig = Rig::new(EXACT, process.worker());
        let mut model = Model::default();
        for ((key, pause), policy) in requests.into_iter().zip(policies) {
            let now = process.advance(pause);
            let quota = quotas[policy.index(quotas.len())];
            // A smaller bucket leaves in the largest what that one could hold more.
            let mut log = model.log(&[key]).to_vec();
            let admits = (0..=largest.burst - quota.burst).all(|_| {
                let admits = model::admits(Algorithm::TokenBucket, largest, &log, now);
                log.push(now);
                admits
            });
            let taken = rig.take(&[key], &limits(Algorithm::TokenBucket, &[quota]));
            prop_assert_eq!(taken.decision.passes(), admits);
            if admits {
                model.admitted(&[key], now);
            }
        }
    }

    #[test]
    fn buckets_of_different_rates_never_admit_more_than_the_fastest_and_largest(
        quotas in prop::collection::vec((1..6u64, 1..12u64), 2..4),
        tens in 1..9u64,
        requests in requests(),
        policies in prop::collection::vec(any::<prop::sample::Index>(), 150),
    ) {
        let quota = |(max, burst)| Quota { max, period: Duration::from_nanos(tens * 10), burst };
        let most = quota((
            quotas.iter().map(|(max, _)| *max).max().unwrap(),
            quotas.iter().map(|(_, burst)| *burst).max().unwrap(),
        ));
        let process = Process::at(1000);
        let mut rig = Rig::new(EXACT, process.worker());
        let mut model = Model::default();
        for ((key, pause), policy) in requests.into_iter().zip(policies) {
            let now = process.advance(pause);
            let quota = quota(quotas[policy.index(quotas.len())]);
            if rig.take(&[key], &limits(Algorithm::TokenBucket, &[quota])).decision.passes() {
                prop_assert!(model.admits(Algorithm::TokenBucket, &[most], &[key], now));
                model.admitted(&[key], now);
            }
        }
    }
}
