//! Expressions, patterns and attribute value templates in attributes.

use core::cell::{Cell, RefCell};

use portcullis_xml::xpath::ast::{Call, CoreFunction, Expr, Function};
use portcullis_xml::xpath::{self};

use super::Compiler;
use super::context::{Situation, StylesheetContext};
use super::element::Element;
use crate::error::{CompileError, CompileErrorKind};
use crate::expression::{Expression, Part, ValueTemplate, is_call_of, visit};
use crate::fragments::{demand_nodes, demand_nodes_within, node_operands};
use crate::functions::XsltFunction;
use crate::pattern::{self, Pattern};

impl<'m> Compiler<'m> {
    /// The expression in an attribute that must be there.
    pub(super) fn required_expression(
        &mut self,
        element: Element<'m>,
        attribute: &'static str,
    ) -> Result<Expression, CompileError> {
        let text = element.required(attribute)?;
        self.expression(element, attribute, text, Situation::Instruction)
    }

    /// An expression that must be a node-set.
    pub(super) fn node_expression(
        &mut self,
        element: Element<'m>,
        attribute: &'static str,
        text: &str,
    ) -> Result<Expression, CompileError> {
        let mut expression = self.expression(element, attribute, text, Situation::Instruction)?;
        demand_nodes(&mut expression.expr);
        if self.is_fragment(&expression.expr) {
            return Err(element.error(CompileErrorKind::TreeFragment { attribute: attribute.into() }));
        }
        if !expression.can_be_nodes() {
            return Err(element.value_error(attribute, "a node-set"));
        }
        Ok(expression)
    }

    pub(super) fn expression(
        &mut self,
        element: Element<'m>,
        attribute: &str,
        text: &str,
        situation: Situation,
    ) -> Result<Expression, CompileError> {
        let mut expr = self.compile_expr(element, attribute, text, situation)?;
        self.inspect(element, attribute, &expr)?;
        demand_nodes_within(&mut expr);
        Ok(Expression::new(expr))
    }

    fn compile_expr(
        &mut self,
        element: Element<'m>,
        attribute: &str,
        text: &str,
        situation: Situation,
    ) -> Result<Expr, CompileError> {
        let context = StylesheetContext {
            element,
            situation,
            variables: &self.variables,
            scopes: RefCell::new(&mut self.scopes),
            globals: RefCell::default(),
            refused: Cell::new(None),
        };
        let compiled = xpath::compile(text, &context, &mut self.names);
        let refused = context.refused.get();
        let globals = context.globals.into_inner();
        for slot in globals {
            self.refer_to_global(slot);
        }
        compiled.map_err(|error| match refused {
            Some((what, instead)) => {
                let is_function = matches!(error.kind, xpath::CompileErrorKind::UnknownFunction(_))
                    || matches!(error.kind, xpath::CompileErrorKind::Refused { .. });
                if is_function {
                    element
                        .refused(&format!("{attribute}: {what}()").replace("function()", "function"), instead)
                } else {
                    element.error(CompileErrorKind::Expression { attribute: attribute.into(), error })
                }
            }
            None => element.error(CompileErrorKind::Expression { attribute: attribute.into(), error }),
        })
    }

    /// The pattern in an attribute.
    pub(super) fn pattern(
        &mut self,
        element: Element<'m>,
        attribute: &'static str,
        text: &str,
    ) -> Result<Pattern, CompileError> {
        let not_a_pattern = |reason: pattern::NotAPattern| {
            element.error(CompileErrorKind::Pattern { attribute: attribute.into(), reason: reason.0 })
        };
        pattern::refused_syntax(text).map_err(not_a_pattern)?;
        let expr = self.compile_expr(element, attribute, text, Situation::Pattern)?;
        self.inspect(element, attribute, &expr)?;
        pattern::compile(expr).map_err(not_a_pattern)
    }

    /// The attribute value template in an attribute (XSLT 1.0, section 7.6.2).
    pub(super) fn value_template(
        &mut self,
        element: Element<'m>,
        attribute: &str,
        text: &str,
    ) -> Result<ValueTemplate, CompileError> {
        let mut template = ValueTemplate::default();
        let mut rest = text;
        while let Some(at) = rest.find(['{', '}']) {
            let (before, from) = rest.split_at_checked(at).unwrap_or((rest, ""));
            template.push_text(before);
            if let Some(behind) = from.strip_prefix("{{") {
                template.push_text("{");
                rest = behind;
            } else if let Some(behind) = from.strip_prefix("}}") {
                template.push_text("}");
                rest = behind;
            } else if let Some(behind) = from.strip_prefix('{') {
                let Some((expression, behind)) = split_at_brace(behind) else {
                    return Err(
                        element.value_error(attribute, "an attribute value template: '{' needs '}' or '{{'")
                    );
                };
                let expression = self.expression(element, attribute, expression, Situation::Instruction)?;
                match &expression.expr {
                    Expr::Literal(text) => template.push_text(text),
                    _ => template.parts.push(Part::Expression(expression)),
                }
                rest = behind;
            } else {
                return Err(
                    element.value_error(attribute, "an attribute value template: '}' is written '}}'")
                );
            }
        }
        template.push_text(rest);
        Ok(template)
    }

    /// The attribute value template in an attribute, or in its place a default.
    pub(super) fn value_template_or(
        &mut self,
        element: Element<'m>,
        attribute: &'static str,
        default: &str,
    ) -> Result<ValueTemplate, CompileError> {
        match element.attribute(attribute) {
            Some(text) => self.value_template(element, attribute, text),
            None => Ok(ValueTemplate::of_text(default)),
        }
    }

    pub(super) fn optional_value_template(
        &mut self,
        element: Element<'m>,
        attribute: &'static str,
    ) -> Result<Option<ValueTemplate>, CompileError> {
        element.attribute(attribute).map(|text| self.value_template(element, attribute, text)).transpose()
    }

    /// Whether an expression is a result tree fragment and nothing else.
    pub(super) fn is_fragment(&self, expr: &Expr) -> bool {
        matches!(expr, Expr::Variable(variable) if self.variables.is_fragment(variable.slot.0))
    }

    /// Notes what an expression needs; refuses fragments where only node-sets can be.
    fn inspect(&mut self, element: Element<'m>, attribute: &str, expr: &Expr) -> Result<(), CompileError> {
        let mut calls_of_key = Vec::new();
        let mut reads_last = false;
        let mut misuse = false;
        visit(expr, &mut |expr| {
            reads_last |= is_call_of(expr, CoreFunction::Last);
            misuse |= node_operands(expr).iter().any(|operand| self.is_fragment(operand));
            if let Expr::Call(Call { function: Function::Host(function), arguments }) = expr
                && let (XsltFunction::Key, scope) = XsltFunction::of_id(function.id)
            {
                calls_of_key.push((scope, arguments.first()));
            }
        });
        if misuse {
            return Err(element.error(CompileErrorKind::TreeFragment { attribute: attribute.into() }));
        }
        self.reads_last |= reads_last;
        for (scope, name) in calls_of_key {
            match name {
                Some(Expr::Literal(name)) => {
                    let key = self.scopes.expand(scope, name).and_then(|name| self.keys.get(&name));
                    let Some(key) = key else {
                        return Err(
                            element.error(CompileErrorKind::NotFound { what: "key", name: name.clone() })
                        );
                    };
                    self.refer_to_key(key);
                }
                // Only when it is called will it be known which one.
                _ => (0..self.keys.len()).for_each(|key| self.refer_to_key(key)),
            }
        }
        Ok(())
    }
}

/// Cuts an expression at the brace that ends it: those within literals do not count.
fn split_at_brace(text: &str) -> Option<(&str, &str)> {
    let mut quote = None;
    for (at, c) in text.char_indices() {
        match quote {
            Some(open) if c == open => quote = None,
            Some(_) => {}
            None if c == '"' || c == '\'' => quote = Some(c),
            None if c == '}' => {
                let (expression, rest) = text.split_at_checked(at)?;
                return Some((expression, rest.strip_prefix('}')?));
            }
            None if c == '{' => return None,
            None => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn braces_in_literals_end_no_expression() {
        assert_eq!(split_at_brace("a}b"), Some(("a", "b")));
        assert_eq!(split_at_brace("'}'}b"), Some(("'}'", "b")));
        assert_eq!(split_at_brace("concat('\"', \"}\")}"), Some(("concat('\"', \"}\")", "")));
        assert_eq!(split_at_brace("a"), None);
        assert_eq!(split_at_brace("'a}"), None);
        assert_eq!(split_at_brace("{a}}"), None);
    }
}
