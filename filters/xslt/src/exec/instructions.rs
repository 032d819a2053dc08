//! What each instruction does.

use portcullis_xml::NodeKind;

use super::error::Result;
use super::machine::Machine;
use crate::error::TransformErrorKind;
use crate::messages::MESSAGE_BYTES;
use crate::program::{Address, Afterwards, Literal, Op};
use crate::qname;
use crate::result::{Receiver, ResultName, copy_element, copy_of};

impl<'p> Machine<'p, '_> {
    /// Carries out one instruction; `false` if it was the last one.
    #[inline]
    pub(super) fn carry_out(&mut self, op: &'p Op) -> Result<bool> {
        match op {
            Op::Text(text) => {
                self.budget.charge_bytes(text.len())?;
                self.writer.text(text)?;
            }
            Op::ValueOf(expression) => self.write_value(expression)?,
            Op::StartLiteral(literal) => self.start_literal(literal)?,
            Op::StartElement(name) => {
                let name = self.computed_name(name)?;
                self.writer.start_element(self.document.names(), name)?;
            }
            Op::EndElement => self.writer.end_element()?,
            Op::Attribute(name, value) => {
                let name = self.result_name(*name)?;
                match value.constant() {
                    Some(value) => self.write_attribute(name, value)?,
                    None => {
                        let held = self.budget.held();
                        let mut text = core::mem::take(&mut self.scratch);
                        text.clear();
                        self.append(value, &mut text)?;
                        self.write_attribute(name, &text)?;
                        self.budget.release_to(held);
                        self.scratch = text;
                    }
                }
            }
            Op::BeginText => self.writer.begin_string(),
            Op::EndAttribute(name) => {
                let value = self.writer.end_string()?;
                let name = self.computed_name(name)?;
                self.write_attribute(name, &value)?;
                self.writer.recycle(value);
            }
            Op::EndComment => {
                let text = self.writer.end_string()?;
                self.writer.comment(&text)?;
                self.writer.recycle(text);
            }
            Op::EndInstruction(name) => {
                let data = self.writer.end_string()?;
                let held = self.budget.held();
                let name = self.string(name)?;
                let name = qname::trim(&name);
                if !qname::is_target(name) {
                    return Err(TransformErrorKind::Name("it is not that of a processing instruction").into());
                }
                self.writer.processing_instruction(name, data.trim_start_matches(qname::is_space))?;
                self.budget.release_to(held);
                self.writer.recycle(data);
            }
            Op::EndMessage(afterwards) => self.message(*afterwards)?,
            Op::Copy(end, content) => self.copy(*end, *content)?,
            Op::EndCopy => {
                if self.kind() == NodeKind::Element {
                    self.writer.end_element()?;
                }
            }
            Op::CopyOf(expression) => self.write_copies(expression)?,
            Op::Number(number) => self.write_number(number)?,
            Op::Jump(target) => self.next = *target,
            Op::Unless(test, target) => {
                if !self.boolean(test)? {
                    self.next = *target;
                }
            }
            Op::ForEach(selection, end) => self.begin_loop(selection, *end)?,
            Op::Again(body) => self.again(*body),
            Op::Apply(apply) => self.apply(apply)?,
            Op::ApplyNext => self.apply_next()?,
            Op::ApplyImports => self.apply_imports()?,
            Op::Call(template, arguments) => self.call(*template, *arguments)?,
            Op::Use(address, slots) => self.enter(*address, *slots, 0..0, self.next)?,
            Op::Return | Op::GlobalDone => return Ok(self.leave()),
            Op::Set(slot, expression) => {
                let value = self.value(expression)?;
                self.store(*slot, value);
            }
            Op::BeginTree => self.writer.begin_fragment(),
            Op::EndTree(slot) => {
                let value = self.fragment_value()?;
                self.store(*slot, value);
            }
            Op::Argument(name, expression) => {
                let value = self.value(expression)?;
                self.arguments.push(*name, value);
            }
            Op::EndTreeArgument(name) => {
                let value = self.fragment_value()?;
                self.arguments.push(*name, value);
            }
            Op::Parameter(name, slot, target) => {
                if self.take_argument(*name, *slot)? {
                    self.next = *target;
                }
            }
            Op::GlobalParameter(name, slot, target) => {
                if self.take_parameter(name, *slot) {
                    self.next = *target;
                }
            }
            Op::Need(needs) => {
                for key in &needs.keys {
                    self.prepare_key(*key)?;
                }
                for slot in &needs.globals {
                    if !self.prepare_global(*slot)? {
                        break;
                    }
                }
            }
            Op::Unknown => return Err(TransformErrorKind::UnknownInstruction.into()),
        }
        Ok(true)
    }

    fn start_literal(&mut self, literal: &Literal) -> Result<()> {
        let name = self.result_name(literal.name)?;
        self.writer.start_element(self.document.names(), name)?;
        for namespace in &literal.namespaces {
            let (prefix, uri) = self.result_namespace(*namespace)?;
            self.writer.namespace(self.document.names(), prefix, uri)?;
        }
        Ok(())
    }

    fn write_attribute(&mut self, name: ResultName, value: &str) -> Result<()> {
        self.budget.charge_bytes(value.len())?;
        // One that comes too late is left out (section 7.1.3).
        self.writer.attribute(self.document.names(), name, value)?;
        Ok(())
    }

    /// The first half of `xsl:copy`.
    fn copy(&mut self, end: Address, content: Address) -> Result<()> {
        let node = self.focus.context.node;
        match self.document.kind(node) {
            NodeKind::Root => self.next = content,
            NodeKind::Element => {
                let looked_at = copy_element(&mut self.writer, &self.document, node)?;
                self.budget.charge(looked_at)?;
            }
            _ => {
                self.budget.charge_bytes(self.document.string_value(node).len())?;
                copy_of(&mut self.writer, &self.document, node)?;
                self.next = end;
            }
        }
        Ok(())
    }

    fn message(&mut self, afterwards: Afterwards) -> Result<()> {
        let fragment = self.writer.end_fragment()?;
        let trees = self.trees.len();
        let root;
        let text = match fragment.as_text() {
            Some(text) => text,
            None => {
                root = self.build(&fragment)?;
                self.document.string_value(root)
            }
        };
        let end = (0..=MESSAGE_BYTES.min(text.len())).rev().find(|end| text.is_char_boundary(*end));
        self.messages.message(text.get(..end.unwrap_or_default()).unwrap_or_default());
        self.release_trees(trees);
        match afterwards {
            Afterwards::Continue => Ok(()),
            Afterwards::Terminate => Err(TransformErrorKind::Terminated.into()),
        }
    }
}
