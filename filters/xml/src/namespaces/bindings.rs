//! Which prefixes stand for which namespaces where the tokenizer is.

use std::collections::BTreeMap;

use super::{SEARCHED, in_map};
use crate::token::NamespaceId;

/// The declarations of the open elements, the innermost last. The default namespace has the empty prefix.
#[derive(Debug, Default)]
pub(crate) struct Bindings {
    /// The prefixes, one after the other.
    text: String,
    stack: Vec<Binding>,
    /// The default namespace's binding in force.
    default: Option<usize>,
    /// The binding in force of every other prefix, from when there have been many.
    index: Option<BTreeMap<Box<str>, usize>>,
    /// Counts the changes.
    version: u64,
    steps: u64,
}

#[derive(Debug)]
struct Binding {
    start: usize,
    end: usize,
    namespace: NamespaceId,
    /// The binding of the same prefix that is in force again behind the element. Kept for the default namespace, and
    /// for the others once there is an index.
    shadowed: Option<usize>,
}

impl Bindings {
    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.stack.len()
    }

    pub(crate) fn memory(&self) -> usize {
        let stack = self.stack.capacity().saturating_mul(size_of::<Binding>());
        let index = self.index.as_ref().map_or(0, |index| in_map(index.len(), self.text.len()));
        self.text.capacity().saturating_add(stack).saturating_add(index)
    }

    /// As long as it is the same, every prefix stands for what it stood for.
    #[inline]
    pub(crate) fn version(&self) -> u64 {
        self.version
    }

    /// What an element of that prefix belongs to: nothing if the prefix is not bound.
    #[inline]
    pub(crate) fn of_element(&mut self, prefix: &str) -> Option<NamespaceId> {
        match prefix {
            "" => Some(self.default_namespace()),
            prefix => self.of_attribute(prefix),
        }
    }

    /// What an attribute of that prefix, which is not empty, belongs to: nothing if it is not bound.
    #[inline]
    pub(crate) fn of_attribute(&mut self, prefix: &str) -> Option<NamespaceId> {
        self.find(prefix).or_else(|| (prefix == "xml").then_some(NamespaceId::XML))
    }

    /// What an element without a prefix belongs to.
    #[inline]
    fn default_namespace(&self) -> NamespaceId {
        self.default.and_then(|place| self.stack.get(place)).map_or(NamespaceId::NONE, |it| it.namespace)
    }

    /// What a prefix stands for, by declaration.
    #[inline]
    fn find(&mut self, prefix: &str) -> Option<NamespaceId> {
        let place = self.place(prefix)?;
        self.stack.get(place).map(|binding| binding.namespace)
    }

    /// Adds a declaration of the element whose declarations begin at `first`. False if it has one of that prefix.
    #[must_use]
    pub(crate) fn declare(&mut self, prefix: &str, namespace: NamespaceId, first: usize) -> bool {
        let shadowed = self.place(prefix);
        if shadowed.is_some_and(|place| place >= first) {
            return false;
        }
        self.version = self.version.wrapping_add(1);
        let (place, start) = (self.stack.len(), self.text.len());
        self.text.push_str(prefix);
        self.stack.push(Binding { start, end: self.text.len(), namespace, shadowed });
        if prefix.is_empty() {
            self.default = Some(place);
        } else if let Some(index) = &mut self.index {
            index.insert(prefix.into(), place);
        } else if self.stack.len() > SEARCHED {
            self.build_index();
        }
        true
    }

    /// Takes back all declarations but the first `kept`.
    #[inline]
    pub(crate) fn truncate(&mut self, kept: usize) {
        while self.stack.len() > kept {
            self.pop();
        }
    }

    /// Comparisons made so far.
    pub(crate) fn steps(&self) -> u64 {
        self.steps
    }

    fn pop(&mut self) {
        let Some(Binding { start, end, shadowed, .. }) = self.stack.pop() else { return };
        self.version = self.version.wrapping_add(1);
        self.steps = self.steps.saturating_add(1);
        let prefix = self.text.get(start..end).unwrap_or_default();
        if prefix.is_empty() {
            self.default = shadowed;
        } else if let Some(index) = &mut self.index {
            match (shadowed, index.get_mut(prefix)) {
                (Some(place), Some(current)) => *current = place,
                _ => {
                    index.remove(prefix);
                }
            }
        }
        self.text.truncate(start);
    }

    fn place(&mut self, prefix: &str) -> Option<usize> {
        if prefix.is_empty() {
            return self.default;
        }
        if let Some(index) = &self.index {
            let depth = index.len().checked_ilog2().unwrap_or_default();
            self.steps = self.steps.saturating_add(u64::from(depth)).saturating_add(1);
            return index.get(prefix).copied();
        }
        self.steps = self.steps.saturating_add(u64::try_from(self.stack.len()).unwrap_or(u64::MAX));
        let wanted = prefix.as_bytes();
        let text = self.text.as_bytes();
        self.stack.iter().rposition(|binding| text.get(binding.start..binding.end) == Some(wanted))
    }

    /// From now on prefixes are found in a tree.
    fn build_index(&mut self) {
        let mut index = BTreeMap::new();
        for (place, binding) in self.stack.iter_mut().enumerate() {
            let prefix = self.text.get(binding.start..binding.end).unwrap_or_default();
            if !prefix.is_empty() {
                binding.shadowed = index.insert(Box::from(prefix), place);
            }
        }
        self.index = Some(index);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_inner_declaration_hides_an_outer_one_until_it_is_taken_back() {
        for others in [0, 5, 15, 16, 40] {
            let mut bindings = Bindings::default();
            assert!(bindings.declare("p", NamespaceId(2), 0));
            assert!(bindings.declare("", NamespaceId(3), 0));
            for other in 0..others {
                assert!(bindings.declare(&format!("o{other}"), NamespaceId(9), 0));
            }
            let outer = bindings.len();
            assert!(bindings.declare("p", NamespaceId(4), outer));
            assert!(bindings.declare("", NamespaceId::NONE, outer));
            assert!(bindings.declare("q", NamespaceId(5), outer));

            assert_eq!(bindings.find("p"), Some(NamespaceId(4)), "{others}");
            assert_eq!(bindings.default_namespace(), NamespaceId::NONE);
            assert_eq!(bindings.find("q"), Some(NamespaceId(5)));

            bindings.truncate(outer);
            assert_eq!(bindings.find("p"), Some(NamespaceId(2)), "{others}");
            assert_eq!(bindings.default_namespace(), NamespaceId(3));
            assert_eq!(bindings.find("q"), None);

            bindings.truncate(0);
            assert_eq!(bindings.find("p"), None);
            assert_eq!(bindings.default_namespace(), NamespaceId::NONE);
        }
    }

    #[test]
    fn refuses_a_second_declaration_of_one_element_alone() {
        for others in [0, 40] {
            let mut bindings = Bindings::default();
            for other in 0..others {
                assert!(bindings.declare(&format!("o{other}"), NamespaceId(9), 0));
            }
            let first = bindings.len();
            assert!(bindings.declare("p", NamespaceId(2), first));
            assert!(!bindings.declare("p", NamespaceId(3), first));
            assert!(bindings.declare("", NamespaceId(2), first));
            assert!(!bindings.declare("", NamespaceId(3), first));
            let next = bindings.len();
            assert!(bindings.declare("p", NamespaceId(3), next));
        }
    }
}
