//! What stands in a start tag behind the element's name.

use core::cmp::Ordering;

use crate::namespaces::NamespaceNames;
use crate::token::{AttributeRecord, Attributes, DeclarationRecord, NamespaceId};

/// Attributes and namespace declarations of the tag that is being read.
#[derive(Debug, Default)]
pub(crate) struct Tag {
    /// Names as written and normalized values, one after the other.
    text: String,
    attributes: Vec<AttributeRecord>,
    declarations: Vec<DeclarationRecord>,
    /// Where in `text` the name begins that was read last, and its value.
    name_start: usize,
    value_start: usize,
    kind: Kind,
    steps: u64,
}

/// What a name in a tag turned out to be.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    #[default]
    Attribute,
    Declaration,
}

/// Up to that many attributes are compared with each other; more are sorted.
const COMPARED: usize = 12;

impl Tag {
    /// Forgets the tag.
    #[inline]
    pub(crate) fn clear(&mut self) {
        self.text.clear();
        self.attributes.clear();
        self.declarations.clear();
    }

    pub(crate) fn memory(&self) -> usize {
        let attributes = self.attributes.capacity().saturating_mul(size_of::<AttributeRecord>());
        let declarations = self.declarations.capacity().saturating_mul(size_of::<DeclarationRecord>());
        self.text.capacity().saturating_add(attributes).saturating_add(declarations)
    }

    /// Begins an attribute or a declaration, whose name comes in pieces.
    pub(crate) fn begin(&mut self) {
        self.name_start = self.text.len();
    }

    pub(crate) fn push_name(&mut self, piece: &str) {
        self.text.push_str(piece);
    }

    /// Ends the name; `order` is its number among those of the tag.
    pub(crate) fn end_name(&mut self, colon: Option<usize>, order: usize) -> Kind {
        let (start, end) = (self.name_start, self.text.len());
        let name = self.text.get(start..end).unwrap_or_default();
        let (prefix, local) = match colon.and_then(|colon| start.checked_add(colon)) {
            Some(colon) => (start..colon, colon.saturating_add(1)..end),
            None => (start..start, start..end),
        };
        self.value_start = end;
        let namespace = NamespaceId::NONE;
        if name == "xmlns" || name.starts_with("xmlns:") {
            // What is declared is the part behind the colon: nothing for the default namespace.
            let prefix = if colon.is_some() { local } else { prefix };
            self.declarations.push(DeclarationRecord { order, prefix, value: end..end, namespace });
            self.kind = Kind::Declaration;
        } else {
            self.attributes.push(AttributeRecord { order, prefix, local, value: end..end, namespace });
            self.kind = Kind::Attribute;
        }
        self.kind
    }

    /// How long the value is so far.
    #[inline]
    pub(crate) fn value_len(&self) -> usize {
        self.text.len().saturating_sub(self.value_start)
    }

    #[inline]
    pub(crate) fn push_value(&mut self, piece: &str) {
        self.text.push_str(piece);
    }

    pub(crate) fn end_value(&mut self) {
        let value = self.value_start..self.text.len();
        match self.kind {
            Kind::Attribute => self.attributes.last_mut().map(|it| it.value = value),
            Kind::Declaration => self.declarations.last_mut().map(|it| it.value = value),
        };
    }

    pub(crate) fn attribute_count(&self) -> usize {
        self.attributes.len()
    }

    pub(crate) fn declaration_count(&self) -> usize {
        self.declarations.len()
    }

    /// The declarations, to be told what they declare, and the text that they point into.
    pub(crate) fn declarations_mut(&mut self) -> (&mut [DeclarationRecord], &str) {
        (&mut self.declarations, &self.text)
    }

    /// The attributes, to be told their namespaces, and the text that they point into.
    pub(crate) fn attributes_mut(&mut self) -> (&mut [AttributeRecord], &str) {
        (&mut self.attributes, &self.text)
    }

    pub(crate) fn declarations(&self) -> &[DeclarationRecord] {
        &self.declarations
    }

    /// The prefix that a declaration binds.
    pub(crate) fn prefix(&self, declaration: &DeclarationRecord) -> &str {
        self.text.get(declaration.prefix.clone()).unwrap_or_default()
    }

    pub(crate) fn attributes<'a>(&'a self, namespaces: &'a NamespaceNames) -> Attributes<'a> {
        Attributes::new(&self.attributes, &self.text, namespaces)
    }

    /// The first attribute whose expanded name another has before it: its number among the tag's names, and its name
    /// as written.
    pub(crate) fn duplicate(&mut self) -> Option<(usize, &str)> {
        let (text, attributes) = (self.text.as_str(), self.attributes.as_slice());
        let mut steps = 0_u64;
        let mut compare = |one: &AttributeRecord, other: &AttributeRecord| {
            steps = steps.saturating_add(1);
            let local = |it: &AttributeRecord| text.get(it.local.clone()).unwrap_or_default();
            one.namespace
                .cmp(&other.namespace)
                .then_with(|| one.local.len().cmp(&other.local.len()))
                .then_with(|| local(one).cmp(local(other)))
        };
        let found = if attributes.len() <= COMPARED {
            attributes.iter().enumerate().position(|(place, later)| {
                attributes.iter().take(place).any(|earlier| compare(earlier, later) == Ordering::Equal)
            })
        } else {
            let mut sorted: Vec<(usize, &AttributeRecord)> = attributes.iter().enumerate().collect();
            sorted.sort_unstable_by(|(place, one), (other_place, other)| {
                compare(one, other).then_with(|| place.cmp(other_place))
            });
            let pairs = sorted.iter().zip(sorted.iter().skip(1));
            pairs
                .filter(|((_, one), (_, other))| compare(one, other) == Ordering::Equal)
                .map(|(_, (place, _))| *place)
                .min()
        };
        self.steps = self.steps.saturating_add(steps);
        let attribute = self.attributes.get(found?)?;
        let start = if attribute.prefix.is_empty() { attribute.local.start } else { attribute.prefix.start };
        Some((attribute.order, self.text.get(start..attribute.local.end).unwrap_or_default()))
    }

    /// Comparisons made so far.
    pub(crate) fn steps(&self) -> u64 {
        self.steps
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tag(names: &[(&str, u32)]) -> Tag {
        let mut tag = Tag::default();
        for (order, (name, _)) in names.iter().enumerate() {
            tag.begin();
            tag.push_name(name);
            assert_eq!(tag.end_name(name.find(':'), order), Kind::Attribute);
            tag.push_value("v");
            tag.end_value();
        }
        for (record, (_, namespace)) in tag.attributes.iter_mut().zip(names) {
            record.namespace = NamespaceId(*namespace);
        }
        tag
    }

    #[test]
    fn finds_the_first_attribute_that_repeats_an_expanded_name() {
        for others in [0, COMPARED * 2] {
            let others: Vec<String> = (0..others).map(|i| format!("o{i}")).collect();
            let mut names: Vec<(&str, u32)> = others.iter().map(|name| (name.as_str(), 0)).collect();
            let first = names.len();
            names.extend([("a", 0), ("p:a", 2), ("q:b", 2), ("r:a", 3)]);
            assert_eq!(tag(&names).duplicate(), None);

            names.extend([("q:a", 2), ("a", 0)]);
            assert_eq!(tag(&names).duplicate(), Some((first + 4, "q:a")));
        }
    }

    #[test]
    fn tells_declarations_from_attributes() {
        for (name, expected) in [
            ("xmlns", Kind::Declaration),
            ("xmlns:p", Kind::Declaration),
            ("xmlnsp", Kind::Attribute),
            ("p:xmlns", Kind::Attribute),
            ("xml:lang", Kind::Attribute),
        ] {
            let mut tag = Tag::default();
            tag.begin();
            tag.push_name(name);
            assert_eq!(tag.end_name(name.find(':'), 0), expected, "{name}");
        }
    }
}
