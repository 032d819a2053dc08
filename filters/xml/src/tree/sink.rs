//! Building a tree from tokens.

use super::builder::{Full, TreeBuilder};
use super::names::{NameId, PrefixId, UriId};
use super::node::{NodeKind, Tag};
use crate::token::{Control, Name, NamespaceId, Sink, StartTag};

impl TreeBuilder {
    fn name(&mut self, name: Name<'_>) -> Result<(NameId, PrefixId), Full> {
        let uri = self.uri(name.namespace_id, name.namespace)?;
        let names = &mut self.document.names;
        let prefix = if name.prefix.is_empty() { Some(PrefixId::NONE) } else { names.prefix(name.prefix) };
        match (names.name(uri, name.local), prefix) {
            (Some(name), Some(prefix)) => Ok((name, prefix)),
            _ => self.fail(Full::Text),
        }
    }

    /// A name to which the tokenizer has given a number.
    #[inline]
    fn numbered_name(&mut self, number: u32, tag: &StartTag<'_>) -> Result<(NameId, PrefixId), Full> {
        let number = usize::try_from(number).unwrap_or(usize::MAX);
        if let Some(Some(known)) = self.known.get(number) {
            return Ok(*known);
        }
        let found = self.name(tag.name())?;
        // The tokenizer counts them from 0.
        if number >= self.known.len() {
            self.known.resize(number.saturating_add(1), None);
        }
        if let Some(known) = self.known.get_mut(number) {
            *known = Some(found);
        }
        Ok(found)
    }

    fn uri(&mut self, id: NamespaceId, uri: &str) -> Result<UriId, Full> {
        let index = usize::try_from(id.0).unwrap_or(usize::MAX);
        if let Some(Some(known)) = self.uris.get(index) {
            return Ok(*known);
        }
        let Some(number) = self.document.names.uri(uri) else { return self.fail(Full::Text) };
        // The tokenizer counts them from 0.
        if index >= self.uris.len() {
            self.uris.resize(index.saturating_add(1), None);
        }
        if let Some(known) = self.uris.get_mut(index) {
            *known = Some(number);
        }
        Ok(number)
    }

    fn start_tag(&mut self, tag: &StartTag<'_>) -> Result<(), Full> {
        let (name, prefix) = match tag.number() {
            Some(number) => self.numbered_name(number, tag)?,
            None => self.name(tag.name())?,
        };
        let element = self.start_element(name, prefix)?;
        for (prefix, uri, id) in tag.declarations() {
            let Some(prefix) = self.document.names.prefix(prefix) else { return self.fail(Full::Text) };
            let uri = self.uri(id, uri)?;
            self.declare(prefix, uri)?;
        }
        // No two of them have the same name: the tokenizer has looked.
        for attribute in tag.attributes().iter() {
            let (name, prefix) = self.name(attribute.name)?;
            self.push_attribute(element, Tag::named(NodeKind::Attribute, name), prefix, attribute.value)?;
        }
        Ok(())
    }
}

fn control(added: Result<(), Full>) -> Control {
    if added.is_ok() { Control::Continue } else { Control::Stop }
}

impl Sink for TreeBuilder {
    fn start(&mut self, tag: &StartTag<'_>) -> Control {
        control(self.start_tag(tag))
    }

    fn end(&mut self) -> Control {
        self.end_element();
        Control::Continue
    }

    fn text(&mut self, text: &str) -> Control {
        control(self.characters(text))
    }

    fn comment(&mut self, text: &str) -> Control {
        control(self.add_comment(text))
    }

    fn processing_instruction(&mut self, target: &str, data: &str) -> Control {
        control(self.add_processing_instruction(target, data))
    }
}
