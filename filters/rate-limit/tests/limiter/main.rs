//! Properties of the limiter, checked against a model that remembers every request, with workers that race, tables that
//! are full and values that no limiter wrote.
#![cfg(test)]
// Times and counts of a test are chosen not to overflow; a test that does shall fail.
#![allow(clippy::arithmetic_side_effects)]

mod agreement;
mod corrupt_values;
mod extremes;
mod full_table;
mod generations;
mod host_faults;
mod interleavings;
mod leases;
mod mixed_buckets;
mod support;
mod threads;
