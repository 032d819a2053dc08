//! What the end-to-end tests have in common.

mod gateway;
pub(crate) mod nginx;
mod service;
pub(crate) mod wasm;

pub(crate) use gateway::{Gateway, Mark, config, plugin};
pub(crate) use portcullis_testkit::envoy::{Begun, Body, Fields, Http};
pub(crate) use service::{admission, auth_service, basic, per_request};
