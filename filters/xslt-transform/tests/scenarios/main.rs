//! The policy in a chain, on a host in the test's own process.
#![cfg(test)]
// A test that overflows has failed.
#![allow(clippy::arithmetic_side_effects)]

mod chains;
mod conditions;
mod configuration;
mod envelopes;
mod failures;
mod headers;
mod host_faults;
mod memory;
mod orders;
mod parameters;
mod support;
