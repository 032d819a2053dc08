//! Quotas: how many requests may come in how much time, counted for each of the keys that a request shows.
//!
//! [`RateLimit`] reads a key from the request (client, header, query parameter, address, path, method, host), counts
//! the request against the key's limits in a table that all workers share, or has a service count it, and refuses it
//! when the quota is used up. `docs/rate-limit.md` explains it in the order of `policy.rs`.

pub mod cluster;
pub mod config;
pub mod key;
pub mod limiter;
pub mod policy;

mod caller;
mod headers;
mod metrics;
mod outcome;
mod quotas;
mod rejection;
mod told;

pub use config::Config;
pub use policy::RateLimit;
