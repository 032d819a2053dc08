//! What becomes of requests, compiled.

use std::borrow::Cow;

use portcullis_policy::Reply;

use crate::config;

/// What becomes of a request.
#[derive(Debug)]
pub(crate) enum Action {
    /// It gets this route.
    Route(Box<[u8]>),
    /// It is refused.
    Reply(Box<Reply>),
    /// It passes without a route.
    Pass,
}

impl Action {
    pub(crate) fn compile(action: &config::Action, code_details: &'static str) -> Self {
        match action {
            config::Action::Route(name) => Self::Route(name.as_bytes().into()),
            config::Action::Pass => Self::Pass,
            config::Action::Reply(refusal) => {
                let title = title(refusal.status);
                let mut reply = Reply::new(refusal.status, title, code_details);
                if let Some(title) = &refusal.title {
                    reply.title = Cow::Owned(title.clone());
                }
                reply.detail = refusal.detail.clone().map(Cow::Owned);
                Self::Reply(Box::new(reply))
            }
        }
    }
}

/// The reason phrase of a status (RFC 9110, section 15), or one for its class.
fn title(status: u16) -> &'static str {
    match status {
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        406 => "Not Acceptable",
        409 => "Conflict",
        410 => "Gone",
        413 => "Content Too Large",
        415 => "Unsupported Media Type",
        421 => "Misdirected Request",
        422 => "Unprocessable Content",
        429 => "Too Many Requests",
        451 => "Unavailable For Legal Reasons",
        500 => "Internal Server Error",
        501 => "Not Implemented",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        504 => "Gateway Timeout",
        ..=499 => "Client Error",
        _ => "Server Error",
    }
}
