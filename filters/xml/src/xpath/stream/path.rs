//! Paths as a stream can follow them.

use super::condition::{Condition, Want};
use super::predicate::{self, AttributeLeaf};
use super::refusal::{self, Refusal};
use crate::token::Name;
use crate::xpath::ast::{self, Axis, Predicate, Start};

/// A test for the name of an element or an attribute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum NameTest {
    Any,
    Namespace(Box<str>),
    Name { namespace: Box<str>, local: Box<str> },
}

impl NameTest {
    pub(super) fn matches(&self, name: Name<'_>) -> bool {
        match self {
            Self::Any => true,
            Self::Namespace(namespace) => **namespace == *name.namespace,
            Self::Name { namespace, local } => **local == *name.local && **namespace == *name.namespace,
        }
    }

    /// The test of a step on the axis child or attribute, if it tests for a name.
    pub(super) fn of(test: &ast::NodeTest) -> Option<Self> {
        match test {
            ast::NodeTest::Any => Some(Self::Any),
            ast::NodeTest::Namespace(test) => Some(Self::Namespace(test.namespace.clone())),
            ast::NodeTest::Name(test) => {
                Some(Self::Name { namespace: test.namespace.clone(), local: test.local.clone() })
            }
            ast::NodeTest::Node
            | ast::NodeTest::Text
            | ast::NodeTest::Comment
            | ast::NodeTest::ProcessingInstruction
            | ast::NodeTest::Target(_) => None,
        }
    }
}

/// Which children a step selects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum NodeTest {
    Element(NameTest),
    Node,
    Text,
    Comment,
    /// A processing instruction, with this target if there is one.
    Instruction(Option<Box<str>>),
}

/// A step to children.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Step {
    pub(super) test: NodeTest,
    pub(super) predicates: Vec<Condition<AttributeLeaf>>,
}

/// An absolute path, and what is wanted of the nodes that it selects.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Leaf {
    /// At least one.
    pub(super) steps: Vec<Step>,
    /// The attribute that is selected of what the steps select.
    pub(super) attribute: Option<NameTest>,
    pub(super) want: Want,
}

impl Leaf {
    pub(super) fn compile(path: &ast::Path, want: Want) -> Result<Self, Refusal> {
        match &path.start {
            Start::Root => {}
            Start::Context => {
                let reason = "the whole document is the context";
                return Err(Refusal::new("a path that does not begin with `/`", reason, "begin it with `/`"));
            }
            Start::Nodes(_) => {
                let reason = "it selects from nodes that would have to be kept";
                return Err(Refusal::new(
                    "a path that begins with an expression",
                    reason,
                    "begin it with `/`",
                ));
            }
        }
        let mut leaf = Self { steps: Vec::with_capacity(path.steps.len()), attribute: None, want };
        for step in &path.steps {
            leaf.push(step)?;
        }
        if leaf.steps.is_empty() {
            let reason = "it selects the whole document";
            return Err(Refusal::new("`/` alone", reason, "select the document element, as in /*"));
        }
        Ok(leaf)
    }

    fn push(&mut self, step: &ast::Step) -> Result<(), Refusal> {
        if step.axis == Axis::SelfNode && step.test == ast::NodeTest::Node && step.predicates.is_empty() {
            return Ok(());
        }
        if self.attribute.is_some() {
            return Err(refusal::axis(Axis::Attribute));
        }
        let last = self.steps.last().map(|step| &step.test);
        if last.is_some_and(|test| !matches!(test, NodeTest::Element(_))) {
            let reason = "only elements have children and attributes";
            let instead = "write `*` in its place";
            return Err(Refusal::new(
                "`node()`, `text()` and the like before the last step",
                reason,
                instead,
            ));
        }
        match step.axis {
            Axis::Child => self.steps.push(Step {
                test: node_test(&step.test),
                predicates: step.predicates.iter().map(condition).collect::<Result<_, _>>()?,
            }),
            Axis::Attribute if self.steps.is_empty() => {
                let reason = "the document has none";
                return Err(Refusal::new("an attribute of `/`", reason, "name its element, as in /a/@b"));
            }
            Axis::Attribute => self.attribute = Some(predicate::attribute_test(step)?),
            axis => return Err(refusal::axis(axis)),
        }
        Ok(())
    }
}

fn node_test(test: &ast::NodeTest) -> NodeTest {
    match test {
        ast::NodeTest::Text => NodeTest::Text,
        ast::NodeTest::Comment => NodeTest::Comment,
        ast::NodeTest::ProcessingInstruction => NodeTest::Instruction(None),
        ast::NodeTest::Target(target) => NodeTest::Instruction(Some(target.local.clone())),
        other => NameTest::of(other).map_or(NodeTest::Node, NodeTest::Element),
    }
}

fn condition(predicate: &Predicate) -> Result<Condition<AttributeLeaf>, Refusal> {
    match predicate {
        Predicate::Position(position) => {
            Ok(Condition::Position(ast::Comparison::Equal, f64::from(*position)))
        }
        Predicate::Never => Ok(Condition::Constant(false)),
        Predicate::Last => Err(refusal::function(ast::CoreFunction::Last)),
        Predicate::Condition(expression) | Predicate::Positional(expression) => {
            predicate::compile(expression)
        }
    }
}
