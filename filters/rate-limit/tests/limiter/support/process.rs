//! A process: shared data and a clock, and the workers that use them from threads of their own.

use std::cell::Cell;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use portcullis_policy::HostError;
use portcullis_policy::host::{Clock, SharedStore, Write};
use portcullis_policy::time::{MonotonicTime, Timestamp};

use super::baton::Baton;

#[derive(Debug, Default)]
pub(crate) struct Process {
    values: Mutex<Values>,
    nanos: AtomicU64,
}

/// As in proxy-wasm's C++ host: versions count up over all keys, and an absent key takes any condition.
#[derive(Debug, Default, Clone)]
struct Values {
    by_key: HashMap<String, (Vec<u8>, u32)>,
    last_version: u32,
}

impl Process {
    pub(crate) fn at(nanos: u64) -> Arc<Self> {
        Arc::new(Self { nanos: AtomicU64::new(nanos), ..Self::default() })
    }

    /// Another process with the same values and time.
    pub(crate) fn fork(&self) -> Arc<Self> {
        Arc::new(Self { values: Mutex::new(self.values().clone()), nanos: AtomicU64::new(self.now()) })
    }

    pub(crate) fn worker(self: &Arc<Self>) -> Worker {
        Worker {
            process: Arc::clone(self),
            baton: None,
            read: Cell::new(0),
            written: Cell::new(None),
            now: Cell::new(0),
            fault: Cell::new(None),
            calls: Cell::new(0),
        }
    }

    /// A worker that hands the baton on at each call.
    pub(crate) fn worker_in_turn(self: &Arc<Self>, baton: Baton) -> Worker {
        Worker { baton: Some(baton), ..self.worker() }
    }

    pub(crate) fn now(&self) -> u64 {
        self.nanos.load(Ordering::SeqCst)
    }

    pub(crate) fn set(&self, nanos: u64) {
        self.nanos.store(nanos, Ordering::SeqCst);
    }

    pub(crate) fn advance(&self, nanos: u64) -> u64 {
        self.nanos.fetch_add(nanos, Ordering::SeqCst) + nanos
    }

    /// The names of all values.
    pub(crate) fn names(&self) -> Vec<String> {
        self.values().by_key.keys().cloned().collect()
    }

    /// The names of the values that are buckets.
    pub(crate) fn buckets(&self) -> Vec<String> {
        self.names().into_iter().filter(|name| !name.ends_with("secret")).collect()
    }

    pub(crate) fn value(&self, name: &str) -> Option<Vec<u8>> {
        self.values().by_key.get(name).map(|(value, _)| value.clone())
    }

    pub(crate) fn overwrite(self: &Arc<Self>, name: &str, value: &[u8]) {
        self.worker().set_shared(name, value, Write::Always).unwrap();
    }

    /// How many values there are, and how long the longest is.
    pub(crate) fn size(&self) -> (usize, usize) {
        let values = self.values();
        (values.by_key.len(), values.by_key.values().map(|(value, _)| value.len()).max().unwrap_or(0))
    }

    fn values(&self) -> MutexGuard<'_, Values> {
        self.values.lock().unwrap()
    }
}

/// What one worker sees of its process. It remembers what the last decision was made on.
pub(crate) struct Worker {
    pub(crate) process: Arc<Process>,
    baton: Option<Baton>,
    read: Cell<u32>,
    written: Cell<Option<u32>>,
    now: Cell<u64>,
    fault: Cell<Option<Fault>>,
    calls: Cell<u32>,
}

/// A call that fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    Read(HostError),
    Write(HostError),
    Clock(HostError),
}

/// The place of a decision among all on its bucket: after the version that it wrote or, if it wrote none, that it read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Order {
    version: u32,
    only_read: bool,
    pub(crate) now: u64,
}

impl Worker {
    /// The place of the last decision.
    pub(crate) fn order(&self) -> Order {
        let written = self.written.get();
        Order {
            version: written.unwrap_or(self.read.get()),
            only_read: written.is_none(),
            now: self.now.get(),
        }
    }

    /// From now on, one call fails each time, or none.
    pub(crate) fn break_down(&self, fault: Option<Fault>) {
        self.fault.set(fault);
    }

    /// How many calls to the host there were.
    pub(crate) fn calls(&self) -> u32 {
        self.calls.get()
    }

    fn hand_on(&self) {
        self.calls.set(self.calls.get() + 1);
        if let Some(baton) = &self.baton {
            baton.hand_on();
        }
    }
}

impl SharedStore for Worker {
    fn shared(&self, key: &str) -> Result<(Vec<u8>, u32), HostError> {
        self.hand_on();
        if let Some(Fault::Read(error)) = self.fault.get() {
            return Err(error);
        }
        let found = self.process.values().by_key.get(key).cloned();
        self.read.set(found.as_ref().map_or(0, |(_, version)| *version));
        self.written.set(None);
        found.ok_or(HostError::NotFound)
    }

    fn set_shared(&self, key: &str, value: &[u8], write: Write) -> Result<(), HostError> {
        self.hand_on();
        if let Some(Fault::Write(error)) = self.fault.get() {
            return Err(error);
        }
        let mut values = self.process.values();
        if let Some((_, version)) = values.by_key.get(key) {
            match write {
                Write::Always => {}
                Write::IfVersion(expected) if expected == *version => {}
                Write::IfAbsent | Write::IfVersion(_) => return Err(HostError::CasMismatch),
            }
        }
        values.last_version += 1;
        let version = values.last_version;
        values.by_key.insert(key.to_owned(), (value.to_vec(), version));
        self.written.set(Some(version));
        Ok(())
    }
}

impl Clock for Worker {
    fn now(&self) -> Timestamp {
        Timestamp::END
    }

    fn monotonic(&self) -> Result<MonotonicTime, HostError> {
        self.hand_on();
        if let Some(Fault::Clock(error)) = self.fault.get() {
            return Err(error);
        }
        self.now.set(self.process.now());
        Ok(MonotonicTime::from_nanos(self.now.get()))
    }
}
