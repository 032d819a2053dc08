//! The rule that is held against each reader.
//!
//! **Identity.** What a program finds when it asks for one of [`IDENTITY`] is what the gateway has set for this request,
//! or nothing. It is so for headers and trailers, in each [`Mode`].
//!
//! **Credentials in headers and in the query.** Where the gateway removes credentials, a program finds none when it asks
//! for `client_id` or `client_secret`. Where it keeps them, a program finds what has been verified, in the place where
//! it has been found; in the other places nobody has looked, and what stands there is not the gateway's word. An exempt
//! request goes on as it is.
//!
//! **JSON.** The route that content-router chooses by a member is the one that follows from what the program does with
//! this member.
//!
//! A request that was refused, by the gateway or by the reader, breaks none of these.

use crate::reader::Seen;
use crate::tally::Tally;

/// What the gateway says of a client and of the request's route.
pub(crate) const IDENTITY: [&str; 5] = [
    "x-portcullis-client-id",
    "x-portcullis-client-name",
    "x-portcullis-client-tier",
    "x-portcullis-unverified",
    "x-portcullis-route",
];

/// What clients are known by, in headers and in the query, in the gateway's default configuration.
pub(crate) const CREDENTIALS: [&str; 2] = ["client_id", "client_secret"];

/// Where a request goes, and what it has with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// A path that needs no credentials, without any.
    Exempt,
    /// A path that needs them, with good ones.
    Enforced,
    /// The same while the auth service is out, which lets requests pass with a mark.
    Outage,
}

impl Mode {
    pub(crate) const ALL: [Self; 3] = [Self::Exempt, Self::Enforced, Self::Outage];

    pub(crate) fn path(self) -> &'static str {
        if self == Self::Exempt { "/public" } else { "/api" }
    }

    /// The headers with the credentials.
    pub(crate) fn credentials(self) -> &'static [(&'static str, &'static [u8])] {
        match self {
            Self::Exempt => &[],
            // acme:s3cret and acme:outage.
            Self::Enforced => &[("authorization", b"Basic YWNtZTpzM2NyZXQ=")],
            Self::Outage => &[("authorization", b"Basic YWNtZTpvdXRhZ2U=")],
        }
    }

    /// What the gateway says of [`IDENTITY`], in this order.
    pub(crate) fn says(self) -> [Option<&'static str>; 5] {
        match self {
            Self::Exempt => [None, None, None, None, Some("other")],
            Self::Enforced => [Some("acme"), Some("Acme Ltd"), Some("gold"), None, Some("other")],
            Self::Outage => [None, None, None, Some("auth-status"), Some("other")],
        }
    }
}

/// Holds the rule of identity against what a program has seen.
pub(crate) fn identity(tally: &mut Tally, seen: Option<&Seen>, mode: Mode, case: &str) {
    for (name, said) in IDENTITY.into_iter().zip(mode.says()) {
        let found = seen.map(|seen| seen.header(name));
        tally.cell(found.as_deref(), said, || format!("{mode:?} {case}: {name}"));
    }
}
