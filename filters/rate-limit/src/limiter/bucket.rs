//! The entries that stand together in one value of the store.

use super::WhenFull;
use super::entry::{Entry, Fingerprint, Owner, Torn};
use super::standing::Stored;

/// How many keys have an entry of their own.
pub(super) const WAYS: usize = 16;
/// How many entries there are for the keys that have none: one for each scope and layout that needs one.
const OVERFLOW_WAYS: usize = 8;

/// A value of the store, to be changed in place.
pub(super) struct Bucket {
    value: Vec<u8>,
    stored: Stored,
}

/// Where a key is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// In the key's own entry.
    Own(Entry),
    /// In the overflow entry.
    Shared(Entry),
    /// Nowhere, for there is no room, and it is to be admitted.
    Uncounted,
    /// Nowhere, for there is no room until `frees`, and it is to be refused.
    NoRoom { frees: u64 },
}

/// What a walk over all entries finds.
#[derive(Default)]
struct Survey {
    own: Option<Entry>,
    keys: usize,
    overflows: usize,
    live_keys: usize,
    live_overflows: usize,
    /// When the first of the keys' live entries expires.
    frees: Option<u64>,
}

impl Bucket {
    pub(super) const fn new(value: Vec<u8>) -> Self {
        Self { value, stored: Stored::Sound }
    }

    pub(super) fn value(&self) -> &[u8] {
        &self.value
    }

    pub(super) const fn stored(&self) -> Stored {
        self.stored
    }

    pub(super) fn state(&mut self, entry: &Entry) -> &mut [u8] {
        entry.state(&mut self.value)
    }

    pub(super) fn set_expires(&mut self, entry: &Entry, expires: u64) {
        entry.set_expires(&mut self.value, expires);
    }

    /// Finds or makes the entry in which a key is counted whose state is `len` bytes long. Entries that still say
    /// something stay; a value that no limiter wrote is forgotten.
    ///
    /// While the overflow entry is live, the key may have been counted there before: an entry of its own then starts
    /// as a copy of it, so that nobody gets quota back early by moving.
    pub(super) fn place(
        &mut self,
        own: Fingerprint,
        len: usize,
        overflow: impl FnOnce() -> Fingerprint,
        when_full: WhenFull,
        now: u64,
    ) -> Place {
        let survey = self.survey(own, len, now).unwrap_or_else(|Torn| {
            self.value.clear();
            self.stored = Stored::Corrupt;
            Survey::default()
        });
        if let Some(entry) = survey.own {
            return Place::Own(entry);
        }
        let is_full = survey.live_keys >= WAYS;
        let shares = is_full && when_full == WhenFull::Share;
        self.drop_expired(now);
        let overflow = (shares || survey.live_overflows > 0).then(overflow);
        let shared = overflow.and_then(|fingerprint| self.find(fingerprint, len));
        if !is_full {
            return Place::Own(Entry::append(&mut self.value, own, len, shared.as_ref()));
        }
        let frees = survey.frees.unwrap_or(now);
        match (when_full, overflow, shared) {
            (WhenFull::Admit, ..) => Place::Uncounted,
            (WhenFull::Share, _, Some(entry)) => Place::Shared(entry),
            (WhenFull::Share, Some(fingerprint), None) if survey.live_overflows < OVERFLOW_WAYS => {
                Place::Shared(Entry::append(&mut self.value, fingerprint, len, None))
            }
            _ => Place::NoRoom { frees },
        }
    }

    fn survey(&self, own: Fingerprint, len: usize, now: u64) -> Result<Survey, Torn> {
        let mut survey = Survey::default();
        let mut at = 0;
        while let Some(entry) = Entry::at(&self.value, at)? {
            let (all, live) = match entry.fingerprint.owner() {
                Owner::Key => (&mut survey.keys, &mut survey.live_keys),
                Owner::Overflow => (&mut survey.overflows, &mut survey.live_overflows),
            };
            *all = all.saturating_add(1);
            if entry.is_live(now) {
                *live = live.saturating_add(1);
                if entry.fingerprint.owner() == Owner::Key {
                    survey.frees = Some(survey.frees.map_or(entry.expires, |first| first.min(entry.expires)));
                }
                if entry.fingerprint == own {
                    survey.own = Some(entry);
                }
            }
            // The fingerprint says which layout it is.
            if survey.keys > WAYS
                || survey.overflows > OVERFLOW_WAYS
                || (entry.fingerprint == own && entry.len != len)
            {
                return Err(Torn);
            }
            at = entry.end();
        }
        Ok(survey)
    }

    fn find(&self, fingerprint: Fingerprint, len: usize) -> Option<Entry> {
        let mut at = 0;
        while let Ok(Some(entry)) = Entry::at(&self.value, at) {
            if entry.fingerprint == fingerprint && entry.len == len {
                return Some(entry);
            }
            at = entry.end();
        }
        None
    }

    /// Moves the live entries together.
    fn drop_expired(&mut self, now: u64) {
        let (mut at, mut kept) = (0, 0);
        while let Ok(Some(entry)) = Entry::at(&self.value, at) {
            at = entry.end();
            if entry.is_live(now) {
                self.value.copy_within(entry.start()..entry.end(), kept);
                kept = kept.saturating_add(entry.end().saturating_sub(entry.start()));
            }
        }
        self.value.truncate(kept);
    }
}
