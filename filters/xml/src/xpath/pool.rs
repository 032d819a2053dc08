//! The names that expressions test for.

use std::collections::BTreeMap;

use super::ast::{NameRef, UriRef};

/// The names and namespaces that one or more expressions test for, each once. Looked up in a document's own names, they
/// become numbers to compare with: once for all expressions of a pool.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NamePool {
    names: Table<(Box<str>, Box<str>)>,
    uris: Table<Box<str>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Table<K> {
    places: BTreeMap<K, u32>,
    keys: Vec<K>,
}

impl<K> Default for Table<K> {
    fn default() -> Self {
        Self { places: BTreeMap::new(), keys: Vec::new() }
    }
}

impl<K: Ord + Clone> Table<K> {
    fn place(&mut self, key: K) -> u32 {
        // An expression has a bounded length: there are far fewer.
        let next = u32::try_from(self.keys.len()).unwrap_or(u32::MAX);
        let place = *self.places.entry(key.clone()).or_insert(next);
        if place == next {
            self.keys.push(key);
        }
        place
    }
}

impl NamePool {
    /// The place of an expanded name; it gets one if it has none yet.
    pub fn name(&mut self, namespace: &str, local: &str) -> NameRef {
        NameRef(self.names.place((namespace.into(), local.into())))
    }

    /// The place of a namespace; it gets one if it has none yet.
    pub fn uri(&mut self, namespace: &str) -> UriRef {
        UriRef(self.uris.place(namespace.into()))
    }

    /// The names, namespace and local name, in the order of their places.
    pub fn names(&self) -> impl ExactSizeIterator<Item = (&str, &str)> {
        self.names.keys.iter().map(|(namespace, local)| (&**namespace, &**local))
    }

    /// The namespaces, in the order of their places.
    pub fn uris(&self) -> impl ExactSizeIterator<Item = &str> {
        self.uris.keys.iter().map(|uri| &**uri)
    }
}
