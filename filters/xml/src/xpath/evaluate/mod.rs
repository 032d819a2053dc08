//! Evaluating expressions.
//!
//! Each expression is evaluated as what is needed of it: of a path whose truth is asked for, the first node that is
//! found is enough. Recursion follows the expression, whose depth is bounded, and never the document.

mod axis;
mod compare;
mod expand;
mod functions;
mod path;
mod predicate;
pub(super) mod text;

use std::borrow::Cow;

use super::ast::{Call, Expr, Function, Operator, Type};
use super::bindings::Bindings;
use super::budget::{Budget, list_bytes, owned_bytes};
use super::environment::{Context, Environment, HostCall};
use super::error::EvaluateError;
use super::number;
use super::value::{NodeSet, Value, boolean_to_string, number_to_boolean};
use crate::tree::{Document, NodeId};

type Result<T> = core::result::Result<T, EvaluateError>;

/// Evaluates expressions on a document.
pub struct Evaluation<'a, 'b> {
    document: &'a Document,
    bindings: &'b Bindings,
    environment: &'a dyn Environment,
    budget: &'b mut Budget,
}

impl<'a, 'b> Evaluation<'a, 'b> {
    /// For expressions of the pool that `bindings` were made of.
    pub fn new(
        document: &'a Document,
        bindings: &'b Bindings,
        environment: &'a dyn Environment,
        budget: &'b mut Budget,
    ) -> Self {
        Self { document, bindings, environment, budget }
    }

    /// The value of an expression.
    ///
    /// # Errors
    /// See [`EvaluateError`].
    pub fn value(&mut self, expression: &'a Expr, context: Context) -> Result<Value<'a>> {
        Ok(match expression.type_() {
            Type::Nodes => Value::Nodes(self.nodes(expression, context)?),
            Type::Boolean => Value::Boolean(self.boolean(expression, context)?),
            Type::Number => Value::Number(self.number(expression, context)?),
            Type::String => Value::String(self.string(expression, context)?),
            Type::Any => {
                let held = self.budget.held();
                let value = self.of_unknown_type(expression, context)?;
                self.budget.settle(held, owned_bytes(&value));
                value
            }
        })
    }

    /// The value of an expression as a boolean (XPath 1.0, section 4.3).
    ///
    /// # Errors
    /// See [`EvaluateError`].
    pub fn boolean(&mut self, expression: &'a Expr, context: Context) -> Result<bool> {
        let held = self.budget.held();
        let boolean = self.as_boolean(expression, context)?;
        self.budget.settle(held, 0);
        Ok(boolean)
    }

    fn as_boolean(&mut self, expression: &'a Expr, context: Context) -> Result<bool> {
        self.budget.charge(1)?;
        match expression {
            Expr::Or(operands) => {
                for operand in operands {
                    if self.boolean(operand, context)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            Expr::And(operands) => {
                for operand in operands {
                    if !self.boolean(operand, context)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            Expr::Compare { comparison, left, right } => self.compare(*comparison, left, right, context),
            Expr::Call(Call { function: Function::Core(function), arguments })
                if expression.type_() == Type::Boolean =>
            {
                self.core_boolean(*function, arguments, context)
            }
            _ => match expression.type_() {
                Type::Nodes => self.exists(expression, context),
                Type::Number => Ok(number_to_boolean(self.number(expression, context)?)),
                Type::String => Ok(!self.string(expression, context)?.is_empty()),
                Type::Boolean | Type::Any => Ok(self.of_unknown_type(expression, context)?.to_boolean()),
            },
        }
    }

    /// The value of an expression as a number (section 4.4).
    ///
    /// # Errors
    /// See [`EvaluateError`].
    pub fn number(&mut self, expression: &'a Expr, context: Context) -> Result<f64> {
        let held = self.budget.held();
        let number = self.as_number(expression, context)?;
        self.budget.settle(held, 0);
        Ok(number)
    }

    fn as_number(&mut self, expression: &'a Expr, context: Context) -> Result<f64> {
        self.budget.charge(1)?;
        match expression {
            Expr::Number(number) => Ok(*number),
            Expr::Negate(operand) => Ok(-self.number(operand, context)?),
            Expr::Arithmetic { first, rest } => self.arithmetic(first, rest, context),
            Expr::Call(Call { function: Function::Core(function), arguments })
                if expression.type_() == Type::Number =>
            {
                self.core_number(*function, arguments, context)
            }
            _ => match expression.type_() {
                Type::Boolean => Ok(f64::from(u8::from(self.boolean(expression, context)?))),
                Type::Nodes | Type::String => {
                    let string = self.string(expression, context)?;
                    self.parse_number(&string)
                }
                Type::Number | Type::Any => {
                    let value = self.of_unknown_type(expression, context)?;
                    self.number_of(&value)
                }
            },
        }
    }

    /// The value of an expression as a string (section 4.2).
    ///
    /// # Errors
    /// See [`EvaluateError`].
    pub fn string(&mut self, expression: &'a Expr, context: Context) -> Result<Cow<'a, str>> {
        let held = self.budget.held();
        let text = self.as_string(expression, context)?;
        let bytes = if let Cow::Owned(text) = &text { text.capacity() } else { 0 };
        self.budget.settle(held, bytes);
        Ok(text)
    }

    fn as_string(&mut self, expression: &'a Expr, context: Context) -> Result<Cow<'a, str>> {
        self.budget.charge(1)?;
        match expression {
            Expr::Literal(text) => Ok(Cow::Borrowed(text)),
            Expr::Call(Call { function: Function::Core(function), arguments })
                if expression.type_() == Type::String =>
            {
                self.core_string(*function, arguments, context)
            }
            _ => match expression.type_() {
                Type::Nodes => {
                    let first = self.first(expression, context)?;
                    Ok(Cow::Borrowed(first.map_or("", |node| self.document.string_value(node))))
                }
                Type::Boolean => Ok(Cow::Borrowed(boolean_to_string(self.boolean(expression, context)?))),
                Type::Number => {
                    let number = self.number(expression, context)?;
                    self.string_of(Value::Number(number))
                }
                Type::String | Type::Any => {
                    let value = self.of_unknown_type(expression, context)?;
                    self.string_of(value)
                }
            },
        }
    }

    /// The value of an expression that is a node-set.
    ///
    /// # Errors
    /// See [`EvaluateError`]; [`EvaluateError::NotNodes`] if it is of another type.
    pub fn nodes(&mut self, expression: &'a Expr, context: Context) -> Result<NodeSet<'a>> {
        let held = self.budget.held();
        let nodes = self.as_nodes(expression, context)?;
        let bytes = if let Cow::Owned(nodes) = &nodes { list_bytes(nodes) } else { 0 };
        self.budget.settle(held, bytes);
        Ok(nodes)
    }

    fn as_nodes(&mut self, expression: &'a Expr, context: Context) -> Result<NodeSet<'a>> {
        self.budget.charge(1)?;
        match expression {
            Expr::Path(path) => self.path(path, context),
            Expr::Filter { base, predicates } => {
                let nodes = self.nodes(base, context)?;
                self.filter(nodes, predicates)
            }
            Expr::Union(operands) => {
                let mut all = Vec::new();
                for operand in operands {
                    let nodes = self.nodes(operand, context)?;
                    self.budget.charge_nodes(nodes.len())?;
                    self.budget.extend(&mut all, &nodes)?;
                    // The operand is gone; its list is not needed any more.
                    let bytes = if let Cow::Owned(nodes) = &nodes { list_bytes(nodes) } else { 0 };
                    self.budget.release(bytes);
                }
                self.put_in_order(&mut all)?;
                Ok(Cow::Owned(all))
            }
            Expr::Variable(_) | Expr::Call(_) => match self.of_unknown_type(expression, context)? {
                Value::Nodes(nodes) => Ok(nodes),
                Value::Boolean(_) | Value::Number(_) | Value::String(_) => Err(EvaluateError::NotNodes),
            },
            _ => Err(EvaluateError::NotNodes),
        }
    }

    /// The value of a variable, or what a function of the host returns.
    fn of_unknown_type(&mut self, expression: &'a Expr, context: Context) -> Result<Value<'a>> {
        self.budget.charge(1)?;
        match expression {
            Expr::Variable(variable) => {
                let value = self.environment.variable(variable.slot).ok_or(EvaluateError::NoSuchVariable)?;
                // A value that is borrowed has cost nothing.
                match &value {
                    Value::Nodes(Cow::Owned(nodes)) => self.budget.charge_nodes(nodes.len())?,
                    Value::String(Cow::Owned(text)) => self.budget.charge_bytes(text.len())?,
                    _ => {}
                }
                Ok(value)
            }
            Expr::Call(Call { function: Function::Host(function), arguments }) => {
                let mut values = Vec::with_capacity(arguments.len());
                for argument in arguments {
                    let value = self.value(argument, context)?;
                    // The function may read all of it, and cannot say so before it does.
                    if let Value::String(text) = &value {
                        self.budget.charge_bytes(text.len())?;
                    }
                    values.push(value);
                }
                let call =
                    HostCall { arguments: values, context, document: self.document, budget: self.budget };
                self.environment.call(*function, call)
            }
            // No other expression is of unknown type.
            _ => Err(EvaluateError::NoSuchFunction),
        }
    }

    fn arithmetic(&mut self, first: &'a Expr, rest: &'a [(Operator, Expr)], context: Context) -> Result<f64> {
        let mut result = self.number(first, context)?;
        for (operator, operand) in rest {
            result = operator.apply(result, self.number(operand, context)?);
        }
        Ok(result)
    }

    /// The number that a text stands for. This is where all texts become numbers, so that all are paid for.
    fn parse_number(&mut self, text: &str) -> Result<f64> {
        self.budget.charge_bytes(text.len())?;
        Ok(number::parse(text))
    }

    /// A value as a number (section 4.4).
    fn number_of(&mut self, value: &Value<'_>) -> Result<f64> {
        match value {
            Value::Nodes(nodes) => {
                let first = nodes.first().map_or("", |node| self.document.string_value(*node));
                self.parse_number(first)
            }
            Value::String(text) => self.parse_number(text),
            Value::Boolean(_) | Value::Number(_) => Ok(value.to_number(self.document)),
        }
    }

    /// A value as a string (section 4.2). Only that of a number has to be written.
    fn string_of(&mut self, value: Value<'a>) -> Result<Cow<'a, str>> {
        let is_number = matches!(value, Value::Number(_));
        let text = value.into_string(self.document);
        if is_number {
            self.budget.charge_bytes(text.len())?;
        }
        Ok(text)
    }

    /// Sorts nodes and removes those that are there twice, unless they are in order already.
    fn put_in_order(&mut self, nodes: &mut Vec<NodeId>) -> Result<()> {
        self.budget.charge_comparisons(nodes.len())?;
        if !nodes.is_sorted_by(|a, b| a < b) {
            self.budget.charge_sort(nodes.len())?;
            nodes.sort_unstable();
            nodes.dedup();
        }
        Ok(())
    }
}
