//! Client-ID enforcement: who calls, and may they.
//!
//! [`ClientId`] takes the caller's credentials from the request, has them verified (by an auth service for each
//! new pair, or against a list of clients that it keeps in step with the service), and tells the upstream and
//! later policies who the caller is. `docs/client-id.md` explains it in the order of `policy.rs`.

pub mod config;
pub mod credentials;
pub mod policy;
pub mod registry;

mod auth_service;
mod cache;
mod decision;
mod metrics;
mod rejection;
mod upstream;

pub use config::Config;
pub use policy::ClientId;
