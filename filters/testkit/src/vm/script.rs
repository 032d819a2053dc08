//! What the host holds before and while a module runs: configuration, world, faults, and the record.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::exchange::{Exchange, Properties};
use super::fault::{Fault, Faults, Lie};
use super::hostcall::Hostcall;
use super::metrics::Metrics;
use super::record::{LogLevel, Record};
use super::shared::SharedStore;

/// Which clusters a call-out may name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Clusters {
    /// Any.
    #[default]
    Any,
    /// Only these; a call to another is refused with `BadArgument`, as Envoy does.
    Only(BTreeSet<Vec<u8>>),
}

impl Clusters {
    pub(super) fn contains(&self, cluster: &[u8]) -> bool {
        match self {
            Self::Any => true,
            Self::Only(known) => known.contains(cluster),
        }
    }
}

/// The answer of a foreign function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ForeignReply {
    /// See [`status`](super::status).
    pub status: u32,
    /// What it returns beside.
    pub results: Vec<u8>,
}

/// The world a module runs in. Everything may be changed between two callbacks through
/// [`Vm::script_mut`](super::Vm::script_mut).
#[derive(Clone, Debug)]
pub struct Script {
    /// The VM's id: the scope of its queues.
    pub vm_id: Vec<u8>,
    /// The VM configuration.
    pub vm_configuration: Vec<u8>,
    /// The plugin configuration.
    pub plugin_configuration: Vec<u8>,
    /// Environment variables.
    pub environment: Vec<(String, String)>,
    /// Properties that every context sees.
    pub properties: Properties,
    /// What a new exchange starts as.
    pub exchange: Exchange,
    /// Shared data and queues.
    pub shared: SharedStore,
    /// Metrics.
    pub metrics: Metrics,
    /// Nanoseconds since the Unix epoch.
    pub now: u64,
    /// The level that the host reports as its own. Lines below it are recorded all the same.
    pub log_level: LogLevel,
    /// Clusters for HTTP call-outs.
    pub clusters: Clusters,
    /// Foreign functions by name; others answer `NotFound`.
    pub foreign: BTreeMap<String, ForeignReply>,
    /// Faults that lie in wait.
    pub faults: Faults,
    /// What the module did.
    pub record: Record,
    /// How much work one callback may do, in wasmtime's fuel: about one for each instruction.
    pub fuel: u64,
    /// How large the module's memory may grow, in bytes.
    pub memory_limit: usize,
    /// The seed of `random_get`.
    pub random_seed: u64,
}

impl Default for Script {
    fn default() -> Self {
        Self {
            vm_id: Vec::new(),
            vm_configuration: Vec::new(),
            plugin_configuration: Vec::new(),
            environment: Vec::new(),
            properties: Properties::default(),
            exchange: Exchange::default(),
            shared: SharedStore::default(),
            metrics: Metrics::default(),
            now: 1_700_000_000_000_000_000,
            log_level: LogLevel::Trace,
            clusters: Clusters::Any,
            foreign: BTreeMap::new(),
            faults: Faults::default(),
            record: Record::default(),
            fuel: 1_000_000_000,
            memory_limit: 256 << 20,
            random_seed: 0x5eed,
        }
    }
}

impl Script {
    /// A world with this plugin configuration and nothing else out of the ordinary.
    #[must_use]
    pub fn configured(plugin_configuration: impl Into<Vec<u8>>) -> Self {
        Self { plugin_configuration: plugin_configuration.into(), ..Self::default() }
    }

    /// Makes every call of a hostcall answer with this status and do nothing.
    pub fn fail(&mut self, hostcall: Hostcall, status: u32) -> &mut Self {
        self.faults.always(hostcall, Fault::Status(status));
        self
    }

    /// Makes the `nth` call from now, counted from 1, answer with this status and do nothing.
    pub fn fail_nth(&mut self, hostcall: Hostcall, nth: u64, status: u32) -> &mut Self {
        self.faults.nth(hostcall, nth, Fault::Status(status));
        self
    }

    /// Makes every call of a hostcall answer `Ok` and lie.
    pub fn lie(&mut self, hostcall: Hostcall, lie: Lie) -> &mut Self {
        self.faults.always(hostcall, Fault::Lie(lie));
        self
    }

    /// Makes the `nth` call from now, counted from 1, answer `Ok` and lie.
    pub fn lie_nth(&mut self, hostcall: Hostcall, nth: u64, lie: Lie) -> &mut Self {
        self.faults.nth(hostcall, nth, Fault::Lie(lie));
        self
    }

    /// Heals every hostcall.
    pub fn heal(&mut self) -> &mut Self {
        self.faults.heal_all();
        self
    }

    /// Lets time pass.
    pub fn advance(&mut self, by: Duration) -> &mut Self {
        self.now = self.now.saturating_add(u64::try_from(by.as_nanos()).unwrap_or(u64::MAX));
        self
    }
}
