//! The policy in a chain, on a host in the test's own process.
#![cfg(test)]
// A test that overflows has failed.
#![allow(clippy::arithmetic_side_effects)]

mod bodies;
mod chains;
mod chunks;
mod configuration;
mod host_faults;
mod json;
mod outcomes;
mod requests;
mod support;
mod xml;
