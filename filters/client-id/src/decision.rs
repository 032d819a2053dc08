//! What can be decided about a client.

use std::rc::Rc;

use portcullis_policy::{ExchangeId, Identity};

/// The answer to "may this client pass?".
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Decision {
    /// It may, and this is who it is.
    Admit(Rc<Identity>),
    /// It may not.
    Deny(Denial),
}

/// Why a client is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Denial {
    /// It gave no credentials, or not all that are required.
    Missing,
    /// There is no such client, or its secret is another.
    Invalid,
    /// It is known and locked out.
    Disabled,
}

impl Denial {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::Invalid => "invalid",
            Self::Disabled => "disabled",
        }
    }
}

/// Why nobody can decide.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outage {
    /// The call-out could not be sent: Envoy knows no such cluster.
    Unreachable,
    /// The answer broke off.
    Reset,
    /// The service answered with a status of 500 or more; or the host answered in its name, because the connection
    /// failed or time was up.
    Status,
    /// The service answered with a status below 500 that decides nothing, or without what must be in the answer. It is
    /// not out.
    Undecided,
    /// No answer of any kind came in time.
    NoAnswer,
    /// There is no list of clients yet, or it is too old.
    NoList,
    /// The service answers other questions, so that it is not out: this question may be what makes it fail.
    ServiceUp,
    /// Too many requests are waiting; Envoy refused the call-out because too many are under way; or the service says that
    /// it is asked too often.
    Overload,
    /// The host does not do what is needed.
    Host,
}

impl Outage {
    /// Whether `on_outage: open` lets requests pass, and old answers serve. Not when requests bring it about, by their
    /// number or by their credentials, for whoever sends them would open the gate; not when the service shows that it
    /// lives; and not when the host does not do what is asked of it.
    pub(crate) const fn may_open(self) -> bool {
        !matches!(self, Self::Undecided | Self::ServiceUp | Self::Overload | Self::Host)
    }

    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Unreachable => "auth-unreachable",
            Self::Reset => "auth-reset",
            Self::Status | Self::Undecided => "auth-status",
            Self::NoAnswer => "auth-no-answer",
            Self::NoList => "no-client-list",
            Self::ServiceUp => "auth-up",
            Self::Overload => "overload",
            Self::Host => "host",
        }
    }
}

/// An exchange that was waiting, and what has been found out for it.
#[derive(Debug)]
pub(crate) struct Released {
    pub(crate) id: ExchangeId,
    pub(crate) verification: Verification,
}

/// What asking for a decision gives.
#[derive(Debug, Clone)]
pub(crate) enum Verification {
    /// A decision.
    Decided(Decision),
    /// No decision, and none will come.
    Outage(Outage),
    /// A decision will come: the exchange will be woken.
    Pending,
}
