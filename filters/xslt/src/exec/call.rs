//! Templates: calling them, choosing them for nodes, coming back (sections 5 and 6).

use core::ops::Range;

use portcullis_xml::{NodeId, NodeKind};

use super::error::{Failure, Result};
use super::frame::{Application, Call, Focus, Frame, Loop, Nodes};
use super::machine::Machine;
use super::values::Values;
use crate::error::TransformErrorKind;
use crate::expression::Shape;
use crate::fragments::is_fragment;
use crate::pattern::Among;
use crate::program::{Address, Apply, Op, Program, Selection, Template};
use crate::result::Receiver;
use portcullis_xml::xpath::Context;

/// What a call takes, with the list that it loops over or applies templates to.
const FRAMES: usize = size_of::<[Frame; 2]>();

impl<'p> Machine<'p, '_> {
    /// Goes to instructions with variables of their own, which will come back to `return_to`.
    pub(super) fn enter(
        &mut self,
        body: Address,
        slots: usize,
        given: Range<usize>,
        return_to: Address,
    ) -> Result<()> {
        if self.depth >= self.limits.template_depth {
            return Err(Failure::Depth);
        }
        self.depth = self.depth.saturating_add(1);
        self.check_kept(FRAMES.saturating_add(Values::bytes_of_places(slots)))?;
        let trees = self.trees.len();
        self.frames.push(Frame::Call(Call {
            return_to,
            focus: self.focus,
            base: self.base,
            given: core::mem::replace(&mut self.given, given),
            arguments: self.arguments.len(),
            trees,
        }));
        self.base = self.locals.len();
        self.locals.extend(slots);
        self.next = body;
        Ok(())
    }

    /// Comes back; `false` if there is nowhere to come back to.
    pub(super) fn leave(&mut self) -> bool {
        let Some(Frame::Call(call)) = self.frames.pop() else { return false };
        self.depth = self.depth.saturating_sub(1);
        self.locals.truncate(self.base);
        self.arguments.truncate(call.arguments);
        self.base = call.base;
        self.given = call.given;
        self.focus = call.focus;
        self.next = call.return_to;
        self.release_trees(call.trees);
        self.settle_if_much();
        true
    }

    /// `xsl:call-template`
    pub(super) fn call(&mut self, template: usize, arguments: u32) -> Result<()> {
        let Some(template) = self.program.templates.get(template) else { return Ok(()) };
        let end = self.arguments.len();
        let start = end.saturating_sub(usize::try_from(arguments).unwrap_or(usize::MAX));
        if self.is_last() {
            return self.replace(template, start);
        }
        self.enter(template.body, template.slots, start..end, self.next)?;
        if let Some(Frame::Call(call)) = self.frames.last_mut() {
            // The arguments are no longer needed once it has come back.
            call.arguments = start;
        }
        Ok(())
    }

    /// Whether nothing is left to do in the template but to come back.
    fn is_last(&self) -> bool {
        let mut at = self.next;
        // Jumps lead onward: to the end of what they stand in.
        while let Some(Op::Jump(target)) = self.program.ops.get(at) {
            at = *target;
        }
        matches!(self.program.ops.get(at), Some(Op::Return))
            && matches!(self.frames.last(), Some(Frame::Call(_)))
    }

    /// Goes to a template in place of the one that has nothing left to do: templates that call themselves at their end
    /// take no more room than a loop.
    fn replace(&mut self, template: &Template, first_argument: usize) -> Result<()> {
        self.check_kept(Values::bytes_of_places(template.slots))?;
        let Some(Frame::Call(call)) = self.frames.last() else { return Ok(()) };
        let trees = call.trees;
        let kept = call.arguments.min(first_argument);
        self.arguments.remove(kept..first_argument);
        self.given = kept..self.arguments.len();
        self.locals.truncate(self.base);
        self.locals.extend(template.slots);
        self.next = template.body;
        // What the template was doing is gone; its trees are, unless it hands one on.
        let handed_on = self.arguments.get(self.given.clone());
        if self.trees.len() > trees && !handed_on.iter().any(|value| is_fragment(value, &self.document)) {
            self.release_trees(trees);
        }
        self.settle_if_much();
        Ok(())
    }

    /// `xsl:apply-templates`
    pub(super) fn apply(&mut self, apply: &'p Apply) -> Result<()> {
        let end = self.arguments.len();
        let start = end.saturating_sub(usize::try_from(apply.arguments).unwrap_or(usize::MAX));
        let (nodes, size) = self.select(&apply.selection)?;
        self.list(nodes.bytes())?;
        self.frames.push(Frame::Apply(Application {
            nodes,
            position: 0,
            size,
            mode: apply.mode,
            arguments: start..end,
            focus: self.focus,
        }));
        Ok(())
    }

    fn select(&mut self, selection: &'p Selection) -> Result<(Nodes, u32)> {
        let node = self.focus.context.node;
        if selection.sorts.is_empty() {
            // What there is no need to make a list of.
            match selection.select.as_ref().map(|select| select.shape) {
                None | Some(Shape::Children) => return Ok(self.children(node)),
                Some(Shape::Contents) => return Ok(self.contents(node)),
                Some(Shape::Current | Shape::Child | Shape::Other) => {}
            }
        }
        let nodes = self.selected(selection)?;
        let size = u32::try_from(nodes.len()).unwrap_or(u32::MAX);
        Ok((Nodes::List(nodes, 0), size))
    }

    /// The children of a node. How many they are is counted only if some expression may ask.
    fn children(&self, node: NodeId) -> (Nodes, u32) {
        let first = self.document.first_child(node);
        let size = if self.program.reads_last { self.document.children(node).count() } else { 0 };
        (Nodes::Siblings(first), u32::try_from(size).unwrap_or(u32::MAX))
    }

    /// The attributes and the children of a node.
    fn contents(&self, node: NodeId) -> (Nodes, u32) {
        let attributes = self.document.attributes(node);
        let (_, children) = self.children(node);
        let count = if self.program.reads_last { attributes.clone().count() } else { 0 };
        let size = children.saturating_add(u32::try_from(count).unwrap_or(u32::MAX));
        (Nodes::Contents(attributes, node), size)
    }

    /// Goes to the template of the next node.
    pub(super) fn apply_next(&mut self) -> Result<()> {
        let Some(Frame::Apply(application)) = self.frames.last_mut() else { return Ok(()) };
        let Some(node) = application.nodes.take(&self.document) else {
            self.focus = application.focus;
            self.arguments.truncate(application.arguments.start);
            self.listed = self.listed.saturating_sub(application.nodes.bytes());
            self.frames.pop();
            self.settle_if_much();
            return Ok(());
        };
        application.position = application.position.saturating_add(1);
        let context = Context { node, position: application.position, size: application.size };
        let (mode, arguments) = (application.mode, application.arguments.clone());
        let rule = self.choose_rule(node, mode, Among::All)?;
        let here = self.here();
        self.focus = Focus { context, rule: None, mode };
        self.instantiate(rule, arguments, here)
    }

    /// `xsl:apply-imports` (section 5.6).
    pub(super) fn apply_imports(&mut self) -> Result<()> {
        let Focus { context, rule, mode } = self.focus;
        let Some(rule) = rule else {
            return Err(TransformErrorKind::NoCurrentRule.into());
        };
        let imported = self.choose_rule(context.node, mode, Among::ImportedBy(rule))?;
        self.instantiate(imported, 0..0, self.next)
    }

    /// Goes to the template of a rule, or does for the current node what the built-in ones do (section 5.8).
    fn instantiate(
        &mut self,
        rule: Option<usize>,
        arguments: Range<usize>,
        return_to: Address,
    ) -> Result<()> {
        let template = rule.and_then(|rule| self.program.rules.template(rule));
        if let Some(template) = template.and_then(|template| self.program.templates.get(template)) {
            self.enter(template.body, template.slots, arguments, return_to)?;
            self.focus.rule = rule;
            return Ok(());
        }
        self.next = return_to;
        let node = self.focus.context.node;
        match self.document.kind(node) {
            NodeKind::Root | NodeKind::Element => {
                let (nodes, size) = self.children(node);
                let Focus { mode, .. } = self.focus;
                self.enter(Program::BUILT_IN, 0, 0..0, return_to)?;
                let end = self.arguments.len();
                let focus = self.focus;
                self.frames.push(Frame::Apply(Application {
                    nodes,
                    position: 0,
                    size,
                    mode,
                    arguments: end..end,
                    focus,
                }));
                Ok(())
            }
            NodeKind::Text | NodeKind::Attribute => {
                let text = self.document.string_value(node);
                self.budget.charge_bytes(text.len())?;
                Ok(self.writer.text(text)?)
            }
            NodeKind::Comment | NodeKind::ProcessingInstruction => Ok(()),
        }
    }

    /// `xsl:for-each`: goes to the first node, or to `end`.
    pub(super) fn begin_loop(&mut self, selection: &'p Selection, end: Address) -> Result<()> {
        let nodes = self.selected(selection)?;
        let Some(first) = nodes.first().copied() else {
            self.next = end;
            return Ok(());
        };
        let size = u32::try_from(nodes.len()).unwrap_or(u32::MAX);
        self.list(size_of_val::<[NodeId]>(&nodes))?;
        self.frames.push(Frame::Loop(Loop { nodes, taken: 1, focus: self.focus, trees: self.trees.len() }));
        self.focus.context = Context { node: first, position: 1, size };
        // There is no current rule in a loop (section 5.6).
        self.focus.rule = None;
        Ok(())
    }

    /// A list of nodes that takes so many bytes will be there for a while.
    fn list(&mut self, bytes: usize) -> Result<()> {
        if bytes > 0 {
            self.check_kept(bytes.saturating_add(size_of::<Frame>()))?;
            self.listed = self.listed.saturating_add(bytes);
        }
        Ok(())
    }

    /// Goes to the next node, whose instructions are at `body`, or leaves the loop.
    pub(super) fn again(&mut self, body: Address) {
        let Some(Frame::Loop(frame)) = self.frames.last_mut() else { return };
        let trees = frame.trees;
        match frame.nodes.get(frame.taken).copied() {
            Some(node) => {
                frame.taken = frame.taken.saturating_add(1);
                self.focus.context.node = node;
                self.focus.context.position = self.focus.context.position.saturating_add(1);
                self.next = body;
            }
            None => {
                self.focus = frame.focus;
                self.listed = self.listed.saturating_sub(size_of_val::<[NodeId]>(&frame.nodes));
                self.frames.pop();
            }
        }
        // The variables of the round are gone.
        self.release_trees(trees);
        self.settle_if_much();
    }
}
