//! The tree: what the tokens make, and what can be built by hand.
#![cfg(test)]
#![allow(clippy::arithmetic_side_effects)]

mod building;
mod limits;
mod parsing;
mod support;
