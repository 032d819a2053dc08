//! What a gateway policy is, what it may ask of its host, and how policies chain.
//!
//! A [`Policy`] is built once for each worker from its configuration and then serves every [`Exchange`] (one
//! HTTP request and its response) of that worker. It answers each callback with a [`Flow`]: go on, wait, ask
//! for more of the body, or reply now. [`Engine`] runs a [`Chain`] of policies for a worker and is driven by a
//! host: the proxy-wasm adapter in production, an in-process host in tests. Nothing in this crate knows Envoy.

pub mod call_out;
pub mod config;
pub mod engine;
pub mod exchange;
pub mod headers;
pub mod host;
pub mod json;
pub mod metrics;
pub mod parameter;
pub mod percent;
pub mod printable;
pub mod protobuf;
pub mod protobuf_struct;
pub mod reply;
pub mod scope;
pub mod spelling;
pub mod target;
pub mod time;

mod body_watch;
mod catalogue;
mod chain;
mod complaint;
mod held_memory;
mod interface;
mod link;
mod most_memory;
mod own_headers;
mod passage;
mod policy;
mod shared_document;
mod slot;

pub use catalogue::Catalogue;
pub use chain::Chain;
pub use complaint::{Complaint, Trouble};
pub use config::ConfigError;
pub use engine::{Engine, Next};
pub use exchange::{Exchange, ExchangeId, Identity, Outcome, QuotaLeft, Verdict, Worker};
pub use headers::HeaderList;
pub use held_memory::{HeldMemory, MemoryFull};
pub use host::{Direction, HeaderMap, Host, HostError};
pub use interface::{Dependency, Fact, Moment};
pub use most_memory::MostMemory;
pub use own_headers::outcome_property;
pub use policy::{BodyEvent, CallOutReply, Callbacks, EndOfStream, Flow, Policy, SecretName, Shutdown};
pub use reply::Reply;
pub use shared_document::{SharedDocument, SharedTree};
