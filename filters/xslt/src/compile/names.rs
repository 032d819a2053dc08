//! Names in the result.

use super::Compiler;
use super::element::Element;
use crate::error::{CompileError, CompileErrorKind};
use crate::program::{ComputedName, NameIndex, Named};
use crate::qname::{self, Expanded, XML, XMLNS};

impl<'m> Compiler<'m> {
    /// The name that `xsl:element` and `xsl:attribute` compute of `name` and `namespace`.
    pub(super) fn computed_name(
        &mut self,
        element: Element<'m>,
        of: Named,
    ) -> Result<ComputedName, CompileError> {
        let name = self.value_template(element, "name", element.required("name")?)?;
        let namespace = self.optional_value_template(element, "namespace")?;
        let constant_namespace = namespace.as_ref().map(|namespace| namespace.constant());
        let known = match (name.constant(), constant_namespace) {
            (Some(name), None) => Some(self.known_name(element, name, None, of)?),
            (Some(name), Some(Some(namespace))) => {
                Some(self.known_name(element, name, Some(namespace), of)?)
            }
            _ => None,
        };
        let scope = self.scopes.add(element.namespaces());
        Ok(ComputedName { known, name, namespace, scope, of })
    }

    fn known_name(
        &mut self,
        element: Element<'m>,
        name: &str,
        namespace: Option<&str>,
        of: Named,
    ) -> Result<NameIndex, CompileError> {
        let Some((prefix, local)) = qname::split(qname::trim(name)) else {
            return Err(element.value_error("name", "a qualified name"));
        };
        let default = if of == Named::Element { element.namespace_of("") } else { None };
        let uri = match namespace {
            Some(namespace) => namespace,
            None if prefix.is_empty() => default.unwrap_or_default(),
            None => match element.namespace_of(prefix) {
                Some(uri) => uri,
                None => return Err(element.error(CompileErrorKind::UndeclaredPrefix(prefix.into()))),
            },
        };
        if uri == XMLNS || uri.is_empty() && of == Named::Attribute && local == "xmlns" {
            return Err(element
                .value_error("name", "the name of an element or an attribute: it is one of a declaration"));
        }
        let prefix = if (prefix == "xml") == (uri == XML) && prefix != "xmlns" { prefix } else { "" };
        Ok(self.result.name(prefix, Expanded { namespace: uri.into(), local: local.into() }))
    }

    /// The name of a literal result element or its attribute, in the result (section 7.1.1).
    pub(super) fn literal_name(&mut self, prefix: &str, uri: &str, local: &str) -> NameIndex {
        let (prefix, uri) = match self.aliases.get(uri) {
            Some(&"") => ("", ""),
            Some(uri) => (prefix, *uri),
            None => (prefix, uri),
        };
        self.result.name(prefix, Expanded { namespace: uri.into(), local: local.into() })
    }
}
