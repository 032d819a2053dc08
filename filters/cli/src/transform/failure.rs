//! Why there is no result.

use std::fmt;
use std::process::ExitCode;

/// Why there is no result.
#[derive(Debug)]
pub(super) enum Failure {
    /// The message cannot be transformed: it is malformed, goes beyond a limit, or the stylesheet fails on it.
    Message(String),
    /// Files, the stylesheet, the configuration or the command line are not as they have to be.
    Usage(String),
}

impl Failure {
    /// 1 where another message could have a result, 2 where none could.
    pub(super) fn exit_code(&self) -> ExitCode {
        ExitCode::from(match self {
            Self::Message(_) => 1,
            Self::Usage(_) => 2,
        })
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Message(text) | Self::Usage(text) => f.write_str(text),
        }
    }
}
