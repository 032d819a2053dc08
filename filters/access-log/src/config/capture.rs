//! What is kept of bodies.

use serde::{Deserialize, Serialize};

/// What is kept of bodies. Nothing, unless it is asked for.
#[derive(Debug, Default, Clone, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Capture {
    /// What is kept of the request's body.
    pub request: Option<BodyCapture>,
    /// What is kept of the response's body.
    pub response: Option<BodyCapture>,
}

/// Which bodies are kept, and how much of them.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct BodyCapture {
    /// How many bytes of the body are kept, from its beginning. From 1 to 65536.
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = 65_536)))]
    pub max_bytes: u32,
    /// The media types that are kept: `application/json`, `text/*`, `application/*+json`, `*/*`. Names can be found in
    /// JSON and in forms only: of any other type that is listed here, nothing is redacted. JSON Patch is never kept.
    pub content_types: Vec<String>,
}

impl Default for BodyCapture {
    fn default() -> Self {
        let types = ["application/json", "application/*+json", "application/x-www-form-urlencoded"];
        Self { max_bytes: 4096, content_types: types.map(str::to_owned).to_vec() }
    }
}
