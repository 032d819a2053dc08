//! What is counted.

use portcullis_policy::host::{self, MetricId, MetricKind};
use portcullis_policy::metrics::Counter;

macro_rules! counters {
    ($($(#[doc = $doc:literal])+ $name:ident = $metric:literal;)*) => {
        /// Counters, named `portcullis.access_log.{name}`.
        #[derive(Debug, Default, Clone, Copy)]
        pub(crate) struct Metrics {
            $($(#[doc = $doc])+ pub(crate) $name: Counter,)*
            /// Records that are queued or under way, of all workers together.
            pub(crate) queued: QueuedGauge,
        }

        impl Metrics {
            pub(crate) fn define(host: &(impl host::Metrics + ?Sized)) -> Self {
                Self {
                    $($name: Counter::define(host, "access-log", $metric),)*
                    queued: QueuedGauge::define(host),
                }
            }
        }
    };
}

counters! {
    /// Records that the collector took.
    exported = "otlp_exported";
    /// Records that the collector would not keep of a request that it took.
    rejected_partial = "otlp_rejected_partial";
    /// Records that were dropped because the queue was full.
    dropped_queue_full = "otlp_dropped_queue_full";
    /// Records that were dropped because the collector refused their request.
    dropped_refused = "otlp_dropped_refused";
    /// Records that were dropped because the collector could not take them for too long.
    dropped_expired = "otlp_dropped_expired";
    /// Records that were dropped because they were longer than a batch may be, even without their line.
    dropped_too_long = "otlp_dropped_too_long";
    /// Records that had not been sent, or in vain, when the time for shutting down was up.
    dropped_at_shutdown = "otlp_dropped_at_shutdown";
    /// Records whose request was under way when the time for shutting down was up.
    unanswered_at_shutdown = "otlp_unanswered_at_shutdown";
    /// Records whose line was cut because it was longer than a batch may be.
    lines_cut = "otlp_lines_cut";
    /// Requests sent.
    sent = "otlp_sent";
    /// Those of them that were sent before.
    retried = "otlp_retried";
    /// Requests that could not be sent, had no answer, or one that says "later".
    failed = "otlp_failed";
    /// Answers that took a request in words that are not the protocol's.
    strange_answers = "otlp_strange_answers";
}

/// How many records are kept. A gauge is one for all workers, so each adds what has changed.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct QueuedGauge {
    metric: Option<MetricId>,
    told: i64,
}

impl QueuedGauge {
    fn define(host: &(impl host::Metrics + ?Sized)) -> Self {
        let metric = host.define_metric(MetricKind::Gauge, "portcullis.access_log.otlp_queued").ok();
        Self { metric, told: 0 }
    }

    /// Tells the host how many records this worker keeps now. Costs nothing when that has not changed.
    pub(crate) fn tell(&mut self, host: &(impl host::Metrics + ?Sized), queued: usize) {
        let queued = i64::try_from(queued).unwrap_or(i64::MAX);
        let change = queued.saturating_sub(self.told);
        if let Some(metric) = self.metric
            && change != 0
            && host.increment_metric(metric, change).is_ok()
        {
            self.told = queued;
        }
    }
}
