//! What is counted.

use portcullis_policy::host;
use portcullis_policy::metrics::Counter;

/// A counter of all policies of the kind and, if the policy has a name, one of its own.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Count {
    all: Counter,
    own: Counter,
}

impl Count {
    pub(crate) fn define(host: &(impl host::Metrics + ?Sized), policy: Option<&str>, name: &str) -> Self {
        let define = |name: &str| Counter::define(host, "rate-limit", name);
        // The policy's name stays as it is: `a-b` and `a_b` are two.
        let own = policy.map(|policy| define(&format!("{policy}.{name}")));
        Self { all: define(name), own: own.unwrap_or_default() }
    }

    /// Counts one.
    pub(crate) fn increment(self, host: &(impl host::Metrics + ?Sized)) {
        self.add(host, 1);
    }

    /// Counts so many; none costs nothing.
    pub(crate) fn add(self, host: &(impl host::Metrics + ?Sized), by: u32) {
        if by > 0 {
            self.all.add(host, by.into());
            self.own.add(host, by.into());
        }
    }
}

macro_rules! counters {
    ($($(#[doc = $doc:literal])+ $name:ident;)*) => {
        /// Counters, named `portcullis.rate_limit.{field}` and `portcullis.rate_limit.{policy}.{field}`.
        #[derive(Debug, Default, Clone)]
        pub(crate) struct Metrics {
            $($(#[doc = $doc])+ pub(crate) $name: Count,)*
        }

        impl Metrics {
            pub(crate) fn define(host: &(impl host::Metrics + ?Sized), policy: Option<&str>) -> Self {
                Self { $($name: Count::define(host, policy, stringify!($name)),)* }
            }
        }
    };
}

counters! {
    /// Requests that had quota.
    admitted;
    /// Requests refused because their quota was used up.
    rejected;
    /// Requests that passed in shadow mode and would have been refused: their quota was used up, they lack a part of the key
    /// or have it twice, or the table had no room for their key.
    shadow_rejected;
    /// Requests that are not concerned.
    exempt;
    /// Requests that passed uncounted because they lack a part of the key.
    skipped;
    /// Requests that lack a part of the key or have it twice, whatever became of them.
    missing_key;
    /// Requests refused because they lack a part of the key or have it twice.
    missing_key_refused;
    /// Requests counted together with others because the table had no room for their key.
    table_full_shared;
    /// Requests that passed uncounted because the table had no room for their key.
    table_full_admitted;
    /// Requests refused because the table had no room for their key.
    table_full_refused;
    /// Requests served from quota that the worker had taken in advance.
    lease_served;
    /// Decisions that had to be made again because another worker was faster.
    conflicts;
    /// Values in the shared table that no policy of this kind can have written.
    store_corrupt;
    /// Requests that could not be counted because the host did not do what is needed.
    host_failed;
    /// Requests refused because nobody could decide; none in shadow mode.
    failed_closed;
    /// Requests that passed though nobody could decide: because `on_failure` or the service's `on_outage` says so, or in
    /// shadow mode.
    failed_open;
}
