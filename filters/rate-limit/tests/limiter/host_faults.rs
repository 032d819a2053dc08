//! A host that does not do what is asked of it.

use portcullis_policy::HostError;
use portcullis_rate_limit::limiter::{Algorithm, Decision, Key, Limiter, Precision, Settings};

use super::support::process::{Fault, Process};
use super::support::{EXACT, Rig, SECOND, limits, quota};

const KEY: Key<'_> = Key { scope: "scope", bytes: b"key" };

#[test]
fn a_call_that_fails_decides_nothing_and_counts_nothing() {
    let limits = limits(Algorithm::FixedWindow, &[quota(3, SECOND)]);
    for precision in [Precision::Exact, Precision::Leased { batch: 1 }] {
        for error in [HostError::InternalFailure, HostError::BadArgument, HostError::Other(77)] {
            for fault in [Fault::Read(error), Fault::Write(error), Fault::Clock(error)] {
                let mut rig = Rig::new(Settings { precision, ..EXACT }, Process::at(SECOND).worker());
                assert_eq!(rig.take(b"key", &limits).decision, Decision::Admitted);
                rig.worker.break_down(Some(fault));
                for _ in 0..9 {
                    assert_eq!(rig.limiter.take(&KEY, &limits, &rig.worker).unwrap_err(), error, "{fault:?}");
                }
                rig.worker.break_down(None);
                assert_eq!(rig.passing(b"key", &limits, 9), 2, "{fault:?}");
            }
        }
    }
}

#[test]
fn a_store_that_never_takes_a_value_is_given_up() {
    let limits = limits(Algorithm::FixedWindow, &[quota(3, SECOND)]);
    let mut rig = Rig::new(EXACT, Process::at(SECOND).worker());
    rig.worker.break_down(Some(Fault::Write(HostError::CasMismatch)));
    assert_eq!(rig.limiter.take(&KEY, &limits, &rig.worker).unwrap_err(), HostError::CasMismatch);
    assert!(rig.worker.calls() > 1000, "but not at once: {} calls", rig.worker.calls());
}

#[test]
fn a_limiter_that_cannot_start_tries_again_with_each_request() {
    let limits = limits(Algorithm::FixedWindow, &[quota(3, SECOND)]);
    let worker = Process::at(SECOND).worker();
    let mut limiter = Limiter::new(EXACT);
    for fault in [Fault::Read(HostError::InternalFailure), Fault::Write(HostError::InternalFailure)] {
        worker.break_down(Some(fault));
        assert_eq!(limiter.start(&worker), Err(HostError::InternalFailure));
        assert!(limiter.take(&KEY, &limits, &worker).is_err());
    }
    worker.break_down(None);
    assert_eq!(limiter.take(&KEY, &limits, &worker).unwrap().decision, Decision::Admitted);
}

#[test]
fn a_request_costs_a_read_a_look_at_the_clock_and_a_write() {
    let limits = limits(Algorithm::FixedWindow, &[quota(3, SECOND), quota(9, 60 * SECOND)]);
    let mut rig = Rig::new(EXACT, Process::at(SECOND).worker());
    for (decision, cost) in
        [(Decision::Admitted, 3), (Decision::Admitted, 3), (Decision::Admitted, 3), (Decision::Refused, 2)]
    {
        let before = rig.worker.calls();
        assert_eq!(rig.take(b"key", &limits).decision, decision);
        assert_eq!(rig.worker.calls() - before, cost, "{decision:?}");
    }
}
