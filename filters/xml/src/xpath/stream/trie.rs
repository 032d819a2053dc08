//! The steps of all paths, those that paths begin with in common once.

use core::ops::Range;

use super::condition::Condition;
use super::path::{NameTest, NodeTest, Step};
use super::predicate::AttributeLeaf;

/// The document itself, from which all paths start.
pub(super) const DOCUMENT: usize = 0;

/// A step that at least one path takes after the steps above it.
///
/// All steps go to children, so that a node of the trie stands for elements of one depth, and at most one of these is
/// open at a time: what is known of it needs no more than one place for each node of the trie.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) parent: usize,
    pub(super) test: NodeTest,
    pub(super) predicates: Vec<Predicate>,
    /// All next steps.
    pub(super) children: Vec<usize>,
    /// Those for elements of one local name, sorted by it.
    named: Vec<(Box<str>, usize)>,
    /// The others that elements can match.
    wild: Vec<usize>,
    /// Those that text, comments and processing instructions can match.
    pub(super) others: Vec<usize>,
    /// The counters of all next steps.
    pub(super) counters: Range<usize>,
    /// What is wanted of the nodes that match.
    pub(super) leaves: Vec<usize>,
    /// What is wanted of their attributes.
    pub(super) attributes: Vec<(NameTest, usize)>,
}

#[derive(Debug)]
pub(super) struct Predicate {
    pub(super) condition: Condition<AttributeLeaf>,
    /// Where it is counted how many nodes have come so far as to this predicate, if the condition wants to know.
    pub(super) counter: Option<usize>,
    /// The last position at which it can hold.
    pub(super) last: u32,
}

impl Node {
    fn new(parent: usize, step: Step) -> Self {
        let predicate = |condition: Condition<AttributeLeaf>| {
            let last = condition.last_position(true);
            Predicate { condition, counter: None, last }
        };
        Self {
            parent,
            test: step.test,
            predicates: step.predicates.into_iter().map(predicate).collect(),
            children: Vec::new(),
            named: Vec::new(),
            wild: Vec::new(),
            others: Vec::new(),
            counters: 0..0,
            leaves: Vec::new(),
            attributes: Vec::new(),
        }
    }

    /// The next steps that an element of this local name can match, as far as that tells.
    pub(super) fn candidates(&self, local: &str) -> impl Iterator<Item = usize> {
        let first = self.named.partition_point(|(name, _)| **name < *local);
        let named = self.named.get(first..).unwrap_or_default();
        let named = named.iter().take_while(move |(name, _)| **name == *local).map(|(_, node)| *node);
        named.chain(self.wild.iter().copied())
    }

    /// Whether nothing but elements can match.
    pub(super) fn is_for_elements(&self) -> bool {
        matches!(self.test, NodeTest::Element(_))
    }

    /// Whether nothing can match at all.
    pub(super) fn is_impossible(&self) -> bool {
        self.predicates.iter().any(|predicate| predicate.last == 0)
    }

    fn is_step(&self, step: &Step) -> bool {
        let own = self.predicates.iter().map(|predicate| &predicate.condition);
        self.test == step.test && own.eq(&step.predicates)
    }
}

#[derive(Debug)]
pub(super) struct Trie {
    pub(super) nodes: Vec<Node>,
    /// How many counters there are.
    pub(super) counters: usize,
}

impl Trie {
    pub(super) fn new() -> Self {
        let document = Step { test: NodeTest::Node, predicates: Vec::new() };
        Self { nodes: vec![Node::new(DOCUMENT, document)], counters: 0 }
    }

    pub(super) fn node(&self, at: usize) -> Option<&Node> {
        self.nodes.get(at)
    }

    /// Adds a path, and gives the node that it ends with.
    pub(super) fn add(&mut self, steps: Vec<Step>) -> usize {
        steps.into_iter().fold(DOCUMENT, |at, step| self.child(at, step))
    }

    /// Adds a leaf to a node, unless one of those there is the same; gives the one that is there then.
    pub(super) fn add_leaf(
        &mut self,
        node: usize,
        attribute: Option<NameTest>,
        leaf: usize,
        is_same: impl Fn(usize) -> bool,
    ) -> usize {
        let Some(node) = self.nodes.get_mut(node) else {
            return leaf;
        };
        let known = match &attribute {
            Some(test) => {
                let mut same = node.attributes.iter().filter(|(own, leaf)| own == test && is_same(*leaf));
                same.next().map(|(_, leaf)| *leaf)
            }
            None => node.leaves.iter().copied().find(|leaf| is_same(*leaf)),
        };
        if let Some(known) = known {
            return known;
        }
        match attribute {
            Some(test) => node.attributes.push((test, leaf)),
            None => node.leaves.push(leaf),
        }
        leaf
    }

    fn child(&mut self, parent: usize, step: Step) -> usize {
        let next = self.nodes.len();
        let known = self.node(parent).into_iter().flat_map(|node| &node.children).copied();
        let mut known = known.filter(|child| self.node(*child).is_some_and(|node| node.is_step(&step)));
        if let Some(known) = known.next() {
            return known;
        }
        if let Some(node) = self.nodes.get_mut(parent) {
            node.children.push(next);
            match &step.test {
                NodeTest::Element(NameTest::Name { local, .. }) => node.named.push((local.clone(), next)),
                NodeTest::Element(NameTest::Any | NameTest::Namespace(_)) => node.wild.push(next),
                NodeTest::Node => {
                    node.wild.push(next);
                    node.others.push(next);
                }
                NodeTest::Text | NodeTest::Comment | NodeTest::Instruction(_) => node.others.push(next),
            }
        }
        self.nodes.push(Node::new(parent, step));
        next
    }

    /// To be called when all paths are there: sorts names, and gives each parent's counters a row of places.
    pub(super) fn finish(&mut self) {
        for at in 0..self.nodes.len() {
            let first = self.counters;
            let children = self.node(at).map(|node| node.children.clone()).unwrap_or_default();
            for child in children {
                let predicates = self.nodes.get_mut(child).map(|node| &mut node.predicates);
                for predicate in predicates.into_iter().flatten() {
                    if predicate.condition.reads_position() {
                        predicate.counter = Some(self.counters);
                        self.counters = self.counters.saturating_add(1);
                    }
                }
            }
            if let Some(node) = self.nodes.get_mut(at) {
                node.counters = first..self.counters;
                node.named.sort();
            }
        }
    }
}
