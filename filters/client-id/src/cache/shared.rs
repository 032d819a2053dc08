//! The cache that all workers of a process share.
//!
//! The host's store forgets nothing, so entries live in a fixed number of slots: a key's first bytes choose its
//! slot, and what was there is overwritten.

use std::rc::Rc;

use portcullis_policy::Identity;
use portcullis_policy::host::{SharedStore, Write};
use portcullis_policy::time::Timestamp;

use super::{Entry, Key};
use crate::decision::{Decision, Denial};

pub(super) struct SharedCache {
    slots: u32,
}

impl SharedCache {
    pub(super) fn new(slots: u32) -> Option<Self> {
        (slots > 0).then_some(Self { slots })
    }

    pub(super) fn get(&self, key: &Key, host: &(impl SharedStore + ?Sized)) -> Option<Entry> {
        let (value, _) = host.shared(&self.slot(key)?).ok()?;
        read(&value, key)
    }

    /// Writes an entry over what is in its slot, unless that is an admission of another client that still holds and
    /// this is a refusal: guessing shall not push out those who are admitted. A value that cannot be written is one that
    /// will be asked for again.
    pub(super) fn put(&self, key: &Key, entry: &Entry, now: Timestamp, host: &(impl SharedStore + ?Sized)) {
        if matches!(entry.decision, Decision::Deny(_)) && self.holds_admission_of_another(key, now, host) {
            return;
        }
        if let (Some(slot), Some(value)) = (self.slot(key), write(entry, key)) {
            let _ = host.set_shared(&slot, &value, Write::Always);
        }
    }

    fn holds_admission_of_another(
        &self,
        key: &Key,
        now: Timestamp,
        host: &(impl SharedStore + ?Sized),
    ) -> bool {
        let found = self.slot(key).and_then(|slot| host.shared(&slot).ok());
        found.is_some_and(|(value, _)| {
            let owner = value.first_chunk::<32>();
            owner.is_some_and(|owner| {
                owner != key
                    && read(&value, owner).is_some_and(|entry| {
                        matches!(entry.decision, Decision::Admit(_)) && entry.is_fresh(now)
                    })
            })
        })
    }

    fn slot(&self, key: &Key) -> Option<String> {
        let slot = u32::from_le_bytes(*key.first_chunk()?).checked_rem(self.slots)?;
        Some(format!("portcullis.client-id.v1.decision.{slot}"))
    }
}

const ADMIT: u8 = 0;
const DENY_INVALID: u8 = 1;
const DENY_DISABLED: u8 = 2;

/// key (32 bytes), made, expires (u64), decision (u8); for an admission identifier, name and tier, each with its
/// length (u32; all ones for absent). Little-endian.
fn write(entry: &Entry, key: &Key) -> Option<Vec<u8>> {
    let mut out = key.to_vec();
    out.extend(entry.made.as_nanos().to_le_bytes());
    out.extend(entry.expires.as_nanos().to_le_bytes());
    match &entry.decision {
        Decision::Deny(Denial::Missing) => return None,
        Decision::Deny(Denial::Invalid) => out.push(DENY_INVALID),
        Decision::Deny(Denial::Disabled) => out.push(DENY_DISABLED),
        Decision::Admit(identity) => {
            out.push(ADMIT);
            for text in [Some(&identity.client_id), identity.name.as_ref(), identity.tier.as_ref()] {
                let length = text.map_or(Ok(u32::MAX), |text| u32::try_from(text.len())).ok()?;
                out.extend(length.to_le_bytes());
                out.extend(text.map(String::as_bytes).unwrap_or_default());
            }
        }
    }
    Some(out)
}

/// The entry in a slot, if it is `key`'s and whole.
fn read(value: &[u8], key: &Key) -> Option<Entry> {
    let mut rest = value.strip_prefix(key)?;
    let made = Timestamp::from_nanos(u64::from_le_bytes(*chunk(&mut rest)?));
    let expires = Timestamp::from_nanos(u64::from_le_bytes(*chunk(&mut rest)?));
    let [decision] = *chunk(&mut rest)?;
    let decision = match decision {
        ADMIT => Decision::Admit(Rc::new(Identity {
            client_id: text(&mut rest)??,
            name: text(&mut rest)?,
            tier: text(&mut rest)?,
        })),
        DENY_INVALID => Decision::Deny(Denial::Invalid),
        DENY_DISABLED => Decision::Deny(Denial::Disabled),
        _ => return None,
    };
    rest.is_empty().then_some(Entry { decision, made, expires })
}

fn chunk<'a, const N: usize>(rest: &mut &'a [u8]) -> Option<&'a [u8; N]> {
    let (chunk, after) = rest.split_first_chunk()?;
    *rest = after;
    Some(chunk)
}

fn text(rest: &mut &[u8]) -> Option<Option<String>> {
    let length = u32::from_le_bytes(*chunk(rest)?);
    if length == u32::MAX {
        return Some(None);
    }
    let (text, after) = rest.split_at_checked(usize::try_from(length).ok()?)?;
    *rest = after;
    Some(Some(core::str::from_utf8(text).ok()?.to_owned()))
}

#[cfg(test)]
mod tests {
    use portcullis_testkit::inprocess::{SharedData, TestHost};

    use super::*;

    fn entries() -> Vec<Entry> {
        let identity = Identity { client_id: "acme".into(), name: None, tier: Some("é".into()) };
        [
            Decision::Admit(Rc::new(identity)),
            Decision::Deny(Denial::Invalid),
            Decision::Deny(Denial::Disabled),
        ]
        .map(|decision| Entry {
            decision,
            made: Timestamp::from_nanos(7),
            expires: Timestamp::from_nanos(u64::MAX),
        })
        .to_vec()
    }

    const NOW: Timestamp = Timestamp::from_nanos(9);

    #[test]
    fn a_refusal_does_not_push_out_an_admission_that_holds() {
        let host = TestHost::new(SharedData::default());
        let cache = SharedCache::new(1).unwrap();
        let [admission, refusal, _] = <[Entry; 3]>::try_from(entries()).unwrap();
        cache.put(&[1; 32], &admission, NOW, &host);
        cache.put(&[2; 32], &refusal, NOW, &host);
        assert_eq!(cache.get(&[1; 32], &host), Some(admission.clone()));
        cache.put(&[2; 32], &admission, NOW, &host);
        assert_eq!(cache.get(&[1; 32], &host), None);
        cache.put(&[2; 32], &refusal, NOW, &host);
        assert_eq!(cache.get(&[2; 32], &host), Some(refusal.clone()));
        cache.put(&[1; 32], &admission, NOW, &host);
        cache.put(&[2; 32], &refusal, Timestamp::END, &host);
        assert_eq!(cache.get(&[2; 32], &host), Some(refusal));
    }

    #[test]
    fn reads_what_it_writes_and_no_part_of_it() {
        for entry in entries() {
            let value = write(&entry, &[5; 32]).unwrap();
            assert_eq!(read(&value, &[5; 32]), Some(entry));
            assert_eq!(read(&value, &[6; 32]), None);
            for end in 0..value.len() {
                assert_eq!(read(&value[..end], &[5; 32]), None, "cut at {end}");
            }
            assert_eq!(read(&[value, vec![0]].concat(), &[5; 32]), None);
        }
    }

    #[test]
    fn never_has_more_keys_than_slots() {
        let data = SharedData::default();
        let host = TestHost::new(data.clone());
        let cache = SharedCache::new(4).unwrap();
        for byte in 0..=255 {
            let key = [byte; 32];
            cache.put(&key, &entries()[0], NOW, &host);
            assert!(cache.get(&key, &host).is_some());
        }
        assert_eq!(data.len(), 4);
    }
}
