//! The cache of one worker.

use core::hash::{BuildHasherDefault, Hasher};
use core::num::NonZeroUsize;

use lru::LruCache;

use super::{Entry, Key};

/// Entries by key; the least recently used goes when it is full.
pub(super) struct LocalCache {
    entries: Option<LruCache<Key, Entry, BuildHasherDefault<KeyHasher>>>,
}

impl LocalCache {
    /// Room for `capacity` entries; 0 remembers nothing. Memory is taken as entries come, not ahead.
    pub(super) fn new(capacity: u32) -> Self {
        let capacity = usize::try_from(capacity).ok().and_then(NonZeroUsize::new);
        Self {
            entries: capacity.map(|capacity| {
                let mut cache = LruCache::unbounded_with_hasher(BuildHasherDefault::default());
                cache.resize(capacity);
                cache
            }),
        }
    }

    pub(super) fn get(&mut self, key: &Key) -> Option<&Entry> {
        self.entries.as_mut()?.get(key)
    }

    pub(super) fn forget(&mut self, key: &Key) {
        if let Some(entries) = &mut self.entries {
            entries.pop(key);
        }
    }

    pub(super) fn put(&mut self, key: Key, entry: Entry) {
        if let Some(entries) = &mut self.entries {
            entries.put(key, entry);
        }
    }
}

/// Keys are hashes with a secret key already: any eight bytes of one serve as its hash.
#[derive(Default)]
pub(super) struct KeyHasher(u64);

impl Hasher for KeyHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        if let Some(head) = bytes.first_chunk::<8>() {
            self.0 = u64::from_le_bytes(*head);
        }
    }

    /// The length that arrays put before their bytes says nothing.
    fn write_usize(&mut self, _: usize) {}
}

#[cfg(test)]
mod tests {
    use core::hash::BuildHasher as _;
    use std::collections::HashSet;

    use portcullis_policy::time::Timestamp;

    use super::*;
    use crate::decision::{Decision, Denial};

    fn entry() -> Entry {
        Entry {
            decision: Decision::Deny(Denial::Invalid),
            made: Timestamp::from_nanos(0),
            expires: Timestamp::from_nanos(1),
        }
    }

    #[test]
    fn keeps_its_size_and_lets_the_least_recently_used_go() {
        let mut cache = LocalCache::new(2);
        for byte in [1, 2] {
            cache.put([byte; 32], entry());
        }
        assert!(cache.get(&[1; 32]).is_some());
        cache.put([3; 32], entry());
        assert!(cache.get(&[2; 32]).is_none());
        assert!(cache.get(&[1; 32]).is_some() && cache.get(&[3; 32]).is_some());
    }

    /// A table whose keys all hash to the same is searched from end to end.
    #[test]
    fn spreads_keys_over_its_table() {
        let hasher = BuildHasherDefault::<KeyHasher>::default();
        let hashes: HashSet<u64> = (0..=u8::MAX).map(|byte| hasher.hash_one([byte; 32])).collect();
        assert_eq!(hashes.len(), 256);
    }

    #[test]
    fn remembers_nothing_without_room() {
        let mut cache = LocalCache::new(0);
        cache.put([1; 32], entry());
        assert!(cache.get(&[1; 32]).is_none());
    }
}
