//! One key's state among others in a value of the store.
//!
//! Fingerprint (u64), expiry (u64, nanoseconds of the monotonic clock), length (u16), state; little-endian. Entries
//! follow each other to the end of the value and tell their own length, so that policies and configurations of any
//! layout share a value.

use super::rule::{bytes_at, put, u64_at};

const EXPIRES: usize = 8;
const LENGTH: usize = 16;
/// What stands before the state.
const HEADER: usize = 18;

/// Names a key within its bucket: 63 bits of its hash, and whether the entry is the key's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Fingerprint(u64);

/// Whose entry it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Owner {
    /// One key's.
    Key,
    /// That of the keys of a scope and layout for which there is no room in the bucket.
    Overflow,
}

impl Fingerprint {
    pub(super) const fn new(hash: u64, owner: Owner) -> Self {
        Self(match owner {
            Owner::Key => hash & !1,
            Owner::Overflow => hash | 1,
        })
    }

    pub(super) const fn owner(self) -> Owner {
        if self.0 & 1 == 0 { Owner::Key } else { Owner::Overflow }
    }
}

/// Where an entry stands in a value, and what its header says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) fingerprint: Fingerprint,
    /// When the state is that of a key that was never seen.
    pub(super) expires: u64,
    /// How long the state is.
    pub(super) len: usize,
    at: usize,
}

/// A value ends within an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Torn;

impl Entry {
    /// The entry at an offset; `None` at the end of the value.
    pub(super) fn at(value: &[u8], at: usize) -> Result<Option<Self>, Torn> {
        if at >= value.len() {
            return Ok(None);
        }
        let header = value.get(at..).and_then(|rest| rest.first_chunk::<HEADER>()).ok_or(Torn)?;
        let entry = Self {
            fingerprint: Fingerprint(u64_at(header, 0)),
            expires: u64_at(header, EXPIRES),
            len: u16::from_le_bytes(bytes_at(header, LENGTH)).into(),
            at,
        };
        if entry.end() > value.len() { Err(Torn) } else { Ok(Some(entry)) }
    }

    /// Appends an entry whose state is zeros, or a copy of another's.
    pub(super) fn append(
        value: &mut Vec<u8>,
        fingerprint: Fingerprint,
        len: usize,
        like: Option<&Self>,
    ) -> Self {
        let at = value.len();
        value.extend(fingerprint.0.to_le_bytes());
        value.extend([0; EXPIRES]);
        value.extend(u16::try_from(len).unwrap_or(u16::MAX).to_le_bytes());
        match like {
            Some(other) if other.len == len && other.end() <= at => {
                value.extend_from_within(other.state_start()..other.end());
            }
            _ => value.resize(value.len().saturating_add(len), 0),
        }
        Self { fingerprint, expires: 0, len, at }
    }

    /// Whether the state still says something. What expires at the end of the scale never does.
    pub(super) const fn is_live(&self, now: u64) -> bool {
        self.expires > now || self.expires == u64::MAX
    }

    pub(super) const fn start(&self) -> usize {
        self.at
    }

    /// Where the next entry starts.
    pub(super) const fn end(&self) -> usize {
        self.state_start().saturating_add(self.len)
    }

    const fn state_start(&self) -> usize {
        self.at.saturating_add(HEADER)
    }

    /// The state, to be read and changed in place.
    pub(super) fn state<'a>(&self, value: &'a mut [u8]) -> &'a mut [u8] {
        value.get_mut(self.state_start()..self.end()).unwrap_or_default()
    }

    pub(super) fn set_expires(&self, value: &mut [u8], expires: u64) {
        put(value, self.at.saturating_add(EXPIRES), expires.to_le_bytes());
    }
}
