//! The configuration document.

use portcullis_policy::ConfigError;
use serde::{Deserialize, Serialize};

/// Configuration of the access-log policy.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// What becomes of the query string, which often holds personal data and sometimes secrets.
    pub query: Query,
    /// The longest text that a field may hold, in bytes as they came; what is longer is cut and ends in `…`.
    /// From 16 to 16384.
    #[cfg_attr(feature = "schema", schemars(range(min = 16, max = 16_384)))]
    pub max_field_bytes: u32,
}

impl Default for Config {
    fn default() -> Self {
        Self { query: Query::Redacted, max_field_bytes: 1024 }
    }
}

/// What becomes of the query string.
#[derive(Debug, Default, Clone, Copy, Deserialize, Serialize, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Query {
    /// It is replaced by `[redacted]`, so that the line shows there was one.
    #[default]
    Redacted,
    /// It is kept as the policies have left it: without the credentials that client-id removes.
    Keep,
    /// It is left out, question mark and all.
    Drop,
}

impl Config {
    /// The longest text that a field may hold.
    ///
    /// # Errors
    /// It is out of range.
    pub(crate) fn field_limit(&self) -> Result<usize, ConfigError> {
        match usize::try_from(self.max_field_bytes) {
            Ok(limit @ 16..=16_384) => Ok(limit),
            _ => Err(ConfigError::new(
                "max_field_bytes",
                "out of range, expected a number of bytes from 16 to 16384",
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use portcullis_policy::{Chain, config};

    use super::*;
    use crate::AccessLog;

    #[test]
    fn an_empty_document_gives_the_defaults() {
        let config: Config = config::parse(b"").unwrap();
        assert_eq!((config.query, config.max_field_bytes), (Query::Redacted, 1024));
    }

    #[test]
    fn accepts_what_is_documented_and_says_what_is_wrong_with_the_rest() {
        for (document, problem) in [
            (r#"{"query":"keep","max_field_bytes":16}"#, None),
            (r#"{"query":"drop","max_field_bytes":16384}"#, None),
            (r#"{"query":"redacted"}"#, None),
            (r#"{"query":"hide"}"#, Some("query: expected one of `redacted`, `keep`, `drop`")),
            (
                r#"{"max_field_bytes":15}"#,
                Some("max_field_bytes: out of range, expected a number of bytes from 16 to 16384"),
            ),
            (
                r#"{"max_field_bytes":16385}"#,
                Some("max_field_bytes: out of range, expected a number of bytes from 16 to 16384"),
            ),
            (r#"{"max_field_bytes":"1k"}"#, Some("max_field_bytes: expected u32, found string")),
            (
                r#"{"max_field":1}"#,
                Some("max_field: unknown field `max_field`, expected `query` or `max_field_bytes`"),
            ),
        ] {
            let built = Chain::new().then_configured::<AccessLog>(document.as_bytes());
            assert_eq!(built.err().map(|error| error.to_string()).as_deref(), problem, "{document}");
        }
    }
}
