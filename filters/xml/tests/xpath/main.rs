//! XPath 1.0 as the specification has it, on documents that are parsed.
#![cfg(test)]
#![allow(clippy::arithmetic_side_effects)]

mod axes;
mod comparisons;
mod costs;
mod errors;
mod functions;
mod host;
mod limits;
mod paths;
mod predicates;
mod support;
mod syntax;
