//! Patterns (XSLT 1.0, section 5.2), and the template rules that they select.

mod compile;
mod matching;
mod names;
mod rules;

pub(crate) use compile::{NotAPattern, compile, refused_syntax};
pub(crate) use matching::Matching;
pub(crate) use names::BoundPool;
pub(crate) use rules::{Among, Rule, RuleSet};

use portcullis_xml::xpath::ast::{Expr, NodeTest, Predicate};

/// A pattern: a node matches it if it matches one of the alternatives.
#[derive(Debug, Clone)]
pub(crate) struct Pattern {
    pub(crate) alternatives: Vec<Alternative>,
}

/// A location path pattern.
#[derive(Debug, Clone)]
pub(crate) struct Alternative {
    /// The steps, the last one first: that is the one for the node itself.
    steps: Vec<Step>,
    /// What is above the first one.
    anchor: Anchor,
}

/// Where a pattern begins.
#[derive(Debug, Clone)]
enum Anchor {
    /// Anywhere.
    Anywhere,
    /// At the root of a tree.
    Root,
    /// At one of the nodes that a call of `key()` yields.
    Nodes(Box<Expr>),
}

/// A step of a pattern.
#[derive(Debug, Clone)]
struct Step {
    kind: StepKind,
    test: NodeTest,
    predicates: Vec<Predicate>,
    /// Where what is to the left of it must be.
    above: Above,
}

/// The axes that a pattern can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StepKind {
    Child,
    Attribute,
}

/// How a step is joined to what is to the left of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Above {
    /// `/`
    Parent,
    /// `//`
    Ancestor,
}

impl Alternative {
    /// The priority of a rule that does not say one (section 5.5).
    pub(crate) fn default_priority(&self) -> f64 {
        match (&self.anchor, &*self.steps) {
            (Anchor::Anywhere, [step]) if step.predicates.is_empty() => match step.test {
                NodeTest::Name(_) | NodeTest::Target(_) => 0.0,
                NodeTest::Namespace(_) => -0.25,
                _ => -0.5,
            },
            _ => 0.5,
        }
    }

    /// Whether it is matched by every node that has the kind and the name of its last step.
    fn is_plain(&self) -> bool {
        match (&self.anchor, &*self.steps) {
            (Anchor::Root, []) => true,
            // The tables tell kinds and names apart, but neither namespaces nor targets.
            (Anchor::Anywhere, [step]) => {
                step.predicates.is_empty()
                    && !matches!(step.test, NodeTest::Namespace(_) | NodeTest::Target(_))
            }
            _ => false,
        }
    }
}
