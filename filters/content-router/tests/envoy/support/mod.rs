//! What the tests in Envoy have in common.

mod gateway;
mod messages;

pub(crate) use gateway::*;
pub(crate) use messages::*;
pub(crate) use portcullis_testkit::envoy::{Body, Fields, Http};
