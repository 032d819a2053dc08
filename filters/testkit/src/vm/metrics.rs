//! Metrics that a module defines, readable by name.

use std::collections::BTreeMap;

use super::status;

/// The kind of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetricKind {
    /// Only ever grows.
    Counter,
    /// Goes up and down.
    Gauge,
    /// Collects samples.
    Histogram,
}

impl MetricKind {
    fn from_wire(kind: u32) -> Option<Self> {
        match kind {
            0 => Some(Self::Counter),
            1 => Some(Self::Gauge),
            2 => Some(Self::Histogram),
            _ => None,
        }
    }
}

/// A metric and what it stands at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Metric {
    /// The kind it was defined with.
    pub kind: MetricKind,
    /// The value of a counter or gauge.
    pub value: u64,
    /// The samples of a histogram, oldest first.
    pub samples: Vec<u64>,
}

/// All metrics of a VM. Two definitions of one name and kind are one metric under two ids.
#[derive(Clone, Debug, Default)]
pub struct Metrics {
    by_name: BTreeMap<String, Metric>,
    names: BTreeMap<u32, String>,
}

impl Metrics {
    /// The metric of this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Metric> {
        self.by_name.get(name)
    }

    /// The value of a counter or gauge; 0 for one that was never defined.
    #[must_use]
    pub fn value(&self, name: &str) -> u64 {
        self.get(name).map_or(0, |metric| metric.value)
    }

    /// All metrics by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Metric)> {
        self.by_name.iter().map(|(name, metric)| (name.as_str(), metric))
    }

    /// Ids are numbered from 1 for all kinds together, with the kind in the two low bits, as Envoy has it.
    pub(super) fn define(&mut self, kind: u32, name: &[u8]) -> Result<u32, u32> {
        let parsed = MetricKind::from_wire(kind).ok_or(status::BAD_ARGUMENT)?;
        let name = String::from_utf8_lossy(name).into_owned();
        let id = u32::try_from(self.names.len() + 1).unwrap_or(u32::MAX).wrapping_mul(4) | kind;
        self.by_name.entry(name.clone()).or_insert(Metric { kind: parsed, value: 0, samples: Vec::new() });
        self.names.insert(id, name);
        Ok(id)
    }

    pub(super) fn increment(&mut self, id: u32, offset: i64) -> Result<(), u32> {
        if matches!(id & 3, 2 | 3) {
            return Err(status::BAD_ARGUMENT);
        }
        let metric = self.by_id(id)?;
        match metric.kind {
            MetricKind::Counter if offset > 0 => {
                metric.value = metric.value.wrapping_add(offset.unsigned_abs());
                Ok(())
            }
            MetricKind::Gauge => {
                metric.value = metric.value.wrapping_add_signed(offset);
                Ok(())
            }
            MetricKind::Counter | MetricKind::Histogram => Err(status::BAD_ARGUMENT),
        }
    }

    pub(super) fn record(&mut self, id: u32, value: u64) -> Result<(), u32> {
        let metric = self.by_id(id)?;
        match metric.kind {
            MetricKind::Counter => metric.value = metric.value.wrapping_add(value),
            MetricKind::Gauge => metric.value = value,
            MetricKind::Histogram => metric.samples.push(value),
        }
        Ok(())
    }

    pub(super) fn read(&mut self, id: u32) -> Result<u64, u32> {
        if matches!(id & 3, 2 | 3) {
            return Err(status::BAD_ARGUMENT);
        }
        self.by_id(id).map(|metric| metric.value)
    }

    fn by_id(&mut self, id: u32) -> Result<&mut Metric, u32> {
        let name = self.names.get(&id).ok_or(status::NOT_FOUND)?;
        self.by_name.get_mut(name).ok_or(status::NOT_FOUND)
    }
}
