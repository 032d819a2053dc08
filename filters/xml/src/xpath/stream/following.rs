//! Following paths through a document.

use core::ops::Range;

use super::capture::Captures;
use super::path::NodeTest;
use super::set::StreamSet;
use super::state::{Selected, State};
use super::trie::{DOCUMENT, Node};
use crate::token::StartTag;

/// How far all paths of a set have come in a document.
#[derive(Debug)]
pub(super) struct Following {
    pub(super) state: State,
    /// The nodes of the trie that the open elements match, from the document inwards.
    stack: Vec<usize>,
    /// For the document and each open element that matches something, where its nodes begin on the stack. Elements within
    /// one that matches nothing match nothing either.
    followed: Vec<usize>,
    /// How many elements are open.
    depth: usize,
    /// How many nodes of the trie have been looked at.
    pub(super) work: u64,
    captures: Captures,
}

impl Following {
    pub(super) fn new(set: &StreamSet) -> Self {
        Self {
            state: set.initial.clone(),
            stack: vec![DOCUMENT],
            followed: vec![0],
            depth: 0,
            work: 0,
            captures: Captures::new(set.max_text),
        }
    }

    /// The places on the stack of what the innermost open element matches.
    fn innermost(&self) -> Range<usize> {
        if self.followed.len() == self.depth.saturating_add(1) {
            self.followed.last().copied().unwrap_or_default()..self.stack.len()
        } else {
            0..0
        }
    }

    pub(super) fn start(&mut self, set: &StreamSet, tag: &StartTag<'_>) {
        let parents = self.innermost();
        let first = self.stack.len();
        self.depth = self.depth.saturating_add(1);
        for at in parents.clone() {
            self.work = self.work.saturating_add(1);
            let Some(parent) = self.stack.get(at).copied().filter(|parent| self.state.is_wanted(*parent))
            else {
                continue;
            };
            let candidates = set.trie.node(parent).map(|node| node.candidates(tag.name().local));
            for child in candidates.into_iter().flatten() {
                self.work = self.work.saturating_add(1);
                if let Some(node) = set.trie.node(child).filter(|_| self.state.is_wanted(child)) {
                    self.element(set, child, node, tag);
                }
            }
        }
        if parents.contains(&DOCUMENT) && self.depth == 1 {
            self.only_document_element(set, first);
        }
        if self.stack.len() > first {
            self.followed.push(first);
        }
        self.state.end_token();
    }

    /// Nobody wants to know any more what becomes of the expression.
    pub(super) fn forget(&mut self, set: &StreamSet, expression: usize) {
        self.state.forget(set, expression);
        let state = &self.state;
        self.captures.retain(|node| set.trie.node(node).is_some_and(|node| state.is_text_wanted(node)));
    }

    /// How many bytes of text are kept.
    pub(super) fn kept(&self) -> usize {
        self.captures.kept().saturating_add(self.state.kept())
    }

    /// An element has begun that may match this node of the trie.
    fn element(&mut self, set: &StreamSet, at: usize, node: &Node, tag: &StartTag<'_>) {
        let is_candidate = match &node.test {
            NodeTest::Element(test) => test.matches(tag.name()),
            NodeTest::Node => true,
            NodeTest::Text | NodeTest::Comment | NodeTest::Instruction(_) => false,
        };
        if !is_candidate {
            return;
        }
        let matches = self.state.passes(node, Some(tag.attributes()));
        let again = self.may_match_again(node);
        self.state.set_again(at, again);
        if matches {
            self.enter(set, at, node, tag);
        } else if !again {
            self.state.give_up(set, at);
        }
    }

    /// Whether a later node may match, now that one has passed the node test.
    fn may_match_again(&self, node: &Node) -> bool {
        let next_sibling = self.state.has_positions_left(node)
            // A document has one document element.
            && !(node.parent == DOCUMENT && node.is_for_elements());
        next_sibling || self.state.may_match_again(node.parent)
    }

    /// An element has begun that matches this node of the trie.
    fn enter(&mut self, set: &StreamSet, at: usize, node: &Node, tag: &StartTag<'_>) {
        self.stack.push(at);
        self.state.count_anew(node);
        let mut wants_text = false;
        for leaf in &node.leaves {
            wants_text |= self.state.select(set, *leaf) == Selected::WantsText;
        }
        if wants_text {
            self.captures.begin(at, self.depth);
        }
        for (test, leaf) in &node.attributes {
            for attribute in tag.attributes().iter().filter(|attribute| test.matches(attribute.name)) {
                self.state.take_text(set, *leaf, attribute.value);
            }
        }
        self.miss_attributes(set, at, node);
    }

    /// The attributes of the element are known: what has not been found among them can be found in a later element only.
    fn miss_attributes(&mut self, set: &StreamSet, at: usize, node: &Node) {
        if !self.state.may_match_again(at) {
            for (_, leaf) in &node.attributes {
                self.state.miss(set, *leaf);
            }
        }
    }

    /// The document element has begun: steps that it does not match will match no other.
    fn only_document_element(&mut self, set: &StreamSet, first: usize) {
        let matching = self.stack.get(first..).unwrap_or_default();
        for child in set.trie.node(DOCUMENT).into_iter().flat_map(|document| &document.children) {
            let is_for_elements = set.trie.node(*child).is_some_and(Node::is_for_elements);
            if is_for_elements && !matching.contains(child) {
                self.state.give_up(set, *child);
            }
        }
    }

    pub(super) fn end(&mut self, set: &StreamSet) {
        let ended = self.innermost();
        if !ended.is_empty() && self.depth > 0 {
            while let Some((node, text)) = self.captures.end(self.depth) {
                for leaf in set.trie.node(node).into_iter().flat_map(|node| &node.leaves) {
                    self.state.take_text(set, *leaf, text);
                }
            }
            for node in self.stack.get(ended.clone()).unwrap_or_default() {
                if !self.state.may_match_again(*node) {
                    self.state.give_up(set, *node);
                }
            }
            self.stack.truncate(ended.start);
            self.followed.pop();
        }
        self.depth = self.depth.saturating_sub(1);
        self.state.end_token();
    }

    /// Text has come, for the elements whose text is wanted and as a node of its own.
    pub(super) fn text(&mut self, set: &StreamSet, text: &str) {
        for node in self.captures.append(text) {
            for leaf in set.trie.node(node).into_iter().flat_map(|node| &node.leaves) {
                self.state.take_too_long(set, *leaf);
            }
        }
        self.other(set, text, |test| *test == NodeTest::Text);
    }

    /// A child has come that is no element.
    pub(super) fn other(&mut self, set: &StreamSet, text: &str, is_tested: impl Fn(&NodeTest) -> bool) {
        for at in self.innermost() {
            self.work = self.work.saturating_add(1);
            let parent = self.stack.get(at).copied().filter(|parent| self.state.is_wanted(*parent));
            let parent = parent.and_then(|parent| set.trie.node(parent));
            for child in parent.into_iter().flat_map(|parent| &parent.others) {
                self.work = self.work.saturating_add(1);
                let Some(node) = set.trie.node(*child).filter(|_| self.state.is_wanted(*child)) else {
                    continue;
                };
                if node.test != NodeTest::Node && !is_tested(&node.test) {
                    continue;
                }
                if self.state.passes(node, None) {
                    for leaf in &node.leaves {
                        self.state.take_text(set, *leaf, text);
                    }
                }
                if !self.may_match_again(node) {
                    self.state.give_up(set, *child);
                }
            }
        }
        self.state.end_token();
    }

    pub(super) fn rule_out(&mut self, set: &StreamSet, may_follow: impl Fn(&NodeTest) -> bool) {
        let from = self.followed.get(2).copied().unwrap_or(usize::MAX);
        let to = self.followed.get(3).copied().unwrap_or(self.stack.len());
        for part in &set.parts {
            let Some(node) = set.trie.node(*part).filter(|_| self.state.is_wanted(*part)) else {
                continue;
            };
            if may_follow(&node.test) {
                continue;
            }
            if self.stack.get(from..to).is_some_and(|open| open.contains(part)) {
                self.state.set_again(*part, false);
                self.miss_attributes(set, *part, node);
            } else {
                self.state.give_up(set, *part);
            }
        }
    }
}
