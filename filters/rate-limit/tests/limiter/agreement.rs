//! One worker decides as the model does, and what it tells the client is true.

use proptest::prelude::*;

use portcullis_rate_limit::limiter::{Algorithm, CountedIn, Decision, Limits, Quota, Stored};

use super::support::model::Model;
use super::support::process::Process;
use super::support::{EXACT, Rig, limits, retry};

pub(crate) fn algorithm() -> impl Strategy<Value = Algorithm> {
    prop_oneof![Just(Algorithm::FixedWindow), Just(Algorithm::SlidingWindow), Just(Algorithm::TokenBucket)]
}

/// Quotas with periods of 10, 20, ... nanoseconds, so that steps in time often meet their ends.
pub(crate) fn quotas() -> impl Strategy<Value = Vec<Quota>> {
    let quota = (1..6u64, 1..9u64, 1..8u64).prop_map(|(max, tens, burst)| Quota {
        max,
        period: std::time::Duration::from_nanos(tens * 10),
        burst,
    });
    prop::collection::vec(quota, 1..4)
}

/// Keys, and the time that passes before each.
pub(crate) fn requests() -> impl Strategy<Value = Vec<(u8, u64)>> {
    let pause = prop_oneof![5 => Just(0u64), 5 => 1..4u64, 2 => 4..40u64, 1 => 40..200u64];
    prop::collection::vec((0..4u8, pause), 1..150)
}

/// What the limiter says to a request of the key at another time, without consequences.
fn foresee(rig: &Rig, key: &[u8], limits: &Limits, now: u64, count: u64) -> u64 {
    let process = rig.worker.process.fork();
    process.set(now);
    Rig::new(EXACT, process.worker()).passing(key, limits, count)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn decides_as_the_model_does(
        algorithm in algorithm(), quotas in quotas(), requests in requests(), start in 0..1000u64,
    ) {
        let limits = limits(algorithm, &quotas);
        let process = Process::at(start);
        let mut rig = Rig::new(EXACT, process.worker());
        let mut model = Model::default();
        for (key, pause) in requests {
            let now = process.advance(pause);
            let taken = rig.take(&[key], &limits);
            prop_assert_eq!((taken.counted_in, taken.stored, taken.conflicts), (CountedIn::Own, Stored::Sound, 0));
            model.check(algorithm, &quotas, &[key], now, taken.decision == Decision::Admitted);
        }
    }

}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_it_tells_the_client_comes_true(
        algorithm in algorithm(), quotas in quotas(), requests in requests(), start in 0..1000u64,
    ) {
        let limits = limits(algorithm, &quotas);
        let process = Process::at(start);
        let mut rig = Rig::new(EXACT, process.worker());
        for (key, pause) in requests {
            let now = process.advance(pause);
            let taken = rig.take(&[key], &limits);
            let standings = taken.standings.as_slice();
            prop_assert_eq!(standings.len(), quotas.len());
            let remaining = standings.iter().map(|standing| standing.remaining).min().unwrap();
            prop_assert_eq!(foresee(&rig, &[key], &limits, now, 20), remaining);
            let retry = now + u64::try_from(retry(&taken).as_nanos()).unwrap();
            prop_assert_eq!(retry > now, remaining == 0);
            if retry > now {
                prop_assert_eq!(foresee(&rig, &[key], &limits, retry - 1, 1), 0);
                prop_assert_eq!(foresee(&rig, &[key], &limits, retry, 1), 1);
            }
            let whole = standings.iter().map(|standing| standing.max).min().unwrap();
            let reset = standings.iter().map(|standing| standing.reset.as_nanos()).max().unwrap();
            let reset = now + u64::try_from(reset).unwrap();
            prop_assert_eq!(foresee(&rig, &[key], &limits, reset, 20), whole);
        }
    }
}
