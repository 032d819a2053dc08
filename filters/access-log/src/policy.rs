//! The policy.

use portcullis_policy::host::Level;
use portcullis_policy::{Callbacks, ConfigError, Exchange, Policy};

use crate::config::Config;
use crate::line::{Entry, Style};
use crate::property;

/// How much of the line's buffer is kept from one exchange to the next: what ordinary lines need.
const KEPT_BUFFER: usize = 16 * 1024;

/// Writes one JSON line to the host's log for each exchange, when it is over.
///
/// It needs no other callback: whatever the line says, the host still knows then. So it costs an exchange nothing
/// before the response has gone out, and it sees requests that never came to any policy.
#[derive(Debug)]
pub struct AccessLog {
    style: Style,
    /// Used again for each line.
    line: Vec<u8>,
}

impl Policy for AccessLog {
    const NAME: &'static str = "access-log";
    const CALLBACKS: Callbacks = Callbacks::LOG;
    type Config = Config;
    type State = ();

    fn from_config(config: Config) -> Result<Self, ConfigError> {
        let limit = config.field_limit()?;
        Ok(Self { style: Style { query: config.query, limit }, line: Vec::new() })
    }

    fn on_log(&mut self, (): &mut (), exchange: &mut Exchange<'_>) {
        // One call for all headers, or none if another policy has read them. Without them the line has fewer fields.
        // `x-envoy-original-path` would give the path before a rewrite by the route, but clients can send it, too.
        let _ = exchange.request_headers();
        let host = exchange.host();
        let time = property::time(host, &["request", "time"]).unwrap_or_else(|| host.now());
        let protocol = property::text(host, &["request", "protocol"]);
        let status = property::number(host, &["response", "code"]);
        let duration = property::number(host, &["request", "duration"]);
        let bytes_in = property::number(host, &["request", "size"]);
        let bytes_out = property::number(host, &["response", "size"]);
        let flags = property::number(host, &["response", "flags"]);
        let details = property::text(host, &["response", "code_details"]);
        let upstream = property::text(host, &["upstream", "address"]);
        // There is no upstream time without an upstream.
        let upstream_duration =
            upstream.as_ref().and_then(|_| property::number(host, &["response", "backend_latency"]));
        // Policies of this chain tell by way of the exchange; those in filters of their own, by properties.
        let (reported_client_id, reported_outcome) = if exchange.outcomes().is_empty() {
            (
                property::text(host, &["portcullis.client_id"]),
                property::text(host, &["portcullis.client-id.outcome"]),
            )
        } else {
            (None, None)
        };

        let headers = exchange.known_request_headers();
        let header = |name| headers.and_then(|headers| headers.first(name));
        let client_id = exchange.identity().map(|identity| identity.client_id.as_bytes());
        let entry = Entry {
            time,
            method: header(":method"),
            received_path: exchange.original_path(),
            forwarded_path: header(":path"),
            protocol: protocol.as_deref(),
            status,
            duration,
            upstream_duration,
            bytes_in,
            bytes_out,
            upstream: upstream.as_deref(),
            request_id: header("x-request-id"),
            flags,
            details: details.as_deref(),
            client_id: client_id.or(reported_client_id.as_deref()),
            outcomes: exchange.outcomes(),
            reported_outcome: reported_outcome.as_deref(),
        };
        entry.write(&mut self.line, self.style);
        host.log(Level::Info, &String::from_utf8_lossy(&self.line));
        self.line.clear();
        self.line.shrink_to(KEPT_BUFFER);
    }
}
