//! What is remembered of decisions, without ever storing a secret.

mod key;
mod local;
mod shared;

use std::time::Duration;

use portcullis_policy::host::{Host, SharedStore};
use portcullis_policy::time::Timestamp;

pub(crate) use key::{Key, KeyMaker};

use crate::config;
use crate::credentials::Credentials;
use crate::decision::Decision;
use crate::metrics::Metrics;

use local::LocalCache;
use shared::SharedCache;

/// A remembered decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) decision: Decision,
    /// When it was made. An entry from the future means that the clock was set back; it is not believed, for it
    /// might live on for as long as the clock was set back by.
    pub(crate) made: Timestamp,
    pub(crate) expires: Timestamp,
}

impl Entry {
    fn is_fresh(&self, now: Timestamp) -> bool {
        self.made <= now && now < self.expires
    }

    fn may_serve_stale(&self, now: Timestamp, window: Duration) -> bool {
        self.made <= now && now < self.expires.after(window)
    }
}

/// The cache of a worker, backed by the one that all workers share if that is configured.
pub(crate) struct Cache {
    keys: KeyMaker,
    /// Refusals have room of their own, so that guessing does not push out those who are admitted.
    admissions: LocalCache,
    denials: LocalCache,
    shared: Option<SharedCache>,
    admit_ttl: Duration,
    deny_ttl: Duration,
    jitter_percent: u32,
    stale_window: Duration,
    random: u64,
}

impl Cache {
    /// `realm` tells apart what different configurations decide: their keys differ for the same credentials.
    pub(crate) fn new(
        config: &config::Cache,
        realm: &[u8],
        host: &(impl SharedStore + ?Sized),
    ) -> Result<Self, getrandom::Error> {
        let shared = SharedCache::new(config.shared_slots);
        let keys = if shared.is_some() { KeyMaker::shared(realm, host)? } else { KeyMaker::private(realm)? };
        let mut seed = [0; 8];
        getrandom::fill(&mut seed)?;
        Ok(Self {
            keys,
            admissions: LocalCache::new(config.entries),
            denials: LocalCache::new(config.entries.div_ceil(4)),
            shared,
            admit_ttl: Duration::from_millis(config.admit_ttl_ms.into()),
            deny_ttl: Duration::from_millis(config.deny_ttl_ms.into()),
            jitter_percent: config.jitter_percent.into(),
            stale_window: Duration::from_millis(config.stale_if_error_ms.into()),
            random: u64::from_le_bytes(seed),
        })
    }

    pub(crate) fn key(&self, credentials: &Credentials) -> Key {
        self.keys.key(credentials)
    }

    /// A decision that still holds.
    pub(crate) fn fresh(
        &mut self,
        key: &Key,
        now: Timestamp,
        host: &dyn Host,
        metrics: &Metrics,
    ) -> Option<Decision> {
        for local in [&mut self.admissions, &mut self.denials] {
            if let Some(entry) = local.get(key)
                && entry.is_fresh(now)
            {
                metrics.cache_hit.increment(host);
                return Some(entry.decision.clone());
            }
        }
        if let Some(mut entry) = self.shared.as_ref().and_then(|shared| shared.get(key, host)) {
            // Whoever wrote it may have had more patience than this configuration has.
            entry.expires = entry.expires.min(entry.made.after(self.ttl(&entry.decision)));
            if entry.is_fresh(now) {
                metrics.cache_shared_hit.increment(host);
                let decision = entry.decision.clone();
                self.keep(*key, entry);
                return Some(decision);
            }
        }
        metrics.cache_miss.increment(host);
        None
    }

    /// Whether decisions may serve after their time.
    pub(crate) fn serves_stale(&self) -> bool {
        !self.stale_window.is_zero()
    }

    /// A decision whose time is over, but not for long enough to be useless when the auth service is out.
    pub(crate) fn stale(&mut self, key: &Key, now: Timestamp) -> Option<Decision> {
        let window = self.stale_window;
        let entry = match self.admissions.get(key) {
            Some(entry) => entry,
            None => self.denials.get(key)?,
        };
        (!window.is_zero() && entry.may_serve_stale(now, window)).then(|| entry.decision.clone())
    }

    /// Remembers a decision of the auth service.
    pub(crate) fn remember(&mut self, key: Key, decision: &Decision, now: Timestamp, host: &dyn Host) {
        let ttl = self.ttl(decision);
        let ttl = self.shortened(ttl);
        let entry = Entry { decision: decision.clone(), made: now, expires: now.after(ttl) };
        if let Some(shared) = &self.shared {
            shared.put(&key, &entry, now, host);
        }
        if ttl.is_zero() {
            // Not to be remembered, and what was decided before no longer holds.
            self.admissions.forget(&key);
            self.denials.forget(&key);
        } else {
            self.keep(key, entry);
        }
    }

    fn ttl(&self, decision: &Decision) -> Duration {
        match decision {
            Decision::Admit(_) => self.admit_ttl,
            Decision::Deny(_) => self.deny_ttl,
        }
    }

    fn keep(&mut self, key: Key, entry: Entry) {
        let (own, other) = match entry.decision {
            Decision::Admit(_) => (&mut self.admissions, &mut self.denials),
            Decision::Deny(_) => (&mut self.denials, &mut self.admissions),
        };
        other.forget(&key);
        own.put(key, entry);
    }

    /// The duration less a random part of itself, up to the configured percentage.
    pub(crate) fn shortened(&mut self, duration: Duration) -> Duration {
        let part = u64::from(self.jitter_percent).saturating_mul(self.next_random() >> 32);
        let millionths = u32::try_from(part.saturating_mul(10_000) >> 32).unwrap_or(0);
        let cut = duration.saturating_mul(millionths).checked_div(1_000_000).unwrap_or_default();
        duration.saturating_sub(cut)
    }

    /// SplitMix64 (Steele, Lea, Flood, 2014): spread is all that is asked of it.
    fn next_random(&mut self) -> u64 {
        self.random = self.random.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.random;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }
}

#[cfg(test)]
mod tests {
    use portcullis_testkit::inprocess::{SharedData, TestHost};

    use super::*;

    #[test]
    fn shortens_by_at_most_the_configured_part() {
        let config = config::Cache { jitter_percent: 20, ..config::Cache::default() };
        let mut cache = Cache::new(&config, b"", &TestHost::new(SharedData::default())).unwrap();
        let drawn: Vec<_> = (0..1000).map(|_| cache.shortened(Duration::from_secs(100))).collect();
        assert!(drawn.iter().all(|d| (Duration::from_secs(80)..=Duration::from_secs(100)).contains(d)));
        assert!(
            drawn.iter().any(|d| *d < Duration::from_secs(85))
                && drawn.iter().any(|d| *d > Duration::from_secs(95))
        );
        cache.jitter_percent = 0;
        assert_eq!(cache.shortened(Duration::from_secs(100)), Duration::from_secs(100));
    }
}
