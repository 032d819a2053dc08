//! Hostile traffic for the policies, in a real Envoy.
//!
//! [`Gateway`] is an Envoy with policies, or without any, to tell what is Envoy's own doing. Its upstream is a [`Tap`],
//! which keeps what it gets byte for byte and reads HTTP/1.1 as strictly as RFC 9112 lets a server do. [`raw2`] writes
//! HTTP/2 that no client library would write.
//!
//! The tests are in `tests/abuse`; the programs in `src/bin` let others' tests loose on the same gateway.

pub mod flood;
pub mod gateway;
pub mod message;
pub mod policies;
pub mod raw2;
mod strict;
pub mod tap;

pub use flood::Flood;
pub use gateway::Gateway;
pub use message::Message;
pub use tap::Tap;
