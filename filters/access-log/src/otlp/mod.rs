//! Sends log records to an OpenTelemetry collector: OTLP/HTTP with the JSON encoding.
//!
//! [`Exporter`] is one worker's sink. [`push`](Exporter::push) encodes a record at once into a bounded queue and never
//! calls out; the tick and the collector's answers send what is queued, in batches. A batch that the collector could
//! not take is sent again, with growing pauses, until it is too old; a queue that is full loses its oldest record.
//! Whatever becomes of a record is counted. `docs/access-log-otlp.md` has the guarantees.
//!
//! Sources: OTLP specification 1.x (sections "OTLP/HTTP" and "JSON Protobuf Encoding"), the logs data model, and
//! `opentelemetry/proto/logs/v1/logs.proto`.

pub mod config;
pub mod record;

mod answer;
mod batch;
mod check;
mod collector;
mod destination;
mod encode;
mod exporter;
mod metrics;
mod queue;
mod resource;
mod trace_context;

pub use config::OtlpConfig;
pub use exporter::{Exporter, TICK};
pub use record::{AttributeValue, Record, Severity};

/// Parts that fuzz targets throw bytes at.
#[doc(hidden)]
pub mod fuzzing {
    pub use super::answer::{rejected_records, retry_after};

    use super::encode::{self, Limits};
    use super::record::{AttributeValue, Record};

    /// The request that exports this one record.
    pub fn request<'a>(
        record: &Record<'_>,
        attributes: impl IntoIterator<Item = (&'a str, AttributeValue<'a>)>,
    ) -> Vec<u8> {
        let mut out = encode::head([("service.name", "envoy")]);
        // Without a limit a record always fits.
        let _ =
            encode::record(&mut out, record, attributes, Limits { record: usize::MAX, attribute: 1 << 10 });
        out.pop();
        out.extend_from_slice(encode::TAIL);
        out
    }
}
