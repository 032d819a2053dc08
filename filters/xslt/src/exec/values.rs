//! Values that are kept, and how much they take.

use core::ops::Range;

use portcullis_xml::NodeId;
use portcullis_xml::xpath::Value;

/// The values of variables, one template's behind the other's.
#[derive(Debug, Default)]
pub(super) struct Values {
    values: Vec<Value<'static>>,
    /// What those take that are there.
    bytes: usize,
}

/// What takes no memory of its own.
const NOTHING: Value<'static> = Value::Boolean(false);

impl Values {
    pub(super) fn len(&self) -> usize {
        self.values.len()
    }

    /// How many bytes they take, with their text and node lists.
    pub(super) fn bytes(&self) -> usize {
        Self::bytes_of_places(self.values.len()).saturating_add(self.bytes)
    }

    /// How many bytes so many take that have no value yet.
    #[inline]
    pub(super) fn bytes_of_places(count: usize) -> usize {
        count.saturating_mul(size_of::<Value<'_>>())
    }

    pub(super) fn get(&self, range: Range<usize>) -> &[Value<'static>] {
        self.values.get(range).unwrap_or_default()
    }

    pub(super) fn from(&self, start: usize) -> &[Value<'static>] {
        self.values.get(start..).unwrap_or_default()
    }

    pub(super) fn push(&mut self, value: Value<'static>) {
        self.bytes = self.bytes.saturating_add(bytes_of(&value));
        self.values.push(value);
    }

    pub(super) fn set(&mut self, index: usize, value: Value<'static>) {
        if let Some(slot) = self.values.get_mut(index) {
            self.bytes = self.bytes.saturating_sub(bytes_of(slot)).saturating_add(bytes_of(&value));
            *slot = value;
        }
    }

    /// A value, in place of which there is nothing then.
    fn take(&mut self, index: usize) -> Option<Value<'static>> {
        let value = core::mem::replace(self.values.get_mut(index)?, NOTHING);
        self.bytes = self.bytes.saturating_sub(bytes_of(&value));
        Some(value)
    }

    /// So many more that have no value yet.
    pub(super) fn extend(&mut self, more: usize) {
        self.values.resize(self.values.len().saturating_add(more), NOTHING);
    }

    pub(super) fn truncate(&mut self, len: usize) {
        self.remove(len..self.values.len());
    }

    pub(super) fn remove(&mut self, range: Range<usize>) {
        if range.start < range.end && range.end <= self.values.len() {
            let freed = self.values.drain(range).map(|value| bytes_of(&value)).fold(0, usize::saturating_add);
            self.bytes = self.bytes.saturating_sub(freed);
        }
    }
}

/// Arguments that templates have been or will be given, each with the number of its name.
#[derive(Debug, Default)]
pub(super) struct Arguments {
    names: Vec<u32>,
    values: Values,
}

impl Arguments {
    /// What one takes besides its text or node list.
    pub(super) const PLACE: usize = size_of::<Value<'_>>() + size_of::<u32>();

    pub(super) fn len(&self) -> usize {
        self.names.len()
    }

    pub(super) fn bytes(&self) -> usize {
        self.values.bytes()
    }

    pub(super) fn push(&mut self, name: u32, value: Value<'static>) {
        self.names.push(name);
        self.values.push(value);
    }

    /// The values of those in the range.
    pub(super) fn get(&self, given: Range<usize>) -> &[Value<'static>] {
        self.values.get(given)
    }

    /// The argument of a name among those in the range.
    pub(super) fn find(&self, given: Range<usize>, name: u32) -> Option<&Value<'static>> {
        let names = self.names.get(given.clone()).unwrap_or_default();
        let index = names.iter().position(|given| *given == name)?;
        self.values.get(given).get(index)
    }

    /// The same, which is no longer there then.
    pub(super) fn take(&mut self, given: Range<usize>, name: u32) -> Option<Value<'static>> {
        let names = self.names.get(given.clone()).unwrap_or_default();
        let index = names.iter().position(|given| *given == name)?;
        self.values.take(given.start.saturating_add(index))
    }

    pub(super) fn truncate(&mut self, len: usize) {
        self.remove(len..self.names.len());
    }

    pub(super) fn remove(&mut self, range: Range<usize>) {
        if range.start < range.end && range.end <= self.names.len() {
            self.names.drain(range.clone());
            self.values.remove(range);
        }
    }
}

/// What a value takes besides its place.
pub(super) fn bytes_of(value: &Value<'_>) -> usize {
    match value {
        Value::Nodes(nodes) => size_of_val::<[NodeId]>(nodes),
        Value::String(text) => text.len(),
        Value::Boolean(_) | Value::Number(_) => 0,
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::*;

    const PLACE: usize = size_of::<Value<'_>>();

    fn text(text: &'static str) -> Value<'static> {
        Value::String(Cow::Borrowed(text))
    }

    #[test]
    fn bytes_are_those_of_the_values_that_are_there() {
        let mut values = Values::default();
        values.push(text("abc"));
        values.extend(2);
        values.set(1, text("defg"));
        assert_eq!((values.len(), values.bytes()), (3, 3 * PLACE + 7));
        values.set(1, text("x"));
        assert_eq!(values.bytes(), 3 * PLACE + 4);
        values.remove(0..1);
        assert_eq!((values.len(), values.bytes()), (2, 2 * PLACE + 1));
        values.truncate(0);
        assert_eq!((values.len(), values.bytes()), (0, 0));
        values.truncate(5);
        assert_eq!(values.len(), 0);
    }

    #[test]
    fn arguments_are_found_in_their_range_alone() {
        let mut arguments = Arguments::default();
        arguments.push(1, text("outer"));
        arguments.push(2, text("b"));
        arguments.push(1, text("inner"));
        assert_eq!(arguments.find(1..3, 1), Some(&text("inner")));
        assert_eq!(arguments.find(1..3, 3), None);
        assert_eq!(arguments.take(1..2, 2), Some(text("b")));
        assert_eq!(arguments.bytes(), 3 * PLACE + 10);
        arguments.remove(0..1);
        assert_eq!((arguments.len(), arguments.bytes()), (2, 2 * PLACE + 5));
        assert_eq!(arguments.find(0..1, 1), None);
    }
}
