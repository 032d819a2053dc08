//! Access log: one JSON line for each exchange, whatever became of it.
//!
//! [`AccessLog`] gathers what is known of an exchange when it is over, and [`line`](mod@line) writes it.
//! `docs/access-log.md` has the fields.

pub mod config;
pub mod line;
pub mod policy;

mod flags;
mod property;

pub use config::Config;
pub use policy::AccessLog;
