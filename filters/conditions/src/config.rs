//! How tests are written.

use serde::{Deserialize, Serialize};
use serde_json::Number;

/// What a value must be. Upper and lower case differ.
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
    /// It is a number within these bounds. Numbers are compared by their value: `100000.0` is `100000`, and in JSON `1e5`
    /// is too. A string in JSON is no number. Elsewhere a number is written as in JSON, but without an exponent (`-12.50`):
    /// no `+`, white space, leading zeros, or hexadecimal digits.
    Number(NumberTest),
}

/// Between which bounds a number must be: one at least, and one on each side at the most. A bound has at most 15 digits,
/// not counting zeros at either end.
#[derive(Debug, Default, Clone, Deserialize, Serialize, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct NumberTest {
    /// The number is this one or a greater one.
    pub at_least: Option<Number>,
    /// The number is greater than this one.
    pub more_than: Option<Number>,
    /// The number is this one or a smaller one.
    pub at_most: Option<Number>,
    /// The number is smaller than this one.
    pub less_than: Option<Number>,
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
