//! What is known at some point of a document.

use core::mem;
use std::sync::Arc;

use super::condition::{Unknown, Want};
use super::expression::Value;
use super::leaves::{LeafState, LeafValues, Texts};
use super::predicate::StartTagValues;
use super::set::StreamSet;
use super::trie::{DOCUMENT, Node};
use crate::token::Attributes;

/// What is known of all paths and expressions of a set.
#[derive(Debug, Clone, Default)]
pub(super) struct State {
    nodes: Vec<NodeState>,
    counters: Vec<u32>,
    pub(super) leaves: Vec<LeafState>,
    /// For each leaf how many undecided expressions it has.
    users: Vec<u32>,
    pub(super) expressions: Vec<Decision>,
    /// What the current token has brought.
    texts: Texts,
    /// How many expressions are not decided.
    pub(super) undecided: usize,
}

/// What is known of a node of the trie.
#[derive(Debug, Clone, Default)]
struct NodeState {
    /// How many leaves at it and below it are open.
    open: u32,
    /// Whether it may match again after the element that it has matched last.
    again: bool,
}

/// What has become of an expression.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Decision {
    Pending,
    NoMatch,
    Text(Arc<str>),
    Boolean(bool),
    TooLong,
    /// Nobody wants to know.
    Forgotten,
}

impl State {
    /// What is known before a document begins: not much, but for paths that select nothing in any.
    pub(super) fn initial(set: &StreamSet) -> Self {
        let mut state = Self {
            nodes: vec![NodeState::default(); set.trie.nodes.len()],
            counters: vec![0; set.trie.counters],
            leaves: vec![LeafState::Pending; set.leaves.len()],
            users: set
                .leaves
                .iter()
                .map(|leaf| u32::try_from(leaf.expressions.len()).unwrap_or(u32::MAX))
                .collect(),
            expressions: vec![Decision::Pending; set.expressions.len()],
            texts: Texts::default(),
            undecided: set.expressions.len(),
        };
        for leaf in &set.leaves {
            state.count_leaf(set, leaf.node, u32::wrapping_add);
        }
        for (at, node) in set.trie.nodes.iter().enumerate() {
            if node.is_impossible() {
                state.give_up(set, at);
            }
        }
        for expression in 0..set.expressions.len() {
            state.evaluate(set, expression);
        }
        state
    }

    /// Whether anything is wanted at the node or below it.
    pub(super) fn is_wanted(&self, node: usize) -> bool {
        self.nodes.get(node).is_some_and(|node| node.open > 0)
    }

    pub(super) fn may_match_again(&self, node: usize) -> bool {
        self.nodes.get(node).is_some_and(|node| node.again)
    }

    pub(super) fn set_again(&mut self, node: usize, again: bool) {
        if let Some(node) = self.nodes.get_mut(node) {
            node.again = again;
        }
    }

    /// Whether another child of the same parent may match.
    pub(super) fn has_positions_left(&self, node: &Node) -> bool {
        node.predicates.iter().all(|predicate| {
            let counter = predicate.counter.and_then(|counter| self.counters.get(counter));
            counter.is_none_or(|count| *count < predicate.last)
        })
    }

    /// Counts a node that has passed the step's node test, and tells whether it passes the predicates too.
    pub(super) fn passes(&mut self, node: &Node, attributes: Option<Attributes<'_>>) -> bool {
        let mut values = StartTagValues { attributes, position: 0 };
        node.predicates.iter().all(|predicate| {
            if let Some(count) = predicate.counter.and_then(|counter| self.counters.get_mut(counter)) {
                *count = count.saturating_add(1);
                values.position = *count;
            }
            predicate.condition.evaluate(&values) == Ok(true)
        })
    }

    /// A new parent has begun: positions among its children start at 1.
    pub(super) fn count_anew(&mut self, parent: &Node) {
        if let Some(counters) = self.counters.get_mut(parent.counters.clone()) {
            counters.fill(0);
        }
    }

    /// What is to be done with a node that a leaf's path selects.
    pub(super) fn select(&mut self, set: &StreamSet, leaf: usize) -> Selected {
        let (Some(plan), Some(state)) = (set.leaves.get(leaf), self.leaves.get_mut(leaf)) else {
            return Selected::Done;
        };
        match (&plan.want, &*state) {
            (_, state) if !state.is_open() => Selected::Done,
            (Want::Existence, _) => {
                self.decide(set, leaf, LeafState::Present);
                Selected::Done
            }
            (Want::First(_) | Want::Passes(..), _) => {
                *state = LeafState::Found;
                Selected::WantsText
            }
            (Want::Any(_), _) => Selected::WantsText,
        }
    }

    /// A node that the leaf's path selects has this text.
    pub(super) fn take_text(&mut self, set: &StreamSet, leaf: usize, text: &str) {
        self.advance(set, leaf, |state, want, texts| state.with(want, text, set.max_text, texts));
    }

    /// A node that the leaf's path selects has more text than can be kept.
    pub(super) fn take_too_long(&mut self, set: &StreamSet, leaf: usize) {
        self.advance(set, leaf, |state, want, _| state.with_too_long(want, set.max_text));
    }

    fn advance(
        &mut self,
        set: &StreamSet,
        leaf: usize,
        next: impl FnOnce(&LeafState, &Want, &mut Texts) -> Option<LeafState>,
    ) {
        let (Some(plan), Some(state)) = (set.leaves.get(leaf), self.leaves.get_mut(leaf)) else {
            return;
        };
        if !state.is_open() {
            return;
        }
        match next(state, &plan.want, &mut self.texts) {
            Some(next) if next.is_open() => *state = next,
            Some(next) => self.decide(set, leaf, next),
            None => {}
        }
    }

    /// The leaf's path selects nothing any more.
    pub(super) fn miss(&mut self, set: &StreamSet, leaf: usize) {
        self.advance(set, leaf, |state, want, _| Some(state.without_more(want)));
    }

    /// The node, which has no element open, will match no more: its paths and those below it select nothing any more.
    pub(super) fn give_up(&mut self, set: &StreamSet, node: usize) {
        if !self.is_wanted(node) {
            return;
        }
        let mut nodes = vec![node];
        while let Some(node) = nodes.pop().and_then(|node| set.trie.node(node)) {
            for leaf in node.leaves.iter().chain(node.attributes.iter().map(|(_, leaf)| leaf)) {
                self.miss(set, *leaf);
            }
            nodes.extend(node.children.iter().copied().filter(|child| self.is_wanted(*child)));
        }
    }

    fn decide(&mut self, set: &StreamSet, leaf: usize, decided: LeafState) {
        let (Some(plan), Some(state)) = (set.leaves.get(leaf), self.leaves.get_mut(leaf)) else {
            return;
        };
        *state = decided;
        self.count_leaf(set, plan.node, u32::wrapping_sub);
        for expression in &plan.expressions {
            self.evaluate(set, *expression);
        }
        // All that want the text have it now.
        if let Some(text @ LeafState::Text(_)) = self.leaves.get_mut(leaf) {
            *text = LeafState::Unneeded;
        }
    }

    /// A token has been dealt with.
    pub(super) fn end_token(&mut self) {
        self.texts = Texts::default();
    }

    /// Nobody wants to know any more what becomes of the expression.
    pub(super) fn forget(&mut self, set: &StreamSet, expression: usize) {
        let decision = self.expressions.get_mut(expression);
        if decision.is_some_and(|decision| mem::replace(decision, Decision::Forgotten) == Decision::Pending) {
            self.undecided = self.undecided.saturating_sub(1);
            self.drop_leaves(set, expression);
        }
    }

    /// Whether a text is wanted of what the node matches.
    pub(super) fn is_text_wanted(&self, node: &Node) -> bool {
        node.leaves.iter().any(|leaf| self.leaves.get(*leaf).is_some_and(LeafState::is_open))
    }

    /// How many bytes the texts have that have been found.
    pub(super) fn kept(&self) -> usize {
        let text = |decision: &Decision| match decision {
            Decision::Text(text) => Some((text.as_ptr(), text.len())),
            _ => None,
        };
        let mut texts: Vec<_> = self.expressions.iter().filter_map(text).collect();
        texts.sort_unstable();
        texts.dedup();
        texts.iter().map(|(_, length)| length).sum()
    }

    /// Counts a leaf in or out.
    fn count_leaf(&mut self, set: &StreamSet, node: usize, count: fn(u32, u32) -> u32) {
        let mut at = node;
        loop {
            if let Some(state) = self.nodes.get_mut(at) {
                state.open = count(state.open, 1);
            }
            match set.trie.node(at) {
                Some(node) if at != DOCUMENT => at = node.parent,
                _ => return,
            }
        }
    }

    /// Decides the expression if its leaves do.
    fn evaluate(&mut self, set: &StreamSet, expression: usize) {
        let (Some(plan), Some(Decision::Pending)) =
            (set.expressions.get(expression), self.expressions.get(expression))
        else {
            return;
        };
        let decision = match &plan.value {
            Value::Node(leaf) => self.text_of(*leaf, Decision::NoMatch),
            Value::Text(leaf) => self.text_of(*leaf, Decision::Text(Arc::default())),
            Value::Boolean(condition) => match condition.evaluate(&LeafValues(&self.leaves)) {
                Ok(value) => Some(Decision::Boolean(value)),
                Err(Unknown::TooLong) => Some(Decision::TooLong),
                Err(Unknown::Pending) => None,
            },
        };
        let (Some(decision), Some(place)) = (decision, self.expressions.get_mut(expression)) else {
            return;
        };
        *place = decision;
        self.undecided = self.undecided.saturating_sub(1);
        self.drop_leaves(set, expression);
    }

    /// What an expression comes to that is the text of a leaf.
    fn text_of(&self, leaf: usize, absent: Decision) -> Option<Decision> {
        match self.leaves.get(leaf) {
            Some(LeafState::Text(text)) => Some(Decision::Text(Arc::clone(text))),
            Some(LeafState::Absent) => Some(absent),
            Some(LeafState::TooLong) => Some(Decision::TooLong),
            _ => None,
        }
    }

    /// The expression needs its leaves no more: what nobody else needs need not be found out.
    fn drop_leaves(&mut self, set: &StreamSet, expression: usize) {
        for leaf in set.expressions.get(expression).into_iter().flat_map(|plan| &plan.leaves) {
            let (Some(plan), Some(state), Some(users)) =
                (set.leaves.get(*leaf), self.leaves.get_mut(*leaf), self.users.get_mut(*leaf))
            else {
                continue;
            };
            *users = users.saturating_sub(1);
            if *users == 0 && state.is_open() {
                *state = LeafState::Unneeded;
                self.count_leaf(set, plan.node, u32::wrapping_sub);
            }
        }
    }
}

/// What is to be done with a node that is selected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Selected {
    /// Nothing more.
    Done,
    /// Its text is wanted.
    WantsText,
}
