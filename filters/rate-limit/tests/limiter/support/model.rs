//! What the limiter should decide, said as simply as can be: from the times of all requests that were admitted.

use std::collections::HashMap;

use portcullis_rate_limit::limiter::{Algorithm, Quota};

/// Whether a request that comes at `now` is to be admitted, after those of the log.
pub(crate) fn admits(algorithm: Algorithm, quota: &Quota, log: &[u64], now: u64) -> bool {
    match algorithm {
        Algorithm::FixedWindow => fixed_window_admits(quota, log, now),
        Algorithm::SlidingWindow => within(log, now, period(quota)) < quota.max,
        Algorithm::TokenBucket => token_bucket_admits(quota, log, now),
    }
}

/// In nanoseconds; there are not more of them than 64 bits hold.
fn period(quota: &Quota) -> u128 {
    quota.period.as_nanos().min(u64::MAX.into())
}

fn fixed_window_admits(quota: &Quota, log: &[u64], now: u64) -> bool {
    let is_in = |time: u64, start: u64| u128::from(time) < u128::from(start) + period(quota);
    let mut window: Option<(u64, u64)> = None;
    for &time in log {
        window = match window {
            Some((start, count)) if is_in(time, start) => Some((start, count + 1)),
            _ => Some((time, 1)),
        };
    }
    match window {
        Some((start, count)) if is_in(now, start) => count < quota.max,
        _ => quota.max > 0,
    }
}

/// Tokens in rational numbers: the level and all times are multiplied by `max`, so that one token comes in each period.
fn token_bucket_admits(quota: &Quota, log: &[u64], now: u64) -> bool {
    let full = u128::from(quota.burst) * period(quota);
    let filled =
        |level: u128, time: u64| level.saturating_add(u128::from(time) * u128::from(quota.max)).min(full);
    let (mut level, mut last) = (full, 0);
    for &time in log {
        level = filled(level, time - last) - period(quota);
        last = time;
    }
    filled(level, now - last) >= period(quota)
}

/// How many requests of the log are less than `length` old.
fn within(log: &[u64], now: u64, length: u128) -> u64 {
    log.iter().filter(|time| u128::from(**time) + length > u128::from(now)).count() as u64
}

/// The logs of all keys.
#[derive(Default)]
pub(crate) struct Model {
    logs: HashMap<Vec<u8>, Vec<u64>>,
}

impl Model {
    pub(crate) fn log(&self, key: &[u8]) -> &[u64] {
        self.logs.get(key).map_or(&[], Vec::as_slice)
    }

    /// Whether all quotas admit a request.
    pub(crate) fn admits(&self, algorithm: Algorithm, quotas: &[Quota], key: &[u8], now: u64) -> bool {
        quotas.iter().all(|quota| admits(algorithm, quota, self.log(key), now))
    }

    pub(crate) fn admitted(&mut self, key: &[u8], now: u64) {
        self.logs.entry(key.to_vec()).or_default().push(now);
    }

    /// Checks a decision about a request, and notes it.
    pub(crate) fn check(
        &mut self,
        algorithm: Algorithm,
        quotas: &[Quota],
        key: &[u8],
        now: u64,
        passes: bool,
    ) {
        let log = self.log(key);
        if algorithm == Algorithm::SlidingWindow {
            // It knows tenths of the period, and quota may come back as late as that.
            let whole = |quota: &Quota| within(log, now, period(quota)) < quota.max;
            let late = |quota: &Quota| within(log, now, period(quota).div_ceil(10) * 11) < quota.max;
            assert!(!passes || quotas.iter().all(whole), "more than max in a period: {log:?} {now}");
            assert!(passes || !quotas.iter().all(late), "refused with room: {log:?} {now}");
        } else {
            assert_eq!(
                passes,
                self.admits(algorithm, quotas, key, now),
                "{algorithm:?} {quotas:?} {log:?} {now}"
            );
        }
        if passes {
            self.admitted(key, now);
        }
    }
}
