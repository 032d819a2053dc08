//! Comparisons (XPath 1.0, section 3.4).

use core::ops::ControlFlow;
use std::collections::BTreeSet;

use super::{Evaluation, Result};
use crate::tree::NodeId;
use crate::xpath::ast::{Comparison, Expr, Type};
use crate::xpath::environment::Context;
use crate::xpath::number;
use crate::xpath::value::Value;

impl<'a> Evaluation<'a, '_> {
    /// Whether a comparison holds.
    pub(super) fn compare(
        &mut self,
        comparison: Comparison,
        left: &'a Expr,
        right: &'a Expr,
        context: Context,
    ) -> Result<bool> {
        match (left.type_(), right.type_()) {
            (Type::Any, _) | (_, Type::Any) => {
                let (left, right) = (self.value(left, context)?, self.value(right, context)?);
                self.compare_values(comparison, left, right)
            }
            (Type::Nodes, Type::Nodes) => {
                let (left, right) = (self.nodes(left, context)?, self.nodes(right, context)?);
                self.compare_sets(comparison, &left, &right)
            }
            // With a boolean on one side, both are compared as such.
            (Type::Nodes, Type::Boolean) | (Type::Boolean, Type::Nodes) => {
                let (left, right) = (self.boolean(left, context)?, self.boolean(right, context)?);
                Ok(comparison.booleans(left, right))
            }
            (Type::Nodes, _) => {
                let right = self.value(right, context)?;
                self.any_holds(comparison, left, right, context)
            }
            (_, Type::Nodes) => {
                let left = self.value(left, context)?;
                self.any_holds(comparison.mirrored(), right, left, context)
            }
            _ if comparison.is_order() => {
                Ok(comparison.numbers(self.number(left, context)?, self.number(right, context)?))
            }
            (Type::Boolean, _) | (_, Type::Boolean) => {
                Ok(comparison.booleans(self.boolean(left, context)?, self.boolean(right, context)?))
            }
            (Type::Number, _) | (_, Type::Number) => {
                Ok(comparison.numbers(self.number(left, context)?, self.number(right, context)?))
            }
            (Type::String, Type::String) => {
                let (left, right) = (self.string(left, context)?, self.string(right, context)?);
                self.budget.charge_bytes(left.len().min(right.len()))?;
                Ok(comparison.strings(&left, &right))
            }
        }
    }

    /// Whether a comparison holds between any node of a node-set and a value that is none.
    fn any_holds(
        &mut self,
        comparison: Comparison,
        nodes: &'a Expr,
        value: Value<'a>,
        context: Context,
    ) -> Result<bool> {
        let value = self.comparable(comparison, value);
        let flow = self.any(nodes, context, &mut |evaluation, node| {
            let holds = evaluation.node_holds(comparison, node, &value)?;
            Ok(if holds { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        })?;
        Ok(flow.is_break())
    }

    /// A value in the form in which nodes are compared with it, so as not to convert it for each of them.
    fn comparable(&self, comparison: Comparison, value: Value<'a>) -> Value<'a> {
        match value {
            Value::String(_) if !comparison.is_order() => value,
            _ => Value::Number(value.to_number(self.document)),
        }
    }

    fn node_holds(&mut self, comparison: Comparison, node: NodeId, value: &Value<'a>) -> Result<bool> {
        let text = self.document.string_value(node);
        match value {
            Value::String(string) => {
                self.budget.charge_bytes(text.len().min(string.len()))?;
                Ok(comparison.strings(text, string))
            }
            _ => {
                self.budget.charge_bytes(text.len())?;
                Ok(comparison.numbers(number::parse(text), value.to_number(self.document)))
            }
        }
    }

    fn compare_values(&mut self, comparison: Comparison, left: Value<'a>, right: Value<'a>) -> Result<bool> {
        match (left, right) {
            (Value::Nodes(left), Value::Nodes(right)) => self.compare_sets(comparison, &left, &right),
            (left @ Value::Boolean(_), right @ Value::Nodes(_))
            | (left @ Value::Nodes(_), right @ Value::Boolean(_)) => {
                Ok(comparison.booleans(left.to_boolean(), right.to_boolean()))
            }
            (Value::Nodes(nodes), value) => self.any_of(comparison, &nodes, value),
            (value, Value::Nodes(nodes)) => self.any_of(comparison.mirrored(), &nodes, value),
            (left, right) => {
                let document = self.document;
                Ok(match (&left, &right) {
                    _ if comparison.is_order() => {
                        comparison.numbers(left.to_number(document), right.to_number(document))
                    }
                    (Value::Boolean(_), _) | (_, Value::Boolean(_)) => {
                        comparison.booleans(left.to_boolean(), right.to_boolean())
                    }
                    (Value::Number(_), _) | (_, Value::Number(_)) => {
                        comparison.numbers(left.to_number(document), right.to_number(document))
                    }
                    _ => {
                        let (left, right) = (left.into_string(document), right.into_string(document));
                        self.budget.charge_bytes(left.len().min(right.len()))?;
                        comparison.strings(&left, &right)
                    }
                })
            }
        }
    }

    fn any_of(&mut self, comparison: Comparison, nodes: &[NodeId], value: Value<'a>) -> Result<bool> {
        let value = self.comparable(comparison, value);
        for node in nodes {
            self.budget.charge(1)?;
            if self.node_holds(comparison, *node, &value)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether a comparison holds between any node of one set and any of another, without trying all pairs.
    fn compare_sets(&mut self, comparison: Comparison, left: &[NodeId], right: &[NodeId]) -> Result<bool> {
        let document = self.document;
        for node in left.iter().chain(right) {
            self.budget.charge(1)?;
            self.budget.charge_bytes(document.string_value(*node).len())?;
        }
        let texts =
            |nodes: &'_ [NodeId]| nodes.iter().map(|node| document.string_value(*node)).collect::<Vec<_>>();
        let (left, right) = (texts(left), texts(right));
        Ok(match comparison {
            Comparison::Equal => {
                let (few, many) = if left.len() < right.len() { (left, right) } else { (right, left) };
                let few: BTreeSet<&str> = few.into_iter().collect();
                many.iter().any(|text| few.contains(text))
            }
            // Only if all texts of both sets are the same is there no pair that differs.
            Comparison::NotEqual => match (left.first(), right.first()) {
                (Some(first), Some(_)) => left.iter().chain(&right).any(|text| text != first),
                _ => false,
            },
            // If it holds for any pair, then for the two that are farthest apart.
            Comparison::Less | Comparison::LessOrEqual => comparison.numbers(least(&left), greatest(&right)),
            Comparison::Greater | Comparison::GreaterOrEqual => {
                comparison.numbers(greatest(&left), least(&right))
            }
        })
    }
}

/// The least number among texts, NaN if there is none.
fn least(texts: &[&str]) -> f64 {
    texts.iter().map(|text| number::parse(text)).fold(f64::NAN, f64::min)
}

/// The greatest number among texts, NaN if there is none.
fn greatest(texts: &[&str]) -> f64 {
    texts.iter().map(|text| number::parse(text)).fold(f64::NAN, f64::max)
}

impl Comparison {
    /// The same comparison with its sides exchanged.
    fn mirrored(self) -> Self {
        match self {
            Self::Equal => Self::Equal,
            Self::NotEqual => Self::NotEqual,
            Self::Less => Self::Greater,
            Self::LessOrEqual => Self::GreaterOrEqual,
            Self::Greater => Self::Less,
            Self::GreaterOrEqual => Self::LessOrEqual,
        }
    }

    /// Whether it asks which is the greater one: then both sides are compared as numbers.
    fn is_order(self) -> bool {
        !matches!(self, Self::Equal | Self::NotEqual)
    }

    fn numbers(self, left: f64, right: f64) -> bool {
        match self {
            Self::Equal => left == right,
            Self::NotEqual => left != right,
            Self::Less => left < right,
            Self::LessOrEqual => left <= right,
            Self::Greater => left > right,
            Self::GreaterOrEqual => left >= right,
        }
    }

    fn booleans(self, left: bool, right: bool) -> bool {
        self.numbers(f64::from(u8::from(left)), f64::from(u8::from(right)))
    }

    /// Only for equality and inequality.
    fn strings(self, left: &str, right: &str) -> bool {
        (left == right) == (self == Self::Equal)
    }
}
