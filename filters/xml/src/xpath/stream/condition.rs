//! Conditions on values that become known one after the other.

use std::borrow::Cow;

use crate::xpath::ast::Comparison;
use crate::xpath::evaluate::text::normalize_space;
use crate::xpath::number;

/// What is to be found out about the nodes that a path or an attribute test selects.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Want {
    /// Whether there is one.
    Existence,
    /// The string-value of the first one in document order.
    First(Spaces),
    /// Whether the string-value of the first one passes a test; that of none is empty.
    Passes(Spaces, TextTest),
    /// Whether there is one whose string-value fits (XPath 1.0, section 3.4).
    Any(Match),
}

/// What is done with the white space of a text before anything else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Spaces {
    Kept,
    /// As `normalize-space()` does (XPath 1.0, section 4.2).
    Normalized,
}

impl Spaces {
    pub(super) fn of(self, text: &str) -> Cow<'_, str> {
        match self {
            Self::Kept => Cow::Borrowed(text),
            Self::Normalized => normalize_space(Cow::Borrowed(text)),
        }
    }
}

/// What a string is compared with.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Match {
    /// It is this string.
    Equal(Box<str>),
    /// It is another string than this.
    NotEqual(Box<str>),
    /// As a number it compares so with this number.
    Number(Comparison, f64),
}

impl Match {
    pub(super) fn holds(&self, value: &str) -> bool {
        match self {
            Self::Equal(expected) => **expected == *value,
            Self::NotEqual(expected) => **expected != *value,
            Self::Number(comparison, expected) => compare(*comparison, number::parse(value), *expected),
        }
    }

    /// The same for a value of which only this is known, that it has more bytes than `length`.
    pub(super) fn holds_beyond(&self, length: usize) -> Option<bool> {
        match self {
            Self::Equal(expected) => (expected.len() <= length).then_some(false),
            Self::NotEqual(expected) => (expected.len() <= length).then_some(true),
            Self::Number(..) => None,
        }
    }
}

/// A truth value that depends on values of kind `L`.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Condition<L> {
    Constant(bool),
    /// What is wanted of it is there.
    Holds(L),
    Text(Text<L>, TextTest),
    /// The context position compares so with the number. In predicates only.
    Position(Comparison, f64),
    Not(Box<Self>),
    All(Vec<Self>),
    Any(Vec<Self>),
}

/// A string that depends on values of kind `L`.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Text<L> {
    /// The string-value of the first node, the empty string without one.
    Of(L),
    Normalized(Box<Self>),
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum TextTest {
    NotEmpty,
    Match(Match),
    StartsWith(Box<str>),
    Contains(Box<str>),
}

impl TextTest {
    pub(super) fn holds(&self, text: &str) -> bool {
        match self {
            Self::NotEmpty => !text.is_empty(),
            Self::Match(wanted) => wanted.holds(text),
            Self::StartsWith(start) => text.starts_with(&**start),
            Self::Contains(part) => text.contains(&**part),
        }
    }
}

/// Why something has no value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unknown {
    /// It has none yet.
    Pending,
    /// It will have none: a text was too long to be kept.
    TooLong,
}

/// What the values are.
pub(super) trait Values<L> {
    fn holds(&self, leaf: &L) -> Result<bool, Unknown>;
    fn text<'v>(&'v self, leaf: &'v L) -> Result<&'v str, Unknown>;
    fn position(&self) -> u32;
}

impl<L> Condition<L> {
    pub(super) fn evaluate(&self, values: &impl Values<L>) -> Result<bool, Unknown> {
        match self {
            Self::Constant(value) => Ok(*value),
            Self::Holds(leaf) => values.holds(leaf),
            Self::Text(text, test) => text.evaluate(values).map(|text| test.holds(&text)),
            Self::Position(comparison, expected) => {
                Ok(compare(*comparison, f64::from(values.position()), *expected))
            }
            Self::Not(condition) => condition.evaluate(values).map(|value| !value),
            Self::All(conditions) => fold(conditions, values, false),
            Self::Any(conditions) => fold(conditions, values, true),
        }
    }

    /// The last position at which it can be as `wanted`; `u32::MAX` if there is no last one.
    pub(super) fn last_position(&self, wanted: bool) -> u32 {
        match self {
            Self::Constant(value) => position_unless(*value != wanted),
            Self::Holds(_) | Self::Text(..) => u32::MAX,
            Self::Position(comparison, expected) => last_position(*comparison, *expected, wanted),
            Self::Not(condition) => condition.last_position(!wanted),
            Self::All(conditions) => {
                let each = conditions.iter().map(|condition| condition.last_position(wanted));
                if wanted { each.min().unwrap_or(u32::MAX) } else { each.max().unwrap_or(0) }
            }
            Self::Any(conditions) => {
                let each = conditions.iter().map(|condition| condition.last_position(wanted));
                if wanted { each.max().unwrap_or(0) } else { each.min().unwrap_or(u32::MAX) }
            }
        }
    }

    /// The same condition on other places.
    pub(super) fn map<M>(self, place: &impl Fn(L) -> M) -> Condition<M> {
        let each =
            |conditions: Vec<Self>| conditions.into_iter().map(|condition| condition.map(place)).collect();
        match self {
            Self::Constant(value) => Condition::Constant(value),
            Self::Holds(leaf) => Condition::Holds(place(leaf)),
            Self::Text(text, test) => Condition::Text(text.map(place), test),
            Self::Position(comparison, expected) => Condition::Position(comparison, expected),
            Self::Not(inner) => Condition::Not(Box::new(inner.map(place))),
            Self::All(conditions) => Condition::All(each(conditions)),
            Self::Any(conditions) => Condition::Any(each(conditions)),
        }
    }

    /// Whether positions have to be counted for it.
    pub(super) fn reads_position(&self) -> bool {
        match self {
            Self::Constant(_) | Self::Holds(_) | Self::Text(..) => false,
            Self::Position(..) => true,
            Self::Not(condition) => condition.reads_position(),
            Self::All(conditions) | Self::Any(conditions) => conditions.iter().any(Self::reads_position),
        }
    }
}

impl<L> Text<L> {
    /// What it is the text of, and how. To normalize it more than once changes nothing.
    pub(super) fn source(self) -> (L, Spaces) {
        let (mut text, mut spaces) = (self, Spaces::Kept);
        loop {
            match text {
                Self::Of(leaf) => return (leaf, spaces),
                Self::Normalized(inner) => (text, spaces) = (*inner, Spaces::Normalized),
            }
        }
    }

    fn map<M>(self, place: &impl Fn(L) -> M) -> Text<M> {
        match self {
            Self::Of(leaf) => Text::Of(place(leaf)),
            Self::Normalized(inner) => Text::Normalized(Box::new(inner.map(place))),
        }
    }

    pub(super) fn evaluate<'v>(&'v self, values: &'v impl Values<L>) -> Result<Cow<'v, str>, Unknown> {
        match self {
            Self::Of(leaf) => values.text(leaf).map(Cow::Borrowed),
            Self::Normalized(inner) => inner.evaluate(values).map(normalize_space),
        }
    }
}

/// Whether one of the conditions is as `decisive`, which makes the whole so too. As long as one may become so, nothing
/// is known, even where another will never have a value.
fn fold<L>(conditions: &[Condition<L>], values: &impl Values<L>, decisive: bool) -> Result<bool, Unknown> {
    let mut result = Ok(!decisive);
    for condition in conditions {
        match condition.evaluate(values) {
            Ok(value) if value == decisive => return Ok(decisive),
            Ok(_) => {}
            Err(Unknown::Pending) => result = Err(Unknown::Pending),
            Err(Unknown::TooLong) => result = result.and(Err(Unknown::TooLong)),
        }
    }
    result
}

fn position_unless(never: bool) -> u32 {
    if never { 0 } else { u32::MAX }
}

fn last_position(comparison: Comparison, expected: f64, wanted: bool) -> u32 {
    // Positions are integers from 1: what compares so with one of the first two does so or not by `expected` alone.
    let below = match (comparison, wanted) {
        (Comparison::Equal, true) | (Comparison::NotEqual, false) => {
            let is_position = expected >= 1.0 && expected.fract() == 0.0;
            if is_position { expected } else { 0.0 }
        }
        (Comparison::Less, true) | (Comparison::GreaterOrEqual, false) if !expected.is_nan() => {
            expected.ceil() - 1.0
        }
        (Comparison::LessOrEqual, true) | (Comparison::Greater, false) if !expected.is_nan() => {
            expected.floor()
        }
        // Nothing compares with NaN in any way but that it is not equal.
        _ => return position_unless(expected.is_nan() && wanted != (comparison == Comparison::NotEqual)),
    };
    // Saturates, as is wanted: what is beyond the range of u32 is as good as no limit.
    below as u32
}

pub(super) fn compare(comparison: Comparison, left: f64, right: f64) -> bool {
    match comparison {
        Comparison::Equal => left == right,
        Comparison::NotEqual => left != right,
        Comparison::Less => left < right,
        Comparison::LessOrEqual => left <= right,
        Comparison::Greater => left > right,
        Comparison::GreaterOrEqual => left >= right,
    }
}
