//! Workers that take quota ahead.

use std::collections::BTreeMap;
use std::thread;

use proptest::prelude::*;

use portcullis_rate_limit::limiter::{
    Algorithm, CountedIn, Decision, Precision, Quota, Settings, Taken, WhenFull,
};

use super::agreement::{quotas, requests};
use super::support::baton::relay;
use super::support::process::Process;
use super::support::random::Random;
use super::support::{EXACT, Rig, SECOND, limits, quota, retry};

const fn leased(batch: u64) -> Settings {
    Settings { precision: Precision::Leased { batch }, ..EXACT }
}

/// The windows of the limits in which a request was decided, by their ends. All that an admitted one counts in are
/// open.
fn windows(taken: &Taken, now: u64) -> Vec<u64> {
    let standings = taken.standings.as_slice();
    if taken.decision == Decision::Admitted {
        assert!(standings.iter().all(|standing| !standing.reset.is_zero()), "after its window: {taken:?}");
    }
    let end = |reset: u128| now + u64::try_from(reset).unwrap();
    standings.iter().map(|standing| end(standing.reset.as_nanos())).collect()
}

fn larger(quotas: Vec<Quota>) -> Vec<Quota> {
    quotas
        .into_iter()
        .map(|quota| Quota { max: quota.max * 20, period: quota.period * 10, ..quota })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn never_more_than_the_quota_and_hardly_less(
        quotas in quotas().prop_map(larger), requests in requests(), workers in 1..5usize, batch in 1..30u64, seed: u64,
    ) {
        let limits = limits(Algorithm::FixedWindow, &quotas);
        let process = Process::at(1000);
        let mut rigs: Vec<_> = (0..workers).map(|_| Rig::new(leased(batch), process.worker())).collect();
        let mut random = Random(seed);
        let mut admitted = BTreeMap::new();
        for (key, pause) in requests {
            let now = process.advance(pause);
            for _ in 0..random.below(12) {
                let taken = rigs[random.below(workers as u64) as usize].take(&[key], &limits);
                let mut refusing = 0;
                for (limit, window) in windows(&taken, now).into_iter().enumerate() {
                    let admitted = admitted.entry((key, limit, window)).or_insert(0);
                    let max = quotas[limit].max;
                    if taken.decision == Decision::Admitted {
                        *admitted += 1;
                        prop_assert!(*admitted <= max, "{admitted} of {max}");
                    } else if !taken.standings.as_slice()[limit].retry.is_zero() {
                        refusing += 1;
                        let held = (workers as u64 - 1) * batch;
                        prop_assert!(*admitted + held >= max, "{admitted} of {max}, {held} with others");
                    }
                }
                prop_assert_eq!(taken.decision == Decision::Admitted, refusing == 0);
            }
        }
    }

    #[test]
    fn never_more_than_the_quota_whatever_the_order_of_calls(
        quotas in quotas().prop_map(larger), requests in requests(), workers in 2..4usize, batch in 1..30u64, seed: u64,
    ) {
        let limits = limits(Algorithm::FixedWindow, &quotas);
        let process = Process::at(1000);
        let decisions: Vec<_> = thread::scope(|scope| {
            let threads: Vec<_> = relay(workers, seed)
                .into_iter()
                .map(|baton| {
                    let (process, limits, requests) = (&process, &limits, &requests);
                    scope.spawn(move || {
                        let mut rig = Rig::new(leased(batch), process.worker_in_turn(baton));
                        let mut decisions = Vec::new();
                        for (key, pause) in requests {
                            process.advance(*pause);
                            let taken = rig.take(&[*key], limits);
                            decisions.push((*key, rig.worker.order().now, taken));
                        }
                        decisions
                    })
                })
                .collect();
            threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
        });
        let mut admitted = BTreeMap::new();
        for (key, now, taken) in decisions.iter().filter(|(.., taken)| taken.decision == Decision::Admitted) {
            for (limit, window) in windows(taken, *now).into_iter().enumerate() {
                let admitted = admitted.entry((key, limit, window)).or_insert(0);
                *admitted += 1;
                prop_assert!(*admitted <= quotas[limit].max);
            }
        }
    }
}

#[test]
fn a_lease_serves_without_the_store_until_it_is_used_up_or_its_window_ends() {
    let limits = limits(Algorithm::FixedWindow, &[quota(1000, SECOND)]);
    let process = Process::at(SECOND);
    let mut rig = Rig::new(leased(10), process.worker());
    for remaining in [999, 989, 979] {
        let taken = rig.take(b"key", &limits);
        assert_eq!((taken.counted_in, taken.standings.as_slice()[0].remaining), (CountedIn::Own, remaining));
        for used in 1..10 {
            let taken = rig.take(b"key", &limits);
            assert_eq!(taken.counted_in, CountedIn::Lease);
            assert_eq!(taken.standings.as_slice()[0].remaining, remaining - used);
        }
    }
    rig.take(b"key", &limits);
    process.advance(SECOND);
    let taken = rig.take(b"key", &limits);
    assert_eq!((taken.counted_in, taken.standings.as_slice()[0].remaining), (CountedIn::Own, 999));
}

#[test]
fn one_worker_alone_gets_the_whole_quota() {
    for batch in [1, 7, 1000] {
        let limits = limits(Algorithm::FixedWindow, &[quota(500, SECOND)]);
        let mut rig = Rig::new(leased(batch), Process::at(SECOND).worker());
        assert_eq!(rig.passing(b"key", &limits, 2000), 500);
    }
}

#[test]
fn what_is_left_of_a_lease_goes_back_to_the_windows_that_are_still_open() {
    let limits = limits(Algorithm::FixedWindow, &[quota(100, SECOND), quota(200, 100 * SECOND)]);
    let process = Process::at(SECOND);
    let mut rig = Rig::new(leased(10), process.worker());
    let mut passed = 0;
    for _ in 0..99 {
        passed += rig.passing(b"key", &limits, 3);
        process.advance(SECOND);
    }
    assert_eq!(passed, 200, "and not a lease of ten in each second");
}

#[test]
fn who_is_refused_is_not_told_that_what_its_worker_holds_is_gone() {
    let limits = limits(Algorithm::FixedWindow, &[quota(16, SECOND), quota(34, 100 * SECOND)]);
    let process = Process::at(SECOND);
    let [mut holder, mut other] = [leased(8), EXACT].map(|settings| Rig::new(settings, process.worker()));
    assert_eq!(holder.passing(b"key", &limits, 1), 1, "and one more is leased");
    for _ in 0..2 {
        process.advance(SECOND);
        assert_eq!(other.passing(b"key", &limits, 16), 16);
    }
    assert_eq!(retry(&other.take(b"key", &limits)).as_secs(), 98);
    assert_eq!(retry(&holder.take(b"key", &limits)).as_secs(), 1);
    process.advance(SECOND);
    assert_eq!(holder.passing(b"key", &limits, 9), 1);
}

#[test]
fn a_smaller_max_holds_for_what_was_leased_under_a_larger_one() {
    let [before, after] = [100, 3].map(|max| limits(Algorithm::FixedWindow, &[quota(max, SECOND)]));
    let mut rig = Rig::new(leased(10), Process::at(SECOND).worker());
    assert_eq!(rig.passing(b"key", &before, 2), 2);
    assert_eq!(rig.passing(b"key", &after, 9), 1);
    assert_eq!(rig.passing(b"key", &before, 200), 97);
}

#[test]
fn keys_that_share_an_entry_are_counted_exactly() {
    let limits = limits(Algorithm::FixedWindow, &[quota(100, SECOND)]);
    let settings = Settings { slots: 16, when_full: WhenFull::Share, ..leased(10) };
    let process = Process::at(SECOND);
    let mut rigs = [(); 2].map(|()| Rig::new(settings, process.worker()));
    for key in 0..16u8 {
        rigs[0].take(&[key], &limits);
    }
    for request in 0..100u8 {
        // Leases would be held for each of many keys by each of the workers, and refuse all others early.
        let taken = rigs[usize::from(request % 2)].take(&[100 + request], &limits);
        assert_eq!((taken.decision, taken.counted_in), (Decision::Admitted, CountedIn::Shared), "{request}");
    }
    assert_eq!(rigs[0].take(b"late", &limits).decision, Decision::Refused);
}

#[test]
fn a_lease_whose_write_lost_its_race_is_not_held() {
    let limits = limits(Algorithm::FixedWindow, &[quota(100, SECOND)]);
    let settings = Settings { slots: 16, when_full: WhenFull::Share, ..leased(10) };
    let mut lost = 0;
    for seed in 0..40 {
        // Two keys race for the last place.
        let process = Process::at(SECOND);
        let mut filler = Rig::new(settings, process.worker());
        for key in 0..15u8 {
            filler.take(&[key], &limits);
        }
        thread::scope(|scope| {
            let threads: Vec<_> = (100u8..)
                .zip(relay(2, seed))
                .map(|(key, baton)| {
                    let (process, limits) = (&process, &limits);
                    scope.spawn(move || {
                        let mut rig = Rig::new(settings, process.worker_in_turn(baton));
                        [(); 2].map(|()| rig.take(&[key], limits))
                    })
                })
                .collect();
            for thread in threads {
                let [first, second] = thread.join().unwrap();
                match first.counted_in {
                    CountedIn::Own => assert_eq!(second.counted_in, CountedIn::Lease),
                    _ => assert_eq!(second.counted_in, CountedIn::Shared),
                }
                lost += u32::from(first.counted_in == CountedIn::Shared && first.conflicts > 0);
            }
        });
    }
    assert!(lost > 5, "{lost} of 40 races");
}

#[test]
fn other_algorithms_are_counted_exactly() {
    for algorithm in [Algorithm::SlidingWindow, Algorithm::TokenBucket] {
        let limits = limits(algorithm, &[quota(100, SECOND)]);
        let mut rig = Rig::new(leased(10), Process::at(SECOND).worker());
        assert!((0..100).all(|_| rig.take(b"key", &limits).counted_in == CountedIn::Own));
        assert_eq!(rig.take(b"key", &limits).decision, Decision::Refused);
    }
}
