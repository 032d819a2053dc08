//! An expression that a stream can decide.

use super::compile::{self, Context};
use super::condition::{Condition, Spaces, Text, TextTest, Want};
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
    /// The text of the first node, if there is one.
    Node(usize),
    /// The text of the first node, the empty string without one.
    Text(usize),
    /// Has no texts: the leaves have tested them.
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
            Expr::Path(path) => Value::Node(leaves.leaf(path, Want::First(Spaces::Kept))?),
            text @ Expr::Call(Call {
                function: Function::Core(CoreFunction::String | CoreFunction::NormalizeSpace),
                ..
            }) => {
                let text = compile::text(&mut leaves, text)?;
                Value::Text(leaves.want(text, Want::First))
            }
            condition => {
                let condition = compile::condition(&mut leaves, condition)?;
                Value::Boolean(leaves.test_texts(condition))
            }
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
            Value::Text(leaf) => {
                for leaf in &mut leaves {
                    if let Want::First(spaces) = leaf.want {
                        leaf.want = Want::Passes(spaces, TextTest::NotEmpty);
                    }
                }
                Value::Boolean(Condition::Holds(leaf))
            }
            boolean @ Value::Boolean(_) => boolean,
        };
        Self { leaves, value }
    }
}

struct Leaves(Vec<Leaf>);

impl Leaves {
    /// Has this be found out of the text's leaf, which is nobody else's.
    fn want(&mut self, text: Text<usize>, want: impl FnOnce(Spaces) -> Want) -> usize {
        let (leaf, spaces) = text.source();
        if let Some(leaf) = self.0.get_mut(leaf) {
            leaf.want = want(spaces);
        }
        leaf
    }

    /// The condition with its tests of texts made by the leaves, as soon as these have the texts: so none has to be kept
    /// until the rest of the condition is known.
    fn test_texts(&mut self, condition: Condition<usize>) -> Condition<usize> {
        let mut each =
            |conditions: Vec<_>| conditions.into_iter().map(|inner| self.test_texts(inner)).collect();
        match condition {
            Condition::Text(text, test) => {
                Condition::Holds(self.want(text, |spaces| Want::Passes(spaces, test)))
            }
            Condition::Not(inner) => Condition::Not(Box::new(self.test_texts(*inner))),
            Condition::All(conditions) => Condition::All(each(conditions)),
            Condition::Any(conditions) => Condition::Any(each(conditions)),
            simple @ (Condition::Constant(_) | Condition::Holds(_) | Condition::Position(..)) => simple,
        }
    }
}

impl Context for Leaves {
    type Leaf = usize;
    const HAS_POSITION: bool = false;

    fn leaf(&mut self, path: &ast::Path, want: Want) -> Result<usize, Refusal> {
        self.0.push(Leaf::compile(path, want)?);
        Ok(self.0.len().saturating_sub(1))
    }
}
