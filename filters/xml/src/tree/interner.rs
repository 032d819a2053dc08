//! Strings by number.

use std::collections::BTreeMap;

use crate::bytes::{hash, same};

/// How far a slot may lie behind the one that its hash names.
const REACH: usize = 16;

/// Numbers strings, each together with a small number of its own (a name with its namespace): the same pair always
/// gets the same number, and the numbers count up from 0 in the order of first sight.
///
/// The hash is a fixed one, so whoever writes a document can make all of its names collide. That costs them nothing
/// and us little: what does not find a place in the table within [`REACH`] slots goes into an ordered map, so that a
/// lookup never takes more steps than a search in a tree.
#[derive(Debug, Clone, Default)]
pub(super) struct Interner {
    text: String,
    entries: Vec<Entry>,
    /// One more than an entry's number, 0 for a free slot. The length is a power of two, at least twice the entries.
    slots: Vec<u32>,
    overflow: BTreeMap<(u32, Box<str>), u32>,
    /// The number that was given last.
    last: u32,
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    with: u32,
    start: u32,
    end: u32,
    hash: u32,
    /// What came behind it last time: documents say the same again and again, in the same order.
    follower: u32,
}

enum Place {
    Of(u32),
    Free(usize),
    Overflow,
}

impl Interner {
    /// How many bytes all take, about.
    pub(super) fn bytes(&self) -> usize {
        // A number in the table that is half empty, and, where the hash is of no use, the text in a map.
        const ENTRY: usize = size_of::<Entry>() + 4 * size_of::<u32>();
        const OVERFLOW: usize = 64;
        let entries = self.entries.len().saturating_mul(ENTRY);
        self.text.len().saturating_add(entries).saturating_add(self.overflow.len().saturating_mul(OVERFLOW))
    }

    /// How many bytes of memory all take.
    pub(super) fn memory(&self) -> usize {
        // What a map needs for an entry besides its text.
        const OVERFLOW: usize = 64;
        let entries = self.entries.capacity().saturating_mul(size_of::<Entry>());
        let slots = self.slots.capacity().saturating_mul(size_of::<u32>());
        // Its texts are among all texts.
        let overflow = match self.overflow.len() {
            0 => 0,
            entries => entries.saturating_mul(OVERFLOW).saturating_add(self.text.len()),
        };
        [self.text.capacity(), entries, slots, overflow].into_iter().fold(0, usize::saturating_add)
    }

    /// The number of a pair; a new one if it is new. `None` if there is no room for another.
    pub(super) fn intern(&mut self, with: u32, text: &str) -> Option<u32> {
        if let Some(number) = self.guess(with, text) {
            self.last = number;
            return Some(number);
        }
        let number = self.look_up(with, text)?;
        if let Some(last) = self.entry_mut(self.last) {
            last.follower = number;
        }
        self.last = number;
        Some(number)
    }

    /// The number that came behind the last one before, if it is that of this pair.
    fn guess(&self, with: u32, text: &str) -> Option<u32> {
        let follower = self.entry(self.last)?.follower;
        let entry = self.entry(follower)?;
        (entry.with == with && same(self.text_of(entry).as_bytes(), text.as_bytes())).then_some(follower)
    }

    fn look_up(&mut self, with: u32, text: &str) -> Option<u32> {
        let hash = hash(with, text);
        if self.entries.len().saturating_mul(2) >= self.slots.len() {
            self.grow();
        }
        let free = match self.place(hash, with, text) {
            Place::Of(number) => return Some(number),
            Place::Free(slot) => Some(slot),
            Place::Overflow => match self.overflow_of(with, text) {
                Some(number) => return Some(number),
                None => None,
            },
        };

        let number = u32::try_from(self.entries.len()).ok()?;
        let start = u32::try_from(self.text.len()).ok()?;
        let end = start.checked_add(u32::try_from(text.len()).ok()?)?;
        self.text.push_str(text);
        self.entries.push(Entry { with, start, end, hash, follower: 0 });
        self.put(free, number);
        Some(number)
    }

    /// The number of a pair, if it has one.
    pub(super) fn find(&self, with: u32, text: &str) -> Option<u32> {
        match self.place(hash(with, text), with, text) {
            Place::Of(number) => Some(number),
            Place::Free(_) => None,
            Place::Overflow => self.overflow_of(with, text),
        }
    }

    /// The pair of a number.
    pub(super) fn get(&self, number: u32) -> Option<(u32, &str)> {
        let entry = self.entry(number)?;
        Some((entry.with, self.text_of(entry)))
    }

    fn entry(&self, number: u32) -> Option<&Entry> {
        self.entries.get(usize::try_from(number).ok()?)
    }

    fn entry_mut(&mut self, number: u32) -> Option<&mut Entry> {
        self.entries.get_mut(usize::try_from(number).ok()?)
    }

    fn text_of(&self, entry: &Entry) -> &str {
        let range =
            usize::try_from(entry.start).unwrap_or(usize::MAX)..usize::try_from(entry.end).unwrap_or(0);
        self.text.get(range).unwrap_or_default()
    }

    fn overflow_of(&self, with: u32, text: &str) -> Option<u32> {
        // A map that has seen no collisions is not worth a key of its own.
        if self.overflow.is_empty() { None } else { self.overflow.get(&(with, text.into())).copied() }
    }

    fn place(&self, hash: u32, with: u32, text: &str) -> Place {
        for slot in self.reach(hash) {
            match self.slots.get(slot).copied().unwrap_or_default().checked_sub(1) {
                None if self.slots.is_empty() => return Place::Overflow,
                None => return Place::Free(slot),
                Some(number) => {
                    let entry = usize::try_from(number).ok().and_then(|number| self.entries.get(number));
                    let same = entry.is_some_and(|entry| {
                        entry.hash == hash && entry.with == with && self.text_of(entry) == text
                    });
                    if same {
                        return Place::Of(number);
                    }
                }
            }
        }
        Place::Overflow
    }

    fn reach(&self, hash: u32) -> impl Iterator<Item = usize> + use<> {
        let mask = self.slots.len().saturating_sub(1);
        let first = usize::try_from(hash).unwrap_or_default();
        (0..REACH).map(move |distance| first.wrapping_add(distance) & mask)
    }

    fn put(&mut self, free: Option<usize>, number: u32) {
        if let Some(slot) = free.and_then(|slot| self.slots.get_mut(slot)) {
            *slot = number.saturating_add(1);
        } else if let Some((with, text)) = self.get(number) {
            let key = (with, text.into());
            self.overflow.insert(key, number);
        }
    }

    fn grow(&mut self) {
        let length = self.slots.len().saturating_mul(2).max(64);
        if self.slots.is_empty() {
            // A small document has no more.
            self.entries.reserve(16);
            self.text.reserve(128);
        }
        self.slots.clear();
        self.slots.resize(length, 0);
        self.overflow.clear();
        for (number, hash) in (0u32..).zip(self.entries.iter().map(|entry| entry.hash).collect::<Vec<_>>()) {
            let free = self.reach(hash).find(|slot| self.slots.get(*slot) == Some(&0));
            self.put(free, number);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_pair_has_the_same_number() {
        let mut interner = Interner::default();
        let names: Vec<String> = (0..5000).map(|n| format!("name{n}")).collect();
        for (expected, name) in (0..).zip(&names) {
            assert_eq!(interner.intern(expected % 3, name), Some(expected));
        }
        for (expected, name) in (0..).zip(&names) {
            assert_eq!(interner.intern(expected % 3, name), Some(expected));
            assert_eq!(interner.find(expected % 3, name), Some(expected));
            assert_eq!(interner.find(expected % 3 + 1, name), None);
            assert_eq!(interner.get(expected), Some((expected % 3, name.as_str())));
        }
        assert_eq!(interner.find(0, "name"), None);
    }

    #[test]
    fn nothing_is_found_in_an_empty_one() {
        assert_eq!(Interner::default().find(0, ""), None);
        assert_eq!(Interner::default().get(0), None);
    }

    #[test]
    fn strings_are_told_apart_by_trailing_zero_bytes_and_length() {
        let mut interner = Interner::default();
        let numbers: Vec<_> = ["", "\0", "\0\0", "a", "a\0", "12345678", "12345678\0"]
            .map(|text| interner.intern(0, text))
            .into();
        assert_eq!(numbers, (0..7).map(Some).collect::<Vec<_>>());
    }

    /// Names whose hashes share their low bits, found by trying.
    fn colliding(count: usize) -> Vec<String> {
        (0u32..).map(|n| format!("n{n}")).filter(|name| hash(0, name) & 0xFFF == 0).take(count).collect()
    }

    #[test]
    fn colliding_names_go_to_the_ordered_map() {
        let mut interner = Interner::default();
        let names = colliding(200);
        for (expected, name) in (0..).zip(&names) {
            assert_eq!(interner.find(0, name), None);
            assert_eq!(interner.intern(0, name), Some(expected));
        }
        assert!(interner.overflow.len() > 150, "{}", interner.overflow.len());
        for (expected, name) in (0..).zip(&names) {
            assert_eq!(interner.intern(0, name), Some(expected));
        }
        assert_eq!(interner.entries.len(), names.len());
    }
}
