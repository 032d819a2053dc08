//! The ways in which the collector can be told to fail.

use std::sync::{Mutex, PoisonError};

use http_body_util::{BodyExt as _, Limited};
use hyper::StatusCode;
use hyper::body::Incoming;
use hyper::header::HeaderValue;
use serde::{Deserialize, Serialize};

const MAX_DELAY_MS: u64 = 60_000;
const MAX_DOCUMENT_BYTES: usize = 4 * 1024;

/// What happens to a request with log records.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub(crate) enum Fault {
    #[default]
    None,
    /// The connection is reset without a reply.
    Reset,
    /// The reply is not HTTP.
    Garbage,
    /// The request gets no reply at all.
    Hang,
    /// The reply has this status.
    Status {
        #[serde(default = "default_status")]
        status: u16,
        /// The reply's `Retry-After`: seconds, a date, or whatever is to be tried.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        retry_after: Option<String>,
    },
    /// The reply is the proper one, but late.
    Delay {
        #[serde(default = "default_delay_ms")]
        delay_ms: u64,
    },
    /// The reply says that so many of the request's records are rejected, the last ones, or all if there are fewer.
    Partial {
        #[serde(default = "default_rejected")]
        rejected: usize,
    },
}

const fn default_status() -> u16 {
    503
}

const fn default_delay_ms() -> u64 {
    3_000
}

const fn default_rejected() -> usize {
    1
}

impl Fault {
    /// Reads a fault from a request body.
    ///
    /// # Errors
    /// Says what is wrong with the document.
    pub(crate) async fn read(body: Incoming) -> Result<Self, String> {
        let body = Limited::new(body, MAX_DOCUMENT_BYTES).collect().await.map_err(|e| e.to_string())?;
        Self::parse(&body.to_bytes())
    }

    fn parse(document: &[u8]) -> Result<Self, String> {
        let fault: Self = serde_json::from_slice(document).map_err(|error| error.to_string())?;
        match &fault {
            Self::Status { status, .. }
                if StatusCode::from_u16(*status).is_err() || !(200..=599).contains(status) =>
            {
                Err("status: expected a final status from 200 to 599".to_owned())
            }
            Self::Status { retry_after: Some(value), .. } if HeaderValue::from_str(value).is_err() => {
                Err("retry_after: expected the value of a header".to_owned())
            }
            Self::Delay { delay_ms } if *delay_ms > MAX_DELAY_MS => {
                Err("delay_ms: expected milliseconds from 0 to 60000".to_owned())
            }
            _ => Ok(fault),
        }
    }
}

/// The fault in force, for every connection at once.
#[derive(Default)]
pub(crate) struct FaultSwitch(Mutex<Fault>);

impl FaultSwitch {
    pub(crate) fn current(&self) -> Fault {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn set(&self, fault: Fault) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = fault;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_every_kind() {
        let status = |status, retry_after: Option<&str>| Fault::Status {
            status,
            retry_after: retry_after.map(str::to_owned),
        };
        for (document, expected) in [
            (r#"{"kind": "none"}"#, Fault::None),
            (r#"{"kind": "reset"}"#, Fault::Reset),
            (r#"{"kind": "garbage"}"#, Fault::Garbage),
            (r#"{"kind": "hang"}"#, Fault::Hang),
            (r#"{"kind": "status"}"#, status(503, None)),
            (r#"{"kind": "status", "status": 429, "retry_after": "7"}"#, status(429, Some("7"))),
            (r#"{"kind": "delay"}"#, Fault::Delay { delay_ms: 3_000 }),
            (r#"{"kind": "delay", "delay_ms": 5}"#, Fault::Delay { delay_ms: 5 }),
            (r#"{"kind": "partial", "rejected": 3}"#, Fault::Partial { rejected: 3 }),
        ] {
            assert_eq!(Fault::parse(document.as_bytes()), Ok(expected.clone()), "{document}");
            let written = serde_json::to_vec(&expected).expect("serialises");
            assert_eq!(Fault::parse(&written), Ok(expected));
        }
    }

    #[test]
    fn refuses_what_it_cannot_bring_about() {
        for document in [
            "",
            "{}",
            r#"{"kind": "fire"}"#,
            r#"{"kind": "status", "status": 101}"#,
            r#"{"kind": "status", "status": 600}"#,
            r#"{"kind": "status", "code": 500}"#,
            r#"{"kind": "status", "retry_after": "a\nb"}"#,
            r#"{"kind": "delay", "delay_ms": 60001}"#,
            r#"{"kind": "partial", "rejected": -1}"#,
        ] {
            assert!(Fault::parse(document.as_bytes()).is_err(), "{document}");
        }
    }
}
