//! The policy in an in-process host, on a virtual clock, with faults on demand.
#![cfg(test)]

mod chains;
mod configuration;
mod counting;
mod headers;
mod host_faults;
mod identity;
mod keys;
mod rejections;
mod service;
mod store;
mod support;
