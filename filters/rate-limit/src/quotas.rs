//! The limits of each tier, and the limiter that counts against them.

use core::time::Duration;
use std::collections::BTreeMap;

use portcullis_policy::host::{Host, Level};
use portcullis_policy::{ConfigError, HostError, Worker};

use crate::config::{self, Config};
use crate::limiter::{Algorithm, Key, Limiter, Limits, Precision, Quota, Settings, Taken, WhenFull};

/// The limits of each tier, and the limiter that counts against them.
#[derive(Debug)]
pub(crate) struct Quotas {
    limiter: Limiter,
    limits: Limits,
    tiers: BTreeMap<String, Limits>,
    /// Keeps the counts of different policies apart.
    scope: String,
}

/// What is counted together: a key, in a tier.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Subject {
    /// The tier, if it has limits of its own.
    tier: Option<String>,
    key: Vec<u8>,
}

impl Subject {
    /// Begins with a tier, if it has limits of its own, and an empty key.
    fn restart(&mut self, tier: Option<&str>) {
        self.key.clear();
        match tier {
            None => {
                self.tier = None;
                self.key.push(0);
            }
            Some(name) => {
                let tier = self.tier.get_or_insert_default();
                tier.clear();
                tier.push_str(name);
                self.key.push(1);
                self.key.extend_from_slice(&u64::try_from(name.len()).unwrap_or(u64::MAX).to_le_bytes());
                self.key.extend_from_slice(name.as_bytes());
            }
        }
    }

    /// The key, to append to.
    pub(crate) fn key_mut(&mut self) -> &mut Vec<u8> {
        &mut self.key
    }
}

impl Quotas {
    pub(crate) fn compile(config: &Config) -> Result<Self, ConfigError> {
        let compile = |limits: &[config::Limit], field: &str| {
            let quotas: Vec<Quota> = limits.iter().map(quota).collect();
            Limits::new(algorithm(config.algorithm), &quotas)
                .ok_or_else(|| ConfigError::new(field, "must not be so many"))
        };
        let settings = Settings {
            slots: config.store.slots,
            when_full: match config.store.when_full {
                config::WhenFull::Share => WhenFull::Share,
                config::WhenFull::Admit => WhenFull::Admit,
                config::WhenFull::Refuse => WhenFull::Refuse,
            },
            precision: match config.store.precision {
                config::Precision::Exact => Precision::Exact,
                config::Precision::Leased { batch } => Precision::Leased { batch },
            },
        };
        let tier = |(name, tier): (&String, &config::Tier)| {
            compile(&tier.limits, "tiers").map(|limits| (name.clone(), limits))
        };
        Ok(Self {
            limiter: Limiter::new(settings),
            limits: compile(&config.limits, "limits")?,
            tiers: config.tiers.iter().map(tier).collect::<Result<_, _>>()?,
            scope: String::new(),
        })
    }

    /// Makes ready to count. Policies of the same scope, with the same keys, count together.
    pub(crate) fn start(&mut self, scope: String, host: &dyn Host) -> Result<(), HostError> {
        self.scope = scope;
        self.limiter.start(host)
    }

    /// Whether there are limits for tiers at all.
    pub(crate) fn has_tiers(&self) -> bool {
        !self.tiers.is_empty()
    }

    /// Begins a subject for a caller of this tier. A tier without limits of its own is none.
    pub(crate) fn begin(&self, subject: &mut Subject, tier: Option<&str>) {
        subject.restart(tier.filter(|tier| self.tiers.contains_key(*tier)));
    }

    /// Counts one request.
    pub(crate) fn take(&mut self, subject: &Subject, host: &dyn Host) -> Result<Taken, HostError> {
        let limits = subject.tier.as_ref().and_then(|tier| self.tiers.get(tier)).unwrap_or(&self.limits);
        let key = Key { scope: &self.scope, bytes: &subject.key };
        self.limiter.take(&key, limits, host)
    }
}

/// What keeps the counts of a policy apart from those of others: its name or, without one, its plugin's name and its place
/// among those of its kind in the chain.
pub(crate) fn scope_of(name: Option<&str>, worker: &Worker<'_>) -> String {
    match name {
        Some(name) => format!("name {name}"),
        None => format!("plugin {} {}", worker.instance(), plugin_name(worker.host()).escape_ascii()),
    }
}

fn plugin_name(host: &dyn Host) -> Vec<u8> {
    let problem = match host.property(&["plugin_name"]) {
        Ok(name) if !name.is_empty() => return name,
        Ok(_) => "it is empty".to_owned(),
        Err(error) => format!("it cannot be read: {error}"),
    };
    host.log(
        Level::Warn,
        &format!(
            "rate-limit: the plugin's name does not tell this policy's counts from those of other plugins ({problem}); \
             give the policy a `name`"
        ),
    );
    Vec::new()
}

const fn algorithm(algorithm: config::Algorithm) -> Algorithm {
    match algorithm {
        config::Algorithm::FixedWindow => Algorithm::FixedWindow,
        config::Algorithm::SlidingWindow => Algorithm::SlidingWindow,
        config::Algorithm::TokenBucket => Algorithm::TokenBucket,
    }
}

fn quota(limit: &config::Limit) -> Quota {
    Quota {
        max: limit.max,
        period: Duration::from_millis(limit.period_ms),
        burst: limit.burst.unwrap_or(limit.max),
    }
}

#[cfg(test)]
mod tests {
    use portcullis_testkit::inprocess::{SharedData, TestHost};

    use super::*;

    #[test]
    fn tells_plugins_apart_by_their_names() {
        for name in ["one", "another"] {
            let host = TestHost::new(SharedData::default());
            host.name_plugin(name);
            assert_eq!(plugin_name(&host), name.as_bytes());
            assert_eq!(host.log_lines(Level::Debug), [""; 0]);
        }
    }

    #[test]
    fn warns_of_a_plugin_without_a_name() {
        for (name, problem) in [(Some(""), "it is empty"), (None, "it cannot be read: bad argument")] {
            let host = TestHost::new(SharedData::default());
            if let Some(name) = name {
                host.name_plugin(name);
            }
            assert_eq!(plugin_name(&host), b"");
            let log = host.log_lines(Level::Debug);
            assert_eq!((&host.log_lines(Level::Warn), &host.log_lines(Level::Error)), (&log, &Vec::new()));
            assert!(
                matches!(&log[..], [line] if line.contains(problem) && line.contains("`name`")),
                "{log:?}"
            );
        }
    }
}
