//! How often the service was asked, so that a test can tell a cache hit from a call.

use std::sync::atomic::{AtomicU64, Ordering};

use serde::Serialize;

/// Counters since the start. A request counts when it arrives, whatever a fault then does to it.
#[derive(Default, Serialize)]
pub(crate) struct Stats {
    verify: AtomicU64,
    clients: AtomicU64,
    /// Those of `clients` that were answered 304.
    not_modified: AtomicU64,
}

impl Stats {
    pub(crate) fn count_verify(&self) {
        self.verify.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn count_clients(&self) {
        self.clients.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn count_not_modified(&self) {
        self.not_modified.fetch_add(1, Ordering::Relaxed);
    }
}
