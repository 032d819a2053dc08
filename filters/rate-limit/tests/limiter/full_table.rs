//! More keys than there is room for.

use std::collections::{BTreeMap, HashSet};

use proptest::prelude::*;

use portcullis_rate_limit::limiter::{
    Algorithm, CountedIn, Decision, Limits, Precision, Settings, Taken, WhenFull,
};

use super::agreement::algorithm;
use super::support::model::Model;
use super::support::process::Process;
use super::support::random::Random;
use super::support::{Rig, SECOND, limits, quota};

const fn settings(slots: u32, when_full: WhenFull) -> Settings {
    Settings { slots, when_full, precision: Precision::Exact }
}

fn fixed(max: u64, seconds: u64) -> Limits {
    limits(Algorithm::FixedWindow, &[quota(max, seconds * SECOND)])
}

fn end_of_window(taken: &Taken, now: u64) -> u64 {
    now + u64::try_from(taken.standings.as_slice()[0].reset.as_nanos()).unwrap()
}

/// Keys of one bucket, as somebody finds them who knows the secret: by trying, here with a copy of the store.
fn keys_of_one_bucket(process: &Process, settings: Settings, limits: &Limits, wanted: usize) -> Vec<[u8; 4]> {
    let mut target = None;
    let mut keys = Vec::new();
    for number in 0u32.. {
        let scratch = process.fork();
        let key = number.to_le_bytes();
        Rig::new(settings, scratch.worker()).take(&key, limits);
        let bucket = scratch.buckets().pop().unwrap();
        if *target.get_or_insert_with(|| bucket.clone()) == bucket {
            keys.push(key);
            if keys.len() == wanted {
                break;
            }
        }
    }
    keys
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn memory_is_bounded_and_no_key_gets_more_than_its_quota(
        algorithm in algorithm(),
        slots in prop_oneof![Just(16u32), Just(64)],
        when_full in prop_oneof![Just(WhenFull::Share), Just(WhenFull::Refuse)],
        max in 1..5u64,
        seed: u64,
    ) {
        let quotas = [quota(max, SECOND)];
        let limits = limits(algorithm, &quotas);
        let process = Process::at(SECOND);
        let mut workers = [(); 3].map(|()| Rig::new(settings(slots, when_full), process.worker()));
        let mut random = Random(seed);
        let mut model = Model::default();
        let mut windows = BTreeMap::new();
        let mut places = HashSet::new();
        for _ in 0..4000 {
            let now = process.advance(random.below(SECOND / 400));
            // Some come often, some once.
            let key = if random.below(8) == 0 { random.below(20) } else { 1000 + random.below(3000) };
            let key = key.to_le_bytes();
            let taken = workers[random.below(3) as usize].take(&key, &limits);
            places.insert(format!("{:?}", taken.counted_in));
            prop_assert!(taken.decision != Decision::Uncounted);
            if taken.decision != Decision::Admitted {
                continue;
            }
            match algorithm {
                // The window that counts may have been opened by another key.
                Algorithm::FixedWindow => {
                    let admitted = windows.entry((key, end_of_window(&taken, now))).or_insert(0u64);
                    *admitted += 1;
                    prop_assert!(*admitted <= max);
                }
                Algorithm::SlidingWindow | Algorithm::TokenBucket => {
                    prop_assert!(model.admits(algorithm, &quotas, &key, now));
                }
            }
            model.admitted(&key, now);
        }
        let full = if when_full == WhenFull::Share { "Shared" } else { "Nowhere" };
        prop_assert!(places.contains("Own") && places.contains(full), "{places:?}");
        let (values, longest) = process.size();
        prop_assert!(values <= 1 + slots as usize / 16);
        prop_assert!(longest <= 17 * (18 + 96), "{longest} bytes");
    }
}

#[test]
fn keys_that_are_counted_are_counted_exactly_whatever_others_do() {
    for when_full in [WhenFull::Share, WhenFull::Refuse, WhenFull::Admit] {
        let process = Process::at(SECOND);
        let mut rig = Rig::new(settings(16, when_full), process.worker());
        let limits = fixed(3, 1);
        for key in 0..16u16 {
            assert_eq!(rig.passing(&key.to_le_bytes(), &limits, 1), 1);
        }
        let passed: u64 = (16..3000u16).map(|key| rig.passing(&key.to_le_bytes(), &limits, 2)).sum();
        match when_full {
            WhenFull::Share => assert_eq!(passed, 3, "one quota for all of them"),
            WhenFull::Refuse => assert_eq!(passed, 0),
            WhenFull::Admit => assert_eq!(passed, 2 * (3000 - 16)),
        }
        for key in 0..16u16 {
            assert_eq!(rig.passing(&key.to_le_bytes(), &limits, 9), 2, "{when_full:?}");
        }
        let (values, longest) = process.size();
        assert!(values == 2 && longest <= 17 * 34, "{values} values, {longest} bytes");
    }
}

#[test]
fn expired_entries_make_room() {
    for when_full in [WhenFull::Share, WhenFull::Refuse, WhenFull::Admit] {
        let process = Process::at(SECOND);
        let mut rig = Rig::new(settings(16, when_full), process.worker());
        for round in 0..100u16 {
            for key in 0..16u16 {
                let taken = rig.take(&(round * 16 + key).to_le_bytes(), &fixed(1, 1));
                assert_eq!(
                    (taken.decision, taken.counted_in),
                    (Decision::Admitted, CountedIn::Own),
                    "{round} {key}"
                );
            }
            let taken = rig.take(b"more", &fixed(1, 1));
            assert_ne!(taken.counted_in, CountedIn::Own);
            process.advance(SECOND);
        }
        assert_eq!(process.size().0, 2);
    }
}

#[test]
fn who_has_no_room_is_told_when_there_will_be_some() {
    let process = Process::at(SECOND);
    let mut rig = Rig::new(settings(16, WhenFull::Refuse), process.worker());
    for key in 0..16u8 {
        process.set(SECOND + u64::from(key));
        rig.take(&[key], &fixed(5, 10));
    }
    // That a shared entry expires, left by a configuration that shares, makes no room.
    let mut sharing = Rig::new(settings(16, WhenFull::Share), process.worker());
    assert_eq!(sharing.take(b"another", &fixed(5, 4)).counted_in, CountedIn::Shared);
    process.set(4 * SECOND);
    let refused = rig.take(b"more", &fixed(5, 10));
    assert_eq!((refused.decision, refused.counted_in), (Decision::NoRoom, CountedIn::Nowhere));
    let standing = refused.standings.as_slice()[0];
    assert_eq!((standing.remaining, standing.retry.as_secs()), (0, 7));
    process.set(11 * SECOND);
    assert_eq!(rig.take(b"more", &fixed(5, 10)).decision, Decision::Admitted);

    let mut rig = Rig::new(settings(16, WhenFull::Admit), process.fork().worker());
    for key in 0..16u8 {
        rig.take(&[key], &fixed(5, 10));
    }
    let admitted = rig.take(b"uncounted", &fixed(5, 10));
    assert_eq!((admitted.decision, admitted.counted_in), (Decision::Uncounted, CountedIn::Nowhere));
    assert_eq!(admitted.standings.as_slice()[0].remaining, 5);
}

#[test]
fn who_gets_room_of_its_own_keeps_what_it_had_used_of_the_shared_quota() {
    for algorithm in [Algorithm::FixedWindow, Algorithm::SlidingWindow, Algorithm::TokenBucket] {
        let process = Process::at(SECOND);
        let mut rig = Rig::new(settings(16, WhenFull::Share), process.worker());
        let long = limits(algorithm, &[quota(5, 100 * SECOND)]);
        for key in 0..16u8 {
            assert_eq!(rig.take(&[key], &fixed(1, 10)).counted_in, CountedIn::Own);
        }
        for _ in 0..4 {
            let taken = rig.take(b"late", &long);
            assert_eq!((taken.decision, taken.counted_in), (Decision::Admitted, CountedIn::Shared));
        }
        process.advance(10 * SECOND);
        let taken = rig.take(b"late", &long);
        assert_eq!((taken.decision, taken.counted_in), (Decision::Admitted, CountedIn::Own), "{algorithm:?}");
        assert_eq!(rig.take(b"late", &long).decision, Decision::Refused, "{algorithm:?}");
        // Nobody knows which of the keys had used the shared quota.
        assert_eq!(rig.passing(b"another", &long, 9), 1, "{algorithm:?}");
        process.advance(120 * SECOND);
        assert_eq!(rig.passing(b"late", &long, 9), 5, "{algorithm:?}");
    }
}

#[test]
fn each_layout_has_a_shared_quota_of_its_own() {
    let process = Process::at(SECOND);
    let mut rig = Rig::new(settings(16, WhenFull::Share), process.worker());
    for key in 0..16u8 {
        rig.take(&[key], &fixed(1, 10));
    }
    for seconds in [10, 20, 30] {
        for expected in [Decision::Admitted, Decision::Admitted, Decision::Refused] {
            let taken = rig.take(b"late", &fixed(2, seconds));
            assert_eq!((taken.decision, taken.counted_in), (expected, CountedIn::Shared));
        }
    }
    // Their number is bounded too.
    for seconds in 10..100 {
        rig.take(b"late", &fixed(2, seconds));
    }
    assert_eq!(rig.take(b"late", &fixed(2, 99)).decision, Decision::NoRoom);
    assert!(process.size().1 <= (16 + 8) * 34);
}

#[test]
fn keys_that_all_meet_in_one_bucket_harm_only_each_other() {
    let settings = settings(1024, WhenFull::Share);
    let process = Process::at(SECOND);
    let limits = fixed(3, 1);
    Rig::new(settings, process.worker());
    let keys = keys_of_one_bucket(&process, settings, &limits, 150);
    let mut rig = Rig::new(settings, process.worker());
    let passed: u64 = keys.iter().map(|key| rig.passing(key, &limits, 9)).sum();
    assert_eq!(passed, 16 * 3 + 3, "sixteen have entries, all others share one");
    assert_eq!((process.buckets().len(), process.size().1), (1, 17 * 34));
    let others = (0..40u64).map(|key| rig.take(&key.to_le_bytes(), &limits));
    let own = others.filter(|taken| taken.counted_in == CountedIn::Own).count();
    assert!(own > 30, "{own} of 40 others have an entry");
}

#[test]
fn a_flood_of_keys_takes_no_room_from_other_scopes() {
    for when_full in [WhenFull::Share, WhenFull::Refuse, WhenFull::Admit] {
        let process = Process::at(SECOND);
        let mut rig = Rig::new(settings(64, when_full), process.worker());
        for key in 0..2000u16 {
            rig.take_in("flooded", &key.to_le_bytes(), &fixed(3, 10));
        }
        let full = rig.take_in("flooded", b"late", &fixed(3, 10));
        assert_ne!(full.counted_in, CountedIn::Own, "{when_full:?}");
        for scope in ["flooded and", "another"] {
            let taken = rig.take_in(scope, b"late", &fixed(3, 10));
            assert_eq!(
                (taken.decision, taken.counted_in),
                (Decision::Admitted, CountedIn::Own),
                "{when_full:?}"
            );
        }
        assert!(process.buckets().len() <= 4 + 2, "{} buckets", process.buckets().len());
    }
}
