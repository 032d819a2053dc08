//! The policy in a chain, on a host in the test's own process.
#![cfg(test)]

mod bodies;
mod conditions;
mod cost;
mod default_line;
mod formats;
mod phases;
mod redaction;
mod sinks;
mod support;
