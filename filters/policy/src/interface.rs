//! What the policies of a chain say to one another, and whether their order makes sense.

use core::fmt;

use crate::config::ConfigError;
use crate::headers::is_reserved;
use crate::policy::{Policy, SecretName};
use crate::spelling;

/// Something of a request that one policy sets and others of its chain may read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fact {
    /// Who calls: [`Exchange::identity`](crate::Exchange::identity).
    Identity,
    /// A request header. A policy sets those that it [owns](Policy::own_headers).
    Header(String),
}

impl Fact {
    /// Whether some reader takes the two for one.
    fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Identity, Self::Identity) => true,
            (Self::Header(name), Self::Header(other)) => spelling::is_same(name.as_bytes(), other.as_bytes()),
            (Self::Identity | Self::Header(_), _) => false,
        }
    }
}

impl fmt::Display for Fact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Identity => f.write_str("the client's identity"),
            Self::Header(name) => write!(f, "the header {name}"),
        }
    }
}

/// That a policy decides by a fact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dependency {
    /// What it reads.
    pub fact: Fact,
    /// When it reads it.
    pub moment: Moment,
    /// The field of its configuration that says so: `key[0]`.
    pub field: String,
}

/// When a policy reads a fact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// When the request comes to it: the policies behind it have not seen the request yet.
    Request,
    /// When the response comes: all policies have seen the request.
    Response,
}

/// What a policy of a chain sets, reads and looks for.
#[derive(Debug)]
pub(crate) struct Interface {
    policy: &'static str,
    sets: Vec<Fact>,
    reads: Vec<Dependency>,
    /// Headers that clients put secrets in.
    secrets: Vec<String>,
}

impl Interface {
    pub(crate) fn of<P: Policy>(policy: &P) -> Self {
        let own = policy.own_headers().into_iter().map(Fact::Header);
        let secrets = policy.secret_names().into_iter().filter_map(|name| match name {
            SecretName::Header(name) => Some(name),
            SecretName::Parameter(_) => None,
        });
        Self {
            policy: P::NAME,
            sets: policy.provides().into_iter().chain(own).collect(),
            reads: policy.reads(),
            secrets: secrets.collect(),
        }
    }

    fn sets(&self, fact: &Fact) -> bool {
        self.sets.iter().any(|own| own.is_same(fact))
    }

    /// Whether it decides by a header that only policies of the suite set.
    pub(crate) fn reads_reserved(&self) -> bool {
        let is_reserved = |read: &Dependency| match &read.fact {
            Fact::Header(name) => is_reserved(name.as_bytes()),
            Fact::Identity => false,
        };
        self.reads.iter().any(is_reserved)
    }
}

/// Refuses chains in which policies get in one another's way.
///
/// # Errors
/// The first policy that
/// - reads what only a later one sets: it would never see it;
/// - sets what an earlier one sets: nobody would see the first of the two;
/// - sets a header in which one looks for a client's secret: what clients send under such a name is removed before.
pub(crate) fn check(chain: &[Interface]) -> Result<(), ConfigError> {
    for (at, policy) in chain.iter().enumerate() {
        let refuse = |field: &str, problem: String| {
            let place = format!("policies[{at}].{}", policy.policy);
            Err(if field.is_empty() {
                ConfigError::new(place, problem)
            } else {
                ConfigError::new(field, problem).within(&place)
            })
        };
        let (earlier, rest) = chain.split_at_checked(at).unwrap_or((chain, &[]));
        let later = rest.iter().enumerate().skip(1);
        let of_request = policy.reads.iter().filter(|read| read.moment == Moment::Request);
        for Dependency { fact, field, .. } in of_request {
            let setter = later.clone().find(|(_, later)| later.sets(fact));
            if let Some((distance, Interface { policy: setter, .. })) = setter
                && !earlier.iter().any(|earlier| earlier.sets(fact))
            {
                let place = at.saturating_add(distance);
                let problem = format!(
                    "reads {fact}, which only policies[{place}] sets: {setter} must stand before {}",
                    policy.policy
                );
                return refuse(field, problem);
            }
        }
        for fact in &policy.sets {
            if let Some(place) = earlier.iter().position(|earlier| earlier.sets(fact)) {
                return refuse("", format!("sets {fact}, as policies[{place}] does already"));
            }
            let Fact::Header(name) = fact else { continue };
            let is_own = |secret: &String| spelling::is_same(secret.as_bytes(), name.as_bytes());
            if let Some(place) = chain.iter().position(|other| other.secrets.iter().any(is_own)) {
                return refuse("", format!("sets {fact}, in which policies[{place}] looks for credentials"));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interface(policy: &'static str, sets: &[&str], reads: &[&str], secrets: &[&str]) -> Interface {
        let fact = |name: &str| match name {
            "identity" => Fact::Identity,
            name => Fact::Header(name.to_owned()),
        };
        Interface {
            policy,
            sets: sets.iter().map(|name| fact(name)).collect(),
            reads: reads
                .iter()
                .enumerate()
                .map(|(at, name)| Dependency {
                    fact: fact(name.strip_prefix("later ").unwrap_or(name)),
                    moment: if name.starts_with("later ") { Moment::Response } else { Moment::Request },
                    field: format!("key[{at}]"),
                })
                .collect(),
            secrets: secrets.iter().map(|name| (*name).to_owned()).collect(),
        }
    }

    #[test]
    fn refuses_orders_in_which_something_is_not_seen() {
        let who = || interface("who", &["identity", "x-who"], &[], &["x-key"]);
        let limit = |reads: &[&str]| interface("limit", &[], reads, &[]);
        let route = |sets: &[&str], reads: &[&str]| interface("route", sets, reads, &[]);
        for (chain, expected) in [
            (vec![], None),
            (vec![limit(&["identity"])], None),
            (vec![who(), limit(&["x", "identity", "x-who"]), route(&["x-route"], &["x_who"])], None),
            (vec![limit(&["x-other"]), who(), limit(&["identity"])], None),
            (vec![route(&["x-a"], &[]), route(&["x-b"], &["x-a", "x-b"])], None),
            (vec![limit(&["later identity", "later x-who"]), who()], None),
            (
                vec![limit(&["x", "identity"]), limit(&[]), who()],
                Some(
                    "policies[0].limit.key[1]: reads the client's identity, which only policies[2] sets: who must stand before limit",
                ),
            ),
            (
                vec![limit(&[]), limit(&["x_who"]), who()],
                Some(
                    "policies[1].limit.key[0]: reads the header x_who, which only policies[2] sets: who must stand before limit",
                ),
            ),
            (
                vec![who(), limit(&[]), who()],
                Some("policies[2].who: sets the client's identity, as policies[0] does already"),
            ),
            (
                vec![route(&["x-route"], &[]), route(&["x.route"], &[])],
                Some("policies[1].route: sets the header x.route, as policies[0] does already"),
            ),
            (
                vec![who(), route(&["x_key"], &[])],
                Some("policies[1].route: sets the header x_key, in which policies[0] looks for credentials"),
            ),
            (
                vec![route(&["x_key"], &[]), who()],
                Some("policies[0].route: sets the header x_key, in which policies[1] looks for credentials"),
            ),
        ] {
            let problem = check(&chain).err().map(|error| error.to_string());
            assert_eq!(problem.as_deref(), expected);
        }
    }
}
