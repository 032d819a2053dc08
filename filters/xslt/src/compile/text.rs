//! Instructions that write text and copies: `xsl:value-of`, `xsl:text`, `xsl:copy-of` (sections 7.2, 7.6.1 and 11.3).

use super::Compiler;
use super::element::{Child, Element};
use crate::error::CompileError;
use crate::expression::{Part, ValueTemplate};
use crate::program::Op;
use portcullis_xml::xpath::ast::Expr;

impl<'m> Compiler<'m> {
    pub(super) fn value_of(&mut self, element: Element<'m>) -> Result<(), CompileError> {
        match self.value_of_part(element)? {
            Part::Text(text) if text.is_empty() => Ok(()),
            Part::Text(text) => self.emit(Op::Text(text)).map(|_| ()),
            Part::Expression(expression) => self.emit(Op::ValueOf(Box::new(expression))).map(|_| ()),
        }
    }

    fn value_of_part(&mut self, element: Element<'m>) -> Result<Part, CompileError> {
        element.allow(&["select", "disable-output-escaping"])?;
        refuse_unescaped(element)?;
        element.require_empty()?;
        let expression = self.required_expression(element, "select")?;
        Ok(match expression.expr {
            Expr::Literal(text) => Part::Text(text),
            _ => Part::Expression(expression),
        })
    }

    pub(super) fn text(&mut self, element: Element<'m>) -> Result<(), CompileError> {
        let text = text_of(element)?;
        if text.is_empty() { Ok(()) } else { self.emit(Op::Text(text.into())).map(|_| ()) }
    }

    pub(super) fn copy_of(&mut self, element: Element<'m>) -> Result<(), CompileError> {
        element.allow(&["select"])?;
        element.require_empty()?;
        let expression = self.required_expression(element, "select")?;
        self.emit(Op::CopyOf(Box::new(expression))).map(|_| ())
    }

    /// Content as an attribute value template, if it is text and values alone.
    pub(super) fn as_value_template(
        &mut self,
        parent: Element<'m>,
    ) -> Result<Option<ValueTemplate>, CompileError> {
        let is_plain = parent.children().all(|child| match child {
            Child::Text(_) => true,
            Child::Element(element) => element.is("text") || element.is("value-of"),
        });
        if !is_plain {
            return Ok(None);
        }
        let mut template = ValueTemplate::default();
        for child in parent.children() {
            match child {
                Child::Text(text) => template.push_text(text),
                Child::Element(element) if element.is("text") => template.push_text(text_of(element)?),
                Child::Element(element) => match self.value_of_part(element)? {
                    Part::Text(text) => template.push_text(&text),
                    part @ Part::Expression(_) => template.parts.push(part),
                },
            }
        }
        Ok(Some(template))
    }
}

/// The text in `xsl:text`.
fn text_of<'m>(element: Element<'m>) -> Result<&'m str, CompileError> {
    element.allow(&["disable-output-escaping"])?;
    refuse_unescaped(element)?;
    let mut children = element.children();
    let text = match children.next() {
        None => "",
        Some(Child::Text(text)) => text,
        Some(Child::Element(child)) => return Err(child.unexpected("an element", "text alone in xsl:text")),
    };
    match children.next() {
        Some(Child::Element(child)) => Err(child.unexpected("an element", "text alone in xsl:text")),
        _ => Ok(text),
    }
}

fn refuse_unescaped(element: Element<'_>) -> Result<(), CompileError> {
    match element.yes_or_no("disable-output-escaping")? {
        Some(true) => Err(element.refused(
            "disable-output-escaping=\"yes\"",
            "write markup by elements, xsl:copy-of and xsl:processing-instruction",
        )),
        _ => Ok(()),
    }
}
