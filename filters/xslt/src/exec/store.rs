//! Giving values to variables.

use std::borrow::Cow;

use portcullis_xml::NodeId;
use portcullis_xml::tree::TreeBuilder;
use portcullis_xml::xpath::Value;

use super::environment::{borrowed, owned};
use super::error::{Failure, Result};
use super::frame::{Focus, Frame};
use super::machine::{GlobalValue, Machine};
use super::values::{Arguments, bytes_of};
use crate::error::TransformErrorKind;
use crate::parameters::Parameter;
use crate::program::{GLOBAL, SlotNumber};
use crate::qname::Expanded;
use crate::result::Fragment;

impl Machine<'_, '_> {
    pub(super) fn store(&mut self, slot: SlotNumber, value: Value<'static>) {
        let index = |slot: u32| usize::try_from(slot).unwrap_or(usize::MAX);
        match slot.checked_sub(GLOBAL) {
            Some(global) => {
                // It stays to the end.
                self.trees.keep_all();
                self.kept = self.kept.saturating_add(bytes_of(&value));
                if let Some(known) = self.globals.get_mut(index(global)) {
                    *known = GlobalValue::Known(value);
                }
            }
            None => self.locals.set(self.base.saturating_add(index(slot)), value),
        }
        // What was there before is gone.
        self.settle_if_much();
    }

    /// Makes a temporary tree of what has been collected; its value is its root.
    pub(super) fn fragment_value(&mut self) -> Result<Value<'static>> {
        let fragment = self.writer.end_fragment()?;
        Ok(Value::Nodes(Cow::Owned(vec![self.build(&fragment)?])))
    }

    pub(super) fn build(&mut self, fragment: &Fragment) -> Result<NodeId> {
        let limits = self.tree_limits();
        self.budget.charge(fragment.len())?;
        self.check_kept(fragment.text_bytes())?;
        self.trees.begin(&self.document);
        let mut tree = TreeBuilder::add_to(core::mem::take(&mut self.document), &limits);
        fragment.build(&mut tree)?;
        self.document = tree.finish()?;
        // Its declarations may be more than its text.
        self.settle();
        self.budget.hold(Arguments::PLACE)?;
        self.document.roots().last().copied().ok_or(Failure::Nodes)
    }

    /// Gives a parameter of a template the value that was passed, if any was.
    pub(super) fn take_argument(&mut self, name: u32, slot: SlotNumber) -> Result<bool> {
        let given = self.given.clone();
        // Those of a call are for this template alone; those of `xsl:apply-templates` are for others too.
        self.budget.charge(u64::try_from(given.len()).unwrap_or(u64::MAX) >> 4)?;
        let is_call = matches!(self.frames.last(), Some(Frame::Call(call)) if call.arguments <= given.start);
        let value = if is_call {
            self.arguments.take(given, name)
        } else if let Some(bytes) = self.arguments.find(given.clone(), name).map(bytes_of) {
            self.charge_copy(bytes)?;
            self.arguments.find(given, name).map(|value| owned(borrowed(value)))
        } else {
            None
        };
        let Some(value) = value else { return Ok(false) };
        self.store(slot, value);
        Ok(true)
    }

    /// Gives a global parameter the value that the host says, if it says one.
    pub(super) fn take_parameter(&mut self, name: &Expanded, slot: SlotNumber) -> bool {
        let value = match self.parameters.get(&name.namespace, &name.local) {
            None => return false,
            Some(Parameter::String(text)) => Value::String(Cow::Owned(text.clone())),
            Some(Parameter::Number(number)) => Value::Number(*number),
            Some(Parameter::Boolean(boolean)) => Value::Boolean(*boolean),
        };
        self.store(slot, value);
        true
    }

    /// Sees to it that the value of a global variable is known. If it is not, goes off to compute it, and comes back to
    /// the instruction that is carried out: then `false`.
    pub(super) fn prepare_global(&mut self, slot: SlotNumber) -> Result<bool> {
        let index = usize::try_from(slot.saturating_sub(GLOBAL)).unwrap_or(usize::MAX);
        let Some(global) = self.program.globals.get(index) else { return Ok(true) };
        match self.globals.get_mut(index) {
            Some(GlobalValue::Known(_)) | None => Ok(true),
            Some(GlobalValue::Pending) => Err(TransformErrorKind::CircularVariable.into()),
            Some(unknown @ GlobalValue::Unknown) => {
                *unknown = GlobalValue::Pending;
                self.enter(global.body, global.slots, 0..0, self.here())?;
                self.focus =
                    Focus { context: portcullis_xml::xpath::Context::of(NodeId::ROOT), rule: None, mode: 0 };
                Ok(false)
            }
        }
    }
}
