//! What the tests in Envoy have in common.

mod gateway;
mod http;
mod messages;

pub(crate) use gateway::*;
pub(crate) use http::*;
pub(crate) use messages::*;
