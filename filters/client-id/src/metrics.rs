//! What is counted.

use portcullis_policy::host;
use portcullis_policy::metrics::Counter;

use crate::decision::{Denial, Outage};

macro_rules! counters {
    ($($(#[doc = $doc:literal])+ $name:ident;)*) => {
        /// Counters, named `portcullis.client_id.{field}`.
        #[derive(Debug, Default, Clone)]
        pub(crate) struct Metrics {
            $($(#[doc = $doc])+ pub(crate) $name: Counter,)*
        }

        impl Metrics {
            pub(crate) fn define(host: &(impl host::Metrics + ?Sized)) -> Self {
                Self { $($name: Counter::define(host, "client-id", stringify!($name)),)* }
            }
        }
    };
}

counters! {
    /// Requests that were admitted.
    admitted;
    /// Requests that are not concerned.
    exempt;
    /// Requests refused for lack of credentials.
    rejected_missing;
    /// Requests refused for credentials that are not good.
    rejected_invalid;
    /// Requests refused because the client is disabled.
    rejected_disabled;
    /// Requests refused because their credentials cannot be read in one way only.
    rejected_malformed;
    /// Requests refused because nobody could decide.
    outage_closed;
    /// Requests let through because nobody could decide.
    outage_open;
    /// Decisions found in the worker's cache.
    cache_hit;
    /// Decisions found in the shared cache.
    cache_shared_hit;
    /// Decisions found in no cache.
    cache_miss;
    /// Decisions served after their time because the auth service was out.
    cache_stale;
    /// Requests that joined a call-out that was under way for the same credentials.
    coalesced;
    /// Call-outs sent.
    auth_calls;
    /// Call-outs answered with an admission.
    auth_admitted;
    /// Call-outs answered with a refusal.
    auth_denied;
    /// Call-outs answered with a status that decides nothing, by the service or by Envoy in its name: 503 if the
    /// connection failed, 504 if time was up.
    auth_status;
    /// Call-outs whose answer broke off.
    auth_reset;
    /// Call-outs that could not be sent: Envoy knows no such cluster.
    auth_unreachable;
    /// Call-outs that had no answer at all.
    auth_no_answer;
    /// Call-outs without a decision although the auth service answers others, counted where `on_outage: open` or
    /// `stale_if_error_ms` would have applied otherwise; also counted by what they failed by.
    auth_up;
    /// Requests that were not held because too many were, call-outs that Envoy refused because too many were under way,
    /// and call-outs that the service refused because it is asked too often.
    overload;
    /// Lists of clients that were taken over.
    registry_updated;
    /// Answers that the list of clients has not changed.
    registry_unchanged;
    /// Lists of clients that could not be used.
    registry_refused;
    /// Requests for the list of clients that failed.
    registry_failed;
    /// Host calls that failed where that means an outage.
    host_failed;
}

impl Metrics {
    pub(crate) fn denial(&self, denial: Denial) -> Counter {
        match denial {
            Denial::Missing => self.rejected_missing,
            Denial::Invalid => self.rejected_invalid,
            Denial::Disabled => self.rejected_disabled,
        }
    }

    pub(crate) fn outage(&self, outage: Outage) -> Option<Counter> {
        match outage {
            Outage::Unreachable => Some(self.auth_unreachable),
            Outage::Reset => Some(self.auth_reset),
            Outage::Status | Outage::Undecided => Some(self.auth_status),
            Outage::NoAnswer => Some(self.auth_no_answer),
            Outage::NoList | Outage::Host => None,
            Outage::ServiceUp => Some(self.auth_up),
            Outage::Overload => Some(self.overload),
        }
    }
}
