//! Many clients at the same moment.

use std::sync::Barrier;
use std::thread;

/// Runs `action` on `n` threads that all start together, and collects what they return in order of their
/// index. The action gets its index.
///
/// ```no_run
/// # use portcullis_testkit::envoy::{concurrently, h1};
/// # let addr = "127.0.0.1:80".parse().unwrap();
/// let statuses = concurrently(50, |_| h1::get(addr, "/").status);
/// ```
///
/// # Panics
/// When an action panics.
pub fn concurrently<T: Send>(n: usize, action: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let start = Barrier::new(n);
    let (start, action) = (&start, &action);
    thread::scope(|scope| {
        let threads: Vec<_> = (0..n)
            .map(|index| {
                scope.spawn(move || {
                    start.wait();
                    action(index)
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().expect("a concurrent action")).collect()
    })
}
