//! What the properties are checked with.

pub(crate) mod baton;
pub(crate) mod model;
pub(crate) mod process;
pub(crate) mod random;

use std::time::Duration;

use portcullis_rate_limit::limiter::{
    Algorithm, Key, Limiter, Limits, Precision, Quota, Settings, Taken, WhenFull,
};

use process::Worker;

pub(crate) const SECOND: u64 = 1_000_000_000;

pub(crate) const EXACT: Settings =
    Settings { slots: 4096, when_full: WhenFull::Refuse, precision: Precision::Exact };

pub(crate) fn quota(max: u64, period: u64) -> Quota {
    Quota { max, period: Duration::from_nanos(period), burst: max }
}

pub(crate) fn limits(algorithm: Algorithm, quotas: &[Quota]) -> Limits {
    Limits::new(algorithm, quotas).unwrap()
}

/// The time until all limits would admit a request.
pub(crate) fn retry(taken: &Taken) -> Duration {
    taken.standings.as_slice().iter().map(|standing| standing.retry).max().unwrap()
}

/// A limiter, and the worker it runs in.
pub(crate) struct Rig {
    pub(crate) limiter: Limiter,
    pub(crate) worker: Worker,
}

impl Rig {
    pub(crate) fn new(settings: Settings, worker: Worker) -> Self {
        let mut limiter = Limiter::new(settings);
        limiter.start(&worker).unwrap();
        Self { limiter, worker }
    }

    pub(crate) fn take(&mut self, key: &[u8], limits: &Limits) -> Taken {
        self.take_in("scope", key, limits)
    }

    pub(crate) fn take_in(&mut self, scope: &str, key: &[u8], limits: &Limits) -> Taken {
        self.limiter.take(&Key { scope, bytes: key }, limits, &self.worker).unwrap()
    }

    /// How many of `offered` requests at one time pass.
    pub(crate) fn passing(&mut self, key: &[u8], limits: &Limits, offered: u64) -> u64 {
        (0..offered).map(|_| u64::from(self.take(key, limits).decision.passes())).sum()
    }
}
