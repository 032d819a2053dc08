//! Transforms XML messages by XSLT 1.0 stylesheets, on their way to the upstream and on their way back.
//!
//! [`XsltTransform`] holds a message that is to be transformed until all of it is there, transforms the whole document
//! or the first element in the Body of a SOAP envelope, and lets the result go on in its place. Requests and responses
//! have stylesheets of their own. `docs/xslt-transform.md` explains it in the order of `policy.rs`.

pub mod config;
pub mod policy;

mod condition;
mod failure;
mod message;
mod metrics;
mod parameters;
mod reading;
mod reply;
mod side;
mod vary;

pub use config::Config;
pub use policy::XsltTransform;
