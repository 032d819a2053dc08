//! What a client is told when it is refused.

use std::borrow::Cow;

use portcullis_policy::headers::is_token;
use portcullis_policy::{ConfigError, Reply};

use crate::config::{self, ReasonInBody};
use crate::credentials::Malformed;
use crate::decision::{Denial, Outage};

/// Compiled rejections.
pub(crate) struct Rejection {
    challenge: String,
    reason: ReasonInBody,
}

impl Rejection {
    pub(crate) fn compile(config: &config::Rejection) -> Result<Self, ConfigError> {
        if !is_token(&config.scheme) {
            return Err(ConfigError::new("scheme", "must be an authentication scheme, such as Basic"));
        }
        if config.realm.contains(|character: char| !(' '..='~').contains(&character)) {
            return Err(ConfigError::new("realm", "must be printable ASCII"));
        }
        let realm = config.realm.replace('\\', "\\\\").replace('"', "\\\"");
        let charset = if config.scheme.eq_ignore_ascii_case("basic") { ", charset=\"UTF-8\"" } else { "" };
        Ok(Self { challenge: format!("{} realm=\"{realm}\"{charset}", config.scheme), reason: config.reason })
    }

    /// 401 (RFC 9110, section 15.5.2).
    pub(crate) fn denied(&self, denial: Denial) -> Reply {
        let details = match denial {
            Denial::Missing => "client_id_missing",
            Denial::Invalid => "client_id_invalid",
            Denial::Disabled => "client_id_disabled",
        };
        let mut reply =
            Reply::new(401, "Unauthorized", details).with_header("www-authenticate", self.challenge.as_str());
        if self.reason == ReasonInBody::Shown {
            reply = reply.with_detail(match denial {
                Denial::Missing => "No client credentials were given, or not all of them.",
                Denial::Invalid => "The client is not known, or its secret is not this one.",
                Denial::Disabled => "The client is disabled.",
            });
            reply.extensions.push(("reason", Cow::Borrowed(denial.as_str())));
        }
        reply
    }

    /// 400: the client must repair its request, and a password prompt would not help.
    pub(crate) fn malformed(&self, malformed: Malformed) -> Reply {
        Reply::new(400, "Bad Request", "client_id_malformed").with_detail(malformed.explanation())
    }

    /// 503: the client may try again.
    pub(crate) fn outage(&self, outage: Outage) -> Reply {
        let details = match outage {
            Outage::Overload => "client_id_overload",
            _ => "client_id_outage",
        };
        Reply::new(503, "Service Unavailable", details)
            .with_detail("The client cannot be verified at the moment.")
            .with_header("retry-after", "1")
    }
}
