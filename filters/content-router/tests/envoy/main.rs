//! The policy's module in a stock Envoy, over HTTP/1.1 and HTTP/2.
#![cfg(test)]
// A test that overflows has failed.
#![allow(clippy::arithmetic_side_effects)]

mod filters;
mod flag;
mod outcomes;
mod routing;
mod streaming;
mod support;
