//! What is sent to each reader.

pub(crate) mod controls;
pub(crate) mod credential_headers;
pub(crate) mod headers;
pub(crate) mod json;
pub(crate) mod queries;
pub(crate) mod spellings;
pub(crate) mod trailers;

/// What no program may ever see.
pub(crate) const FORGED: &str = "forged";
