//! What the host adds when an expression is evaluated.

use super::ast::{HostFunction, Slot};
use super::budget::Budget;
use super::error::EvaluateError;
use super::value::Value;
use crate::tree::{Document, NodeId};

/// The node that an expression is evaluated for, and where it stands (XPath 1.0, section 1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Context {
    /// The context node.
    pub node: NodeId,
    /// The context position, from 1.
    pub position: u32,
    /// The context size.
    pub size: u32,
}

impl Context {
    /// A node as the only one.
    #[must_use]
    pub fn of(node: NodeId) -> Self {
        Self { node, position: 1, size: 1 }
    }
}

/// The values of variables, and the functions that the host adds: what a
/// [`StaticContext`](super::StaticContext) has promised.
pub trait Environment {
    /// The value of a variable; `None` if it has none.
    fn variable(&self, _slot: Slot) -> Option<Value<'_>> {
        None
    }

    /// Calls a function. Its arguments have been converted to the types that its signature names (XPath 1.0, section
    /// 3.2), but that what is to be a node-set, and of which only a variable or another function could tell, may be of
    /// another type: the function should then fail with [`EvaluateError::NotNodes`].
    ///
    /// # Errors
    /// Whatever keeps the function from returning a value: it ends the evaluation.
    fn call<'a>(
        &'a self,
        _function: HostFunction,
        _call: HostCall<'_, 'a>,
    ) -> Result<Value<'a>, EvaluateError> {
        Err(EvaluateError::NoSuchFunction)
    }
}

/// A call of a function of the host.
#[derive(Debug)]
pub struct HostCall<'b, 'a> {
    /// The arguments. The budget has been charged for their strings to be read once.
    pub arguments: Vec<Value<'a>>,
    /// The context.
    pub context: Context,
    /// The document that has the context node.
    pub document: &'a Document,
    /// For the function to be charged for its work.
    pub budget: &'b mut Budget,
}

/// No variables and no functions.
#[derive(Debug, Default, Clone, Copy)]
pub struct NoEnvironment;

impl Environment for NoEnvironment {}
