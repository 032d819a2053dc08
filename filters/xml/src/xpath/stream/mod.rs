//! The part of XPath that needs no document in memory.
//!
//! Some expressions can be decided while a document goes by, and some of these before it has gone by. A
//! [`StreamExpression`] is one of them, a [`StreamSet`] many that are followed at once, and a [`Matcher`] follows them
//! through one document, as a [`Sink`](crate::Sink). A [`SoapMatcher`] does the same in envelopes, of whose order it
//! makes use to know sooner what cannot come any more.
//!
//! # What is accepted
//!
//! - Absolute paths of steps to children: `/a/p:b/*/p:*`, and at the end also `text()`, `comment()`,
//!   `processing-instruction()`, `node()` or an attribute: `@c`, `@p:*`.
//! - With predicates about what a start tag says, and about positions: `[@a]`, `[@a = 'x']`, `[@a > 5]`,
//!   `[starts-with(@a, 'x') and not(@b)]`, `[2]`, `[position() < 3]`.
//! - As the whole expression: such a path, or `string()` or `normalize-space()` of it.
//! - Or conditions on such paths: `boolean()` of a path, a path or its `string()` or `normalize-space()` compared with a
//!   literal or a number, `starts-with()` and `contains()` with a literal, and `and`, `or` and `not()` of all these.
//!
//! What they yield is what XPath 1.0 says that they yield, with the whole document as the context. Everything else is a
//! [`Refusal`].
//!
//! # What it costs
//!
//! A token costs as much as there are steps that could match it: children of elements that some path has come to. It
//! costs nothing to speak of within other elements, however many paths there are. Text is kept for the elements whose
//! value is wanted, once for elements within each other, and no more of it than the set's limit. What conditions test is
//! tested as soon as it is there, and not kept. A text that expressions yield is kept once for all that yield it, until
//! it is [forgotten](Matcher::forget).

mod capture;
mod compile;
mod condition;
mod expression;
mod following;
mod leaves;
mod matcher;
mod path;
mod predicate;
mod refusal;
mod set;
mod soap;
mod state;
mod trie;

pub use expression::StreamExpression;
pub use matcher::{Matcher, Outcome, Progress};
pub use refusal::Refusal;
pub use set::StreamSet;
pub use soap::SoapMatcher;
