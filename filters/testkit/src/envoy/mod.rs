//! Stock Envoy as a test fixture, with the peers that show what it does.
//!
//! Everything blocks: the API is meant for plain `#[test]` functions. What needs an async runtime shares one
//! that the fixture owns, so none of it may be called from inside another runtime.
//!
//! ```no_run
//! use portcullis_testkit::envoy::{Backend, Cluster, Envoy, EnvoyConfig, WasmPlugin, h1};
//!
//! let backend = Backend::start();
//! let envoy = Envoy::start(
//!     &EnvoyConfig::new()
//!         .cluster(Cluster::http1("backend", backend.addr()))
//!         .filter(WasmPlugin::module("client-id").text_configuration(r#"{"clients": []}"#)),
//! );
//!
//! assert_eq!(h1::get(envoy.addr(), "/").status, 401);
//! assert_eq!(backend.count(), 0);
//! ```
//!
//! - [`EnvoyConfig`] says what Envoy shall run, [`Envoy`] is the running process.
//! - [`Backend`] is an upstream that behaves and records; [`HostileServer`] is one that does not behave.
//! - [`Program`] is any other peer: a program of somebody else's.
//! - [`RateLimitService`] is Envoy's reference rate limit service with a [`Redis`] behind it.
//! - [`h1`] and [`h2`] are clients that send what a test says and nothing else; [`Http`] is either of them.

mod admin;
mod backend;
mod burst;
mod closed_port;
mod config;
mod container;
mod drip;
mod error;
mod files;
mod gate;
pub mod h1;
pub mod h2;
mod hostile;
mod http;
mod logs;
mod message;
mod metered;
mod paths;
mod plugin;
mod process;
mod program;
mod rate_limit_service;
mod redis;
mod render;
mod reply;
mod runtime;
mod spawn;
mod start;
mod wait;
mod wire;

pub use admin::Admin;
pub use backend::{Backend, Chunk, Progress, Recorded};
pub use burst::concurrently;
pub use closed_port::ClosedPort;
pub use config::{AccessLog, Cluster, Delivery, EnvoyConfig};
pub use container::Container;
pub use error::ClientError;
pub use gate::Gate;
pub use hostile::{Behaviour, HostileServer, http_reply};
pub use http::{Begun, Body, Fields, Http};
pub use message::{Headers, Response};
pub use paths::{envoy_binary, module_path, workspace_root};
pub use plugin::{FailurePolicy, WasmPlugin};
pub use process::{Envoy, Rejected};
pub use program::Program;
pub use rate_limit_service::RateLimitService;
pub use redis::Redis;
pub use reply::Reply;
pub use start::StartError;
pub use wait::{PATIENCE, wait_for, wait_until};
