//! What the collector has got.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::Serialize;
use serde_json::value::RawValue;

/// How many records are kept to be looked at; the oldest go first.
const MAX_KEPT: usize = 10_000;

/// Counters since the start, and the latest records.
#[derive(Default)]
pub(crate) struct Received(Mutex<State>);

#[derive(Default)]
struct State {
    counts: Counts,
    records: VecDeque<Box<RawValue>>,
}

/// Requests count when they have been read, whatever a fault then does to them; records when they are taken.
#[derive(Default, Clone, Copy, Serialize)]
pub(crate) struct Counts {
    /// Requests with log records.
    requests: u64,
    /// Those of them that are not as the protocol has it.
    invalid: u64,
    /// Those of them that a fault befell.
    faulted: u64,
    /// Records that were taken.
    records: u64,
    /// Records that were rejected in a partial success.
    rejected: u64,
}

impl Received {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn count_request(&self) {
        self.state().counts.requests += 1;
    }

    pub(crate) fn count_invalid(&self) {
        self.state().counts.invalid += 1;
    }

    pub(crate) fn count_faulted(&self) {
        self.state().counts.faulted += 1;
    }

    /// Takes records, and counts those that were rejected.
    pub(crate) fn take(&self, records: Vec<Box<RawValue>>, rejected: usize) {
        let mut state = self.state();
        state.counts.records += records.len() as u64;
        state.counts.rejected += rejected as u64;
        state.records.extend(records);
        let surplus = state.records.len().saturating_sub(MAX_KEPT);
        state.records.drain(..surplus);
    }

    pub(crate) fn counts(&self) -> Counts {
        self.state().counts
    }

    /// The latest records, the oldest of them first.
    pub(crate) fn records(&self) -> Vec<Box<RawValue>> {
        self.state().records.iter().cloned().collect()
    }

    /// Forgets records and counts.
    pub(crate) fn clear(&self) {
        *self.state() = State::default();
    }
}
