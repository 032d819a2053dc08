//! What the upstream learns of the client.

use std::rc::Rc;

use portcullis_policy::{Exchange, HostError, Identity, spelling};

use crate::config::Origin;
use crate::credentials::{basic, query};

/// The client's identifier.
pub(crate) const ID_HEADER: &str = "x-portcullis-client-id";
/// The client's name.
pub(crate) const NAME_HEADER: &str = "x-portcullis-client-name";
/// The client's tier.
pub(crate) const TIER_HEADER: &str = "x-portcullis-client-tier";
/// Marks a request that passed unverified, with the reason.
pub(crate) const UNVERIFIED_HEADER: &str = "x-portcullis-unverified";

/// The filter state that holds the identifier, for native access loggers and later filters.
pub(crate) const ID_PROPERTY: &str = "portcullis.client_id";
/// The filter state that holds the outcome; it also vouches for the headers above to later filters of the suite.
pub(crate) const OUTCOME_PROPERTY: &str = "portcullis.client-id.outcome";

/// The headers that nobody but this policy sets.
pub(crate) fn own_headers() -> Vec<String> {
    [ID_HEADER, NAME_HEADER, TIER_HEADER, UNVERIFIED_HEADER].map(str::to_owned).to_vec()
}

/// Takes the credentials out of every origin, but for those of one that is kept, whichever other origin names them too.
pub(crate) fn remove_credentials(
    exchange: &mut Exchange<'_>,
    origins: &[Origin],
    kept: Option<&Origin>,
) -> Result<(), HostError> {
    for origin in origins.iter().filter(|origin| Some(*origin) != kept) {
        match origin {
            Origin::Basic => {
                let headers = exchange.request_headers()?;
                if headers.all("authorization").any(basic::is_basic) {
                    exchange.remove_request_header("authorization")?;
                }
            }
            Origin::Headers { id, secret } => {
                for name in [id, secret].into_iter().filter(|name| !is_header_of(kept, name)) {
                    exchange.remove_request_header(name)?;
                }
            }
            Origin::Query { id, secret } => {
                let names = [id, secret].into_iter().filter(|name| !is_parameter_of(kept, name));
                let path = exchange.request_headers()?.first(":path").unwrap_or_default();
                if let Some(path) = query::without(path, names) {
                    exchange.set_request_header(":path", &path)?;
                }
            }
        }
    }
    Ok(())
}

fn is_header_of(origin: Option<&Origin>, name: &str) -> bool {
    matches!(origin, Some(Origin::Headers { id, secret })
        if [id, secret].into_iter().any(|own| spelling::is_same(own.as_bytes(), name.as_bytes())))
}

fn is_parameter_of(origin: Option<&Origin>, name: &str) -> bool {
    matches!(origin, Some(Origin::Query { id, secret }) if [id, secret].into_iter().any(|own| own == name))
}

/// Says who the client is: to the upstream by headers, to native loggers by filter state, to later policies of the
/// chain directly.
pub(crate) fn set_identity(exchange: &mut Exchange<'_>, identity: &Rc<Identity>) -> Result<(), HostError> {
    exchange.set_request_header(ID_HEADER, identity.client_id.as_bytes())?;
    for (header, value) in [(NAME_HEADER, &identity.name), (TIER_HEADER, &identity.tier)] {
        if let Some(value) = value {
            exchange.set_request_header(header, value.as_bytes())?;
        }
    }
    // Loggers do without if the host has no such thing.
    let _ = exchange.host().set_property(&[ID_PROPERTY], identity.client_id.as_bytes());
    exchange.set_identity(Rc::clone(identity));
    Ok(())
}

#[cfg(test)]
mod tests {
    use portcullis_policy::headers::{is_reserved, suite_owner};
    use portcullis_policy::{Policy, outcome_property};

    use super::*;
    use crate::ClientId;

    /// What other filters of the suite go by.
    #[test]
    fn its_headers_and_its_outcome_are_known_by_its_name() {
        for header in own_headers() {
            assert!(is_reserved(header.as_bytes()), "{header}");
            assert_eq!(suite_owner(&header), Some(ClientId::NAME), "{header}");
        }
        assert_eq!(OUTCOME_PROPERTY, outcome_property(ClientId::NAME));
    }
}
