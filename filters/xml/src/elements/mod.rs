//! The elements that are open.

mod seen;

use seen::SeenNames;

use crate::bytes::begins_with;
use crate::namespaces::{Bindings, NamespaceNames};
use crate::token::{Name, NamespaceId};

/// Open elements, the innermost last, and the name of one whose tag is being read.
#[derive(Debug, Default)]
pub(crate) struct Elements {
    open: Vec<Element>,
    /// The names that are remembered.
    seen: SeenNames,
    /// What there is to know of the names that are not, and these names as written, one after the other.
    others: Vec<OtherName>,
    text: String,
}

#[derive(Debug, Clone, Copy)]
struct Element {
    /// The number of its name if that is remembered; else it is the last of the others.
    seen: Option<u32>,
    /// How many namespace declarations were in scope around it.
    bindings: usize,
}

#[derive(Debug, Clone, Copy)]
struct OtherName {
    start: usize,
    colon: Option<usize>,
    namespace: NamespaceId,
}

impl Elements {
    #[inline]
    pub(crate) fn depth(&self) -> usize {
        self.open.len()
    }

    pub(crate) fn memory(&self) -> usize {
        let open = self.open.capacity().saturating_mul(size_of::<Element>());
        let others = self.others.capacity().saturating_mul(size_of::<OtherName>());
        [open, others, self.text.capacity(), self.seen.memory()].into_iter().fold(0, usize::saturating_add)
    }

    /// Begins an element, whose name comes in pieces.
    pub(crate) fn open(&mut self, bindings: usize) {
        self.open.push(Element { seen: None, bindings });
        self.others.push(OtherName { start: self.text.len(), colon: None, namespace: NamespaceId::NONE });
    }

    /// Begins an element whose name, the first thing in `rest`, is the one that was to be expected, with all that there
    /// is to know of it. Gives how many bytes the name has.
    #[inline]
    pub(crate) fn open_expected(&mut self, rest: &[u8], bindings: &mut Bindings) -> Option<usize> {
        let (number, length) = self.seen.take_next(rest, bindings)?;
        self.open.push(Element { seen: Some(number), bindings: bindings.len() });
        Some(length)
    }

    /// How many bytes the innermost element's name has, if that is the first thing in `rest`, and `>` comes behind.
    #[inline]
    pub(crate) fn is_ended_by(&self, rest: &[u8]) -> Option<usize> {
        let length = match self.open.last()?.seen {
            Some(number) => self.seen.begins(number, rest)?,
            None => {
                let name = self.qualified_name().as_bytes();
                begins_with(rest, name).then_some(name.len())?
            }
        };
        (rest.get(length) == Some(&b'>')).then_some(length)
    }

    /// Adds to the name of the innermost element.
    pub(crate) fn push_name(&mut self, piece: &str) {
        self.text.push_str(piece);
    }

    /// Says how many bytes of its name stand before the colon.
    pub(crate) fn set_colon(&mut self, colon: Option<usize>) {
        if let Some(name) = self.others.last_mut() {
            name.colon = colon;
        }
    }

    /// Whether what its prefix stands for is known already, if its tag declares nothing.
    #[inline]
    pub(crate) fn is_expected(&self) -> bool {
        self.number().is_some()
    }

    /// Says what its prefix stands for, and remembers its name.
    pub(crate) fn set_namespace(&mut self, namespace: NamespaceId, bindings: &Bindings) {
        if let Some(number) = self.number() {
            if self.seen.namespace(number) == namespace {
                return;
            }
            // Its own tag has given another meaning to the prefix.
            let (name, colon) = self.seen.name(number);
            let start = self.text.len();
            self.text.push_str(name);
            self.others.push(OtherName { start, colon, namespace });
        }
        let (Some(element), Some(name)) = (self.open.last_mut(), self.others.last_mut()) else { return };
        name.namespace = namespace;
        let text = self.text.get(name.start..).unwrap_or_default();
        element.seen = self.seen.take(text, name.colon, namespace, bindings.version());
        if element.seen.is_some() {
            self.text.truncate(name.start);
            self.others.pop();
        }
    }

    /// The innermost element's name as written, empty if none is open.
    #[inline]
    pub(crate) fn qualified_name(&self) -> &str {
        self.written().0
    }

    /// The innermost element's prefix, empty if it has none.
    pub(crate) fn prefix(&self) -> &str {
        let (name, colon) = self.written();
        split(name, colon).0
    }

    /// The innermost element's name.
    pub(crate) fn name<'a>(&'a self, namespaces: &'a NamespaceNames) -> Name<'a> {
        let (name, colon) = self.written();
        let (prefix, local) = split(name, colon);
        let namespace_id = match self.number() {
            Some(number) => self.seen.namespace(number),
            None => self.others.last().map_or(NamespaceId::NONE, |name| name.namespace),
        };
        Name { prefix, local, namespace: namespaces.name(namespace_id), namespace_id }
    }

    /// The number of the innermost element's name if it is remembered: the same number is the same name throughout.
    #[inline]
    pub(crate) fn number(&self) -> Option<u32> {
        self.open.last()?.seen
    }

    /// Ends the innermost element; gives how many namespace declarations are in scope behind it.
    #[inline]
    pub(crate) fn close(&mut self) -> usize {
        let Some(element) = self.open.pop() else { return 0 };
        if element.seen.is_none()
            && let Some(name) = self.others.pop()
        {
            self.text.truncate(name.start);
        }
        element.bindings
    }

    /// The innermost element's name, and how many bytes of it stand before the colon.
    fn written(&self) -> (&str, Option<usize>) {
        match (self.open.last(), self.others.last()) {
            (Some(Element { seen: Some(number), .. }), _) => self.seen.name(*number),
            (Some(_), Some(name)) => (self.text.get(name.start..).unwrap_or_default(), name.colon),
            _ => ("", None),
        }
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
        let (names, bindings) = (NamespaceNames::default(), Bindings::default());
        let mut elements = Elements::default();
        elements.open(0);
        elements.push_name("so");
        elements.push_name("ap:Body");
        elements.set_colon(Some(4));
        elements.set_namespace(NamespaceId::XML, &bindings);
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
