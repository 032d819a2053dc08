//! The OTLP exporter: on a virtual clock with every answer and every loss, and in real Envoy.
#![cfg(test)]
// Times and counts of a test are chosen not to overflow; a test that does shall fail.
#![allow(clippy::arithmetic_side_effects)]

mod backoff;
mod encoding;
mod envoy;
mod flush;
mod overflow;
mod property;
mod replies;
mod request;
mod shutdown;
mod support;
