//! A chain from one document.

use core::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::chain::Chain;
use crate::config::{self, ConfigError};
use crate::policy::Policy;

/// The policies that a document may name.
///
/// The document is `{"policies": [{"client-id": {…}}, {"access-log": {…}}]}`: a list, because the members of a JSON
/// object have no order, and a policy may stand in it more than once. Beside it may stand `max_exchange_bytes`
/// ([`Chain::with_max_exchange_bytes`]).
#[derive(Default)]
pub struct Catalogue {
    entries: Vec<Entry>,
}

struct Entry {
    name: &'static str,
    append: fn(Chain, &[u8]) -> Result<Chain, ConfigError>,
}

impl Catalogue {
    /// An empty catalogue.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a policy under its name.
    #[must_use]
    pub fn offer<P: Policy>(mut self) -> Self {
        self.entries.push(Entry { name: P::NAME, append: Chain::then_configured::<P> });
        self
    }

    /// Builds the chain that the document describes.
    ///
    /// # Errors
    /// What is wrong with the document, with a policy's part of it, or with the policies' order.
    pub fn chain(&self, document: &[u8]) -> Result<Chain, ConfigError> {
        let Document { policies, max_exchange_bytes } = config::parse(document)?;
        if policies.is_empty() {
            return Err(ConfigError::new("policies", format!("must name at least one of {}", self.names())));
        }
        let mut chain = Chain::new();
        if let Some(most) = max_exchange_bytes {
            chain = chain.with_max_exchange_bytes(checked_exchange_bytes(most)?);
        }
        for (at, Named { name, config }) in policies.iter().enumerate() {
            let path = format!("policies[{at}]");
            let Some(entry) = self.entries.iter().find(|entry| entry.name == name) else {
                return Err(ConfigError::new(path, format!("must be one of {}", self.names())));
            };
            chain = (entry.append)(chain, config.get().as_bytes())
                .map_err(|error| error.within(&format!("{path}.{name}")))?;
        }
        chain.check()?;
        Ok(chain)
    }

    /// Builds a chain of the policy of this name alone; none if there is no such policy.
    ///
    /// # Errors
    /// What is wrong with the policy's document, or that the policy could take too much memory.
    pub fn alone(&self, name: &str, document: &[u8]) -> Option<Result<Chain, ConfigError>> {
        let entry = self.entries.iter().find(|entry| entry.name == name)?;
        let chain = (entry.append)(Chain::new(), document);
        Some(chain.and_then(|chain| chain.check().map(|()| chain)))
    }

    fn names(&self) -> String {
        self.entries.iter().map(|entry| format!("`{}`", entry.name)).collect::<Vec<_>>().join(", ")
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    policies: Vec<Named>,
    max_exchange_bytes: Option<u64>,
}

/// The bytes that all open exchanges of a worker may take.
fn checked_exchange_bytes(bytes: u64) -> Result<usize, ConfigError> {
    usize::try_from(bytes).ok().filter(|bytes| Chain::EXCHANGE_BYTES.contains(bytes)).ok_or_else(|| {
        let (least, most) = (Chain::EXCHANGE_BYTES.start(), Chain::EXCHANGE_BYTES.end());
        ConfigError::new("max_exchange_bytes", format!("must be from {least} to {most}"))
    })
}

/// An object with exactly one member.
struct Named {
    name: String,
    config: Box<RawValue>,
}

impl<'de> Deserialize<'de> for Named {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OneMember;

        impl<'de> Visitor<'de> for OneMember {
            type Value = Named;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object whose only member is a policy's name with its configuration")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Named, A::Error> {
                let wrong = || A::Error::custom("must have exactly one member: a policy's name");
                let (name, config) = members.next_entry()?.ok_or_else(wrong)?;
                let mut alone = true;
                // Read to its end, for that is where what is wrong with the whole of it stands.
                while members.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {
                    alone = false;
                }
                if alone { Ok(Named { name, config }) } else { Err(wrong()) }
            }
        }

        deserializer.deserialize_map(OneMember)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::Callbacks;

    struct First;
    struct Second;

    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Config {
        level: u8,
    }

    macro_rules! policy {
        ($type:ident, $name:literal) => {
            impl Policy for $type {
                const NAME: &'static str = $name;
                const CALLBACKS: Callbacks = Callbacks::NONE;
                type Config = Config;
                type State = ();

                fn from_config(config: Config) -> Result<Self, ConfigError> {
                    if config.level > 9 {
                        Err(ConfigError::new("level", "must be at most 9"))
                    } else {
                        Ok(Self)
                    }
                }
            }
        };
    }

    policy!(First, "first");
    policy!(Second, "second");

    fn names(document: &str) -> Result<Vec<&'static str>, String> {
        let catalogue = Catalogue::new().offer::<First>().offer::<Second>();
        match catalogue.chain(document.as_bytes()) {
            Ok(chain) => Ok(chain.names().collect()),
            Err(error) => Err(error.to_string()),
        }
    }

    #[test]
    fn chains_policies_in_the_order_and_number_of_the_document() {
        let document =
            r#"{"policies":[{"second":{"level":1}},{"first":{"level":2}},{"second":{"level":3}}]}"#;
        assert_eq!(names(document).unwrap(), ["second", "first", "second"]);
    }

    #[test]
    fn takes_a_bound_for_open_exchanges_beside_the_policies() {
        for (bytes, expected) in
            [("1048576", true), ("134217728", true), ("1048575", false), ("134217729", false)]
        {
            let document =
                format!(r#"{{"policies":[{{"first":{{"level":1}}}}],"max_exchange_bytes":{bytes}}}"#);
            let chain = Catalogue::new().offer::<First>().chain(document.as_bytes());
            match chain {
                Ok(chain) => assert!(expected && chain.max_exchange_bytes().to_string() == bytes, "{bytes}"),
                Err(error) => {
                    assert!(!expected, "{bytes}: {error}");
                    assert_eq!(error.to_string(), "max_exchange_bytes: must be from 1048576 to 134217728");
                }
            }
        }
    }

    #[test]
    fn builds_a_single_policy_by_name() {
        let catalogue = Catalogue::new().offer::<First>().offer::<Second>();
        let chain = catalogue.alone("second", br#"{"level":1}"#).unwrap().ok().unwrap();
        assert_eq!(chain.names().collect::<Vec<_>>(), ["second"]);
        let error = catalogue.alone("first", b"{}").unwrap().err().unwrap();
        assert_eq!(error.to_string(), "missing field `level`");
        assert!(catalogue.alone("third", b"{}").is_none());
    }

    #[test]
    fn says_where_in_the_document_something_is_wrong() {
        for (document, expected) in [
            (r#"{"policies":[]}"#, "policies: must name at least one of `first`, `second`"),
            (r#"{}"#, "missing field `policies`"),
            (r#"{"policies":[{"third":{}}]}"#, "policies[0]: must be one of `first`, `second`"),
            (
                r#"{"policies":[{"first":{"level":1},"second":{"level":1}}]}"#,
                "policies[0]: must have exactly one",
            ),
            (r#"{"policies":[{}]}"#, "policies[0]: must have exactly one"),
            (r#"{"policies":["first"]}"#, "policies[0]: expected an object whose only member"),
            (
                r#"{"policies":[{"first":{"level":"hunter2"}}]}"#,
                "policies[0].first.level: expected u8, found string",
            ),
            (
                r#"{"policies":[{"first":{"level":1}},{"first":{"level":10}}]}"#,
                "policies[1].first.level: must be at",
            ),
            (
                r#"{"policies":[{"first":{"level":1,"level":2}}]}"#,
                "policies[0].first.level: duplicate field `level`",
            ),
        ] {
            let error = names(document).unwrap_err();
            assert!(error.starts_with(expected), "{document}: {error}");
            assert!(!error.contains("hunter2"));
        }
    }
}
