//! Waiting for a condition instead of for a time.

use std::thread;
use std::time::{Duration, Instant};

/// How long a test waits for what must happen: long enough for a machine under load, so that time never
/// decides a test that passes.
pub const PATIENCE: Duration = Duration::from_secs(120);

const POLL: Duration = Duration::from_millis(5);

/// Polls `condition` until it holds.
///
/// # Panics
/// When it does not hold within `timeout`; the message names `what` was awaited.
#[track_caller]
pub fn wait_until(what: &str, timeout: Duration, mut condition: impl FnMut() -> bool) {
    wait_for(what, timeout, || condition().then_some(()));
}

/// Polls `probe` until it yields a value.
///
/// # Panics
/// When it yields none within `timeout`; the message names `what` was awaited.
#[track_caller]
pub fn wait_for<T>(what: &str, timeout: Duration, probe: impl FnMut() -> Option<T>) -> T {
    match poll(timeout, probe) {
        Some(value) => value,
        None => panic!("waited {timeout:?} in vain: {what}"),
    }
}

/// Polls `probe` until it yields a value or `timeout` has passed.
pub(super) fn poll<T>(timeout: Duration, mut probe: impl FnMut() -> Option<T>) -> Option<T> {
    let deadline = Instant::now() + timeout;
    loop {
        if let Some(value) = probe() {
            return Some(value);
        }
        if Instant::now() >= deadline {
            return None;
        }
        thread::sleep(POLL);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn returns_as_soon_as_the_condition_holds() {
        let mut polls = 0;
        wait_until("the third poll", PATIENCE, || {
            polls += 1;
            polls == 3
        });
        assert_eq!(polls, 3);
    }

    #[test]
    #[should_panic(expected = "in vain: the impossible")]
    fn names_what_did_not_come() {
        wait_until("the impossible", Duration::ZERO, || false);
    }
}
