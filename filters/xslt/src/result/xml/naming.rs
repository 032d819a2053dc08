//! Names and namespace declarations.

use portcullis_xml::tree::{Attached, Document, Names, NodeId, PrefixId, UriId};

use super::{State, XmlSerializer};
use crate::result::in_scope::InScope;
use crate::result::scope::Binding;
use crate::result::{ResultError, ResultName, escape};

impl XmlSerializer {
    pub(in crate::result) fn namespace(
        &mut self,
        names: &Names,
        prefix: PrefixId,
        uri: UriId,
    ) -> Result<Attached, ResultError> {
        if self.state != State::Tag {
            return Ok(Attached::TooLate);
        }
        let Some(binding) = self.scope.of_node(names, prefix, uri)? else { return Ok(Attached::TooLate) };
        if let Binding::New(_) = binding {
            self.declare(names, binding, uri);
        }
        self.check()?;
        Ok(Attached::Yes)
    }

    pub(in crate::result) fn namespaces_of(
        &mut self,
        document: &Document,
        element: NodeId,
    ) -> Result<usize, ResultError> {
        if self.state != State::Tag {
            return Ok(0);
        }
        let scope = document.scope(element);
        let parent = self.open.len().checked_sub(2).and_then(|parent| self.open.get(parent));
        let outer = parent.and_then(|parent| parent.namespaces);
        let names = document.names();
        let mut all = true;
        let mut count = 0_usize;
        if outer == Some(scope) {
            // Its parent in the result has them.
        } else if outer.is_some() && outer == document.parent(element).map(|parent| document.scope(parent)) {
            // Its parent has the others.
            for (prefix, uri) in document.declarations(element).filter(|(_, uri)| *uri != UriId::NONE) {
                all &= self.namespace(names, prefix, uri)? == Attached::Yes;
                count = count.saturating_add(1);
            }
        } else {
            let namespaces = self.in_scope.take(document, scope);
            count = namespaces.len();
            for (prefix, uri) in &namespaces {
                all &= self.namespace(names, *prefix, *uri)? == Attached::Yes;
            }
            self.in_scope.put_back(scope, namespaces);
        }
        if let Some(element) = self.open.last_mut() {
            element.namespaces = all.then_some(scope);
        }
        Ok(count)
    }

    /// The numbers of scopes may be those of others from here on, but for those of what is open.
    pub(in crate::result) fn forget_scopes(&mut self) {
        self.in_scope = InScope::default();
    }

    /// Writes the name of the element that was just entered, and what has to be declared for it; where the name ends.
    pub(super) fn write_element_name(
        &mut self,
        names: &Names,
        name: ResultName,
    ) -> Result<usize, ResultError> {
        let uri = names.namespace(name.name);
        let binding = self.scope.of_element(names, name.prefix, uri)?;
        let from = self.out.len();
        self.write_name(names, binding, name);
        let end = self.out.len();
        if self.scope.is_first_choice(names, name.prefix, uri, binding.prefix())
            && let Some(text) = self.out.get(from..)
        {
            self.written.note(name, binding.prefix(), uri, text);
        }
        if let Binding::New(_) = binding {
            self.declare(names, binding, uri);
        }
        Ok(end)
    }

    /// Writes a name with the prefix that was found for it.
    pub(super) fn write_name(&mut self, names: &Names, binding: Binding, name: ResultName) {
        let prefix = self.scope.text(binding.prefix());
        if !prefix.is_empty() {
            self.out.extend_from_slice(prefix.as_bytes());
            self.out.push(b':');
        }
        self.out.extend_from_slice(names.local(name.name).as_bytes());
    }

    /// Declares a prefix in the start tag that is being written.
    pub(super) fn declare(&mut self, names: &Names, binding: Binding, uri: UriId) {
        let prefix = self.scope.text(binding.prefix());
        self.out.extend_from_slice(b" xmlns");
        if !prefix.is_empty() {
            self.out.push(b':');
            self.out.extend_from_slice(prefix.as_bytes());
        }
        self.out.extend_from_slice(b"=\"");
        escape::write_attribute(&mut self.out, names.uri_text(uri));
        self.out.push(b'"');
    }
}
