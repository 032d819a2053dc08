//! Conditions on messages that policies have in common: how they are written, and what they are true of.
//!
//! [`TextTest`] and [`Quantifier`] are how a configuration writes a test of a text and of several values;
//! [`TextMatcher`], [`Values`] and [`RequestTest`] are what they are compiled to. [`possible`] finds tests that could
//! never be true.

mod config;
mod number;
pub mod possible;
mod request;
mod status;
mod text;
mod values;

pub use config::{NumberTest, Quantifier, TextTest};
pub use number::NumberMatcher;
pub use request::RequestTest;
pub use status::StatusTest;
pub use text::{JsonScalar, TextMatcher};
pub use values::Values;
