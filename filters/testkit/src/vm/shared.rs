//! The store that all VMs of a process share: values with compare-and-set numbers, and queues.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::status;

/// Shared data and shared queues. A clone is another handle to the same store: give it to a second
/// [`Script`](super::Script) and two VMs share it, as the workers of one Envoy do.
#[derive(Clone, Debug, Default)]
pub struct SharedStore {
    inner: Arc<Mutex<Inner>>,
}

#[derive(Debug, Default)]
struct Inner {
    values: BTreeMap<Vec<u8>, (Vec<u8>, u32)>,
    last_cas: u32,
    queue_names: BTreeMap<(Vec<u8>, Vec<u8>), u32>,
    queues: BTreeMap<u32, VecDeque<Vec<u8>>>,
}

impl SharedStore {
    /// The value of a key and its compare-and-set number.
    pub fn get(&self, key: impl AsRef<[u8]>) -> Option<(Vec<u8>, u32)> {
        self.lock().values.get(key.as_ref()).cloned()
    }

    /// Stores a value. `cas` 0 overwrites blindly; any other must be the number of the stored value; a key
    /// that is absent is created whatever `cas` is.
    ///
    /// # Errors
    /// [`status::CAS_MISMATCH`] when the stored value has another number.
    pub fn set(&self, key: impl Into<Vec<u8>>, value: impl Into<Vec<u8>>, cas: u32) -> Result<(), u32> {
        let key = key.into();
        let mut inner = self.lock();
        if let Some((_, stored)) = inner.values.get(&key)
            && cas != 0
            && cas != *stored
        {
            return Err(status::CAS_MISMATCH);
        }
        inner.last_cas = inner.last_cas.checked_add(1).unwrap_or(1);
        let next = inner.last_cas;
        inner.values.insert(key, (value.into(), next));
        Ok(())
    }

    /// All keys in order.
    #[must_use]
    pub fn keys(&self) -> Vec<Vec<u8>> {
        self.lock().values.keys().cloned().collect()
    }

    /// Registers a queue, or finds the registered one: its token.
    #[must_use]
    pub fn register_queue(&self, vm_id: &[u8], name: &[u8]) -> u32 {
        let mut inner = self.lock();
        let next = u32::try_from(inner.queue_names.len()).unwrap_or(u32::MAX).saturating_add(1);
        let token = *inner.queue_names.entry((vm_id.to_vec(), name.to_vec())).or_insert(next);
        inner.queues.entry(token).or_default();
        token
    }

    /// The token of a registered queue.
    #[must_use]
    pub fn resolve_queue(&self, vm_id: &[u8], name: &[u8]) -> Option<u32> {
        self.lock().queue_names.get(&(vm_id.to_vec(), name.to_vec())).copied()
    }

    /// Appends to a queue. Nobody is woken: see [`Vm::queue_ready`](super::Vm::queue_ready).
    ///
    /// # Errors
    /// [`status::NOT_FOUND`] for an unknown token.
    pub fn enqueue(&self, token: u32, item: impl Into<Vec<u8>>) -> Result<(), u32> {
        self.lock().queues.get_mut(&token).ok_or(status::NOT_FOUND)?.push_back(item.into());
        Ok(())
    }

    /// Takes the oldest item.
    ///
    /// # Errors
    /// [`status::NOT_FOUND`] for an unknown token, [`status::EMPTY`] when there is none.
    pub fn dequeue(&self, token: u32) -> Result<Vec<u8>, u32> {
        self.lock().queues.get_mut(&token).ok_or(status::NOT_FOUND)?.pop_front().ok_or(status::EMPTY)
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
