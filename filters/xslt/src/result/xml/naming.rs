//! Names and namespace declarations.

use portcullis_xml::tree::{Names, UriId};

use super::XmlSerializer;
use crate::result::scope::Binding;
use crate::result::{ResultError, ResultName, escape};

impl XmlSerializer {
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
            && let Some(Ok(text)) = self.out.get(from..).map(str::from_utf8)
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
