//! Who calls, as the host and the policies before this one know it.

use std::borrow::Cow;

use portcullis_policy::{Exchange, HeaderList, HostError};

use crate::key::Request;

/// The filter state in which client-id leaves the identifier of an admitted client.
const ID_PROPERTY: &str = "portcullis.client_id";
/// The header in which client-id tells an admitted client's tier.
const TIER_HEADER: &str = "x-portcullis-client-tier";

/// What of a caller needs to be known.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Needs {
    pub(crate) identity: Need,
    pub(crate) source_address: Need,
}

/// Whether something needs to be known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Need {
    Yes,
    No,
}

impl From<bool> for Need {
    fn from(needed: bool) -> Self {
        if needed { Self::Yes } else { Self::No }
    }
}

/// Who calls; nothing of it is there for certain.
#[derive(Debug, Default)]
pub(crate) struct Caller<'a> {
    pub(crate) client_id: Option<Cow<'a, [u8]>>,
    pub(crate) tier: Option<&'a str>,
    pub(crate) source_address: Option<Vec<u8>>,
}

impl<'a> Caller<'a> {
    /// Who has sent the request with these headers.
    ///
    /// # Errors
    /// The host does not say.
    pub(crate) fn of(
        exchange: &'a Exchange<'_>,
        headers: &'a HeaderList,
        needs: Needs,
    ) -> Result<Self, HostError> {
        let mut caller = Self::default();
        match exchange.identity() {
            Some(identity) => {
                caller.client_id = Some(Cow::Borrowed(identity.client_id.as_bytes()));
                caller.tier = identity.tier.as_deref();
            }
            None if needs.identity == Need::Yes => {
                caller.client_id = property(exchange, &[ID_PROPERTY])?.map(Cow::Owned);
                // The header is believed only where client-id has been at work, which leaves none of a client's making.
                if caller.client_id.is_some() {
                    let tier = headers.first(TIER_HEADER);
                    caller.tier = tier.and_then(|tier| core::str::from_utf8(tier).ok());
                }
            }
            None => {}
        }
        if needs.source_address == Need::Yes {
            caller.source_address = property(exchange, &["source", "address"])?;
        }
        Ok(caller)
    }

    /// The caller's request, to read a key from.
    pub(crate) fn request(&'a self, headers: &'a HeaderList) -> Request<'a> {
        Request {
            headers,
            client_id: self.client_id.as_deref(),
            source_address: self.source_address.as_deref(),
        }
    }
}

/// A property, or none; an error only if the host does not say which.
fn property(exchange: &Exchange<'_>, path: &[&str]) -> Result<Option<Vec<u8>>, HostError> {
    match exchange.host().property(path) {
        Ok(value) => Ok(Some(value).filter(|value| !value.is_empty())),
        Err(HostError::NotFound) => Ok(None),
        Err(error) => Err(error),
    }
}
