//! What a response tells its client, beyond what the upstream does.

use portcullis_policy::{Exchange, HeaderMap, Policy, Verdict};

use crate::cluster::AddedHeaders;
use crate::headers::Announcer;
use crate::limiter::Standing;
use crate::policy::RateLimit;

/// What a response tells its client, from the decision on.
#[derive(Debug)]
pub(crate) struct Told {
    /// How the limits stand; nothing if that has been told already, or shall not be.
    standings: Vec<Standing>,
    /// What the service wants to be added; nothing without a service.
    headers: AddedHeaders,
}

impl Told {
    /// What there is to tell; `None` if that is nothing.
    pub(crate) fn new(standings: &[Standing], headers: AddedHeaders, announcer: &Announcer) -> Option<Self> {
        let standings = if announcer.is_silent() { &[] } else { standings };
        (!standings.is_empty() || !headers.is_empty())
            .then(|| Self { standings: standings.to_vec(), headers })
    }

    /// Writes it into the response's headers. A host that refuses keeps nobody from its response.
    pub(crate) fn tell(&self, announcer: &mut Announcer, exchange: &mut Exchange<'_>) {
        // A refusal tells of the quota that was used up: what is left of another one would contradict it.
        if !is_refused(exchange) {
            announcer.announce_on_response(&self.standings, exchange);
        }
        let _ = self.headers.append_to(HeaderMap::ResponseHeaders, exchange);
    }
}

/// Whether a policy of this kind has refused the request.
fn is_refused(exchange: &Exchange<'_>) -> bool {
    exchange.outcomes().iter().any(|outcome| {
        outcome.policy == RateLimit::NAME
            && matches!(outcome.verdict, Verdict::Rejected | Verdict::FailedClosed)
    })
}
