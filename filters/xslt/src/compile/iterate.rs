//! `xsl:for-each`, `xsl:apply-templates`, `xsl:apply-imports` and `xsl:sort` (sections 5.4, 5.6, 8 and 10).

use super::Compiler;
use super::context::Situation;
use super::element::{Child, Element};
use crate::error::CompileError;
use crate::program::{Apply, Op, Selection, Sort};

impl<'m> Compiler<'m> {
    pub(super) fn for_each(&mut self, element: Element<'m>) -> Result<(), CompileError> {
        element.allow(&["select"])?;
        let select = self.node_expression(element, "select", element.required("select")?)?;
        let is_sort = |child: &Child<'m>| matches!(child, Child::Element(child) if child.is("sort"));
        let mut sorts = Vec::new();
        for child in element.children().take_while(is_sort) {
            if let Child::Element(child) = child {
                sorts.push(self.sort(child)?);
            }
        }
        let selection = Selection { select: Some(select), sorts: sorts.into() };
        let start = self.emit(Op::ForEach(Box::new(selection), 0))?;
        let body = self.here();
        self.sequence(element.children().skip_while(is_sort))?;
        self.emit(Op::Again(body))?;
        self.land(start);
        Ok(())
    }

    pub(super) fn apply_templates(&mut self, element: Element<'m>) -> Result<(), CompileError> {
        element.allow(&["select", "mode"])?;
        let mode = self.mode(element)?;
        let mut arguments = 0_u32;
        for child in element.children() {
            match child {
                Child::Element(child) if child.is("with-param") => {
                    self.at(child, |compiler| compiler.argument(child))?;
                    arguments = arguments.saturating_add(1);
                }
                Child::Element(child) if child.is("sort") => {}
                _ => return Err(element.unexpected("something else", "xsl:sort and xsl:with-param alone")),
            }
        }
        self.check_arguments(element)?;
        let select = match element.attribute("select") {
            Some(select) => Some(self.node_expression(element, "select", select)?),
            None => None,
        };
        let mut sorts = Vec::new();
        for child in element.child_elements().filter(|child| child.is("sort")) {
            sorts.push(self.sort(child)?);
        }
        let selection = Selection { select, sorts: sorts.into() };
        self.emit(Op::Apply(Box::new(Apply { selection, mode, arguments })))?;
        self.emit(Op::ApplyNext)?;
        Ok(())
    }

    pub(super) fn apply_imports(&mut self, element: Element<'m>) -> Result<(), CompileError> {
        element.allow(&[])?;
        element.require_empty()?;
        self.emit(Op::ApplyImports).map(|_| ())
    }

    fn sort(&mut self, element: Element<'m>) -> Result<Sort, CompileError> {
        element.allow(&["select", "lang", "data-type", "order", "case-order"])?;
        element.require_empty()?;
        let select = element.attribute("select").unwrap_or(".");
        let select = self.expression(element, "select", select, Situation::Instruction)?;
        // The order of characters is the same for all languages.
        self.optional_value_template(element, "lang")?;
        let data_type = self.value_template_or(element, "data-type", "text")?;
        let order = self.value_template_or(element, "order", "ascending")?;
        let case_order = self.optional_value_template(element, "case-order")?;
        if !matches!(data_type.constant(), None | Some("text" | "number")) {
            return Err(element.value_error("data-type", "'text' or 'number'"));
        }
        if !matches!(order.constant(), None | Some("ascending" | "descending")) {
            return Err(element.value_error("order", "'ascending' or 'descending'"));
        }
        let constant = case_order.as_ref().and_then(|case_order| case_order.constant());
        if !matches!(constant, None | Some("upper-first" | "lower-first")) {
            return Err(element.value_error("case-order", "'upper-first' or 'lower-first'"));
        }
        Ok(Sort { select, data_type, order, case_order })
    }
}
