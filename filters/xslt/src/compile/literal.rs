//! Literal result elements (section 7.1.1).

use std::collections::BTreeSet;

use super::Compiler;
use super::element::Element;
use super::fallback::designated;
use crate::error::{CompileError, CompileErrorKind};
use crate::program::{Literal, NamespaceIndex, Op};
use crate::qname::{self, XML, XSL};

impl<'m> Compiler<'m> {
    pub(super) fn literal(&mut self, element: Element<'m>) -> Result<(), CompileError> {
        let document = element.document();
        let name = self.literal_name(document.prefix(element.node), element.uri(), element.local());
        check_designations(element)?;
        let namespaces = self.literal_namespaces(element);
        // What the element around it has in the result already need not be said again.
        let news: Box<[NamespaceIndex]> = match &self.enclosing {
            Some(outer) => namespaces.difference(outer).copied().collect(),
            None => namespaces.iter().copied().collect(),
        };
        self.emit(Op::StartLiteral(Box::new(Literal { name, namespaces: news })))?;
        self.use_attribute_sets(element)?;
        for attribute in document.attributes(element.node) {
            let (uri, local) = (document.namespace(attribute), document.local_name(attribute));
            if uri == XSL {
                let known = [
                    "use-attribute-sets",
                    "version",
                    "exclude-result-prefixes",
                    "extension-element-prefixes",
                ];
                if !known.contains(&local) && !element.is_forwards_compatible() {
                    return Err(
                        element.error(CompileErrorKind::UnknownAttribute(format!("xsl:{local}").into()))
                    );
                }
                continue;
            }
            let value = self.value_template(element, local, document.string_value(attribute))?;
            let name = if uri.is_empty() {
                self.result.name("", qname::Expanded { namespace: "".into(), local: local.into() })
            } else {
                self.literal_name(document.prefix(attribute), uri, local)
            };
            self.emit(Op::Attribute(name, Box::new(value)))?;
        }
        let outer = self.enclosing.replace(namespaces);
        let compiled = self.body(element);
        self.enclosing = outer;
        compiled?;
        self.emit(Op::EndElement).map(|_| ())
    }

    /// The namespaces that an element of the stylesheet brings into the result.
    fn literal_namespaces(&mut self, element: Element<'m>) -> BTreeSet<NamespaceIndex> {
        let excluded: BTreeSet<&str> = designated(element, "exclude-result-prefixes")
            .chain(designated(element, "extension-element-prefixes"))
            .chain([XSL, XML])
            .collect();
        let mut namespaces = BTreeSet::new();
        // They get their numbers, and so their order, as they were declared.
        let mut declared: Vec<_> = element.namespaces().collect();
        declared.reverse();
        for (prefix, uri) in declared {
            match self.aliases.get(uri) {
                // Where the alias is, so is what it stands for, whatever is excluded. It keeps its prefix, which the
                // recommendation leaves open: other processors do so.
                Some(&"") => {}
                Some(uri) => {
                    let uri = *uri;
                    namespaces.insert(self.result.namespace(prefix, uri));
                }
                None if excluded.contains(uri) => {}
                None => {
                    namespaces.insert(self.result.namespace(prefix, uri));
                }
            }
        }
        namespaces
    }
}

/// Every prefix that is designated must stand for a namespace.
pub(super) fn check_designations(element: Element<'_>) -> Result<(), CompileError> {
    for attribute in ["exclude-result-prefixes", "extension-element-prefixes"] {
        for prefix in qname::words(element.standard(attribute).unwrap_or_default()) {
            let name = if prefix == "#default" { "" } else { prefix };
            if element.namespace_of(name).is_none() {
                return Err(element.error(CompileErrorKind::UndeclaredPrefix(prefix.into())));
            }
        }
    }
    Ok(())
}
