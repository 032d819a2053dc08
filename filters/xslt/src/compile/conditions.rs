//! `xsl:if` and `xsl:choose` (section 9).

use super::Compiler;
use super::element::{Child, Element};
use crate::error::CompileError;
use crate::program::Op;

impl<'m> Compiler<'m> {
    pub(super) fn if_(&mut self, element: Element<'m>) -> Result<(), CompileError> {
        element.allow(&["test"])?;
        let unless = self.unless(element)?;
        self.body(element)?;
        self.land(unless);
        Ok(())
    }

    pub(super) fn choose(&mut self, element: Element<'m>) -> Result<(), CompileError> {
        element.allow(&[])?;
        let mut ends = Vec::new();
        let mut otherwise = false;
        for child in element.children() {
            let Child::Element(child) = child else {
                return Err(element.unexpected("text", "xsl:when and xsl:otherwise alone"));
            };
            self.at(child, |compiler| match child.instruction() {
                Some("when") if !otherwise => {
                    child.allow(&["test"])?;
                    let unless = compiler.unless(child)?;
                    compiler.body(child)?;
                    ends.push(compiler.emit(Op::Jump(0))?);
                    compiler.land(unless);
                    Ok(())
                }
                Some("otherwise") if !otherwise && !ends.is_empty() => {
                    child.allow(&[])?;
                    otherwise = true;
                    compiler.body(child)
                }
                _ => Err(child.unexpected(
                    "this element",
                    "xsl:when, one or more times, then xsl:otherwise or nothing",
                )),
            })?;
        }
        if ends.is_empty() {
            return Err(element.unexpected("nothing", "at least one xsl:when"));
        }
        ends.into_iter().for_each(|end| self.land(end));
        Ok(())
    }

    fn unless(&mut self, element: Element<'m>) -> Result<usize, CompileError> {
        let test = self.required_expression(element, "test")?;
        self.emit(Op::Unless(Box::new(test), 0))
    }
}
