//! An expression that a stream can decide.

use super::compile::{self, Context};
use super::condition::{Condition, Text, TextTest, Want};
use super::path::Leaf;
use super::refusal::Refusal;
use crate::xpath::XPath;
use crate::xpath::ast::{self, Call, CoreFunction, Expr, Function};

/// An expression that can be evaluated while a document goes by. See the [module](super) for which can.
#[derive(Debug, Clone, PartialEq)]
pub struct StreamExpression {
    pub(super) leaves: Vec<Leaf>,
    pub(super) value: Value,
}

/// What an expression yields; numbers are places among its leaves.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    /// The string-value of the first node, if there is one.
    Node(usize),
    Text(Text<usize>),
    Boolean(Condition<usize>),
}

impl StreamExpression {
    /// Takes an expression if it can be evaluated on a stream.
    ///
    /// # Errors
    /// What it is about the expression that cannot, why not, and what to write in its place.
    pub fn compile(expression: &XPath) -> Result<Self, Refusal> {
        let mut leaves = Leaves(Vec::new());
        let value = match expression.expression() {
            Expr::Path(path) => Value::Node(leaves.leaf(path, Want::First)?),
            text @ Expr::Call(Call {
                function: Function::Core(CoreFunction::String | CoreFunction::NormalizeSpace),
                ..
            }) => Value::Text(compile::text(&mut leaves, text)?),
            condition => Value::Boolean(compile::condition(&mut leaves, condition)?),
        };
        Ok(Self { leaves: leaves.0, value })
    }

    /// The expression as a boolean: `boolean()` of it (XPath 1.0, section 4.3). For a path that is known sooner than a
    /// value, and no text is kept for it.
    #[must_use]
    pub fn into_boolean(self) -> Self {
        let Self { mut leaves, value } = self;
        let value = match value {
            Value::Node(leaf) => {
                leaves.iter_mut().for_each(|leaf| leaf.want = Want::Existence);
                Value::Boolean(Condition::Holds(leaf))
            }
            Value::Text(text) => Value::Boolean(Condition::Text(text, TextTest::NotEmpty)),
            boolean @ Value::Boolean(_) => boolean,
        };
        Self { leaves, value }
    }
}

struct Leaves(Vec<Leaf>);

impl Context for Leaves {
    type Leaf = usize;
    const HAS_POSITION: bool = false;

    fn leaf(&mut self, path: &ast::Path, want: Want) -> Result<usize, Refusal> {
        self.0.push(Leaf::compile(path, want)?);
        Ok(self.0.len().saturating_sub(1))
    }
}
