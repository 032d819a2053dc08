//! Many expressions that are followed at once.

use core::ops::Range;

use super::condition::{Condition, Text, Want};
use super::expression::{StreamExpression, Value};
use super::state::State;
use super::trie::Trie;

/// Expressions that are followed together through documents, in a form that is made once for all documents.
#[derive(Debug)]
pub struct StreamSet {
    pub(super) trie: Trie,
    pub(super) leaves: Vec<LeafPlan>,
    pub(super) expressions: Vec<ExpressionPlan>,
    /// The steps to children of the document element.
    pub(super) parts: Vec<usize>,
    pub(super) max_text: usize,
    pub(super) initial: State,
}

/// What is wanted of what a path selects.
#[derive(Debug)]
pub(super) struct LeafPlan {
    pub(super) want: Want,
    /// The node of the trie with which the path ends.
    pub(super) node: usize,
    pub(super) expression: usize,
}

#[derive(Debug)]
pub(super) struct ExpressionPlan {
    /// Its numbers are places among the leaves of the set.
    pub(super) value: Value,
    pub(super) leaves: Range<usize>,
}

impl StreamSet {
    /// A set of expressions, to be asked for by their places in this order.
    ///
    /// At most `max_text` bytes are kept of the text of an element, an attribute or another node. More than that makes
    /// the expression that wants it [`TooLong`](super::Outcome::TooLong), unless it is only compared with a shorter
    /// literal. For one document a matcher keeps at most twice that of what is being read, and at most that for each path
    /// whose text has been found.
    pub fn new(expressions: impl IntoIterator<Item = StreamExpression>, max_text: usize) -> Self {
        let mut set = Self {
            trie: Trie::new(),
            leaves: Vec::new(),
            expressions: Vec::new(),
            parts: Vec::new(),
            max_text,
            initial: State::default(),
        };
        for expression in expressions {
            set.add(expression);
        }
        set.trie.finish();
        let parents = set.trie.nodes.iter().map(|node| &node.parent).copied().enumerate().skip(1);
        let is_second = |parent: usize| set.trie.node(parent).is_some_and(|node| node.parent == 0);
        set.parts =
            parents.filter(|(_, parent)| *parent != 0 && is_second(*parent)).map(|(at, _)| at).collect();
        set.initial = State::initial(&set);
        set
    }

    /// How many expressions there are.
    pub fn len(&self) -> usize {
        self.expressions.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.expressions.is_empty()
    }

    fn add(&mut self, expression: StreamExpression) {
        let first = self.leaves.len();
        for leaf in expression.leaves {
            let want = leaf.want.clone();
            let node = self.trie.add(leaf, self.leaves.len());
            self.leaves.push(LeafPlan { want, node, expression: self.expressions.len() });
        }
        let value = match expression.value {
            Value::Node(leaf) => Value::Node(leaf.saturating_add(first)),
            Value::Text(text) => Value::Text(shift_text(text, first)),
            Value::Boolean(condition) => Value::Boolean(shift(condition, first)),
        };
        self.expressions.push(ExpressionPlan { value, leaves: first..self.leaves.len() });
    }
}

/// The condition with places that start at `first`.
fn shift(condition: Condition<usize>, first: usize) -> Condition<usize> {
    let each = |conditions: Vec<_>| conditions.into_iter().map(|inner| shift(inner, first)).collect();
    match condition {
        Condition::Constant(value) => Condition::Constant(value),
        Condition::Holds(leaf) => Condition::Holds(leaf.saturating_add(first)),
        Condition::Text(text, test) => Condition::Text(shift_text(text, first), test),
        Condition::Position(comparison, expected) => Condition::Position(comparison, expected),
        Condition::Not(inner) => Condition::Not(Box::new(shift(*inner, first))),
        Condition::All(conditions) => Condition::All(each(conditions)),
        Condition::Any(conditions) => Condition::Any(each(conditions)),
    }
}

fn shift_text(text: Text<usize>, first: usize) -> Text<usize> {
    match text {
        Text::Of(leaf) => Text::Of(leaf.saturating_add(first)),
        Text::Normalized(inner) => Text::Normalized(Box::new(shift_text(*inner, first))),
    }
}
