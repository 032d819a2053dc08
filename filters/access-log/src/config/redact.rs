//! What lines must not show.

use serde::{Deserialize, Serialize};

/// What becomes of the query string.
#[derive(Debug, Default, Clone, Copy, Deserialize, Serialize, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Query {
    /// It is replaced by `[redacted]`, so that the line shows there was one.
    #[default]
    Redacted,
    /// It is kept as the policies have left it, without the credentials that client-id removes; values of parameters
    /// that `redact` names are replaced.
    Keep,
    /// It is left out, question mark and all.
    Drop,
}

/// What is replaced by `[redacted]`, beside what always is: see [Redaction](#redaction).
#[derive(Debug, Default, Clone, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Redact {
    /// Names of headers and trailers, compared as in `query`.
    pub headers: Vec<String>,
    /// Names of query parameters, of fields of captured forms and, at any depth, of members of captured JSON. They are
    /// compared decoded; upper and lower case count as the same, and so do `api_key`, `api-key` and `apiKey`.
    pub query: Vec<String>,
    /// Members and elements of captured JSON bodies, as JSON pointers (RFC 6901). A segment `*` stands for any one
    /// member or element, `**` for any number of levels. Names are compared as in `query`.
    pub json: Vec<String>,
    /// Names of headers, parameters, fields and members that are shown although a word in them suggests a secret,
    /// compared as in `query`. What is hidden by its whole name stays hidden.
    pub except: Vec<String>,
}
