//! Faults on demand: hostcalls that answer with any status, or that claim success and lie about the result.

use std::collections::BTreeMap;

use super::header_map::HeaderMap;
use super::hostcall::Hostcall;

/// A hostcall that answers `Ok` and returns something else than the truth.
///
/// A lie replaces the call: the host does nothing besides. A lie about a slot which the hostcall does not
/// have (data from `proxy_done`, say) amounts to an empty `Ok`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lie {
    /// Return slots are written with a null pointer and size zero.
    Null,
    /// A null pointer, yet with this size.
    NullWithSize(u32),
    /// A true allocation of zero bytes: what the module's allocator returns for it, and size zero.
    Empty,
    /// These bytes in place of the true ones: a malformed header map, bytes that are not UTF-8, anything.
    Bytes(Vec<u8>),
    /// This value in every numeric return slot: call-out token, metric, compare-and-set number, time.
    Number(u64),
}

impl Lie {
    /// Serialized header maps that no careful reader may trust, each with a name for messages.
    #[must_use]
    pub fn malformed_maps() -> Vec<(&'static str, Self)> {
        let words = |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
        let whole = HeaderMap::from([("x-one", "1"), ("x-two", "2")]).to_wire();
        let mut unterminated = whole.clone();
        unterminated.truncate(whole.len() - 1);
        let mut cut = whole.clone();
        cut.truncate(whole.len() - 5);
        let mut trailing = whole;
        trailing.extend_from_slice(b"trailing");
        vec![
            ("half a count", Self::Bytes(vec![2, 0])),
            ("a count and nothing else", Self::Bytes(words(&[3]))),
            ("the largest count", Self::Bytes(words(&[u32::MAX]))),
            ("a count whose table would wrap", Self::Bytes(words(&[0x2000_0000, 1, 1]))),
            ("a count larger than the table", Self::Bytes(words(&[2, 1, 1, 0x6100_6200]))),
            ("a name beyond the end", Self::Bytes(words(&[1, 1000, 1, 0]))),
            ("a value beyond the end", Self::Bytes(words(&[1, 1, 1000, 0]))),
            ("lengths that wrap", Self::Bytes(words(&[1, u32::MAX, u32::MAX, 0]))),
            ("a missing terminator", Self::Bytes(unterminated)),
            ("a cut tail", Self::Bytes(cut)),
            ("bytes after the end", Self::Bytes(trailing)),
            ("nothing but noise", Self::Bytes(vec![0xff; 64])),
        ]
    }
}

/// What a struck hostcall does in place of its work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Answers with this status and does nothing.
    Status(u32),
    /// Answers `Ok` and lies.
    Lie(Lie),
}

/// The faults that lie in wait, at most one for each hostcall.
#[derive(Clone, Debug, Default)]
pub struct Faults {
    set: BTreeMap<Hostcall, (When, Fault)>,
}

#[derive(Clone, Copy, Debug)]
enum When {
    Always,
    After { calls: u64 },
    Spent,
}

impl Faults {
    /// Strikes every call from now on.
    pub fn always(&mut self, hostcall: Hostcall, fault: Fault) {
        self.set.insert(hostcall, (When::Always, fault));
    }

    /// Strikes the `nth` call from now, counted from 1, and no other.
    pub fn nth(&mut self, hostcall: Hostcall, nth: u64, fault: Fault) {
        self.set.insert(hostcall, (When::After { calls: nth.saturating_sub(1) }, fault));
    }

    /// Heals one hostcall.
    pub fn heal(&mut self, hostcall: Hostcall) {
        self.set.remove(&hostcall);
    }

    /// Heals all.
    pub fn heal_all(&mut self) {
        self.set.clear();
    }

    pub(super) fn strike(&mut self, hostcall: Hostcall) -> Option<Fault> {
        let (when, fault) = self.set.get_mut(&hostcall)?;
        match when {
            When::Always => Some(fault.clone()),
            When::After { calls: 0 } => {
                *when = When::Spent;
                Some(fault.clone())
            }
            When::After { calls } => {
                *calls -= 1;
                None
            }
            When::Spent => None,
        }
    }
}
