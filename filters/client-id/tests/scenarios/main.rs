//! The policy in an in-process host, on a virtual clock, with faults on demand.
#![cfg(test)]

mod admission;
mod caching;
mod coalescing;
mod host_faults;
mod outages;
mod registry;
mod support;
