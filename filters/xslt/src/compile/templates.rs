//! Templates and their rules (sections 5.3, 5.5 and 6).

use super::Compiler;
use super::element::{Child, Element};
use super::load::{Declaration, DeclarationKind};
use crate::error::{CompileError, CompileErrorKind};
use crate::pattern::{Pattern, Rule};
use crate::program::Op;
use crate::qname;
use portcullis_xml::xpath::number;

impl<'m> Compiler<'m> {
    pub(super) fn compile_templates(&mut self) -> Result<(), CompileError> {
        for index in 0..self.templates.len() {
            let source = self.templates.get(index).map(|source| (source.element, source.declaration));
            let Some((element, declaration)) = source else { continue };
            self.variables.enter();
            let body = self.here();
            self.enclosing = None;
            self.at(element, |compiler| match declaration.kind {
                DeclarationKind::Simplified => {
                    let pattern = compiler.pattern(element, "match", "/")?;
                    compiler.add_rules(pattern, index, declaration, 0, None);
                    compiler.literal(element)?;
                    compiler.emit(Op::Return)
                }
                DeclarationKind::TopLevel => {
                    compiler.rules_of(element, index, declaration)?;
                    compiler.template_body(element)?;
                    compiler.emit(Op::Return)
                }
            })?;
            let slots = self.variables.slots();
            if let Some(source) = self.templates.get_mut(index) {
                (source.compiled.body, source.compiled.slots) = (body, slots);
            }
        }
        Ok(())
    }

    fn template_body(&mut self, element: Element<'m>) -> Result<(), CompileError> {
        let is_parameter = |child: &Child<'m>| matches!(child, Child::Element(child) if child.is("param"));
        for child in element.children().take_while(is_parameter) {
            if let Child::Element(child) = child {
                self.at(child, |compiler| compiler.parameter(child))?;
            }
        }
        self.sequence(element.children().skip_while(is_parameter))
    }

    fn rules_of(
        &mut self,
        element: Element<'m>,
        template: usize,
        declaration: Declaration,
    ) -> Result<(), CompileError> {
        let Some(text) = element.attribute("match") else {
            for attribute in ["mode", "priority"] {
                if element.attribute(attribute).is_some() {
                    return Err(element.error(CompileErrorKind::UnknownAttribute(
                        format!("{attribute}' without 'match").into(),
                    )));
                }
            }
            return match element.attribute("name") {
                Some(_) => Ok(()),
                None => Err(element.error(CompileErrorKind::MissingAttribute("match"))),
            };
        };
        let pattern = self.pattern(element, "match", text)?;
        let needs = self.take_needs();
        self.rule_keys.extend(needs.keys);
        let mode = self.mode(element)?;
        let priority = match element.attribute("priority") {
            None => None,
            Some(text) => {
                let priority = number::parse(qname::trim(text));
                if !priority.is_finite() {
                    return Err(element.value_error("priority", "a number"));
                }
                Some(priority)
            }
        };
        self.add_rules(pattern, template, declaration, mode, priority);
        Ok(())
    }

    fn add_rules(
        &mut self,
        pattern: Pattern,
        template: usize,
        declaration: Declaration,
        mode: usize,
        priority: Option<f64>,
    ) {
        for pattern in pattern.alternatives {
            let priority = priority.unwrap_or_else(|| pattern.default_priority());
            let order = self.rules.len();
            self.rules.push(Rule {
                pattern,
                template,
                mode,
                precedence: declaration.precedence,
                first_imported: declaration.first_imported,
                // Negative zero is no other priority than zero.
                priority: if priority == 0.0 { 0.0 } else { priority },
                order,
            });
        }
    }
}
