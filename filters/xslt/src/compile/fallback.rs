//! What is not part of XSLT 1.0 (sections 2.5, 14.1 and 15).

use super::Compiler;
use super::element::Element;
use crate::error::CompileError;
use crate::functions::INSTRUCTIONS;
use crate::program::Op;
use crate::qname::{self, XSL};

/// Instructions of later versions: those are refused even where an unknown one could wait for its turn.
const LATER_INSTRUCTIONS: [&str; 22] = [
    "accumulator-rule",
    "analyze-string",
    "assert",
    "break",
    "catch",
    "copy-of-stream",
    "document",
    "evaluate",
    "for-each-group",
    "fork",
    "iterate",
    "map",
    "map-entry",
    "merge",
    "namespace",
    "next-iteration",
    "next-match",
    "perform-sort",
    "result-document",
    "sequence",
    "source-document",
    "try",
];

/// Top-level elements of later versions.
const LATER_DECLARATIONS: [&str; 8] = [
    "accumulator",
    "character-map",
    "function",
    "global-context-item",
    "import-schema",
    "mode",
    "package",
    "use-package",
];

/// Elements of XSLT 1.0 that are no instructions.
const PARTS: [&str; 19] = [
    "attribute-set",
    "decimal-format",
    "import",
    "include",
    "key",
    "namespace-alias",
    "otherwise",
    "output",
    "param",
    "preserve-space",
    "script",
    "sort",
    "strip-space",
    "stylesheet",
    "template",
    "transform",
    "variable",
    "when",
    "with-param",
];

/// Whether XSLT 1.0 has an element of this name.
pub(super) fn is_known(name: &str) -> bool {
    INSTRUCTIONS.contains(&name) || PARTS.contains(&name)
}

pub(super) fn is_later_declaration(name: &str) -> bool {
    LATER_DECLARATIONS.contains(&name)
}

impl<'m> Compiler<'m> {
    /// An element of XSLT's namespace that cannot stand in a template, or that XSLT 1.0 does not have.
    pub(super) fn unknown_instruction(&mut self, element: Element<'m>) -> Result<(), CompileError> {
        let name = element.local();
        if is_known(name) || !element.is_forwards_compatible() && !LATER_INSTRUCTIONS.contains(&name) {
            return Err(element.unexpected(&format!("xsl:{name}"), "an instruction of XSLT 1.0"));
        }
        if self.fallbacks(element)? {
            return Ok(());
        }
        if LATER_INSTRUCTIONS.contains(&name) {
            return Err(element.refused(
                &format!("xsl:{name}"),
                "it is not part of XSLT 1.0: give it an xsl:fallback, or do without",
            ));
        }
        self.emit(Op::Unknown).map(|_| ())
    }

    /// An element of a namespace that the stylesheet has declared to be one of extensions.
    pub(super) fn extension(&mut self, element: Element<'m>) -> Result<(), CompileError> {
        if self.fallbacks(element)? {
            return Ok(());
        }
        Err(element.refused(
            "an extension element",
            "give it an xsl:fallback, or take its prefix out of extension-element-prefixes",
        ))
    }

    /// Compiles the fallbacks in an element, and tells whether there are any.
    fn fallbacks(&mut self, element: Element<'m>) -> Result<bool, CompileError> {
        let mut found = false;
        for fallback in element.child_elements().filter(|child| child.is("fallback")) {
            found = true;
            fallback.allow(&[])?;
            self.body(fallback)?;
        }
        Ok(found)
    }

    /// Whether an element is in a namespace of extensions (section 14.1).
    pub(super) fn is_extension(&self, element: Element<'m>) -> bool {
        let uri = element.uri();
        !uri.is_empty()
            && designated(element, "extension-element-prefixes").any(|designated| designated == uri)
    }
}

/// The namespaces that `attribute`, a list of prefixes on an element or those around it, designates.
pub(super) fn designated<'m>(element: Element<'m>, attribute: &'static str) -> impl Iterator<Item = &'m str> {
    let document = element.document();
    core::iter::once(element.node)
        .chain(document.ancestors(element.node))
        .map(move |node| Element { node, ..element })
        .filter(|element| {
            element.uri() != XSL || matches!(element.instruction(), Some("stylesheet" | "transform"))
        })
        .flat_map(move |element| {
            let prefixes = element.standard(attribute).unwrap_or_default();
            qname::words(prefixes).filter_map(move |prefix| {
                element.namespace_of(if prefix == "#default" { "" } else { prefix })
            })
        })
}
