//! What a run has found, for programs.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::cells::Cell;
use crate::model::expect;
use crate::outcome::Observed;

/// A whole run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Results {
    /// Which version of Envoy it was.
    pub envoy: String,
    /// Its cells.
    pub cells: Vec<Row>,
    /// The last long run of each kind.
    pub long_runs: BTreeMap<String, LongRun>,
}

/// What a long run has shown, after the first third of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LongRun {
    /// How long it took, in minutes.
    pub minutes: f64,
    /// How many configurations were pushed.
    pub pushes: u64,
    /// How many requests were answered in all.
    pub requests: u64,
    /// How many each second.
    pub requests_per_second: f64,
    /// Envoy's resident memory, the median, in MiB.
    pub memory_mib: f64,
    /// The median of the last fifth less that of the first, in MiB.
    pub growth_mib: f64,
    /// The slope of the least-squares line, in MiB per hour.
    pub slope_mib_per_hour: f64,
    /// The interquartile range of what the line leaves, in MiB.
    pub noise_mib: f64,
    /// By how much the number of open file descriptors has grown, as memory's growth is measured.
    pub descriptors_growth: f64,
    /// What was not as it must be, a sentence for each.
    pub faults: Vec<String>,
}

/// A cell of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Row {
    /// The situation.
    pub cell: Cell,
    /// What became of it.
    pub observed: Observed,
}

impl Row {
    /// In what it is not as [the model](crate::model) says that it must be; none if nothing.
    pub fn differences(&self) -> Vec<String> {
        expect(&self.cell).differences(&self.observed)
    }
}

impl Results {
    /// Where the published results are.
    pub fn published() -> PathBuf {
        portcullis_testkit::envoy::workspace_root().join("docs/reliability.json")
    }

    /// Reads results.
    ///
    /// # Errors
    /// The file cannot be read, or is none of results.
    pub fn read(path: &Path) -> io::Result<Self> {
        Ok(serde_json::from_slice(&std::fs::read(path)?)?)
    }

    /// The results as JSON, a line for each cell.
    ///
    /// # Errors
    /// Never, for they are texts and numbers.
    pub fn to_json(&self) -> serde_json::Result<String> {
        let rows: Result<Vec<_>, _> = self.cells.iter().map(serde_json::to_string).collect();
        let envoy = serde_json::to_string(&self.envoy)?;
        let long_runs = serde_json::to_string(&self.long_runs)?;
        let rows = rows?.join(",\n");
        Ok(format!("{{\"envoy\":{envoy},\"long_runs\":{long_runs},\"cells\":[\n{rows}\n]}}\n"))
    }
}
