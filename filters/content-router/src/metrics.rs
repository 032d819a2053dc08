//! What is counted.

use portcullis_policy::host;
use portcullis_policy::metrics::Counter;

use crate::body::Undecidable;

const POLICY: &str = "content-router";

/// Counters: how often each rule has decided, and what else has become of requests. Their number is that of the
/// rules and a few.
#[derive(Debug, Default)]
pub(crate) struct Metrics {
    /// `portcullis.content_router.{rule}.matched`, by the rules' places.
    rules: Vec<Counter>,
    /// `portcullis.content_router.defaulted`: requests that no rule was true for.
    pub(crate) defaulted: Counter,
    /// `portcullis.content_router.{reason}`: requests on which no rule could decide, whatever became of them.
    undecidable: Vec<Counter>,
    /// `portcullis.content_router.host_failed`: requests refused because the host did not do what is needed.
    pub(crate) host_failed: Counter,
}

impl Metrics {
    pub(crate) fn define(host: &(impl host::Metrics + ?Sized), rules: &[String]) -> Self {
        let define = |name: &str| Counter::define(host, POLICY, name);
        // The engine counts these, when they come.
        define("body_withheld");
        Self {
            rules: rules.iter().map(|rule| define(&format!("{rule}.matched"))).collect(),
            defaulted: define("defaulted"),
            undecidable: Undecidable::ALL.iter().map(|reason| define(reason.counter())).collect(),
            host_failed: define("host_failed"),
        }
    }

    pub(crate) fn rule(&self, rule: usize) -> Counter {
        self.rules.get(rule).copied().unwrap_or_default()
    }

    pub(crate) fn undecidable(&self, reason: Undecidable) -> Counter {
        let place = Undecidable::ALL.iter().position(|known| *known == reason);
        place.and_then(|place| self.undecidable.get(place)).copied().unwrap_or_default()
    }
}
