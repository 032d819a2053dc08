//! Where requests go, and with what headers.

use core::time::Duration;

use portcullis_policy::HostError;
use portcullis_policy::host::{CallOut, CallToken, Host};

use super::config::{HeaderValue, OtlpConfig};

/// The collector's cluster, and what each request to it begins with.
#[derive(Debug)]
pub(crate) struct Destination {
    cluster: String,
    headers: Vec<(String, HeaderValue)>,
    timeout: Duration,
}

impl Destination {
    pub(crate) fn new(config: &OtlpConfig) -> Self {
        let authority = config.authority.as_ref().unwrap_or(&config.cluster);
        let protocol = [
            (":method", "POST"),
            (":path", &config.path),
            (":authority", authority),
            ("content-type", "application/json"),
            ("user-agent", concat!("Portcullis-OTLP-Exporter/", env!("CARGO_PKG_VERSION"))),
        ];
        let own = config.headers.iter().map(|(name, value)| (name.to_ascii_lowercase(), value.clone()));
        let own: Vec<_> = own.collect();
        let mut headers: Vec<_> = protocol
            .into_iter()
            .filter(|(name, _)| !own.iter().any(|(given, _)| given == name))
            .map(|(name, value)| (name.to_owned(), HeaderValue::from(value)))
            .collect();
        headers.extend(own);
        Self {
            cluster: config.cluster.clone(),
            headers,
            timeout: Duration::from_millis(config.timeout_ms.into()),
        }
    }

    /// Sends a request with this body.
    ///
    /// # Errors
    /// The host could not send it, and no answer will come.
    pub(crate) fn send(&self, body: &[u8], host: &dyn Host) -> Result<CallToken, HostError> {
        let headers: Vec<_> =
            self.headers.iter().map(|(name, value)| (name.as_str(), value.as_bytes())).collect();
        host.call_out(&CallOut { cluster: &self.cluster, headers: &headers, body, timeout: self.timeout })
    }

    /// How long an answer is waited for.
    pub(crate) fn timeout(&self) -> Duration {
        self.timeout
    }
}
