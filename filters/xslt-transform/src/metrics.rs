//! What is counted.

use portcullis_policy::host;
use portcullis_policy::metrics::Counter;

use crate::failure::Failure;

const POLICY: &str = "xslt-transform";

/// Counters of the policy.
#[derive(Debug, Default)]
pub(crate) struct Metrics {
    pub(crate) request: SideMetrics,
    pub(crate) response: SideMetrics,
    /// `portcullis.xslt_transform.host_failed`: exchanges refused because the host did not do what is needed.
    pub(crate) host_failed: Counter,
}

/// Counters of one direction: `portcullis.xslt_transform.request.…`.
#[derive(Debug, Default)]
pub(crate) struct SideMetrics {
    /// `transformed`
    pub(crate) transformed: Counter,
    /// `exempt`: messages that are none to be transformed.
    pub(crate) exempt: Counter,
    /// What could not be transformed, whatever became of it: the failure's name.
    failures: Vec<Counter>,
}

impl Metrics {
    pub(crate) fn define(host: &(impl host::Metrics + ?Sized)) -> Self {
        // The engine counts these, when they come.
        Counter::define(host, POLICY, "body_withheld");
        Self {
            request: SideMetrics::define(host, "request"),
            response: SideMetrics::define(host, "response"),
            host_failed: Counter::define(host, POLICY, "host_failed"),
        }
    }
}

impl SideMetrics {
    fn define(host: &(impl host::Metrics + ?Sized), side: &str) -> Self {
        let define = |name: &str| Counter::define(host, POLICY, &format!("{side}.{name}"));
        Self {
            transformed: define("transformed"),
            exempt: define("exempt"),
            failures: Failure::ALL.iter().map(|failure| define(failure.counter())).collect(),
        }
    }

    pub(crate) fn failure(&self, failure: Failure) -> Counter {
        let place = Failure::ALL.iter().position(|known| *known == failure);
        place.and_then(|place| self.failures.get(place)).copied().unwrap_or_default()
    }
}
