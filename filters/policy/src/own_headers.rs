//! Keeps clients from using the headers that only policies may set.

use crate::exchange::{Exchange, Guard};
use crate::headers::{HeaderList, is_reserved, suite_owner};
use crate::host::{Direction, HeaderMap, HostError, Level, Platform};
use crate::policy::SecretName;
use crate::reply::Reply;
use crate::slot::Arrival;
use crate::spelling;

/// The request headers that the policies of a chain set for the upstream, or for Envoy's routes. What clients send
/// under these names is removed before any policy of the chain sees it, and so is every other reserved name, unless
/// another filter of the suite has set it for this request.
///
/// A chain whose policies neither set such headers nor decide by reserved ones removes none, and reads no headers for it.
#[derive(Debug, Default)]
pub(crate) struct OwnHeaders {
    names: Vec<String>,
    /// Whether a policy decides by a reserved header.
    reads_reserved: bool,
    /// The headers in which clients send credentials. Nobody looks for those in trailers.
    credentials: Vec<String>,
}

impl OwnHeaders {
    pub(crate) fn add(&mut self, names: Vec<String>, secrets: &[SecretName]) {
        self.names.extend(names);
        self.credentials.extend(secrets.iter().filter_map(|secret| match secret {
            SecretName::Header(name) => Some(name.clone()),
            SecretName::Parameter(_) => None,
        }));
    }

    /// Says that a policy decides by a reserved header, so that it must not come from the client.
    pub(crate) fn guard_reserved(&mut self) {
        self.reads_reserved = true;
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.names.is_empty() && !self.reads_reserved
    }

    /// Removes what only policies may set from the request's headers, of which `headers` is a copy, and sees to it that
    /// what they will set arrives.
    pub(crate) fn strip(&self, headers: &mut HeaderList, platform: &dyn Platform) -> Result<(), HostError> {
        for name in named(headers, |name| is_reserved(name) || self.owns(name))? {
            if self.owns(name.as_bytes()) || !is_set_by_earlier_filter(&name, platform) {
                platform.remove_header(HeaderMap::RequestHeaders, &name)?;
                headers.remove(&name);
            }
        }
        if self.names.is_empty() { Ok(()) } else { keep_from_next_hop(headers, platform) }
    }

    /// The same for trailers, for an upstream may merge them into the headers (RFC 9110, section 6.5.1). No policy sets
    /// any, nor checks credentials in them.
    pub(crate) fn strip_trailers(&self, platform: &dyn Platform) -> Result<(), HostError> {
        let trailers = match platform.headers(HeaderMap::RequestTrailers) {
            Err(HostError::NotFound) => return Ok(()),
            trailers => trailers?,
        };
        let names = named(&trailers, |name| {
            is_reserved(name) || self.owns(name) || is_one_of(&self.credentials, name)
        })?;
        names.iter().try_for_each(|name| platform.remove_header(HeaderMap::RequestTrailers, name))
    }

    /// Whether some reader takes this name for that of a header that a policy of the chain sets.
    fn owns(&self, name: &[u8]) -> bool {
        is_one_of(&self.names, name)
    }
}

fn is_one_of(names: &[String], name: &[u8]) -> bool {
    names.iter().any(|known| spelling::is_same(name, known.as_bytes()))
}

/// The names of the fields that are meant, each once.
pub(crate) fn named(fields: &HeaderList, is_meant: impl Fn(&[u8]) -> bool) -> Result<Vec<String>, HostError> {
    fields.names(is_meant).ok_or(HostError::Malformed)
}

/// Leaves nothing in `connection` but what an upgrade needs: a proxy behind Envoy removes every header that is named there
/// (RFC 9110, section 7.6.1), those that policies set as well. Envoy removes the header itself, unless the request asks
/// for an upgrade.
fn keep_from_next_hop(headers: &mut HeaderList, platform: &dyn Platform) -> Result<(), HostError> {
    const CONNECTION: &str = "connection";
    const UPGRADE: &[u8] = b"upgrade";
    if !headers.contains(CONNECTION) {
        return Ok(());
    }
    if !headers.asks_for_upgrade() {
        platform.remove_header(HeaderMap::RequestHeaders, CONNECTION)?;
        headers.remove(CONNECTION);
    } else if !headers.all(CONNECTION).all(|options| options.eq_ignore_ascii_case(UPGRADE)) {
        platform.set_header(HeaderMap::RequestHeaders, CONNECTION, UPGRADE)?;
        headers.set(CONNECTION, UPGRADE);
    }
    Ok(())
}

/// Removes what no client may send. Where headers cannot be cleaned, the policies that own some of them find
/// out for themselves, and refuse the request; trailers have no such policy.
pub(crate) fn guard(
    direction: Direction,
    arrival: Arrival,
    exchange: &mut Exchange<'_>,
) -> Result<(), Box<Reply>> {
    if direction == Direction::Response || exchange.own_headers.is_empty() {
        return Ok(());
    }
    match arrival {
        Arrival::Headers(_) => {
            exchange.facts.request = None;
            exchange.facts.guard = Guard::Due;
            let _ = exchange.request_headers();
            Ok(())
        }
        Arrival::Body { .. } => Ok(()),
        Arrival::Trailers => exchange.own_headers.strip_trailers(exchange.platform).map_err(|error| {
            exchange.host().log(Level::Error, &format!("trailers could not be read or cleaned: {error}"));
            Box::new(Reply::internal_error())
        }),
    }
}

/// Whether a filter of the suite that stands before this one has set the header. A filter that has seen the request has
/// removed what the client sent under its names, and has said in the filter state what it decided, which no client can.
fn is_set_by_earlier_filter(name: &str, platform: &dyn Platform) -> bool {
    suite_owner(name).is_some_and(|policy| platform.property(&[&outcome_property(policy)]).is_ok())
}

/// The filter state that holds what a policy of the suite has decided on the request, for native access loggers, for
/// access-log in a filter of its own, and to vouch for the headers that the policy has set.
pub fn outcome_property(policy: &str) -> String {
    format!("portcullis.{policy}.outcome")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn owns_its_names_in_every_spelling_and_no_others() {
        let mut own = OwnHeaders::default();
        assert!(own.is_empty() && !own.owns(b"x-route"));
        own.add(vec!["X-My_Route".to_owned()], &[]);
        for name in ["x-my-route", "x_my_route", "x.my~route"] {
            assert!(own.owns(name.as_bytes()), "{name}");
        }
        for name in ["", "x-my-route-", "x-my-rout", "xx-my-route", "xamybroute"] {
            assert!(!own.owns(name.as_bytes()), "{name}");
        }
    }
}
