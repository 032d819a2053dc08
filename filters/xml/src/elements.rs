//! The elements that are open.

use crate::namespaces::NamespaceNames;
use crate::token::{Name, NamespaceId};

/// Open elements, the innermost last, and the name of one whose tag is being read.
#[derive(Debug, Default)]
pub(crate) struct Elements {
    /// The names as written, one after the other.
    names: String,
    open: Vec<Element>,
}

#[derive(Debug, Clone, Copy)]
struct Element {
    start: usize,
    colon: Option<usize>,
    namespace: NamespaceId,
    /// How many namespace declarations were in scope around it.
    bindings: usize,
}

impl Elements {
    pub(crate) fn depth(&self) -> usize {
        self.open.len()
    }

    pub(crate) fn memory(&self) -> usize {
        self.names.capacity().saturating_add(self.open.capacity().saturating_mul(size_of::<Element>()))
    }

    /// Begins an element, whose name comes in pieces.
    pub(crate) fn open(&mut self, bindings: usize) {
        let start = self.names.len();
        self.open.push(Element { start, colon: None, namespace: NamespaceId::NONE, bindings });
    }

    /// Adds to the name of the innermost element.
    #[inline]
    pub(crate) fn push_name(&mut self, piece: &str) {
        self.names.push_str(piece);
    }

    /// Says how many bytes of its name stand before the colon.
    #[inline]
    pub(crate) fn set_colon(&mut self, colon: Option<usize>) {
        if let Some(element) = self.open.last_mut() {
            element.colon = colon;
        }
    }

    /// Says what its prefix stands for.
    #[inline]
    pub(crate) fn set_namespace(&mut self, namespace: NamespaceId) {
        if let Some(element) = self.open.last_mut() {
            element.namespace = namespace;
        }
    }

    /// The innermost element's name as written, empty if none is open.
    #[inline]
    pub(crate) fn qualified_name(&self) -> &str {
        self.open.last().and_then(|element| self.names.get(element.start..)).unwrap_or_default()
    }

    /// The innermost element's prefix, empty if it has none.
    #[inline]
    pub(crate) fn prefix(&self) -> &str {
        match self.open.last() {
            Some(Element { start, colon: Some(colon), .. }) => {
                self.names.get(*start..start.saturating_add(*colon)).unwrap_or_default()
            }
            _ => "",
        }
    }

    /// The innermost element's name.
    #[inline]
    pub(crate) fn name<'a>(&'a self, namespaces: &'a NamespaceNames) -> Name<'a> {
        let namespace_id = self.open.last().map_or(NamespaceId::NONE, |element| element.namespace);
        let colon = self.open.last().and_then(|element| element.colon);
        let (prefix, local) = split(self.qualified_name(), colon);
        Name { prefix, local, namespace: namespaces.name(namespace_id), namespace_id }
    }

    /// Ends the innermost element; gives how many namespace declarations are in scope behind it.
    #[inline]
    pub(crate) fn close(&mut self) -> usize {
        let Some(element) = self.open.pop() else { return 0 };
        self.names.truncate(element.start);
        element.bindings
    }
}

/// Prefix and local part, if that many bytes stand before the colon.
#[inline]
pub(crate) fn split(name: &str, colon: Option<usize>) -> (&str, &str) {
    match colon.and_then(|colon| name.split_at_checked(colon)) {
        Some((prefix, rest)) => (prefix, rest.strip_prefix(':').unwrap_or(rest)),
        None => ("", name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gives_the_names_back_in_reverse() {
        let names = NamespaceNames::default();
        let mut elements = Elements::default();
        elements.open(0);
        elements.push_name("so");
        elements.push_name("ap:Body");
        elements.set_colon(Some(4));
        elements.set_namespace(NamespaceId::XML);
        elements.open(3);
        elements.push_name("order");

        assert_eq!((elements.depth(), elements.qualified_name(), elements.prefix()), (2, "order", ""));
        assert_eq!(elements.close(), 3);
        assert_eq!((elements.qualified_name(), elements.prefix()), ("soap:Body", "soap"));
        let name = elements.name(&names);
        assert_eq!((name.prefix, name.local, name.namespace_id), ("soap", "Body", NamespaceId::XML));
        assert_eq!(elements.close(), 0);
        assert_eq!((elements.depth(), elements.qualified_name()), (0, ""));
    }
}
