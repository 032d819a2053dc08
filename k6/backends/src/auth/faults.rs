//! The ways in which the service can be told to fail.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use http_body_util::{BodyExt as _, Limited};
use hyper::StatusCode;
use hyper::body::Incoming;
use serde::{Deserialize, Serialize};

/// More than any gateway should be ready to keep of a call-out's reply: 100 MiB.
pub(crate) const HUGE_BODY_BYTES: u64 = 100 * 1024 * 1024;

const MAX_DELAY_MS: u64 = 60_000;
const DEFAULT_DELAY_MS: u64 = 3_000;
const DEFAULT_STATUS: u16 = 500;
const MAX_DOCUMENT_BYTES: usize = 4 * 1024;

/// What happens to a request for `/verify` or `/clients`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(into = "Document")]
pub(crate) enum Fault {
    #[default]
    None,
    /// The connection is reset without a reply.
    Reset,
    /// The reply is not HTTP.
    Garbage,
    /// The reply has this status.
    Status(StatusCode),
    /// The reply is the proper one, but late.
    Delay(Duration),
    /// The reply is a 200 that does not seem to end.
    Huge,
}

/// A fault as it is written. Fields that a kind does not use are accepted, so that one document can be edited
/// from kind to kind.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    kind: Kind,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    status: Option<u16>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    delay_ms: Option<u64>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    None,
    Reset,
    Garbage,
    Status,
    Delay,
    Huge,
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
        let document: Document = serde_json::from_slice(document).map_err(|error| error.to_string())?;
        Ok(match document.kind {
            Kind::None => Self::None,
            Kind::Reset => Self::Reset,
            Kind::Garbage => Self::Garbage,
            Kind::Huge => Self::Huge,
            Kind::Status => {
                let code = document.status.unwrap_or(DEFAULT_STATUS);
                let status = StatusCode::from_u16(code).ok().filter(|_| (200..=599).contains(&code));
                Self::Status(status.ok_or("status: expected a final status from 200 to 599")?)
            }
            Kind::Delay => {
                let delay = document.delay_ms.unwrap_or(DEFAULT_DELAY_MS);
                if delay > MAX_DELAY_MS {
                    return Err("delay_ms: expected milliseconds from 0 to 60000".to_owned());
                }
                Self::Delay(Duration::from_millis(delay))
            }
        })
    }
}

impl From<Fault> for Document {
    fn from(fault: Fault) -> Self {
        let plain = |kind| Self { kind, status: None, delay_ms: None };
        match fault {
            Fault::None => plain(Kind::None),
            Fault::Reset => plain(Kind::Reset),
            Fault::Garbage => plain(Kind::Garbage),
            Fault::Huge => plain(Kind::Huge),
            Fault::Status(status) => Self { status: Some(status.as_u16()), ..plain(Kind::Status) },
            Fault::Delay(delay) => {
                Self { delay_ms: u64::try_from(delay.as_millis()).ok(), ..plain(Kind::Delay) }
            }
        }
    }
}

/// The fault in force, for every connection at once.
#[derive(Default)]
pub(crate) struct FaultSwitch(Mutex<Fault>);

impl FaultSwitch {
    pub(crate) fn current(&self) -> Fault {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
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
        for (document, expected) in [
            (r#"{"kind": "none"}"#, Fault::None),
            (r#"{"kind": "reset", "status": 500, "delay_ms": 3000}"#, Fault::Reset),
            (r#"{"kind": "garbage"}"#, Fault::Garbage),
            (r#"{"kind": "huge"}"#, Fault::Huge),
            (r#"{"kind": "status"}"#, Fault::Status(StatusCode::INTERNAL_SERVER_ERROR)),
            (r#"{"kind": "status", "status": 429}"#, Fault::Status(StatusCode::TOO_MANY_REQUESTS)),
            (r#"{"kind": "delay"}"#, Fault::Delay(Duration::from_secs(3))),
            (r#"{"kind": "delay", "delay_ms": 5}"#, Fault::Delay(Duration::from_millis(5))),
        ] {
            assert_eq!(Fault::parse(document.as_bytes()), Ok(expected), "{document}");
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
            r#"{"kind": "delay", "delay_ms": 60001}"#,
            r#"{"kind": "delay", "delay_ms": -1}"#,
        ] {
            assert!(Fault::parse(document.as_bytes()).is_err(), "{document}");
        }
    }

    #[test]
    fn writes_what_it_reads() {
        for fault in [
            Fault::None,
            Fault::Reset,
            Fault::Garbage,
            Fault::Huge,
            Fault::Status(StatusCode::BAD_GATEWAY),
            Fault::Delay(Duration::from_millis(1500)),
        ] {
            let document = serde_json::to_vec(&fault).expect("serialises");
            assert_eq!(Fault::parse(&document), Ok(fault));
        }
    }
}
