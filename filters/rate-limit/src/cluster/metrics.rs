//! What is counted about the rate limit service.

use portcullis_policy::host;

use super::client::Outage;
use crate::metrics::Count;

macro_rules! counters {
    ($($(#[doc = $doc:literal])+ $name:ident;)*) => {
        /// Counters, named `portcullis.rate_limit.service_{field}` and
        /// `portcullis.rate_limit.{policy}.service_{field}`.
        #[derive(Debug, Default, Clone)]
        pub(crate) struct ServiceMetrics {
            $($(#[doc = $doc])+ pub(crate) $name: Count,)*
        }

        impl ServiceMetrics {
            pub(crate) fn define(host: &(impl host::Metrics + ?Sized), policy: Option<&str>) -> Self {
                Self { $($name: Count::define(host, policy, concat!("service_", stringify!($name))),)* }
            }
        }
    };
}

counters! {
    /// Calls handed to Envoy, whether or not its cluster could take them.
    calls;
    /// Answers that the request is within its limits.
    ok;
    /// Answers that it is over a limit.
    over_limit;
    /// Answers in which a descriptor of the request has no limit: mostly a mistake in one of the two configurations.
    no_limit;
    /// Headers that the service wanted added and that were left out: not permitted, or no value of a header.
    headers_refused;
    /// Calls that could not be made: Envoy knows no such cluster.
    unreachable;
    /// Calls that Envoy or the service answered as unavailable (gRPC status 14; HTTP status 502 or 503): the connection
    /// failed or was reset.
    unavailable;
    /// Answers that broke off.
    reset;
    /// Calls that were not answered in time.
    timeout;
    /// Answers with another status than success, of gRPC or HTTP.
    error;
    /// Answers that make no sense: no message of the protocol, compressed, too long, or with an unknown code.
    nonsense;
    /// Calls that were not sent because too many were under way, by `max_waiting` or by the cluster's circuit breaker; also
    /// those to a cluster without an endpoint, which Envoy does not tell apart.
    overload;
    /// Host calls that failed where that means an outage.
    host_failed;
}

impl ServiceMetrics {
    pub(crate) fn outage(&self, outage: Outage) -> Count {
        match outage {
            Outage::Unreachable => self.unreachable,
            Outage::Unavailable => self.unavailable,
            Outage::Reset => self.reset,
            Outage::Timeout => self.timeout,
            Outage::Error => self.error,
            Outage::Nonsense => self.nonsense,
            Outage::Overload => self.overload,
            Outage::Host => self.host_failed,
        }
    }
}
