//! What the top-level elements of a stylesheet declare (XSLT 1.0, section 2.2).

use super::element::Element;
use super::load::{Declaration, DeclarationKind};
use super::symbols::{Holds, VariableSymbol};
use super::{Compiler, GlobalSource, TemplateSource, fallback};
use crate::error::{CompileError, CompileErrorKind};
use crate::program::{GLOBAL, Global, SlotNumber, Template};
use crate::qname::Expanded;

use portcullis_xml::xpath::ast::Type;

impl<'m> Compiler<'m> {
    pub(super) fn declare(&mut self) -> Result<(), CompileError> {
        for declaration in &self.loaded.declarations {
            let Some(element) = self.loaded.element(*declaration) else { continue };
            match declaration.kind {
                DeclarationKind::Simplified => self.declare_template(element, *declaration)?,
                DeclarationKind::TopLevel => self.declare_element(element, *declaration)?,
            }
        }
        self.sort_space_rules();
        Ok(())
    }

    fn declare_element(
        &mut self,
        element: Element<'m>,
        declaration: Declaration,
    ) -> Result<(), CompileError> {
        let Some(name) = element.instruction() else {
            // Data of the author's, which mean nothing to us (section 2.2).
            return if element.uri().is_empty() {
                Err(element.unexpected("an element in no namespace", "elements of XSLT at the top level"))
            } else {
                Ok(())
            };
        };
        match name {
            "template" => self.declare_template(element, declaration),
            "variable" | "param" => self.declare_global(element, declaration),
            "attribute-set" => self.declare_attribute_set(element),
            "key" => self.declare_key(element),
            "decimal-format" => self.declare_decimal_format(element),
            "namespace-alias" => self.declare_alias(element),
            "output" => self.declare_output(element),
            "strip-space" | "preserve-space" => self.declare_space(element, declaration),
            _ if fallback::is_later_declaration(name) => {
                Err(element.refused(&format!("xsl:{name}"), "it is not part of XSLT 1.0"))
            }
            _ if element.is_forwards_compatible() && !fallback::is_known(name) => Ok(()),
            _ => Err(element.unexpected(&format!("xsl:{name}"), "a top-level element of XSLT 1.0")),
        }
    }

    fn declare_template(
        &mut self,
        element: Element<'m>,
        declaration: Declaration,
    ) -> Result<(), CompileError> {
        let number = self.templates.len();
        let compiled = Template { body: 0, slots: 0 };
        self.templates.push(TemplateSource { element, declaration, compiled });
        if declaration.kind == DeclarationKind::Simplified {
            return Ok(());
        }
        element.allow(&["match", "name", "priority", "mode"])?;
        let Some(name) = element.attribute("name") else { return Ok(()) };
        let name = element.expand("name", name)?;
        if let Some(known) = self.template_names.get(&name).and_then(|known| self.templates.get(*known))
            && known.declaration.precedence == declaration.precedence
        {
            return Err(element.error(CompileErrorKind::Duplicate { what: "template", name: name.local }));
        }
        // What comes later has the higher precedence.
        self.template_names.insert(name, number);
        Ok(())
    }

    fn declare_global(&mut self, element: Element<'m>, declaration: Declaration) -> Result<(), CompileError> {
        element.allow(&["name", "select"])?;
        let name = element.expand("name", element.required("name")?)?;
        let source = |name| GlobalSource {
            name,
            element,
            precedence: declaration.precedence,
            compiled: Global { body: 0, slots: 0 },
            refers_to: Default::default(),
        };
        let known = self.global_names.get(&name).copied();
        if let Some(known) = known.and_then(|known| self.globals.get_mut(known)) {
            if known.precedence == declaration.precedence {
                return Err(
                    element.error(CompileErrorKind::Duplicate { what: "global variable", name: name.local })
                );
            }
            *known = source(name);
            return Ok(());
        }
        self.global_names.insert(name.clone(), self.globals.len());
        self.globals.push(source(name));
        Ok(())
    }

    /// Makes the global variables known, each by the declaration that has prevailed.
    pub(super) fn number_globals(&mut self) {
        for (number, global) in (0..).zip(&self.globals) {
            let is_variable = global.element.is("variable");
            let holds = if is_variable && global.element.children().next().is_some() {
                Holds::Fragment
            } else {
                Holds::Value(Type::Any)
            };
            let slot = SlotNumber::saturating_add(GLOBAL, number);
            self.variables.add_global(VariableSymbol { name: global.name.clone(), slot, holds });
        }
    }

    fn declare_attribute_set(&mut self, element: Element<'m>) -> Result<(), CompileError> {
        element.allow(&["name", "use-attribute-sets"])?;
        let name = element.expand("name", element.required("name")?)?;
        self.attribute_sets.entry(name).or_default().definitions.push(element);
        Ok(())
    }

    /// `xsl:namespace-alias` (section 7.1.1).
    fn declare_alias(&mut self, element: Element<'m>) -> Result<(), CompileError> {
        element.allow(&["stylesheet-prefix", "result-prefix"])?;
        element.require_empty()?;
        let namespace = |attribute| match crate::qname::trim(element.required(attribute)?) {
            "#default" => Ok(element.namespace_of("").unwrap_or_default()),
            prefix => match element.namespace_of(prefix) {
                Some(uri) => Ok(uri),
                None => Err(element.error(CompileErrorKind::UndeclaredPrefix(prefix.into()))),
            },
        };
        self.aliases.insert(namespace("stylesheet-prefix")?, namespace("result-prefix")?);
        Ok(())
    }

    /// The number of a mode.
    pub(super) fn mode(&mut self, element: Element<'m>) -> Result<usize, CompileError> {
        match element.attribute("mode") {
            None => Ok(0),
            Some(mode) => {
                let name: Expanded = element.expand("mode", mode)?;
                Ok(self.modes.number(name))
            }
        }
    }
}
