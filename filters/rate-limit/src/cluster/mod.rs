//! Limits that all gateways of a cluster share: a rate limit service keeps the counts, and is asked about each request.
//!
//! The protocol is that of Envoy's own rate limit filter, `envoy.service.ratelimit.v3.RateLimitService`, so that any
//! service that serves Envoy serves here. It is gRPC, sent as an ordinary HTTP/2 call-out.
//!
//! - [`config`]: which service, and what holds while it is out.
//! - `descriptor`: what a request is, in the service's terms.
//! - `client`: asks, and keeps book of who waits.
//! - [`reply`]: bytes of an answer into a [`Ruling`](reply::Ruling), or why they are none.

pub mod config;
pub mod reply;

mod added_headers;
mod client;
mod descriptor;
mod frame;
mod messages;
mod metrics;

pub use added_headers::{AddedHeaders, PermittedHeaders, Refused};
pub(crate) use client::{Answer, Asked, Outage, RateLimitService};
pub use config::{OnOutage, ServiceConfig};
pub(crate) use descriptor::Description;
pub(crate) use metrics::ServiceMetrics;
