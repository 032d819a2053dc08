//! Following a set of expressions through a document.

use core::ops::Deref;

use super::expression::Value;
use super::following::Following;
use super::leaves::LeafState;
use super::path::NodeTest;
use super::set::StreamSet;
use super::state::Decision;
use super::trie::DOCUMENT;
use crate::token::{Control, Sink, StartTag};

/// Follows the expressions of a set through one document. `S` points to the set: a reference, an `Rc` or an `Arc`.
///
/// As a [`Sink`] it asks to stop as soon as all expressions are decided. What a path selects is known
/// - to be there, with the start tag of the first element that it selects, or with the first attribute, text, comment or
///   processing instruction;
/// - with its value, with that element's end tag, or at once for the others;
/// - not to be there, with the first tag behind which nothing that the path selects can come any more: the document
///   element's start tag if it is another, the end tag of the last element that a step could match, the start tag of one
///   that was at the last position that a predicate lets through, but not selected.
///
/// A condition is known as soon as those of its parts that are known decide it.
#[derive(Debug)]
pub struct Matcher<S> {
    set: S,
    following: Following,
}

/// How far an expression has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress<'a> {
    /// It is not decided.
    Pending,
    /// The path that it is selects something, whose text is not known yet.
    Found,
    /// It is decided.
    Decided(Outcome<'a>),
}

/// What an expression has come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome<'a> {
    /// The path selects nothing.
    NoMatch,
    /// The string-value of the first node in document order that the path selects; or the string that the expression is,
    /// which is the empty one where its path selects nothing.
    Text(&'a str),
    /// The boolean that the expression is.
    Boolean(bool),
    /// It depends on a text that is longer than is kept.
    TooLong,
}

impl<S: Deref<Target = StreamSet>> Matcher<S> {
    /// A matcher for one document.
    pub fn new(set: S) -> Self {
        let following = Following::new(&set);
        Self { set, following }
    }

    /// How far the expression at a place has come. A place that the set does not have is pending for ever.
    pub fn progress(&self, place: usize) -> Progress<'_> {
        let state = &self.following.state;
        let outcome = match state.expressions.get(place) {
            Some(Decision::Pending) => return self.found(place),
            Some(Decision::Forgotten) | None => return Progress::Pending,
            Some(Decision::NoMatch) => Outcome::NoMatch,
            Some(Decision::Text(text)) => Outcome::Text(text),
            Some(Decision::Boolean(value)) => Outcome::Boolean(*value),
            Some(Decision::TooLong) => Outcome::TooLong,
        };
        Progress::Decided(outcome)
    }

    /// Whether all expressions are decided.
    pub fn is_decided(&self) -> bool {
        self.undecided() == 0
    }

    /// How many expressions are not decided. As long as it stays the same, there is no need to ask for each of them.
    pub fn undecided(&self) -> usize {
        self.following.state.undecided
    }

    /// Nobody wants to know any more what becomes of the expression at a place, or nobody ever does: it is pending for ever,
    /// without being [undecided](Self::undecided), and its text is not kept for it any longer.
    pub fn forget(&mut self, place: usize) {
        self.following.forget(&self.set, place);
    }

    /// How many bytes of text are kept: of what is being read, and of what has been found and not been
    /// [forgotten](Self::forget).
    pub fn kept(&self) -> usize {
        self.following.kept()
    }

    /// How many comparisons of tokens with steps the document has cost so far.
    pub fn work(&self) -> u64 {
        self.following.work
    }

    /// The document has ended: nothing is undecided any more.
    pub fn finish(&mut self) {
        self.following.state.give_up(&self.set, DOCUMENT);
    }

    /// Has `may_follow` tell for each step to a child of the document element whether it may still match one.
    pub(super) fn rule_out(&mut self, may_follow: impl Fn(&NodeTest) -> bool) {
        self.following.rule_out(&self.set, may_follow);
    }

    fn found(&self, place: usize) -> Progress<'_> {
        let Some(Value::Node(leaf)) = self.set.expressions.get(place).map(|plan| &plan.value) else {
            return Progress::Pending;
        };
        match self.following.state.leaves.get(*leaf) {
            Some(LeafState::Found) => Progress::Found,
            _ => Progress::Pending,
        }
    }

    fn control(&self) -> Control {
        if self.is_decided() { Control::Stop } else { Control::Continue }
    }
}

impl<S: Deref<Target = StreamSet>> Sink for Matcher<S> {
    fn start(&mut self, tag: &StartTag<'_>) -> Control {
        self.following.start(&self.set, tag);
        self.control()
    }

    fn end(&mut self) -> Control {
        self.following.end(&self.set);
        self.control()
    }

    fn text(&mut self, text: &str) -> Control {
        self.following.text(&self.set, text);
        self.control()
    }

    fn comment(&mut self, text: &str) -> Control {
        self.following.other(&self.set, text, |test| *test == NodeTest::Comment);
        self.control()
    }

    fn processing_instruction(&mut self, target: &str, data: &str) -> Control {
        self.following.other(&self.set, data, |test| match test {
            NodeTest::Instruction(wanted) => wanted.as_ref().is_none_or(|wanted| **wanted == *target),
            _ => false,
        });
        self.control()
    }
}
