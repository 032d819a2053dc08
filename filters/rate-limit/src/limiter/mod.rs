//! Counting requests against quotas, in the store that the workers of a process share.
//!
//! A [`Limiter`] decides for one request of a [`Key`] under [`Limits`], and counts it, by one compare-and-set:
//!
//! - `fixed_window`, `sliding_window` and `token_bucket` are the algorithms: functions of a state and a time, on
//!   integers. `rule` makes one decision of a list of limits.
//! - `bucket` and `entry` lay the states of several keys out in one value of the store; `table` reads and writes these
//!   values. There are as many as the table has room for, and no more, whatever keys come.
//! - `counting` is one decision on one bucket.
//! - `secret` is what keys are hashed with, so that no client can aim for the entry of another.
//! - `lease` is the part of a key's quota that a worker has taken ahead.
//!
//! Time is read from the host's monotonic clock after the state: one clock for all workers, so that no state that was
//! read lies in the future. The workers' decisions on a bucket therefore are as if one worker had made them, one
//! after the other, in the order of the bucket's versions.

mod bucket;
mod counting;
mod entry;
mod fixed_window;
mod lease;
mod limits;
mod rule;
mod secret;
mod sliding_window;
mod standing;
mod table;
mod token_bucket;

use portcullis_policy::HostError;
use portcullis_policy::host::{Clock, SharedStore};

use counting::{Counting, Lessee};
use lease::{Holding, Leases};
use limits::Rules;
use secret::Secret;
use table::Table;

pub use limits::{Algorithm, Limits, MAX_LIMITS, Quota};
pub use standing::{CountedIn, Decision, Standing, Standings, Stored, Taken};

/// Whether every request is counted in the shared store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Precision {
    /// Every request is: all workers together admit exactly `max`.
    Exact,
    /// A worker takes up to `batch` requests of a key's quota ahead, and serves them without the shared store. All
    /// workers together never admit more than `max` in a window, but a worker may refuse while others still hold
    /// up to `batch` each. What a limiter holds when it is dropped, as at a reload, is lost until its windows end: up
    /// to `batch` requests of each key, and of at most 4,096 keys. Only for [`Algorithm::FixedWindow`]; the others are
    /// always exact.
    Leased {
        /// How many requests at once, at most; less when the quota runs out.
        batch: u64,
    },
}

/// What becomes of a key for which there is no room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WhenFull {
    /// It shares one quota with the other keys of its bucket that have no room.
    Share,
    /// Its requests pass, uncounted.
    Admit,
    /// Its requests are refused.
    Refuse,
}

/// How a limiter keeps its counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// For how many keys of a scope there is room; rounded up to whole buckets of 16. A scope has a table for each
    /// number that its limiters use. A key takes 18 bytes, and for each limit 16 (fixed window), 96 (sliding window)
    /// or 32 (token bucket). A bucket can hold 8 more entries, for keys that share.
    pub slots: u32,
    /// What becomes of a key for which there is none.
    pub when_full: WhenFull,
    /// Whether every request is counted in the shared store.
    pub precision: Precision,
}

/// Whose request it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Key<'a> {
    /// Keeps the keys of different policies apart, and their tables; policies of the same scope share counts. It is
    /// hashed when it is another than that of the request before: a limiter is meant to have one.
    pub scope: &'a str,
    /// What tells the keys of a scope apart.
    pub bytes: &'a [u8],
}

/// Counts requests. Each worker has its own; what they count is in the host's shared store.
#[derive(Debug)]
pub struct Limiter {
    settings: Settings,
    table: Table,
    secret: Option<Secret>,
    leases: Leases,
}

impl Limiter {
    /// A limiter that has not spoken to a host yet.
    pub fn new(settings: Settings) -> Self {
        let leases = match settings.precision {
            Precision::Exact => Leases::none(),
            Precision::Leased { .. } => Leases::new(),
        };
        Self { settings, table: Table::new(settings.slots), secret: None, leases }
    }

    /// Makes sure of the secret with which all workers hash keys. Without it, [`Self::take`] sees to it.
    ///
    /// # Errors
    /// The shared store cannot be used, or there is no randomness to be had.
    pub fn start(&mut self, host: &(impl SharedStore + ?Sized)) -> Result<(), HostError> {
        if self.secret.is_none() {
            self.secret = Some(Secret::obtain(host)?);
        }
        Ok(())
    }

    /// Decides about one request, and counts it.
    ///
    /// # Errors
    /// The shared store or the monotonic clock cannot be used: nothing is decided, and nothing counted.
    pub fn take(
        &mut self,
        key: &Key<'_>,
        limits: &Limits,
        host: &(impl SharedStore + Clock + ?Sized),
    ) -> Result<Taken, HostError> {
        self.start(host)?;
        let Some(secret) = &self.secret else { return Err(HostError::InternalFailure) };
        self.table.turn_to(key.scope, secret);
        let address = secret.address(key, limits, self.table.buckets());
        let mut lessee = None;
        if let (Precision::Leased { batch }, Rules::FixedWindow(rules)) =
            (self.settings.precision, limits.rules())
        {
            let now = host.monotonic()?.as_nanos();
            if let Some(standings) = self.leases.spend(&address.id, rules, now) {
                return Ok(Taken {
                    decision: Decision::Admitted,
                    counted_in: CountedIn::Lease,
                    standings,
                    stored: Stored::Sound,
                    conflicts: 0,
                });
            }
            lessee = match self.leases.holding(&address.id, now) {
                Holding::Lease(lease) => Some(Lessee { rules, batch, held: Some(lease) }),
                Holding::Nothing => Some(Lessee { rules, batch, held: None }),
                Holding::NoRoom => None,
            };
        }
        let mut counting = Counting::new(limits, lessee);
        let when_full = self.settings.when_full;
        let conflicts = self.table.change(address.bucket, host, |bucket, now| {
            let overflow = || secret.overflow(key, limits);
            let place = bucket.place(address.fingerprint, limits.state_len(), overflow, when_full, now);
            counting.count(bucket, place, now)
        })?;
        let (taken, lease) = counting.finish(conflicts);
        if let Some(lease) = lease {
            self.leases.hold(address.id, lease);
        }
        Ok(taken)
    }
}
