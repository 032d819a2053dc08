//! The names of the namespaces that a document uses.

use std::collections::BTreeMap;

use super::{SEARCHED, XML, in_map};
use crate::token::NamespaceId;

/// Namespace names, each once, for the whole of a document: identifiers are handed out and must stay true.
#[derive(Debug, Default)]
pub(crate) struct NamespaceNames {
    text: String,
    /// Where each name ends in `text`; the first is that of identifier `FIRST`.
    ends: Vec<usize>,
    /// The names by text, once there are many.
    index: BTreeMap<Box<str>, NamespaceId>,
    steps: u64,
}

/// Identifiers below it are fixed.
const FIRST: u32 = 2;

impl NamespaceNames {
    /// The namespace's name.
    pub(crate) fn name(&self, id: NamespaceId) -> &str {
        match id {
            NamespaceId::NONE => "",
            NamespaceId::XML => XML,
            NamespaceId(number) => usize::try_from(number.saturating_sub(FIRST))
                .ok()
                .and_then(|place| self.at(place))
                .unwrap_or_default(),
        }
    }

    /// The identifier of a namespace; `None` if it would be the first beyond the limit.
    pub(crate) fn identify(&mut self, name: &str, limit: u32) -> Option<NamespaceId> {
        if name.is_empty() {
            return Some(NamespaceId::NONE);
        }
        if name == XML {
            return Some(NamespaceId::XML);
        }
        if let Some(known) = self.find(name) {
            return Some(known);
        }
        let number = u32::try_from(self.ends.len()).ok().filter(|number| *number < limit)?;
        let id = NamespaceId(number.checked_add(FIRST)?);
        self.text.push_str(name);
        self.ends.push(self.text.len());
        if !self.index.is_empty() {
            self.index.insert(name.into(), id);
        } else if self.ends.len() > SEARCHED {
            self.index = (FIRST..=id.0).map(NamespaceId).map(|id| (Box::from(self.name(id)), id)).collect();
        }
        Some(id)
    }

    pub(crate) fn memory(&self) -> usize {
        let ends = self.ends.capacity().saturating_mul(size_of::<usize>());
        let index = in_map(self.index.len(), self.text.len());
        self.text.capacity().saturating_add(ends).saturating_add(index)
    }

    /// Comparisons made so far.
    pub(crate) fn steps(&self) -> u64 {
        self.steps
    }

    fn at(&self, place: usize) -> Option<&str> {
        let start = match place.checked_sub(1) {
            Some(before) => self.ends.get(before).copied()?,
            None => 0,
        };
        self.text.get(start..self.ends.get(place).copied()?)
    }

    fn find(&mut self, name: &str) -> Option<NamespaceId> {
        if !self.index.is_empty() {
            self.steps = self.steps.saturating_add(u64::from(self.index.len().ilog2()).saturating_add(1));
            return self.index.get(name).copied();
        }
        self.steps = self.steps.saturating_add(u64::try_from(self.ends.len()).unwrap_or(u64::MAX));
        let place = (0..self.ends.len()).find(|place| self.at(*place) == Some(name))?;
        u32::try_from(place).ok()?.checked_add(FIRST).map(NamespaceId)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gives_the_same_namespace_the_same_identifier_however_many_there_are() {
        let mut names = NamespaceNames::default();
        let all: Vec<String> = (0..100).map(|i| format!("urn:{i}")).collect();

        let first: Vec<NamespaceId> = all.iter().map(|name| names.identify(name, 100).unwrap()).collect();
        let again: Vec<NamespaceId> = all.iter().map(|name| names.identify(name, 100).unwrap()).collect();

        assert_eq!(first, again);
        let mut different = first.clone();
        different.dedup();
        assert_eq!(different.len(), 100);
        for (name, id) in all.iter().zip(first) {
            assert_eq!(names.name(id), name);
        }
    }

    #[test]
    fn knows_the_fixed_ones() {
        let mut names = NamespaceNames::default();
        assert_eq!(names.identify("", 0), Some(NamespaceId::NONE));
        assert_eq!(names.identify(XML, 0), Some(NamespaceId::XML));
        assert_eq!(names.name(NamespaceId::NONE), "");
        assert_eq!(names.name(NamespaceId::XML), XML);
    }

    #[test]
    fn takes_no_more_than_the_limit_and_still_finds_those() {
        let mut names = NamespaceNames::default();
        let one = names.identify("urn:1", 1);
        assert!(one.is_some());
        assert_eq!(names.identify("urn:2", 1), None);
        assert_eq!(names.identify("urn:1", 1), one);
    }
}
