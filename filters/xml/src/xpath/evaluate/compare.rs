//! Comparisons (XPath 1.0, section 3.4).

use core::ops::ControlFlow;
use std::borrow::Cow;
use std::collections::BTreeSet;

use super::{Evaluation, Result};
use crate::tree::NodeId;
use crate::xpath::ast::{Comparison, Expr, Type};
use crate::xpath::environment::Context;
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
        let mut operand = Operand::new(comparison, value);
        let flow = self.any(nodes, context, &mut |evaluation, node| {
            let holds = evaluation.node_holds(comparison, node, &mut operand)?;
            Ok(if holds { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        })?;
        Ok(flow.is_break())
    }

    fn node_holds(
        &mut self,
        comparison: Comparison,
        node: NodeId,
        operand: &mut Operand<'a>,
    ) -> Result<bool> {
        let text = self.document.string_value(node);
        let number = match operand {
            Operand::String(string) => {
                self.budget.charge_bytes(text.len().min(string.len()))?;
                return Ok(comparison.strings(text, string));
            }
            Operand::Number(number) => *number,
            Operand::Unconverted(value) => {
                let number = self.number_of(value)?;
                *operand = Operand::Number(number);
                number
            }
        };
        Ok(comparison.numbers(self.parse_number(text)?, number))
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
            (Value::String(left), Value::String(right)) if !comparison.is_order() => {
                self.budget.charge_bytes(left.len().min(right.len()))?;
                Ok(comparison.strings(&left, &right))
            }
            (left, right)
                if !comparison.is_order()
                    && matches!((&left, &right), (Value::Boolean(_), _) | (_, Value::Boolean(_))) =>
            {
                Ok(comparison.booleans(left.to_boolean(), right.to_boolean()))
            }
            (left, right) => Ok(comparison.numbers(self.number_of(&left)?, self.number_of(&right)?)),
        }
    }

    fn any_of(&mut self, comparison: Comparison, nodes: &[NodeId], value: Value<'a>) -> Result<bool> {
        let mut operand = Operand::new(comparison, value);
        for node in nodes {
            self.budget.charge(1)?;
            if self.node_holds(comparison, *node, &mut operand)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether a comparison holds between any node of one set and any of another, without trying all pairs.
    fn compare_sets(&mut self, comparison: Comparison, left: &[NodeId], right: &[NodeId]) -> Result<bool> {
        if left.is_empty() || right.is_empty() {
            return Ok(false);
        }
        Ok(match comparison {
            Comparison::Equal => {
                let (few, many) = if left.len() < right.len() { (left, right) } else { (right, left) };
                if let [only] = few {
                    let only = Value::String(Cow::Borrowed(self.document.string_value(*only)));
                    return self.any_of(comparison, many, only);
                }
                let (few, many) = (self.texts(few)?, self.texts(many)?);
                self.budget.charge_lookups(few.len().saturating_add(many.len()), few.len())?;
                // Its entries, of which not all places are taken.
                self.budget.hold(few.len().saturating_mul(size_of::<&str>()).saturating_mul(2))?;
                let few: BTreeSet<&str> = few.into_iter().collect();
                many.iter().any(|text| few.contains(text))
            }
            // Only if all texts of both sets are the same is there no pair that differs.
            Comparison::NotEqual => {
                let (left, right) = (self.texts(left)?, self.texts(right)?);
                let mut all = left.iter().chain(&right);
                let first = all.next();
                all.any(|text| Some(text) != first)
            }
            // If it holds for any pair, then for the two that are farthest apart.
            Comparison::Less | Comparison::LessOrEqual => {
                comparison.numbers(self.extreme(left, f64::min)?, self.extreme(right, f64::max)?)
            }
            Comparison::Greater | Comparison::GreaterOrEqual => {
                comparison.numbers(self.extreme(left, f64::max)?, self.extreme(right, f64::min)?)
            }
        })
    }

    /// The string-values of nodes, which are going to be read.
    fn texts(&mut self, nodes: &[NodeId]) -> Result<Vec<&'a str>> {
        let document = self.document;
        self.budget.hold(nodes.len().saturating_mul(size_of::<&str>()))?;
        let mut texts = Vec::with_capacity(nodes.len());
        for node in nodes {
            let text = document.string_value(*node);
            self.budget.charge(1)?;
            self.budget.charge_bytes(text.len())?;
            texts.push(text);
        }
        Ok(texts)
    }

    /// The least or the greatest of the nodes' numbers, as `of` picks one of two; NaN if there is none.
    fn extreme(&mut self, nodes: &[NodeId], of: fn(f64, f64) -> f64) -> Result<f64> {
        let mut extreme = f64::NAN;
        for node in nodes {
            self.budget.charge(1)?;
            extreme = of(extreme, self.parse_number(self.document.string_value(*node))?);
        }
        Ok(extreme)
    }
}

/// What is no node-set, in the form in which nodes are compared with it.
enum Operand<'a> {
    String(Cow<'a, str>),
    Number(f64),
    /// It is going to be a number when the first node comes, and then for all of them.
    Unconverted(Value<'a>),
}

impl<'a> Operand<'a> {
    fn new(comparison: Comparison, value: Value<'a>) -> Self {
        match value {
            Value::String(text) if !comparison.is_order() => Self::String(text),
            value => Self::Unconverted(value),
        }
    }
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
