//! How tests are written.

use serde::{Deserialize, Serialize};

/// What a text must be. Upper and lower case differ.
#[derive(Debug, Clone, Deserialize, Serialize, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum TextTest {
    /// This text.
    Exact(String),
    /// It begins with this text.
    Prefix(String),
    /// The whole of it matches this regular expression, as if it stood between `^` and `$`. `\d`, `\w`, `\s`, `\b` and
    /// `(?i)` know ASCII only, and `.` is one byte, unless written `(?u:.)`.
    Matches(String),
}

/// Which of several values count.
#[derive(Debug, Default, Clone, Copy, Deserialize, Serialize, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Quantifier {
    /// There is at least one, and every one of them passes the test.
    #[default]
    All,
    /// At least one passes the test.
    Any,
}
