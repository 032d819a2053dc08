//! JSON Schemas (draft 2020-12) of the documents that the suite reads.

use schemars::{Schema, schema_for};

/// The documents that have a schema.
pub const DOCUMENTS: [&str; 6] =
    ["client-id", "access-log", "rate-limit", "content-router", "xslt-transform", "client-registry"];

/// The schema of a document.
pub fn of(document: &str) -> Option<Schema> {
    Some(match document {
        "client-id" => schema_for!(portcullis_client_id::Config),
        "access-log" => schema_for!(portcullis_access_log::Config),
        "rate-limit" => schema_for!(portcullis_rate_limit::Config),
        "content-router" => schema_for!(portcullis_content_router::Config),
        "xslt-transform" => schema_for!(portcullis_xslt_transform::Config),
        "client-registry" => schema_for!(portcullis_client_id::registry::Document),
        _ => return None,
    })
}

/// The schema as text, with a newline at its end.
pub fn text(document: &str) -> Option<String> {
    serde_json::to_string_pretty(&of(document)?).ok().map(|text| text + "\n")
}
