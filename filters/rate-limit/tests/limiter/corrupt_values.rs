//! Values that no limiter wrote, in the place of those it did.

use proptest::prelude::*;

use portcullis_policy::host::SharedStore;
use portcullis_rate_limit::limiter::{Algorithm, Settings, Stored};

use super::agreement::algorithm;
use super::support::process::Process;
use super::support::{EXACT, Rig, SECOND, limits, quota};

const SECRET: &str = "portcullis.rate-limit.v1.secret";
const ONE_BUCKET: Settings = Settings { slots: 16, ..EXACT };

#[derive(Debug, Clone)]
enum Damage {
    Replaced(Vec<u8>),
    Cut(prop::sample::Index),
    Extended(Vec<u8>),
    Changed(prop::sample::Index, u8),
}

fn damage() -> impl Strategy<Value = Damage> {
    prop_oneof![
        prop::collection::vec(any::<u8>(), 0..700).prop_map(Damage::Replaced),
        any::<prop::sample::Index>().prop_map(Damage::Cut),
        prop::collection::vec(any::<u8>(), 1..60).prop_map(Damage::Extended),
        (any::<prop::sample::Index>(), any::<u8>()).prop_map(|(at, byte)| Damage::Changed(at, byte)),
    ]
}

impl Damage {
    fn apply(&self, value: &mut Vec<u8>) {
        match self {
            Self::Replaced(other) => value.clone_from(other),
            Self::Cut(at) => value.truncate(at.index(value.len())),
            Self::Extended(by) => value.extend(by),
            Self::Changed(at, byte) => {
                let at = at.index(value.len());
                value[at] = *byte;
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_are_survived_and_open_no_gate(
        algorithm in algorithm(), damages in prop::collection::vec(damage(), 1..4), keys in 1..9u8, now: u64,
    ) {
        let limits = limits(algorithm, &[quota(3, SECOND), quota(5, 60 * SECOND)]);
        let process = Process::at(now);
        let mut rig = Rig::new(ONE_BUCKET, process.worker());
        for key in 0..keys {
            rig.take(&[key], &limits);
        }
        let name = process.buckets().pop().unwrap();
        let mut value = process.value(&name).unwrap();
        for damage in damages {
            damage.apply(&mut value);
            if value.is_empty() {
                break;
            }
        }
        process.overwrite(&name, &value);
        let stored = rig.take(b"new", &limits).stored;
        let passed = rig.passing(b"new", &limits, 9);
        prop_assert!(passed <= 3);
        if stored == Stored::Corrupt {
            prop_assert_eq!(passed, 2, "an empty bucket, and one request before");
        }
        prop_assert_eq!(rig.take(b"new", &limits).stored, Stored::Sound);
    }
}

#[test]
fn a_torn_value_is_an_empty_bucket_and_is_told() {
    let limits = limits(Algorithm::FixedWindow, &[quota(3, SECOND)]);
    let process = Process::at(SECOND);
    let mut rig = Rig::new(ONE_BUCKET, process.worker());
    assert_eq!(rig.passing(b"key", &limits, 9), 3);
    let name = process.buckets().pop().unwrap();
    let value = process.value(&name).unwrap();
    let seventeen: Vec<u8> = (0..17).flat_map(|_| value.clone()).collect();
    for (case, torn) in [
        ("cut in its state", &value[..value.len() - 1]),
        ("cut in its header", &value[..17]),
        ("too many entries", &seventeen),
        ("a byte too many", &[value.as_slice(), &[0]].concat()),
        ("a state too short", &[&value[..16], &[15, 0], &value[18..value.len() - 1]].concat()),
    ] {
        process.overwrite(&name, torn);
        assert_eq!(rig.take(b"key", &limits).stored, Stored::Corrupt, "{case}");
        let next = rig.take(b"key", &limits);
        assert_eq!((next.stored, next.standings.as_slice()[0].remaining), (Stored::Sound, 1), "{case}");
    }
    process.overwrite(&name, &[]);
    assert_eq!(rig.take(b"key", &limits).stored, Stored::Sound, "nothing is what an empty bucket is");
}

#[test]
fn a_secret_that_cannot_be_one_is_replaced_once_for_all_workers() {
    let limits = limits(Algorithm::FixedWindow, &[quota(3, SECOND)]);
    for foreign in [&b""[..], b"too short", b"longer than sixteen bytes"] {
        let process = Process::at(SECOND);
        process.overwrite(SECRET, foreign);
        let mut one = Rig::new(EXACT, process.worker());
        let mut other = Rig::new(EXACT, process.worker());
        assert_eq!(process.worker().shared(SECRET).unwrap().0.len(), 16);
        assert_eq!((one.passing(b"key", &limits, 2), other.passing(b"key", &limits, 9)), (2, 1));
    }
}

#[test]
fn every_process_has_a_secret_of_its_own() {
    let secret = || {
        let process = Process::at(0);
        Rig::new(EXACT, process.worker());
        process.value(SECRET).unwrap()
    };
    assert_ne!(secret(), secret());
}
