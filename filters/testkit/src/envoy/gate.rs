//! A gate that holds what waits at it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::watch;

use super::wait::wait_until;

/// A gate for replies of the [`Backend`](super::Backend): see [`Reply::behind`](super::Reply::behind). It starts closed;
/// a clone is the same gate.
#[derive(Clone, Debug)]
pub struct Gate {
    open: Arc<watch::Sender<bool>>,
    held: Arc<AtomicUsize>,
}

impl Gate {
    /// A closed gate.
    pub fn closed() -> Self {
        Self { open: Arc::new(watch::Sender::new(false)), held: Arc::default() }
    }

    /// Lets pass what waits, and whatever comes later.
    pub fn open(&self) {
        self.open.send_replace(true);
    }

    /// Holds what comes from now on.
    pub(super) fn close(&self) {
        self.open.send_replace(false);
    }

    /// How many replies wait.
    pub fn held(&self) -> usize {
        self.held.load(Ordering::SeqCst)
    }

    /// Waits until at least `n` replies wait.
    ///
    /// # Panics
    /// When they do not within `timeout`.
    #[track_caller]
    pub fn wait_for_held(&self, n: usize, timeout: std::time::Duration) {
        wait_until(&format!("{n} replies held at the gate"), timeout, || self.held() >= n);
    }

    /// Resolves when the gate is open.
    pub(super) async fn pass(&self) {
        let _held = Held::one(&self.held);
        // The sender lives as long as `self` does.
        let _ = self.open.subscribe().wait_for(|open| *open).await;
    }
}

/// Counts one while it lives: a request whose client leaves is dropped while it waits.
struct Held<'a>(&'a AtomicUsize);

impl<'a> Held<'a> {
    fn one(counter: &'a AtomicUsize) -> Self {
        counter.fetch_add(1, Ordering::SeqCst);
        Self(counter)
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}
