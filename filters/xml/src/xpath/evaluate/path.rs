//! Location paths.

use core::ops::ControlFlow;
use std::borrow::Cow;

use super::axis::Candidates;
use super::expand::expand;
use super::{Evaluation, Result};
use crate::tree::NodeId;
use crate::xpath::ast::{Axis, Expr, Path, Predicate, Start, Step};
use crate::xpath::budget::list_bytes;
use crate::xpath::environment::Context;
use crate::xpath::value::NodeSet;

/// What is done with each node that is found.
pub(super) type Visit<'v, 'a, 'b> =
    &'v mut dyn FnMut(&mut Evaluation<'a, 'b>, NodeId) -> Result<ControlFlow<()>>;

impl<'a, 'b> Evaluation<'a, 'b> {
    /// All nodes that a path selects, in document order.
    pub(super) fn path(&mut self, path: &'a Path, context: Context) -> Result<NodeSet<'a>> {
        match (self.only_start(&path.start, context), &*path.steps) {
            (Some(node), [first, others @ ..]) => {
                let mut found = Vec::new();
                self.step(first, &[node], &mut found)?;
                self.steps(others, Cow::Owned(found))
            }
            (Some(node), []) => Ok(Cow::Owned(vec![node])),
            (None, steps) => {
                let start = self.start(&path.start, context)?;
                self.steps(steps, start)
            }
        }
    }

    /// The node that a path starts from, if it is but one, and need not be looked for.
    fn only_start(&self, start: &Start, context: Context) -> Option<NodeId> {
        match start {
            Start::Root => Some(self.document.root(context.node)),
            Start::Context => Some(context.node),
            Start::Nodes(_) => None,
        }
    }

    fn start(&mut self, start: &'a Start, context: Context) -> Result<NodeSet<'a>> {
        match start {
            Start::Root => Ok(Cow::Owned(vec![self.document.root(context.node)])),
            Start::Context => Ok(Cow::Owned(vec![context.node])),
            Start::Nodes(base) => self.nodes(base, context),
        }
    }

    fn steps(&mut self, steps: &'a [Step], from: NodeSet<'a>) -> Result<NodeSet<'a>> {
        let mut current = from;
        let mut next = Vec::new();
        for step in steps {
            if current.is_empty() {
                break;
            }
            next.clear();
            self.step(step, &current, &mut next)?;
            // The list of the step before is used again, and stays held.
            let done = core::mem::replace(&mut current, Cow::Owned(core::mem::take(&mut next)));
            if let Cow::Owned(done) = done {
                next = done;
            }
        }
        Ok(current)
    }

    /// What a step selects from any of `from`, in document order.
    fn step(&mut self, step: &'a Step, from: &[NodeId], found: &mut Vec<NodeId>) -> Result<()> {
        if step.is_unordered() {
            let Some(matcher) = self.bindings.matcher(step.axis, &step.test) else { return Ok(()) };
            expand(self.document, step.axis, matcher, from, found, self.budget)?;
            self.put_in_order(found)?;
            return step.predicates.iter().try_for_each(|predicate| self.keep(predicate, found));
        }
        // No more than a few times as many as there can be in the end.
        let most = self.document.len().saturating_mul(2);
        for node in from {
            let _ = self.each(step, *node, &mut |evaluation, node| {
                evaluation.budget.push(found, node)?;
                Ok(ControlFlow::Continue(()))
            })?;
            if found.len() > most {
                self.put_in_order(found)?;
            }
        }
        self.put_in_order(found)
    }

    /// Visits what a step selects from one node, in the order of its axis, for as long as `visit` goes on.
    fn each(&mut self, step: &'a Step, node: NodeId, visit: Visit<'_, 'a, 'b>) -> Result<ControlFlow<()>> {
        // Whether or not there is anything to be looked at, the node itself has been.
        self.budget.charge(1)?;
        let Some(matcher) = self.bindings.matcher(step.axis, &step.test) else {
            return Ok(ControlFlow::Continue(()));
        };
        let mut candidates = Candidates::new(self.document, step.axis, matcher, node);
        if let Some(mut counting) = Counting::new(&step.predicates) {
            while let Some(node) = candidates.next(self.budget)? {
                match counting.judge(self, node)? {
                    Judgement::Out => {}
                    Judgement::In => {
                        if visit(self, node)?.is_break() {
                            return Ok(ControlFlow::Break(()));
                        }
                    }
                    Judgement::LastIn => return visit(self, node),
                    Judgement::NoMore => break,
                }
            }
            return Ok(ControlFlow::Continue(()));
        }
        let mut found = Vec::new();
        while let Some(node) = candidates.next(self.budget)? {
            self.budget.push(&mut found, node)?;
        }
        let held = list_bytes(&found);
        let mut flow = ControlFlow::Continue(());
        for node in self.filter(Cow::Owned(found), &step.predicates)?.iter() {
            flow = visit(self, *node)?;
            if flow.is_break() {
                break;
            }
        }
        self.budget.release(held);
        Ok(flow)
    }

    /// Whether an expression that is a node-set has any nodes.
    pub(super) fn exists(&mut self, expression: &'a Expr, context: Context) -> Result<bool> {
        let flow = self.any(expression, context, &mut |_, _| Ok(ControlFlow::Break(())))?;
        Ok(flow.is_break())
    }

    /// Visits the nodes of an expression that is a node-set in any order, some perhaps more than once, for as long as
    /// `visit` goes on.
    pub(super) fn any(
        &mut self,
        expression: &'a Expr,
        context: Context,
        visit: Visit<'_, 'a, 'b>,
    ) -> Result<ControlFlow<()>> {
        match expression {
            Expr::Path(Path { start, steps }) if !steps.is_empty() => {
                if let (Some(node), [step]) = (self.only_start(start, context), &**steps) {
                    self.budget.charge(1)?;
                    return self.each(step, node, visit);
                }
                let (last, all_but_last) = (steps.last(), steps.get(..steps.len().saturating_sub(1)));
                let start = self.start(start, context)?;
                let from = self.steps(all_but_last.unwrap_or_default(), start)?;
                let Some(last) = last else { return Ok(ControlFlow::Continue(())) };
                if from.len() > 1 && !is_disjoint(last.axis) {
                    let mut found = Vec::new();
                    self.step(last, &from, &mut found)?;
                    return self.visit_all(&found, visit);
                }
                for node in from.iter() {
                    if self.each(last, *node, &mut *visit)?.is_break() {
                        return Ok(ControlFlow::Break(()));
                    }
                }
                Ok(ControlFlow::Continue(()))
            }
            Expr::Union(operands) => {
                for operand in operands {
                    if self.any(operand, context, &mut *visit)?.is_break() {
                        return Ok(ControlFlow::Break(()));
                    }
                }
                Ok(ControlFlow::Continue(()))
            }
            _ => {
                let nodes = self.nodes(expression, context)?;
                self.visit_all(&nodes, visit)
            }
        }
    }

    fn visit_all(&mut self, nodes: &[NodeId], visit: Visit<'_, 'a, 'b>) -> Result<ControlFlow<()>> {
        for node in nodes {
            self.budget.charge(1)?;
            if visit(self, *node)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// The node of an expression that is a node-set that comes first in document order.
    pub(super) fn first(&mut self, expression: &'a Expr, context: Context) -> Result<Option<NodeId>> {
        self.budget.charge(1)?;
        match expression {
            Expr::Path(Path { start, steps }) if !steps.is_empty() => {
                if let (Some(node), [step]) = (self.only_start(start, context), &**steps)
                    && !step.axis.is_reverse()
                {
                    return self.first_of_step(step, node);
                }
                let (last, all_but_last) = (steps.last(), steps.get(..steps.len().saturating_sub(1)));
                let start = self.start(start, context)?;
                let from = self.steps(all_but_last.unwrap_or_default(), start)?;
                match (last, &*from) {
                    (Some(last), [only]) if !last.axis.is_reverse() => self.first_of_step(last, *only),
                    (Some(last), from) => {
                        let mut found = Vec::new();
                        self.step(last, from, &mut found)?;
                        Ok(found.first().copied())
                    }
                    (None, _) => Ok(None),
                }
            }
            Expr::Union(operands) => {
                let mut first = None;
                for operand in operands {
                    let candidate = self.first(operand, context)?;
                    first = first.into_iter().chain(candidate).min();
                }
                Ok(first)
            }
            Expr::Filter { base, predicates } if matches!(**predicates, [Predicate::Position(1)]) => {
                self.first(base, context)
            }
            _ => Ok(self.nodes(expression, context)?.first().copied()),
        }
    }

    fn first_of_step(&mut self, step: &'a Step, node: NodeId) -> Result<Option<NodeId>> {
        if step.axis == Axis::Child && step.predicates.is_empty() {
            return self.bindings.first_child(self.document, &step.test, node, self.budget);
        }
        let mut first = None;
        let _ = self.each(step, node, &mut |_, node| {
            first = Some(node);
            Ok(ControlFlow::Break(()))
        })?;
        Ok(first)
    }
}

/// Whether the ways from different nodes have no nodes in common.
fn is_disjoint(axis: Axis) -> bool {
    matches!(axis, Axis::Child | Axis::Attribute | Axis::SelfNode)
}

/// Predicates that can be told of one candidate after the other, without a list of them all.
struct Counting<'a> {
    predicates: &'a [Predicate],
    /// How many have come to each predicate; none if no predicate counts.
    arrived: Vec<u32>,
}

enum Judgement {
    Out,
    In,
    /// It is in, and no later one will be.
    LastIn,
    /// It is out, as will be all later ones.
    NoMore,
}

impl<'a> Counting<'a> {
    fn new(predicates: &'a [Predicate]) -> Option<Self> {
        let mut counts = false;
        for predicate in predicates {
            match predicate {
                Predicate::Condition(_) | Predicate::Never => {}
                Predicate::Position(_) => counts = true,
                Predicate::Last | Predicate::Positional(_) => return None,
            }
        }
        let arrived = if counts { vec![0; predicates.len()] } else { Vec::new() };
        Some(Self { predicates, arrived })
    }

    fn judge(&mut self, evaluation: &mut Evaluation<'a, '_>, node: NodeId) -> Result<Judgement> {
        let mut is_last = false;
        let mut is_in = true;
        for (index, predicate) in self.predicates.iter().enumerate() {
            match predicate {
                Predicate::Condition(condition) => {
                    if !evaluation.boolean(condition, Context::of(node))? {
                        is_in = false;
                        break;
                    }
                }
                Predicate::Position(wanted) => {
                    let Some(arrived) = self.arrived.get_mut(index) else { return Ok(Judgement::NoMore) };
                    *arrived = arrived.saturating_add(1);
                    if *arrived < *wanted {
                        is_in = false;
                        break;
                    }
                    is_last = true;
                }
                Predicate::Never | Predicate::Last | Predicate::Positional(_) => {
                    return Ok(Judgement::NoMore);
                }
            }
        }
        Ok(match (is_in, is_last) {
            (true, false) => Judgement::In,
            (true, true) => Judgement::LastIn,
            (false, false) => Judgement::Out,
            (false, true) => Judgement::NoMore,
        })
    }
}
