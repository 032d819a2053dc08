//! Counters that are cheap to hold and cannot fail.

use crate::host::{MetricId, MetricKind, Metrics};

/// A counter, or nothing where the host would not define one: metrics never stand in the way of an exchange.
#[derive(Debug, Default, Clone, Copy)]
pub struct Counter(Option<MetricId>);

impl Counter {
    /// Defines the counter `portcullis.{policy}.{name}`; the policy's `-` become `_`.
    pub fn define(host: &(impl Metrics + ?Sized), policy: &str, name: &str) -> Self {
        let name = format!("portcullis.{}.{name}", policy.replace('-', "_"));
        Self(host.define_metric(MetricKind::Counter, &name).ok())
    }

    /// Counts one.
    pub fn increment(self, host: &(impl Metrics + ?Sized)) {
        self.add(host, 1);
    }

    /// Counts `by`.
    pub fn add(self, host: &(impl Metrics + ?Sized), by: i64) {
        if let Some(metric) = self.0 {
            let _ = host.increment_metric(metric, by);
        }
    }
}
