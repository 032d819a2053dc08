//! Predicates that are decided at the start tag.

use super::compile::{self, Context};
use super::condition::{Condition, Unknown, Values, Want};
use super::path::NameTest;
use super::refusal::Refusal;
use crate::token::Attributes;
use crate::xpath::ast::{self, Axis, Expr, Start};

/// What a predicate wants of the attributes.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct AttributeLeaf {
    pub(super) test: NameTest,
    pub(super) want: Want,
}

/// The attribute that a step selects.
pub(super) fn attribute_test(step: &ast::Step) -> Result<NameTest, Refusal> {
    if !step.predicates.is_empty() {
        let reason = "attributes have no order to count in, and no attributes of their own";
        return Err(Refusal::new("a predicate on an attribute", reason, "compare it, as in /a[@b = 'c']"));
    }
    if step.test == ast::NodeTest::Node {
        return Ok(NameTest::Any);
    }
    NameTest::of(&step.test).ok_or_else(|| {
        let reason = "attributes are attributes and nothing else";
        Refusal::new("`text()` or the like of an attribute", reason, "write its name, as in @a")
    })
}

/// Compiles the expression of a predicate.
pub(super) fn compile(expression: &Expr) -> Result<Condition<AttributeLeaf>, Refusal> {
    compile::condition(&mut StartTagOnly, expression)
}

/// All that is known when a predicate is decided.
struct StartTagOnly;

impl Context for StartTagOnly {
    type Leaf = AttributeLeaf;
    const HAS_POSITION: bool = true;

    fn leaf(&mut self, path: &ast::Path, want: Want) -> Result<AttributeLeaf, Refusal> {
        match (&path.start, path.steps.as_slice()) {
            (Start::Context, [step]) if step.axis == Axis::Attribute => {
                Ok(AttributeLeaf { test: attribute_test(step)?, want })
            }
            (Start::Root, _) => {
                let reason = "it is another path, and what that selects may come later";
                let instead = "use two expressions";
                Err(Refusal::new("a path that begins with `/` in a predicate", reason, instead))
            }
            _ => {
                let reason =
                    "what an element contains comes after its start tag, where the predicate is decided";
                let instead = "test attributes, or compare a whole path, as in /a/b = 'c'";
                Err(Refusal::new("a predicate that tests other nodes than attributes", reason, instead))
            }
        }
    }
}

/// What a predicate is evaluated on.
pub(super) struct StartTagValues<'a> {
    pub(super) attributes: Option<Attributes<'a>>,
    pub(super) position: u32,
}

impl StartTagValues<'_> {
    fn selected(&self, leaf: &AttributeLeaf) -> impl Iterator<Item = &str> {
        let all = self.attributes.as_ref().into_iter().flat_map(Attributes::iter);
        all.filter(|attribute| leaf.test.matches(attribute.name)).map(|attribute| attribute.value)
    }
}

impl Values<AttributeLeaf> for StartTagValues<'_> {
    fn holds(&self, leaf: &AttributeLeaf) -> Result<bool, Unknown> {
        let mut selected = self.selected(leaf);
        Ok(match &leaf.want {
            Want::Existence | Want::First(_) => selected.next().is_some(),
            Want::Passes(spaces, test) => test.holds(&spaces.of(selected.next().unwrap_or_default())),
            Want::Any(wanted) => selected.any(|value| wanted.holds(value)),
        })
    }

    fn text<'v>(&'v self, leaf: &'v AttributeLeaf) -> Result<&'v str, Unknown> {
        Ok(self.selected(leaf).next().unwrap_or_default())
    }

    fn position(&self) -> u32 {
        self.position
    }
}
