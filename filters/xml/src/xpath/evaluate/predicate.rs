//! Predicates on lists of nodes.

use std::borrow::Cow;

use super::{Evaluation, Result};
use crate::tree::NodeId;
use crate::xpath::ast::{Expr, Predicate, Type};
use crate::xpath::environment::Context;
use crate::xpath::value::{NodeSet, Value};

impl<'a> Evaluation<'a, '_> {
    /// What is left of nodes after predicates, one after the other; positions are those in the list.
    pub(super) fn filter(
        &mut self,
        mut nodes: NodeSet<'a>,
        predicates: &'a [Predicate],
    ) -> Result<NodeSet<'a>> {
        for predicate in predicates {
            match (&nodes, predicate) {
                // For one of the nodes, those of a variable need not be copied.
                (Cow::Borrowed(all), Predicate::Position(_) | Predicate::Last | Predicate::Never) => {
                    nodes = Cow::Owned(at(predicate, all).into_iter().collect());
                }
                _ => {
                    if let Cow::Borrowed(all) = nodes {
                        self.budget.charge_nodes(all.len())?;
                        self.budget.hold(size_of_val::<[NodeId]>(all))?;
                    }
                    self.keep(predicate, nodes.to_mut())?;
                }
            }
        }
        Ok(nodes)
    }

    /// Keeps those nodes of a list that a predicate holds for.
    pub(super) fn keep(&mut self, predicate: &'a Predicate, nodes: &mut Vec<NodeId>) -> Result<()> {
        match predicate {
            Predicate::Condition(condition) => {
                retain(nodes, |node, _| self.boolean(condition, Context::of(node)))?;
            }
            Predicate::Position(_) | Predicate::Last | Predicate::Never => {
                let kept = at(predicate, nodes);
                nodes.clear();
                nodes.extend(kept);
            }
            Predicate::Positional(expression) => {
                let size = u32::try_from(nodes.len()).unwrap_or(u32::MAX);
                retain(nodes, |node, position| self.holds(expression, Context { node, position, size }))?;
            }
        }
        Ok(())
    }

    /// Whether a predicate's expression holds: a number stands for a position (XPath 1.0, section 2.4).
    fn holds(&mut self, expression: &'a Expr, context: Context) -> Result<bool> {
        let position = f64::from(context.position);
        match expression.type_() {
            Type::Number => Ok(self.number(expression, context)? == position),
            Type::Any => {
                let held = self.budget.held();
                let value = self.value(expression, context)?;
                self.budget.release_to(held);
                Ok(match value {
                    Value::Number(number) => number == position,
                    other => other.to_boolean(),
                })
            }
            Type::Nodes | Type::Boolean | Type::String => self.boolean(expression, context),
        }
    }
}

/// The node of a list that a predicate asks for by its place.
fn at(predicate: &Predicate, nodes: &[NodeId]) -> Option<NodeId> {
    match predicate {
        Predicate::Position(position) => {
            let index = usize::try_from(*position).ok()?.checked_sub(1)?;
            nodes.get(index).copied()
        }
        Predicate::Last => nodes.last().copied(),
        Predicate::Never | Predicate::Condition(_) | Predicate::Positional(_) => None,
    }
}

/// Keeps what a test holds for, which is also told the position.
fn retain(nodes: &mut Vec<NodeId>, mut test: impl FnMut(NodeId, u32) -> Result<bool>) -> Result<()> {
    let mut position = 0_u32;
    let mut failure = None;
    nodes.retain(|node| {
        position = position.saturating_add(1);
        failure.is_none()
            && test(*node, position).unwrap_or_else(|error| {
                failure = Some(error);
                false
            })
    });
    failure.map_or(Ok(()), Err)
}
