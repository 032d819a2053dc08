//! What becomes of requests in every situation: a matrix of subjects, requests and failing dependencies, each cell of
//! which is run in a real Envoy and held against a [model](model) of what the documentation promises.
//!
//! - [`axes`] and [`cells`]: the situations, and which of them are run ([`covering`]).
//! - [`model`]: what must become of each.
//! - [`run`]: what becomes of it.
//! - [`results`] and [`page`]: both, side by side, for programs and for people.

pub mod axes;
pub mod cells;
pub mod covering;
pub mod load;
pub mod model;
pub mod outcome;
pub mod page;
pub mod results;
pub mod run;
pub mod soak;
