//! The policy's module in a stock Envoy, over HTTP/1.1 and HTTP/2.
#![cfg(test)]
// A test that overflows has failed.
#![allow(clippy::arithmetic_side_effects)]

mod failures;
mod flag;
mod limits;
mod orders;
mod support;
mod untouched;
