//! Access log: lines on exchanges, whatever became of them.
//!
//! [`AccessLog`] decides when a line is due and whether it is wanted; a line is written from what the exchange and the
//! host know, each thing read once and only if the line shows it. `docs/access-log.md` has the formats, the fields and
//! every option.

pub mod config;
pub mod line;
pub mod otlp;
pub mod policy;

/// Parts that fuzz targets throw bytes at.
#[doc(hidden)]
pub mod fuzzing {
    pub use crate::format::check_text;
    pub use crate::redact::{Names, Pointers, Syntax, redact_json, redact_parameters};
}

mod attribute;
mod capture;
mod condition;
mod flags;
mod format;
mod media_type;
mod redact;
mod sample;
mod sight;
mod sink;
mod writer;

pub use config::Config;
pub use policy::AccessLog;
