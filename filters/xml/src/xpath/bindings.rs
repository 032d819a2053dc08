//! The names of expressions among those of a document.

use super::ast::{Axis, NameRef, NodeTest, UriRef};
use super::budget::Budget;
use super::error::EvaluateError;
use super::pool::NamePool;
use crate::tree::{Document, NameId, NodeId, NodeKind, Tag, UriId};

/// The names of a pool, looked up in a document. A name that comes into the document later is not found: whoever adds
/// trees to it, and keeps the bindings, first enters the pool's names among the document's.
#[derive(Debug, Clone)]
pub struct Bindings {
    names: Vec<Option<NameId>>,
    uris: Vec<Option<UriId>>,
    /// `xml:lang`
    lang: Option<NameId>,
}

impl Bindings {
    /// Looks the names up.
    #[must_use]
    pub fn new(pool: &NamePool, document: &Document) -> Self {
        let names = document.names();
        Self {
            names: pool.names().map(|(namespace, local)| names.find(namespace, local)).collect(),
            uris: pool.uris().map(|uri| names.find_uri(uri)).collect(),
            lang: names.find("http://www.w3.org/XML/1998/namespace", "lang"),
        }
    }

    /// The tag of the attribute `xml:lang`.
    pub(super) fn lang(&self) -> Option<Tag> {
        self.lang.map(|name| Tag::named(NodeKind::Attribute, name))
    }

    /// How to tell the nodes that a test selects; `None` if the document has none of that name.
    pub(super) fn matcher(&self, axis: Axis, test: &NodeTest) -> Option<Matcher> {
        let principal = if axis == Axis::Attribute { NodeKind::Attribute } else { NodeKind::Element };
        Some(match test {
            NodeTest::Any => Matcher::Kind(principal),
            NodeTest::Namespace(test) => Matcher::Namespace(principal, self.uri(test.uri)?),
            NodeTest::Name(test) => Matcher::Tag(Tag::named(principal, self.name(test.name)?)),
            NodeTest::Node => Matcher::Any,
            NodeTest::Text => Matcher::Tag(Tag::unnamed(NodeKind::Text)),
            NodeTest::Comment => Matcher::Tag(Tag::unnamed(NodeKind::Comment)),
            NodeTest::ProcessingInstruction => Matcher::Kind(NodeKind::ProcessingInstruction),
            NodeTest::Target(test) => {
                Matcher::Tag(Tag::named(NodeKind::ProcessingInstruction, self.name(test.name)?))
            }
        })
    }

    /// The first child that a test selects: what evaluating `child::` with it comes to, as a string or a number.
    ///
    /// # Errors
    /// [`EvaluateError::BudgetExceeded`].
    #[inline]
    pub fn first_child(
        &self,
        document: &Document,
        test: &NodeTest,
        node: NodeId,
        budget: &mut Budget,
    ) -> Result<Option<NodeId>, EvaluateError> {
        budget.charge(1)?;
        let Some(matcher) = self.matcher(Axis::Child, test) else { return Ok(None) };
        for child in document.children(node) {
            budget.charge(1)?;
            if matcher.matches(document.tag(child), document) {
                return Ok(Some(child));
            }
        }
        // That there are no more has been looked at too.
        budget.charge(1)?;
        Ok(None)
    }

    fn name(&self, place: NameRef) -> Option<NameId> {
        self.names.get(usize::try_from(place.0).ok()?).copied().flatten()
    }

    fn uri(&self, place: UriRef) -> Option<UriId> {
        self.uris.get(usize::try_from(place.0).ok()?).copied().flatten()
    }
}

/// A node test, in terms of a document's tags.
#[derive(Debug, Clone, Copy)]
pub(super) enum Matcher {
    /// All nodes of the axis.
    Any,
    /// Those of a kind.
    Kind(NodeKind),
    /// Those of a kind and name.
    Tag(Tag),
    /// Those of a kind whose names are in a namespace.
    Namespace(NodeKind, UriId),
}

impl Matcher {
    #[inline]
    pub(super) fn matches(self, tag: Tag, document: &Document) -> bool {
        match self {
            Self::Any => true,
            Self::Kind(kind) => tag.is(kind),
            Self::Tag(wanted) => tag == wanted,
            Self::Namespace(kind, uri) => tag.is(kind) && document.names().namespace(tag.name()) == uri,
        }
    }
}
