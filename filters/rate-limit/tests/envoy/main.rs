//! The policy's module in a stock Envoy, over HTTP/1.1 and HTTP/2.
#![cfg(test)]

mod capabilities;
mod dialects;
mod keys;
mod observability;
mod refusals;
mod reload;
mod support;
mod workers;
