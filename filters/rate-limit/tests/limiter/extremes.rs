//! Counts, periods and times near the ends of their scales, and clocks that go back.

use std::time::Duration;

use proptest::prelude::*;

use portcullis_rate_limit::limiter::{Decision, Quota};

use super::agreement::{algorithm, quotas};
use super::support::model::Model;
use super::support::process::Process;
use super::support::{EXACT, Rig, limits};

/// Numbers of all sizes, mostly near the corners.
fn number() -> impl Strategy<Value = u64> {
    prop_oneof![
        4 => 1..5u64,
        1 => (0..64u32).prop_map(|bits| u64::MAX >> bits),
        1 => u64::MAX - 5..=u64::MAX,
        1 => any::<u64>(),
    ]
}

fn extreme_quotas() -> impl Strategy<Value = Vec<Quota>> {
    let period = prop_oneof![
        number().prop_map(|nanos| Duration::from_nanos(nanos.max(1))),
        number().prop_map(|millis| Duration::from_millis(millis.max(1))),
        Just(Duration::MAX),
    ];
    let quota = (number(), period, number()).prop_map(|(max, period, burst)| Quota { max, period, burst });
    prop::collection::vec(quota, 1..4)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn decides_as_the_model_does_at_the_ends_of_the_scales(
        algorithm in algorithm(),
        quotas in extreme_quotas(),
        mut times in prop::collection::vec((number(), 1..6usize), 1..12),
    ) {
        let limits = limits(algorithm, &quotas);
        times.sort_unstable();
        let process = Process::at(0);
        let mut rig = Rig::new(EXACT, process.worker());
        let mut model = Model::default();
        for (now, requests) in times {
            process.set(now);
            for _ in 0..requests {
                let taken = rig.take(b"key", &limits);
                model.check(algorithm, &quotas, b"key", now, taken.decision == Decision::Admitted);
            }
        }
    }

    #[test]
    fn a_clock_that_jumps_locks_nobody_out_for_longer_than_two_periods(
        algorithm in algorithm(), quotas in quotas(), times in prop::collection::vec((0..100_000u64, 1..9u64), 1..30),
    ) {
        let limits = limits(algorithm, &quotas);
        let process = Process::at(0);
        let mut rig = Rig::new(EXACT, process.worker());
        let most = quotas.iter().map(|quota| quota.max.max(quota.burst)).max().unwrap();
        for (now, offered) in times {
            process.set(now);
            prop_assert!(rig.passing(b"key", &limits, offered) <= most);
            let longest = quotas.iter().map(|quota| quota.period.as_nanos() * u128::from(quota.burst.max(1))).max();
            let later = process.fork();
            later.advance(2 * u64::try_from(longest.unwrap()).unwrap() + 10);
            prop_assert!(Rig::new(EXACT, later.worker()).take(b"key", &limits).decision == Decision::Admitted);
        }
    }
}
