//! The content of templates (XSLT 1.0, section 7 and what follows).

use super::Compiler;
use super::element::{Child, Element};
use crate::error::CompileError;
use crate::program::Op;

impl<'m> Compiler<'m> {
    /// Compiles all that an element contains.
    pub(super) fn body(&mut self, parent: Element<'m>) -> Result<(), CompileError> {
        self.sequence(parent.children())
    }

    /// Compiles content; its variables can be seen until its end.
    pub(super) fn sequence(&mut self, children: impl Iterator<Item = Child<'m>>) -> Result<(), CompileError> {
        let visible = self.variables.visible();
        for child in children {
            match child {
                Child::Text(text) => {
                    self.emit(Op::Text(text.into()))?;
                }
                Child::Element(element) => self.at(element, |compiler| compiler.element(element))?,
            }
        }
        self.variables.leave(visible);
        Ok(())
    }

    /// The same for content that does not go to where the content around it goes.
    pub(super) fn detached(
        &mut self,
        compile: impl FnOnce(&mut Self) -> Result<(), CompileError>,
    ) -> Result<(), CompileError> {
        let enclosing = self.enclosing.take();
        let result = compile(self);
        self.enclosing = enclosing;
        result
    }

    fn element(&mut self, element: Element<'m>) -> Result<(), CompileError> {
        let Some(name) = element.instruction() else {
            return if self.is_extension(element) { self.extension(element) } else { self.literal(element) };
        };
        match name {
            "apply-imports" => self.apply_imports(element),
            "apply-templates" => self.apply_templates(element),
            "attribute" => self.attribute(element),
            "call-template" => self.call_template(element),
            "choose" => self.choose(element),
            "comment" => self.comment(element),
            "copy" => self.copy(element),
            "copy-of" => self.copy_of(element),
            "element" => self.computed_element(element),
            // Only for processors that do not know the element that it is in.
            "fallback" => Ok(()),
            "for-each" => self.for_each(element),
            "if" => self.if_(element),
            "message" => self.message(element),
            "number" => self.number(element),
            "processing-instruction" => self.processing_instruction(element),
            "text" => self.text(element),
            "value-of" => self.value_of(element),
            "variable" => self.local_variable(element),
            "param" => Err(element.unexpected("xsl:param", "it at the beginning of a template")),
            "sort" => Err(element
                .unexpected("xsl:sort", "it at the beginning of xsl:for-each, or in xsl:apply-templates")),
            _ => self.unknown_instruction(element),
        }
    }
}
