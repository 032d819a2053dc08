//! Why messages pass as they are, and why they cannot be transformed.

use portcullis_policy::{Direction, MemoryFull};
use portcullis_xml::{Error, ErrorKind, Limit};

use crate::config::{OnError, OnFailure};

/// Why a message is none to be transformed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exemption {
    /// It has no body, or none that could hold a document.
    NoBody,
    /// What follows the headers is no body: CONNECT, an upgrade.
    Tunnel,
    /// The condition is false.
    Condition,
    /// It is not the upstream's: Envoy or a policy has replied.
    LocalReply,
}

/// Why a message that is to be transformed cannot be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Failure {
    ContentType,
    Encoded,
    Multipart,
    Partial,
    TooLarge,
    Malformed,
    Stylesheet,
    /// Envoy has redirected the request, which may have been transformed before.
    Redirected,
    /// What the worker is reading takes too much memory.
    Busy,
}

impl Failure {
    pub(crate) const ALL: [Self; 9] = [
        Self::ContentType,
        Self::Encoded,
        Self::Multipart,
        Self::Partial,
        Self::TooLarge,
        Self::Malformed,
        Self::Stylesheet,
        Self::Redirected,
        Self::Busy,
    ];

    /// The counter's name.
    pub(crate) const fn counter(self) -> &'static str {
        match self {
            Self::ContentType => "content_type",
            Self::Encoded => "encoded",
            Self::Multipart => "multipart",
            Self::Partial => "partial",
            Self::TooLarge => "too_large",
            Self::Malformed => "malformed",
            Self::Stylesheet => "stylesheet",
            Self::Redirected => "redirected",
            Self::Busy => "busy",
        }
    }

    /// What becomes of such messages.
    pub(crate) const fn outcome(self, configured: &OnError) -> OnFailure {
        match self {
            Self::ContentType => configured.content_type,
            Self::Encoded => configured.encoded,
            Self::Multipart => configured.multipart,
            Self::Partial => configured.partial,
            Self::TooLarge => configured.too_large,
            Self::Malformed => configured.malformed,
            Self::Stylesheet => configured.stylesheet,
            Self::Redirected => configured.redirected,
            Self::Busy => configured.busy,
        }
    }

    /// Whether the client's request is to blame.
    pub(crate) const fn is_clients(self, at: Direction) -> bool {
        match self {
            Self::Stylesheet | Self::Redirected | Self::Busy => false,
            _ => matches!(at, Direction::Request),
        }
    }
}

impl From<&Error> for Failure {
    fn from(error: &Error) -> Self {
        match error.kind {
            ErrorKind::LimitExceeded(Limit::DocumentBytes | Limit::TextBytes, _) => Self::TooLarge,
            ErrorKind::UnsupportedEncoding(_) => Self::ContentType,
            _ => Self::Malformed,
        }
    }
}

impl From<MemoryFull> for Failure {
    fn from(full: MemoryFull) -> Self {
        match full {
            MemoryFull::Message => Self::TooLarge,
            MemoryFull::Worker => Self::Busy,
        }
    }
}
