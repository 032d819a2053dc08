//! A header map as the host keeps it, and its form on the wire between host and module.

/// Headers or trailers in order, duplicates allowed. Names are kept as given until a module changes them;
/// a module's names are lower-cased, as Envoy does.
///
/// Envoy joins the duplicates of the few headers it knows by heart (`:path`, `content-length`, …) with a
/// comma when one is added; this map keeps them apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HeaderMap {
    pairs: Vec<(Vec<u8>, Vec<u8>)>,
}

impl HeaderMap {
    /// An empty map.
    #[must_use]
    pub const fn new() -> Self {
        Self { pairs: Vec::new() }
    }

    /// The number of headers, duplicates counted.
    #[must_use]
    pub fn len(&self) -> usize {
        self.pairs.len()
    }

    /// Whether there is no header.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    /// All headers in order.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        self.pairs.iter().map(|(name, value)| (name.as_slice(), value.as_slice()))
    }

    /// The first value of this name.
    pub fn first(&self, name: impl AsRef<[u8]>) -> Option<&[u8]> {
        let name = name.as_ref();
        self.iter().find(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    /// All values of this name in order.
    pub fn all(&self, name: impl AsRef<[u8]>) -> Vec<&[u8]> {
        let name = name.as_ref();
        self.iter().filter(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, value)| value).collect()
    }

    /// The first value of this name as text, for assertions; bytes that are not UTF-8 become U+FFFD.
    pub fn text(&self, name: impl AsRef<[u8]>) -> Option<String> {
        self.first(name).map(|value| String::from_utf8_lossy(value).into_owned())
    }

    /// Appends a header, whatever its name and value are.
    pub fn add(&mut self, name: impl Into<Vec<u8>>, value: impl Into<Vec<u8>>) {
        self.pairs.push((name.into(), value.into()));
    }

    /// Removes all headers of this name, then appends one.
    pub fn replace(&mut self, name: impl Into<Vec<u8>>, value: impl Into<Vec<u8>>) {
        let name = name.into();
        self.remove(&name);
        self.add(name, value);
    }

    /// Removes all headers of this name.
    pub fn remove(&mut self, name: impl AsRef<[u8]>) {
        let name = name.as_ref();
        self.pairs.retain(|(n, _)| !n.eq_ignore_ascii_case(name));
    }

    /// The size of all names and values together, in bytes.
    #[must_use]
    pub fn byte_size(&self) -> usize {
        self.pairs.iter().map(|(name, value)| name.len() + value.len()).sum()
    }

    /// The same map with names lower-cased.
    #[must_use]
    pub(super) fn lower_cased(self) -> Self {
        let pairs = self.pairs.into_iter().map(|(name, value)| (name.to_ascii_lowercase(), value));
        Self { pairs: pairs.collect() }
    }

    /// The serialized form: the count, a table of name and value lengths, then names and values, each with a
    /// terminating NUL; numbers are 32-bit little-endian.
    #[must_use]
    pub fn to_wire(&self) -> Vec<u8> {
        let length = |bytes: &[u8]| u32::try_from(bytes.len()).unwrap_or(u32::MAX).to_le_bytes();
        let mut wire = Vec::with_capacity(4 + self.pairs.len() * 10 + self.byte_size());
        wire.extend(u32::try_from(self.pairs.len()).unwrap_or(u32::MAX).to_le_bytes());
        for (name, value) in &self.pairs {
            wire.extend(length(name));
            wire.extend(length(value));
        }
        for part in self.pairs.iter().flat_map(|(name, value)| [name, value]) {
            wire.extend_from_slice(part);
            wire.push(0);
        }
        wire
    }

    /// Reads the serialized form. What does not parse is an empty map, as for Envoy.
    #[must_use]
    pub fn from_wire(wire: &[u8]) -> Self {
        Self::parse(wire).unwrap_or_default()
    }

    fn parse(wire: &[u8]) -> Option<Self> {
        let word = |at: usize| {
            let bytes = wire.get(at..at.checked_add(4)?)?;
            usize::try_from(u32::from_le_bytes(bytes.try_into().ok()?)).ok()
        };
        let count = word(0)?;
        let table_end = count.checked_mul(8)?.checked_add(4)?;
        if table_end > wire.len() {
            return None;
        }
        let mut at = table_end;
        let mut take = |length: usize| {
            let part = wire.get(at..at.checked_add(length)?)?.to_vec();
            at += length + 1;
            Some(part)
        };
        let mut pairs = Vec::with_capacity(count);
        for row in 0..count {
            let name = take(word(4 + row * 8)?)?;
            let value = take(word(8 + row * 8)?)?;
            pairs.push((name, value));
        }
        Some(Self { pairs })
    }
}

impl<N: Into<Vec<u8>>, V: Into<Vec<u8>>> FromIterator<(N, V)> for HeaderMap {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(pairs: I) -> Self {
        Self { pairs: pairs.into_iter().map(|(name, value)| (name.into(), value.into())).collect() }
    }
}

impl<N: Into<Vec<u8>>, V: Into<Vec<u8>>, const COUNT: usize> From<[(N, V); COUNT]> for HeaderMap {
    fn from(pairs: [(N, V); COUNT]) -> Self {
        pairs.into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::HeaderMap;

    #[test]
    fn survives_its_wire_form() {
        for map in [
            HeaderMap::new(),
            HeaderMap::from([("a", "1")]),
            HeaderMap::from([
                (b"a".to_vec(), b"1".to_vec()),
                (b"a".to_vec(), vec![0, 0xff]),
                (vec![], vec![]),
            ]),
        ] {
            assert_eq!(HeaderMap::from_wire(&map.to_wire()), map);
        }
    }

    #[test]
    fn reads_nothing_from_a_wire_form_that_lies_about_its_lengths() {
        for (name, lie) in super::super::Lie::malformed_maps() {
            let super::super::Lie::Bytes(wire) = lie else { panic!("{name}") };
            let expected = if matches!(name, "bytes after the end" | "a missing terminator") { 2 } else { 0 };
            assert_eq!(HeaderMap::from_wire(&wire).len(), expected, "{name}");
        }
    }
}
