//! Instructions that make nodes (sections 7.1.2 to 7.5 and 13).

use super::Compiler;
use super::element::Element;
use crate::error::CompileError;
use crate::program::{Afterwards, Named, Op};
use crate::qname;

impl<'m> Compiler<'m> {
    /// `xsl:element`
    pub(super) fn computed_element(&mut self, element: Element<'m>) -> Result<(), CompileError> {
        element.allow(&["name", "namespace", "use-attribute-sets"])?;
        let name = self.computed_name(element, Named::Element)?;
        self.emit(Op::StartElement(Box::new(name)))?;
        self.use_attribute_sets(element)?;
        self.detached(|compiler| compiler.body(element))?;
        self.emit(Op::EndElement).map(|_| ())
    }

    pub(super) fn attribute(&mut self, element: Element<'m>) -> Result<(), CompileError> {
        element.allow(&["name", "namespace"])?;
        let name = self.computed_name(element, Named::Attribute)?;
        if let Some(known) = name.known
            && let Some(value) = self.as_value_template(element)?
        {
            return self.emit(Op::Attribute(known, Box::new(value))).map(|_| ());
        }
        // What the name refers to is needed when the value is complete.
        let needs = self.take_needs();
        self.emit(Op::BeginText)?;
        self.detached(|compiler| compiler.body(element))?;
        self.needs = needs;
        self.emit(Op::EndAttribute(Box::new(name))).map(|_| ())
    }

    pub(super) fn comment(&mut self, element: Element<'m>) -> Result<(), CompileError> {
        element.allow(&[])?;
        self.emit(Op::BeginText)?;
        self.detached(|compiler| compiler.body(element))?;
        self.emit(Op::EndComment).map(|_| ())
    }

    pub(super) fn processing_instruction(&mut self, element: Element<'m>) -> Result<(), CompileError> {
        element.allow(&["name"])?;
        let name = self.value_template(element, "name", element.required("name")?)?;
        if let Some(name) = name.constant()
            && !qname::is_target(qname::trim(name))
        {
            return Err(element.value_error("name", "the name of a processing instruction, without a colon"));
        }
        let needs = self.take_needs();
        self.emit(Op::BeginText)?;
        self.detached(|compiler| compiler.body(element))?;
        self.needs = needs;
        self.emit(Op::EndInstruction(Box::new(name))).map(|_| ())
    }

    pub(super) fn copy(&mut self, element: Element<'m>) -> Result<(), CompileError> {
        element.allow(&["use-attribute-sets"])?;
        let copy = self.emit(Op::Copy(0, 0))?;
        self.use_attribute_sets(element)?;
        let content = self.here();
        if let Some(Op::Copy(_, address)) = self.ops.get_mut(copy) {
            *address = content;
        }
        self.detached(|compiler| compiler.body(element))?;
        self.emit(Op::EndCopy)?;
        self.land(copy);
        Ok(())
    }

    pub(super) fn message(&mut self, element: Element<'m>) -> Result<(), CompileError> {
        element.allow(&["terminate"])?;
        let afterwards = match element.yes_or_no("terminate")? {
            Some(true) => Afterwards::Terminate,
            _ => Afterwards::Continue,
        };
        // What elements a message has is not handed on; their text is.
        self.emit(Op::BeginTree)?;
        self.detached(|compiler| compiler.body(element))?;
        self.emit(Op::EndMessage(afterwards)).map(|_| ())
    }
}
