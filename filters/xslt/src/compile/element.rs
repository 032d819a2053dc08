//! An element of a stylesheet, as the compiler looks at it.

use portcullis_xml::xpath::number;
use portcullis_xml::{Document, NodeId, NodeKind};

use super::module::Module;
use crate::error::{CompileError, CompileErrorKind};
use crate::qname::{self, Expanded, XML, XSL};

/// An element with the document that it is in.
#[derive(Debug, Clone, Copy)]
pub(super) struct Element<'m> {
    pub(super) module: &'m Module,
    pub(super) node: NodeId,
}

/// What an element of a stylesheet contains.
#[derive(Debug, Clone, Copy)]
pub(super) enum Child<'m> {
    Element(Element<'m>),
    Text(&'m str),
}

impl<'m> Element<'m> {
    pub(super) fn document(self) -> &'m Document {
        &self.module.document
    }

    pub(super) fn local(self) -> &'m str {
        self.document().local_name(self.node)
    }

    pub(super) fn uri(self) -> &'m str {
        self.document().namespace(self.node)
    }

    /// The local name, if it is an element of XSLT.
    pub(super) fn instruction(self) -> Option<&'m str> {
        (self.uri() == XSL).then(|| self.local())
    }

    pub(super) fn is(self, instruction: &str) -> bool {
        self.instruction() == Some(instruction)
    }

    /// The value of an attribute without namespace.
    pub(super) fn attribute(self, local: &str) -> Option<&'m str> {
        self.attribute_in("", local)
    }

    pub(super) fn attribute_in(self, namespace: &str, local: &str) -> Option<&'m str> {
        self.attributes().find(|(uri, name, _)| *uri == namespace && *name == local).map(|(.., value)| value)
    }

    /// The value of an attribute of XSLT's, which on its own elements has no namespace.
    pub(super) fn standard(self, local: &str) -> Option<&'m str> {
        self.attribute_in(if self.uri() == XSL { "" } else { XSL }, local)
    }

    pub(super) fn required(self, local: &'static str) -> Result<&'m str, CompileError> {
        self.attribute(local).ok_or_else(|| self.error(CompileErrorKind::MissingAttribute(local)))
    }

    /// Namespace, local name and value.
    pub(super) fn attributes(self) -> impl Iterator<Item = (&'m str, &'m str, &'m str)> {
        let document = self.document();
        document.attributes(self.node).map(move |node| {
            (document.namespace(node), document.local_name(node), document.string_value(node))
        })
    }

    /// Child elements and text, without text that is white space and does not count (XSLT 1.0, section 3.4).
    pub(super) fn children(self) -> impl Iterator<Item = Child<'m>> {
        let document = self.document();
        document.children(self.node).filter_map(move |node| match document.kind(node) {
            NodeKind::Element => Some(Child::Element(Self { node, ..self })),
            NodeKind::Text => {
                let text = document.string_value(node);
                (self.keeps_space() || !text.chars().all(qname::is_space)).then_some(Child::Text(text))
            }
            _ => None,
        })
    }

    pub(super) fn child_elements(self) -> impl Iterator<Item = Self> {
        self.children().filter_map(|child| match child {
            Child::Element(element) => Some(element),
            Child::Text(_) => None,
        })
    }

    /// Whether text that is nothing but white space counts in this element.
    fn keeps_space(self) -> bool {
        if self.is("text") {
            return true;
        }
        let document = self.document();
        core::iter::once(self.node)
            .chain(document.ancestors(self.node))
            .filter(|node| document.kind(*node) == NodeKind::Element)
            .find_map(|node| Self { node, ..self }.attribute_in(XML, "space"))
            == Some("preserve")
    }

    /// The version in force (section 2.5).
    pub(super) fn version(self) -> &'m str {
        let document = self.document();
        core::iter::once(self.node)
            .chain(document.ancestors(self.node))
            .filter(|node| document.kind(*node) == NodeKind::Element)
            .map(|node| Self { node, ..self })
            .find_map(|element| match element.instruction() {
                Some("stylesheet" | "transform") => element.attribute("version"),
                Some(_) => None,
                None => element.attribute_in(XSL, "version"),
            })
            .map_or("1.0", qname::trim)
    }

    /// Whether elements that XSLT 1.0 does not have are those of a later version.
    pub(super) fn is_forwards_compatible(self) -> bool {
        // What is no number has been refused.
        number::parse(self.version()) != 1.0
    }

    /// The namespace that a prefix stands for here.
    pub(super) fn namespace_of(self, prefix: &str) -> Option<&'m str> {
        if prefix == "xml" {
            return Some(XML);
        }
        self.namespaces().find(|(name, _)| *name == prefix).map(|(_, uri)| uri)
    }

    /// The namespaces in scope: prefix and URI.
    pub(super) fn namespaces(self) -> impl Iterator<Item = (&'m str, &'m str)> {
        let document = self.document();
        document
            .in_scope(document.scope(self.node))
            .map(move |(prefix, uri)| (document.names().prefix_text(prefix), document.names().uri_text(uri)))
    }

    /// What a name in the value of `attribute` expands to: without a prefix it is in no namespace (section 2.4).
    pub(super) fn expand(self, attribute: &str, text: &str) -> Result<Expanded, CompileError> {
        let Some((prefix, local)) = qname::split(qname::trim(text)) else {
            return Err(self.value_error(attribute, "a qualified name"));
        };
        let namespace = match prefix {
            "" => "",
            _ => self
                .namespace_of(prefix)
                .ok_or_else(|| self.error(CompileErrorKind::UndeclaredPrefix(prefix.into())))?,
        };
        Ok(Expanded { namespace: namespace.into(), local: local.into() })
    }

    /// The value of an attribute that is `yes` or `no`.
    pub(super) fn yes_or_no(self, attribute: &'static str) -> Result<Option<bool>, CompileError> {
        match self.attribute(attribute).map(qname::trim) {
            None => Ok(None),
            Some("yes") => Ok(Some(true)),
            Some("no") => Ok(Some(false)),
            Some(_) => Err(self.value_error(attribute, "'yes' or 'no'")),
        }
    }

    /// Lets no attributes pass but these; those of other namespaces mean nothing.
    pub(super) fn allow(self, names: &[&str]) -> Result<(), CompileError> {
        let unknown =
            self.attributes().find(|(uri, local, _)| uri.is_empty() && !names.contains(local) || *uri == XSL);
        match unknown {
            Some((_, local, _)) if !self.is_forwards_compatible() => {
                Err(self.error(CompileErrorKind::UnknownAttribute(local.into())))
            }
            _ => Ok(()),
        }
    }

    /// Lets nothing be contained.
    pub(super) fn require_empty(self) -> Result<(), CompileError> {
        match self.children().next() {
            None => Ok(()),
            Some(_) => Err(self.unexpected("content", "an empty element")),
        }
    }

    pub(super) fn error(self, kind: CompileErrorKind) -> CompileError {
        CompileError { place: self.module.place(self.node), kind }
    }

    pub(super) fn value_error(self, attribute: &str, expected: &'static str) -> CompileError {
        self.error(CompileErrorKind::AttributeValue { attribute: attribute.into(), expected })
    }

    pub(super) fn unexpected(self, found: &str, expected: &'static str) -> CompileError {
        self.error(CompileErrorKind::Unexpected { found: found.into(), expected })
    }

    pub(super) fn refused(self, what: &str, instead: &'static str) -> CompileError {
        self.error(CompileErrorKind::Refused { what: what.into(), instead })
    }
}
