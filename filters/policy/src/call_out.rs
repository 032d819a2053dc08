//! Call-outs that are refused because there are too many.
//!
//! Whoever sends many requests can fill a cluster's circuit breaker, or use up what the service answers in a time, so a
//! policy must not treat such a refusal as it treats a service that is out. The service says it with 429 (RFC 6585, section
//! 4), or with `retry-after` beside another status (RFC 9110, section 10.2.3). Envoy shows it in two ways
//! (`Context::httpCall`, `Router::Filter::onUpstreamAbort`):
//!
//! - The host call fails at once with [`HostError::InternalFailure`], if the breaker is full when the call is made. A
//!   cluster without any endpoint looks the same. A cluster that does not exist is [`HostError::BadArgument`].
//! - The reply is Envoy's own, 503 or gRPC status 14, and has `x-envoy-overloaded`, if the call waited for a connection and
//!   then found the breaker full. A proxy on the way to the service says its own overload with the same header.

use crate::{HeaderList, HostError};

/// Why a call-out was not sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotSent {
    /// The host knows no such cluster, which no request can bring about.
    UnknownCluster,
    /// The host refused the call-out. Too many may be under way.
    Refused,
}

impl From<HostError> for NotSent {
    fn from(error: HostError) -> Self {
        match error {
            HostError::BadArgument => Self::UnknownCluster,
            _ => Self::Refused,
        }
    }
}

/// Whether a reply that decides nothing says that there are too many requests, or that it is too early for another.
pub fn says_overload(headers: &HeaderList) -> bool {
    headers.first(":status") == Some(b"429")
        || headers.contains("retry-after")
        || headers.contains("x-envoy-overloaded")
}
