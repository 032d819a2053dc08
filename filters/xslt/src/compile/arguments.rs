//! Calls and what they pass: `xsl:call-template`, `xsl:with-param`, `xsl:param` (sections 6 and 11.6).

use std::collections::BTreeSet;

use super::Compiler;
use super::element::{Child, Element};
use super::symbols::{Holds, VariableSymbol};
use crate::error::{CompileError, CompileErrorKind};
use crate::program::Op;
use portcullis_xml::xpath::ast::Type;

impl<'m> Compiler<'m> {
    pub(super) fn call_template(&mut self, element: Element<'m>) -> Result<(), CompileError> {
        element.allow(&["name"])?;
        let name = element.expand("name", element.required("name")?)?;
        let Some(template) = self.template_names.get(&name).copied() else {
            return Err(element.error(CompileErrorKind::NotFound { what: "template", name: name.local }));
        };
        let mut arguments = 0_u32;
        for child in element.children() {
            match child {
                Child::Element(child) if child.is("with-param") => {
                    self.at(child, |compiler| compiler.argument(child))?;
                    arguments = arguments.saturating_add(1);
                }
                _ => return Err(element.unexpected("something else", "xsl:with-param alone")),
            }
        }
        self.check_arguments(element)?;
        self.emit(Op::Call(template, arguments)).map(|_| ())
    }

    /// No two arguments have one name.
    pub(super) fn check_arguments(&mut self, element: Element<'m>) -> Result<(), CompileError> {
        let mut seen = BTreeSet::new();
        for child in element.child_elements().filter(|child| child.is("with-param")) {
            let name = child.expand("name", child.required("name")?)?;
            if !seen.insert(name.clone()) {
                return Err(
                    child.error(CompileErrorKind::Duplicate { what: "xsl:with-param", name: name.local })
                );
            }
        }
        Ok(())
    }

    /// `xsl:with-param`.
    pub(super) fn argument(&mut self, element: Element<'m>) -> Result<(), CompileError> {
        element.allow(&["name", "select"])?;
        let name = element.expand("name", element.required("name")?)?;
        let name = self.argument_names.number(name);
        let name = u32::try_from(name).unwrap_or(u32::MAX);
        match self.value(element)? {
            Some(expression) => self.emit(Op::Argument(name, Box::new(expression))),
            None => {
                self.tree(element)?;
                self.emit(Op::EndTreeArgument(name))
            }
        }
        .map(|_| ())
    }

    /// `xsl:param` of a template.
    pub(super) fn parameter(&mut self, element: Element<'m>) -> Result<(), CompileError> {
        element.allow(&["name", "select"])?;
        let name = element.expand("name", element.required("name")?)?;
        if self.variables.is_local(&name) {
            return Err(element.error(CompileErrorKind::Duplicate { what: "variable", name: name.local }));
        }
        let number = self.argument_names.number(name.clone());
        let slot = self.variables.allocate();
        let given = self.emit(Op::Parameter(u32::try_from(number).unwrap_or(u32::MAX), slot, 0))?;
        self.assign(element, slot)?;
        self.land(given);
        self.variables.declare(VariableSymbol { name, slot, holds: Holds::Value(Type::Any) });
        Ok(())
    }
}
