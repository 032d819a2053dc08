//! The built modules under wasmtime, with a host that may do anything.
#![cfg(test)]

mod configuration;
mod exports;
mod host_calls;
mod hostile_host;
mod support;
