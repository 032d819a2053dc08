//! Content-based routing: which upstream a request is for, by what it says.
//!
//! [`ContentRouter`] tries ordered rules on a request: on its headers, method, path, host and query, on what the
//! envelope of a SOAP message says, on members of a JSON document. The first rule that is true names a route,
//! which goes out in a header for Envoy to route by, or refuses the request. A body is held only until the rules have
//! decided. `docs/content-router.md` explains it in the order of `policy.rs`.

pub mod config;
pub mod policy;

mod action;
mod body;
mod condition;
mod metrics;
mod rules;
mod truth;

pub use config::Config;
pub use policy::ContentRouter;
