//! What a refused client is told.

use std::borrow::Cow;

use portcullis_policy::Reply;
use portcullis_policy::reply::CustomBody;

use crate::config;
use crate::headers::{self, Announcer};
use crate::limiter::Standing;

/// The problem type of draft-ietf-httpapi-ratelimit-headers-11, section 5.1. Its member `violated-policies` names the
/// limits that refuse, as the `ietf` headers name them.
const QUOTA_EXCEEDED: &str = "https://iana.org/assignments/http-problem-types#quota-exceeded";

/// Compiled rejections.
#[derive(Debug)]
pub(crate) struct Rejection {
    status: u16,
    body: Option<CustomBody>,
}

impl Rejection {
    pub(crate) fn compile(config: &config::Rejection) -> Self {
        let body = config.body.as_ref().map(|body| CustomBody {
            content_type: Cow::Owned(body.content_type.clone()),
            bytes: Cow::Owned(body.text.clone().into_bytes()),
        });
        Self { status: config.status, body }
    }

    /// The quota is used up: when to come again, and how the limits stand. A body, if there is one, stands in place of
    /// the configured one.
    pub(crate) fn quota_exceeded(
        &self,
        standings: &[Standing],
        body: Option<CustomBody>,
        announcer: &mut Announcer,
    ) -> Reply {
        let mut reply = Reply::new(
            self.status,
            "Request cannot be satisfied as assigned quota has been exceeded",
            "rate_limit_quota_exceeded",
        )
        .with_header("retry-after", headers::retry_after(standings));
        reply.problem_type = Cow::Borrowed(QUOTA_EXCEEDED);
        reply.lists.push(("violated-policies", announcer.violated(standings)));
        reply.body = body.or_else(|| self.body.clone());
        announcer.announce_refusal(standings, &mut |name, value| reply.headers.push((name, value.to_vec())));
        reply
    }
}

/// 400: the client must repair its request.
pub(crate) fn missing_key() -> Reply {
    Reply::new(400, "Bad Request", "rate_limit_missing_key")
        .with_detail("The request lacks something that its quota is counted by, or has it twice.")
}

/// 503: so many others are being counted that there is no room before the time that the limits' standings tell.
pub(crate) fn table_full(standings: &[Standing]) -> Reply {
    unavailable("rate_limit_table_full", headers::retry_after(standings))
}

/// 503: nobody can say whether the request has quota.
pub(crate) fn failure() -> Reply {
    unavailable("rate_limit_failure", b"1".to_vec())
}

fn unavailable(code_details: &'static str, retry_after: Vec<u8>) -> Reply {
    Reply::new(503, "Service Unavailable", code_details)
        .with_detail("The quota cannot be checked at the moment.")
        .with_header("retry-after", retry_after)
}
