//! Names of elements that have been seen.

use crate::bytes::{begins_with, hash, same};
use crate::namespaces::Bindings;
use crate::token::NamespaceId;

/// So many names are remembered at the most, of so many bytes in all: those of an ordinary message.
const NAMES: usize = 128;
const BYTES: usize = 4 << 10;
/// How many places a hash may name.
const SLOTS: usize = 256;

/// Names of elements as written, with the namespaces that they turned out to be in. Messages say the same again and
/// again, in the same order: a name that came behind another will come behind it again, and then one comparison tells
/// all that there is to know of it.
#[derive(Debug, Default)]
pub(crate) struct SeenNames {
    text: String,
    names: Vec<SeenName>,
    /// One more than the number of a name, by the name's hash; 0 for none. A later name takes the place of an earlier.
    slots: Vec<u8>,
    /// The number of the name that came last.
    last: u32,
}

/// One of them.
#[derive(Debug, Clone, Copy)]
struct SeenName {
    /// Where it is in the text of all.
    start: usize,
    end: usize,
    /// Its first eight bytes, and which bits of these it has.
    head: u64,
    mask: u64,
    /// How many bytes of it stand before the colon.
    colon: Option<usize>,
    namespace: NamespaceId,
    /// The version of the bindings that this was found out with.
    version: u64,
    /// The number of the name that came behind it last time.
    follower: u32,
}

impl SeenName {
    /// How many bytes it has, if it is what `rest` begins with.
    #[inline]
    fn begins(&self, text: &str, rest: &[u8]) -> Option<usize> {
        // Where fewer than eight bytes of the piece are left, nothing is looked for: the name is read as others are.
        let head = u64::from_le_bytes(*rest.first_chunk()?) & self.mask;
        if head != self.head {
            return None;
        }
        let length = self.end.saturating_sub(self.start);
        if length > size_of::<u64>() {
            let name = text.as_bytes().get(self.start..self.end)?;
            if !begins_with(rest, name) {
                return None;
            }
        }
        Some(length)
    }
}

impl SeenNames {
    pub(super) fn memory(&self) -> usize {
        let names = self.names.capacity().saturating_mul(size_of::<SeenName>());
        self.text.capacity().saturating_add(self.slots.capacity()).saturating_add(names)
    }

    /// A name as written, and how many bytes of it stand before the colon.
    pub(super) fn name(&self, number: u32) -> (&str, Option<usize>) {
        let Some(name) = self.get(number) else { return ("", None) };
        (self.text.get(name.start..name.end).unwrap_or_default(), name.colon)
    }

    /// The namespace that it is in.
    pub(super) fn namespace(&self, number: u32) -> NamespaceId {
        self.get(number).map_or(NamespaceId::NONE, |name| name.namespace)
    }

    /// How many bytes a name has, if it is what `rest` begins with.
    #[inline]
    pub(super) fn begins(&self, number: u32, rest: &[u8]) -> Option<usize> {
        self.get(number)?.begins(&self.text, rest)
    }

    /// Takes the name that comes next, if it is the one that came behind the last one before, ends within `rest`, and
    /// still means the same: gives its number, and how many bytes it has.
    #[inline]
    pub(super) fn take_next(&mut self, rest: &[u8], bindings: &mut Bindings) -> Option<(u32, usize)> {
        let number = self.get(self.last)?.follower;
        let name = self.names.get_mut(index(number))?;
        let length = name.begins(&self.text, rest)?;
        if !matches!(rest.get(length), Some(b'>' | b'/' | b' ')) {
            return None;
        }
        if name.version != bindings.version() {
            let prefix =
                name.colon.and_then(|colon| self.text.get(name.start..name.start.saturating_add(colon)));
            if bindings.of_element(prefix.unwrap_or_default()) != Some(name.namespace) {
                return None;
            }
            name.version = bindings.version();
        }
        self.last = number;
        Some((number, length))
    }

    /// Takes a name that has been read: gives its number, a new one if it is new. `None` if there is no room for it.
    pub(super) fn take(
        &mut self,
        text: &str,
        colon: Option<usize>,
        namespace: NamespaceId,
        version: u64,
    ) -> Option<u32> {
        let number = self.number(text, colon, namespace)?;
        if let Some(last) = self.names.get_mut(index(self.last)) {
            last.follower = number;
        }
        self.last = number;
        self.names.get_mut(index(number))?.version = version;
        Some(number)
    }

    #[inline]
    fn get(&self, number: u32) -> Option<&SeenName> {
        self.names.get(index(number))
    }

    fn number(&mut self, text: &str, colon: Option<usize>, namespace: NamespaceId) -> Option<u32> {
        if self.slots.is_empty() {
            self.slots.resize(SLOTS, 0);
        }
        let slot = usize::try_from(hash(namespace.0, text)).unwrap_or_default() % SLOTS;
        let slot = self.slots.get_mut(slot)?;
        let known = u32::from(*slot).checked_sub(1);
        if let Some((number, name)) = known.and_then(|number| Some((number, self.names.get(index(number))?)))
        {
            let written = self.text.as_bytes().get(name.start..name.end).unwrap_or_default();
            if name.namespace == namespace && same(written, text.as_bytes()) {
                return Some(number);
            }
        }

        let start = self.text.len();
        let end = start.saturating_add(text.len());
        if self.names.len() >= NAMES || end > BYTES {
            return None;
        }
        let number = u32::try_from(self.names.len()).ok()?;
        *slot = u8::try_from(number.saturating_add(1)).ok()?;
        self.text.push_str(text);
        let (head, mask) = head(text.as_bytes());
        // Behind it comes what comes at all, until something has.
        let follower = number;
        self.names.push(SeenName { start, end, head, mask, colon, namespace, version: 0, follower });
        Some(number)
    }
}

#[inline]
fn index(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// The first eight bytes of a name, and which bits of these it has.
fn head(name: &[u8]) -> (u64, u64) {
    let (mut head, mut mask) = ([0; 8], [0; 8]);
    for ((byte, bits), own) in head.iter_mut().zip(&mut mask).zip(name) {
        (*byte, *bits) = (*own, u8::MAX);
    }
    (u64::from_le_bytes(head), u64::from_le_bytes(mask))
}

#[cfg(test)]
mod tests {
    use super::*;

    const OTHER: NamespaceId = NamespaceId(7);

    fn take(seen: &mut SeenNames, text: &str, namespace: NamespaceId, bindings: &Bindings) -> Option<u32> {
        seen.take(text, text.find(':'), namespace, bindings.version())
    }

    #[test]
    fn expects_what_came_behind_a_name_before() {
        let (mut seen, mut bindings) = (SeenNames::default(), Bindings::default());
        assert_eq!(seen.take_next(b"a>.......", &mut bindings), None);
        let names = ["a", "b", "a-longer-name", "a"];
        let numbers = names.map(|name| take(&mut seen, name, NamespaceId::NONE, &bindings));
        assert_eq!(numbers, [Some(0), Some(1), Some(2), Some(0)]);

        let mut next = |rest: &[u8]| seen.take_next(rest, &mut bindings);
        // Others, and what is too near to the end to be told.
        for rest in [&b""[..], b"b", b"b>.....", b"bb>.....", b"b:b>....", b"c>......", b"B>......"] {
            assert_eq!(next(rest), None, "{rest:?}");
        }
        assert_eq!(next(b"b/>....."), Some((1, 1)));
        for rest in [&b"a-longer-name"[..], b"a-longer-nama>", b"a-longer-name-yet>", b"a-longer>....."] {
            assert_eq!(next(rest), None, "{rest:?}");
        }
        assert_eq!([next(b"a-longer-name >"), next(b"a>......")], [Some((2, 13)), Some((0, 1))]);
    }

    #[test]
    fn a_name_that_means_something_else_now_is_another() {
        let (mut seen, mut bindings) = (SeenNames::default(), Bindings::default());
        assert!(bindings.declare("p", OTHER, 0));
        assert_eq!(take(&mut seen, "p:a", OTHER, &bindings), Some(0));
        assert!(seen.take_next(b"p:a>....", &mut bindings).is_some());

        let outer = bindings.len();
        assert!(bindings.declare("p", NamespaceId(8), outer));
        assert!(seen.take_next(b"p:a>....", &mut bindings).is_none());
        assert_eq!(take(&mut seen, "p:a", NamespaceId(8), &bindings), Some(1));

        bindings.truncate(outer);
        assert_eq!(take(&mut seen, "p:a", OTHER, &bindings), Some(0));
        bindings.truncate(0);
        assert!(seen.take_next(b"p:a>....", &mut bindings).is_none());
    }

    #[test]
    fn remembers_no_more_than_it_may() {
        let (mut seen, bindings) = (SeenNames::default(), Bindings::default());
        assert_eq!(take(&mut seen, &"x".repeat(BYTES + 1), OTHER, &bindings), None);
        let names = (0..1000).map(|number| format!("n{number}"));
        let taken = names.filter(|name| take(&mut seen, name, OTHER, &bindings).is_some()).count();
        assert_eq!(taken, NAMES);
        assert!(seen.memory() < 4 * BYTES, "{}", seen.memory());
    }
}
