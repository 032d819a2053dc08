//! Evaluating the expressions of instructions.

use std::borrow::Cow;

use portcullis_xml::xpath::{Context, Evaluation, Value, owned_bytes};
use portcullis_xml::{NodeId, NodeKind};

use super::environment::{Surroundings, owned, shrink};
use super::error::Result;
use super::machine::Machine;
use super::values::{Arguments, bytes_of};
use crate::expression::{Expression, Part, Shape, ValueTemplate};
use crate::pattern::{Among, Matching, Pattern};
use crate::result::{Receiver, copy_of};

/// Splits a machine into what an evaluation needs and the rest. It is a macro because the borrow checker has to see
/// that the fields are different ones.
macro_rules! surroundings {
    ($machine:expr) => {
        Surroundings {
            program: $machine.program,
            document: &$machine.document,
            locals: $machine.locals.from($machine.base),
            globals: &$machine.globals,
            keys: &$machine.keys,
            current: $machine.focus.context.node,
        }
    };
}

impl<'p> Machine<'p, '_> {
    pub(super) fn boolean(&mut self, expression: &'p Expression) -> Result<bool> {
        let surroundings = surroundings!(self);
        let mut evaluation = Evaluation::new(&self.document, &self.bindings, &surroundings, &mut self.budget);
        Ok(evaluation.boolean(&expression.expr, self.focus.context)?)
    }

    pub(super) fn number(&mut self, expression: &'p Expression) -> Result<f64> {
        let surroundings = surroundings!(self);
        let mut evaluation = Evaluation::new(&self.document, &self.bindings, &surroundings, &mut self.budget);
        Ok(evaluation.number(&expression.expr, self.focus.context)?)
    }

    pub(super) fn nodes(&mut self, expression: &'p Expression) -> Result<Vec<NodeId>> {
        let surroundings = surroundings!(self);
        let mut evaluation = Evaluation::new(&self.document, &self.bindings, &surroundings, &mut self.budget);
        let nodes = evaluation.nodes(&expression.expr, self.focus.context)?;
        Ok(match nodes {
            Cow::Owned(mut nodes) => {
                shrink(&mut nodes);
                nodes
            }
            Cow::Borrowed(nodes) => {
                self.budget.charge(u64::try_from(nodes.len()).unwrap_or(u64::MAX))?;
                self.budget.hold(size_of_val::<[NodeId]>(nodes))?;
                nodes.to_vec()
            }
        })
    }

    /// The value of an expression, to be kept.
    pub(super) fn value(&mut self, expression: &'p Expression) -> Result<Value<'static>> {
        let surroundings = surroundings!(self);
        let mut evaluation = Evaluation::new(&self.document, &self.bindings, &surroundings, &mut self.budget);
        let value = evaluation.value(&expression.expr, self.focus.context)?;
        let bytes = bytes_of(&value);
        self.budget.charge_bytes(bytes)?;
        if owned_bytes(&value) == 0 {
            // What is borrowed will be copied.
            self.budget.hold(bytes)?;
        }
        let value = owned(value);
        // As an argument, it takes a place and a name too.
        self.check_kept(bytes.saturating_add(Arguments::PLACE))?;
        Ok(value)
    }

    /// Takes off what it costs to copy a value of so many bytes, if it can be kept with what there is already.
    pub(super) fn charge_copy(&mut self, bytes: usize) -> Result<()> {
        self.budget.charge_bytes(bytes)?;
        self.check_kept(bytes)
    }

    /// The same for bytes that are kept to the end.
    pub(super) fn keep(&mut self, bytes: usize) -> Result<()> {
        self.budget.charge_bytes(bytes)?;
        self.check_kept(bytes)?;
        self.kept = self.kept.saturating_add(bytes);
        Ok(())
    }

    /// Writes the string-value of an expression as text.
    pub(super) fn write_value(&mut self, expression: &'p Expression) -> Result<()> {
        if expression.shape == Shape::Current {
            let text = self.document.string_value(self.focus.context.node);
            self.budget.charge_bytes(text.len())?;
            return Ok(self.writer.text(text)?);
        }
        if let Some(test) = expression.child_test() {
            // As much as evaluating it would cost.
            self.budget.charge(2)?;
            let node = self.focus.context.node;
            let child = self.bindings.first_child(&self.document, test, node, &mut self.budget)?;
            let text = child.map_or("", |child| self.document.string_value(child));
            self.budget.charge_bytes(text.len())?;
            return Ok(self.writer.text(text)?);
        }
        let held = self.budget.held();
        let surroundings = surroundings!(self);
        let mut evaluation = Evaluation::new(&self.document, &self.bindings, &surroundings, &mut self.budget);
        let text = evaluation.string(&expression.expr, self.focus.context)?;
        self.budget.charge_bytes(text.len())?;
        self.writer.text(&text)?;
        self.budget.release_to(held);
        Ok(())
    }

    /// Writes copies of nodes, or the string-value of what is not a node-set (section 11.3).
    pub(super) fn write_copies(&mut self, expression: &'p Expression) -> Result<()> {
        let held = self.budget.held();
        let surroundings = surroundings!(self);
        let mut evaluation = Evaluation::new(&self.document, &self.bindings, &surroundings, &mut self.budget);
        match evaluation.value(&expression.expr, self.focus.context)? {
            Value::Nodes(nodes) => {
                for node in nodes.iter() {
                    // The text is copied too; its size tells ahead what it will cost.
                    self.budget.charge_bytes(self.document.string_value(*node).len())?;
                    let copied = copy_of(&mut self.writer, &self.document, *node)?;
                    self.budget.charge(copied)?;
                }
            }
            other => {
                let text = other.into_string(&self.document);
                self.budget.charge_bytes(text.len())?;
                self.writer.text(&text)?;
            }
        }
        self.budget.release_to(held);
        Ok(())
    }

    /// Appends the value of an attribute value template. The text is the caller's to give back to the account.
    pub(super) fn append(&mut self, template: &'p ValueTemplate, out: &mut String) -> Result<()> {
        for part in &template.parts {
            match part {
                Part::Text(text) => out.push_str(text),
                Part::Expression(expression) => {
                    let surroundings = surroundings!(self);
                    let mut evaluation =
                        Evaluation::new(&self.document, &self.bindings, &surroundings, &mut self.budget);
                    let text = evaluation.string(&expression.expr, self.focus.context)?;
                    self.budget.charge_bytes(text.len())?;
                    self.budget.hold(text.len())?;
                    out.push_str(&text);
                }
            }
        }
        Ok(())
    }

    /// The value of an attribute value template. The text is the caller's to give back to the account.
    pub(super) fn string(&mut self, template: &'p ValueTemplate) -> Result<Cow<'p, str>> {
        if let Some(constant) = template.constant() {
            return Ok(Cow::Borrowed(constant));
        }
        let mut text = String::new();
        self.append(template, &mut text)?;
        Ok(Cow::Owned(text))
    }

    /// Runs `look` with an evaluation for another node than the current one.
    pub(super) fn evaluate_for<T>(
        &mut self,
        node: NodeId,
        expression: &'p Expression,
        context: Context,
        take: impl FnOnce(Value<'_>, &portcullis_xml::Document) -> T,
    ) -> Result<T> {
        let held = self.budget.held();
        let mut surroundings = surroundings!(self);
        surroundings.current = node;
        let mut evaluation = Evaluation::new(&self.document, &self.bindings, &surroundings, &mut self.budget);
        let value = evaluation.value(&expression.expr, context)?;
        let taken = take(value, &self.document);
        self.budget.release_to(held);
        Ok(taken)
    }

    /// Whether a node matches a pattern.
    pub(super) fn matches(&mut self, pattern: &'p Pattern, node: NodeId) -> Result<bool> {
        let mut surroundings = surroundings!(self);
        surroundings.current = node;
        let mut matching = Matching {
            document: &self.document,
            names: &self.pool,
            bindings: &self.bindings,
            environment: &surroundings,
            budget: &mut self.budget,
        };
        Ok(matching.matches(pattern, node)?)
    }

    /// The rule for a node, if it is not one that is built in.
    pub(super) fn choose_rule(&mut self, node: NodeId, mode: usize, among: Among) -> Result<Option<usize>> {
        let mut surroundings = surroundings!(self);
        surroundings.current = node;
        let mut matching = Matching {
            document: &self.document,
            names: &self.pool,
            bindings: &self.bindings,
            environment: &surroundings,
            budget: &mut self.budget,
        };
        Ok(self.program.rules.choose(node, mode, among, &mut matching)?)
    }

    pub(super) fn kind(&self) -> NodeKind {
        self.document.kind(self.focus.context.node)
    }
}
