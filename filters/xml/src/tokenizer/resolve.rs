//! The end of a start tag, where its names get their namespaces, and the end of an element.

use super::fault::{Checked, Fault, Place};
use super::lexer::{Lexer, Next, Phase, Step};
use crate::error::{ErrorKind, NamespaceRule, excerpt};
use crate::limits::Limit;
use crate::namespaces::check_declaration;
use crate::token::{Control, Sink, StartTag};

impl Lexer {
    /// Behind the `>`: hands on the tag.
    pub(super) fn end_of_start_tag<S: Sink>(&mut self, sink: &mut S) -> Step {
        let declares = self.tag.declaration_count() > 0;
        if declares {
            self.declare()?;
        }
        if declares || !self.elements.is_expected() {
            self.resolve_element()?;
        }
        if self.tag.attribute_count() > 0 {
            self.resolve_attributes()?;
        }
        self.name_starts.clear();
        self.name_positions.clear();
        Ok(self.hand_on_start(sink))
    }

    /// Hands on the tag, of which all is known.
    #[inline]
    pub(super) fn hand_on_start<S: Sink>(&mut self, sink: &mut S) -> Next {
        let tag = StartTag::new(&self.elements, &self.tag, &self.namespaces);
        if sink.start(&tag) == Control::Stop { Next::Stop } else { Next::Go }
    }

    fn resolve_element(&mut self) -> Checked<()> {
        let namespace = match self.elements.prefix() {
            "xmlns" => return Err(rule(NamespaceRule::XmlnsPrefix, 0)),
            prefix => self.bindings.of_element(prefix).ok_or_else(|| unbound(prefix, 0))?,
        };
        self.elements.set_namespace(namespace, &self.bindings);
        Ok(())
    }

    fn declare(&mut self) -> Checked<()> {
        let first = self.bindings.len();
        let (declarations, text) = self.tag.declarations_mut();
        for declaration in declarations {
            let prefix = text.get(declaration.prefix.clone()).unwrap_or_default();
            let uri = text.get(declaration.value.clone()).unwrap_or_default();
            let order = declaration.order;
            check_declaration(prefix, uri).map_err(|broken| rule(broken, order))?;
            let limit = self.limits.namespaces;
            declaration.namespace = self
                .namespaces
                .identify(uri, limit)
                .ok_or_else(|| Fault::limit(Limit::Namespaces, limit, Place::Name(order)))?;
            if !self.bindings.declare(prefix, declaration.namespace, first) {
                let name = match prefix {
                    "" => "xmlns".into(),
                    prefix => excerpt(&format!("xmlns:{prefix}")),
                };
                return Err(Fault::new(ErrorKind::DuplicateAttribute(name), Place::Name(order)));
            }
        }
        Ok(())
    }

    fn resolve_attributes(&mut self) -> Checked<()> {
        let (attributes, text) = self.tag.attributes_mut();
        for attribute in attributes {
            // The default namespace is not for attributes (Namespaces in XML 1.0, section 6.2).
            if attribute.prefix.is_empty() {
                continue;
            }
            let prefix = text.get(attribute.prefix.clone()).unwrap_or_default();
            attribute.namespace =
                self.bindings.of_attribute(prefix).ok_or_else(|| unbound(prefix, attribute.order))?;
        }
        match self.tag.duplicate() {
            None => Ok(()),
            Some((order, name)) => {
                Err(Fault::new(ErrorKind::DuplicateAttribute(excerpt(name)), Place::Name(order)))
            }
        }
    }

    /// Ends the innermost element.
    pub(super) fn end_element<S: Sink>(&mut self, sink: &mut S) -> Next {
        let control = sink.end();
        let kept = self.elements.close();
        self.bindings.truncate(kept);
        if self.elements.depth() == 0 {
            self.phase = Phase::Epilog;
        }
        if control == Control::Stop { Next::Stop } else { Next::Go }
    }
}

#[cold]
fn rule(rule: NamespaceRule, order: usize) -> Box<Fault> {
    Fault::new(ErrorKind::Namespace(rule), Place::Name(order))
}

#[cold]
fn unbound(prefix: &str, order: usize) -> Box<Fault> {
    Fault::new(ErrorKind::UnboundPrefix(excerpt(prefix)), Place::Name(order))
}
