//! Many expressions that are followed at once.

use super::condition::Want;
use super::expression::{StreamExpression, Value};
use super::path::Leaf;
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

/// What is wanted of what a path selects; for all expressions that want the same, once.
#[derive(Debug)]
pub(super) struct LeafPlan {
    pub(super) want: Want,
    /// The node of the trie with which the path ends.
    pub(super) node: usize,
    /// Those that want it.
    pub(super) expressions: Vec<usize>,
}

#[derive(Debug)]
pub(super) struct ExpressionPlan {
    /// Its numbers are places among the leaves of the set.
    pub(super) value: Value,
    pub(super) leaves: Vec<usize>,
}

impl StreamSet {
    /// A set of expressions, to be asked for by their places in this order.
    ///
    /// At most `max_text` bytes are kept of the text of an element, an attribute or another node. More than that makes
    /// the expression that wants it [`TooLong`](super::Outcome::TooLong), unless it is only compared with a shorter
    /// literal. For one document a matcher keeps at most twice that of what is being read, and the texts that have been
    /// found and not been [forgotten](super::Matcher::forget): each once, however many expressions want it.
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
        let own = self.expressions.len();
        let places: Vec<usize> = expression.leaves.into_iter().map(|leaf| self.add_leaf(leaf)).collect();
        let mut leaves = places.clone();
        leaves.sort_unstable();
        leaves.dedup();
        for leaf in &leaves {
            if let Some(leaf) = self.leaves.get_mut(*leaf) {
                leaf.expressions.push(own);
            }
        }
        // Every number in an expression is the place of one of its leaves.
        let place = |leaf: usize| places.get(leaf).copied().unwrap_or(usize::MAX);
        let value = match expression.value {
            Value::Node(leaf) => Value::Node(place(leaf)),
            Value::Text(leaf) => Value::Text(place(leaf)),
            Value::Boolean(condition) => Value::Boolean(condition.map(&place)),
        };
        self.expressions.push(ExpressionPlan { value, leaves });
    }

    /// Adds a leaf, unless another expression has the same; gives its place.
    fn add_leaf(&mut self, leaf: Leaf) -> usize {
        let Leaf { steps, attribute, want } = leaf;
        let node = self.trie.add(steps);
        let known = &self.leaves;
        let is_same = |leaf: usize| known.get(leaf).is_some_and(|known| known.want == want);
        let place = self.trie.add_leaf(node, attribute, known.len(), is_same);
        if place == self.leaves.len() {
            self.leaves.push(LeafPlan { want, node, expressions: Vec::new() });
        }
        place
    }
}
