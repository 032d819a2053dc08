//! The names that a stylesheet tests for, among those of a document.

use portcullis_xml::tree::{NameId, Names, UriId};
use portcullis_xml::xpath::NamePool;
use portcullis_xml::xpath::ast::{NameRef, UriRef};

/// A pool of names with the numbers that they have in a document.
#[derive(Debug)]
pub(crate) struct BoundPool {
    names: Vec<Option<NameId>>,
    uris: Vec<Option<UriId>>,
    /// By a name's number, one more than its place in the pool; 0 for names that are not in the pool.
    places: Vec<u32>,
}

impl BoundPool {
    /// Gives numbers to all names of the pool, so that names that come later change nothing.
    pub(crate) fn new(pool: &NamePool, names: &mut Names) -> Self {
        let mut bound = Self { names: Vec::new(), uris: Vec::new(), places: Vec::new() };
        for (place, (uri, local)) in (1_u32..).zip(pool.names()) {
            let name = names.uri(uri).and_then(|uri| names.name(uri, local));
            bound.names.push(name);
            let Some(index) = name.map(NameId::index) else { continue };
            if bound.places.len() <= index {
                bound.places.resize(index.saturating_add(1), 0);
            }
            if let Some(slot) = bound.places.get_mut(index) {
                *slot = place;
            }
        }
        bound.uris.extend(pool.uris().map(|uri| names.uri(uri)));
        bound
    }

    pub(crate) fn name(&self, place: NameRef) -> Option<NameId> {
        self.names.get(usize::try_from(place.0).ok()?).copied().flatten()
    }

    pub(crate) fn uri(&self, place: UriRef) -> Option<UriId> {
        self.uris.get(usize::try_from(place.0).ok()?).copied().flatten()
    }

    /// The place of a name in the pool.
    pub(crate) fn place(&self, name: NameId) -> Option<usize> {
        let place = self.places.get(name.index()).copied().unwrap_or_default();
        usize::try_from(place.checked_sub(1)?).ok()
    }
}
