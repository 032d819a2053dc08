//! Why an expression cannot be evaluated on a stream.

use core::fmt;
use std::borrow::Cow;

use crate::xpath::ast::{Axis, CoreFunction};

/// An expression that is XPath, but none that can be evaluated without the whole document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    construct: Cow<'static, str>,
    reason: &'static str,
    instead: &'static str,
}

impl Refusal {
    pub(super) fn new(
        construct: impl Into<Cow<'static, str>>,
        reason: &'static str,
        instead: &'static str,
    ) -> Self {
        Self { construct: construct.into(), reason, instead }
    }

    /// What it is about the expression, such as "`last()`".
    pub fn construct(&self) -> &str {
        &self.construct
    }

    /// Why it cannot be evaluated on a stream.
    pub fn reason(&self) -> &str {
        self.reason
    }

    /// What to write in its place.
    pub fn instead(&self) -> &str {
        self.instead
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { construct, reason, instead } = self;
        write!(f, "{construct} cannot be evaluated on a stream: {reason}; {instead}")
    }
}

impl std::error::Error for Refusal {}

const SPELL_OUT: &str = "write out each step from the document element on, as in /a/b/c";
pub(super) const WHOLE_DOCUMENT: &str = "have the expression evaluated on the whole document";

pub(super) fn axis(axis: Axis) -> Refusal {
    let looks_back = "it asks for what has gone by and is not kept";
    let (name, reason, instead) = match axis {
        Axis::Descendant | Axis::DescendantOrSelf => (
            "`//` (the axes descendant and descendant-or-self)",
            "it selects at any depth, within what it has selected already, so that every token stays a candidate",
            SPELL_OUT,
        ),
        Axis::Parent => ("`..` (the axis parent)", looks_back, SPELL_OUT),
        Axis::Ancestor => ("the axis ancestor", looks_back, SPELL_OUT),
        Axis::AncestorOrSelf => ("the axis ancestor-or-self", looks_back, SPELL_OUT),
        Axis::Preceding => ("the axis preceding", looks_back, WHOLE_DOCUMENT),
        Axis::PrecedingSibling => ("the axis preceding-sibling", looks_back, WHOLE_DOCUMENT),
        Axis::Following => ("the axis following", "it selects at any depth", SPELL_OUT),
        Axis::FollowingSibling => (
            "the axis following-sibling",
            "which siblings count depends on what has gone by",
            "use a position, as in /a/b[2]",
        ),
        Axis::SelfNode => ("a test on `.`", "only `.` itself is a step that can be left out", SPELL_OUT),
        Axis::Attribute => (
            "`@` before the last step",
            "an attribute has neither children nor attributes",
            "make it the last step",
        ),
        Axis::Child => ("a step", "it is not one of those that are known", WHOLE_DOCUMENT),
    };
    Refusal::new(name, reason, instead)
}

pub(super) fn function(function: CoreFunction) -> Refusal {
    let computes =
        "it is not one of string(), normalize-space(), boolean(), not(), starts-with() and contains()";
    let counts = "it needs every node that the path selects, not the first";
    let (name, reason) = match function {
        CoreFunction::Last => {
            let reason = "how many there are is known at the parent's end only";
            return Refusal::new("last()", reason, "count positions from the front, as in [1]");
        }
        CoreFunction::Position => {
            let reason = "a position is known within a predicate only, and as a number to compare with";
            return Refusal::new(
                "position()",
                reason,
                "compare it within a predicate, as in [position() < 3]",
            );
        }
        CoreFunction::Count => ("count()", counts),
        CoreFunction::Sum => ("sum()", counts),
        CoreFunction::LocalName => ("local-name()", "names are tested in steps only"),
        CoreFunction::NamespaceUri => ("namespace-uri()", "names are tested in steps only"),
        CoreFunction::Name => ("name()", "names are tested in steps only"),
        CoreFunction::Lang => ("lang()", "it asks for attributes of all ancestors"),
        CoreFunction::Concat => ("concat()", computes),
        CoreFunction::SubstringBefore => ("substring-before()", computes),
        CoreFunction::SubstringAfter => ("substring-after()", computes),
        CoreFunction::Substring => ("substring()", computes),
        CoreFunction::StringLength => ("string-length()", computes),
        CoreFunction::Translate => ("translate()", computes),
        CoreFunction::Number => {
            let instead = "compare the path itself with a number, as in /a/b > 5";
            return Refusal::new("number()", computes, instead);
        }
        CoreFunction::Floor => ("floor()", computes),
        CoreFunction::Ceiling => ("ceiling()", computes),
        CoreFunction::Round => ("round()", computes),
        CoreFunction::String => ("string()", "it is a string, where a boolean is wanted"),
        CoreFunction::NormalizeSpace => ("normalize-space()", "it is a string, where a boolean is wanted"),
        CoreFunction::StartsWith => ("starts-with()", "it is a boolean, where a string is wanted"),
        CoreFunction::Contains => ("contains()", "it is a boolean, where a string is wanted"),
        CoreFunction::Boolean => ("boolean()", "it is a boolean, where a string is wanted"),
        CoreFunction::Not => ("not()", "it is a boolean, where a string is wanted"),
        CoreFunction::True => ("true()", "it is a boolean, where a string is wanted"),
        CoreFunction::False => ("false()", "it is a boolean, where a string is wanted"),
    };
    let instead = match function {
        CoreFunction::LocalName | CoreFunction::NamespaceUri | CoreFunction::Name => {
            "test the name in the step, as in /p:a/p:b"
        }
        _ => WHOLE_DOCUMENT,
    };
    Refusal::new(name, reason, instead)
}
