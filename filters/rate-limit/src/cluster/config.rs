//! The part of the configuration that is about the rate limit service.

use std::collections::BTreeMap;

use portcullis_policy::ConfigError;
use portcullis_policy::target::is_authority;
use serde::{Deserialize, Serialize};

use super::added_headers::PermittedHeaders;
use crate::config::in_range;
use crate::limiter::MAX_LIMITS;

/// The most entries that a descriptor has by configuration.
const MAX_ENTRIES: usize = 16;
/// The most headers that the service may be permitted to add to a message.
const MAX_HEADERS: usize = 32;

/// A rate limit service, which keeps the counts of all gateways: the protocol of Envoy's own rate limit filter
/// (`envoy.service.ratelimit.v3.RateLimitService`). The service's own configuration says how much is allowed.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ServiceConfig {
    /// The Envoy cluster of the service. It must speak HTTP/2.
    pub cluster: String,
    /// The `:authority` of the calls; by default the cluster's name, as in Envoy's own gRPC calls.
    #[serde(default)]
    pub authority: Option<String>,
    /// The domain under which the service knows its limits.
    pub domain: String,
    /// The descriptors of each request: the service counts it against the limit of each of them, and refuses it if any
    /// is over its limit. One per limit: a service gives one limit to one descriptor.
    #[serde(default = "default_descriptors")]
    #[cfg_attr(feature = "schema", schemars(length(min = 1, max = 8)))]
    pub descriptors: Vec<DescriptorConfig>,
    /// Other keys for the entries that the parts of the policy's key give: what they are called by default, and what the
    /// service calls them. The defaults are `client_id`, `header_` and `query_` with the name behind, `remote_address`
    /// (`masked_remote_address` where not all of its bits count), `path`, `method` and `host`.
    #[serde(default)]
    pub entry_keys: BTreeMap<String, String>,
    /// The entry that tells the service the client's tier, as the policy before this one has established it; no such
    /// entry by default. It comes right before the entries of the key. A client without a tier has no such entry.
    #[serde(default)]
    pub tier_entry: Option<String>,
    /// The headers that the service may add to requests: none by default. None of `x-envoy-…`, `x-portcullis-…`, those
    /// that frame a message, describe its body or belong to its connection (`content-length`, `content-type`, `expect`,
    /// `upgrade`), nor pseudo-headers. What is not listed is left out and counted. What clients send under these names, in
    /// any spelling, is removed, so that the upstream can believe them to be the service's.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(length(max = 32)))]
    pub request_headers: Vec<String>,
    /// The headers that the service may add to responses, its refusals included: the same, but by default those that tell
    /// how limits stand. `[]` for none.
    #[serde(default = "default_response_headers")]
    #[cfg_attr(feature = "schema", schemars(length(max = 32)))]
    pub response_headers: Vec<String>,
    /// How long an answer is waited for, in milliseconds. The default is that of Envoy's own filter.
    #[serde(default = "default_timeout_ms")]
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = 60000)))]
    pub timeout_ms: u32,
    /// What becomes of requests that the service does not decide on.
    #[serde(default)]
    pub on_outage: OnOutage,
    /// How many requests a worker holds, and how many calls it has under way, at a time. One more is treated as
    /// `on_outage` says, except that `open` refuses it: whoever sends that many would open the gate. All workers' together
    /// should stay below the cluster's circuit breaker (`max_requests`, 1024 by default), whose refusals are treated
    /// alike.
    #[serde(default = "default_max_waiting")]
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = 1000000)))]
    pub max_waiting: u32,
}

/// A descriptor: these entries, then the tier's if there is one, then those of the key.
#[derive(Debug, Default, Clone, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct DescriptorConfig {
    /// Entries that are the same for all requests.
    #[cfg_attr(feature = "schema", schemars(length(max = 16)))]
    pub entries: Vec<EntryConfig>,
}

/// An entry that is the same for all requests.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct EntryConfig {
    /// The entry's key.
    pub key: String,
    /// The entry's value.
    pub value: String,
}

/// What becomes of requests that the service does not decide on, because it is down, slow, or makes no sense.
#[derive(Debug, Default, Clone, Copy, Deserialize, Serialize, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum OnOutage {
    /// This gateway counts them by itself, against the limits of its own configuration.
    #[default]
    Local,
    /// They pass.
    Open,
    /// They are refused with 503.
    Closed,
}

fn default_descriptors() -> Vec<DescriptorConfig> {
    vec![DescriptorConfig::default()]
}

/// What services call how limits stand: in the drafts of the IETF (draft-ietf-httpapi-ratelimit-headers, among them what
/// Envoy's reference service writes), and by custom.
fn default_response_headers() -> Vec<String> {
    [
        "ratelimit",
        "ratelimit-policy",
        "ratelimit-limit",
        "ratelimit-remaining",
        "ratelimit-reset",
        "x-ratelimit-limit",
        "x-ratelimit-remaining",
        "x-ratelimit-reset",
    ]
    .map(str::to_owned)
    .to_vec()
}

const fn default_timeout_ms() -> u32 {
    20
}

const fn default_max_waiting() -> u32 {
    256
}

impl ServiceConfig {
    /// Checks what types cannot say.
    ///
    /// # Errors
    /// The first field that is wrong.
    pub fn check(&self) -> Result<(), ConfigError> {
        if self.cluster.is_empty() {
            return Err(ConfigError::new("cluster", "must name an Envoy cluster"));
        }
        if !is_authority(self.authority()) {
            let (field, expected) = match self.authority {
                Some(_) => ("authority", "must be a host name, with a port if need be"),
                None => ("authority", "must be given, since the cluster's name cannot serve as a host name"),
            };
            return Err(ConfigError::new(field, expected));
        }
        if self.domain.is_empty() {
            return Err(ConfigError::new("domain", "must not be empty"));
        }
        if self.descriptors.is_empty() || self.descriptors.len() > MAX_LIMITS {
            return Err(ConfigError::new("descriptors", format!("must have from 1 to {MAX_LIMITS} items")));
        }
        for (at, descriptor) in self.descriptors.iter().enumerate() {
            descriptor.check().map_err(|error| error.within(&format!("descriptors[{at}]")))?;
        }
        if self.entry_keys.values().any(String::is_empty) {
            return Err(ConfigError::new("entry_keys", "must not have empty keys for entries"));
        }
        if self.tier_entry.as_ref().is_some_and(String::is_empty) {
            return Err(ConfigError::new("tier_entry", "must not be empty"));
        }
        for (field, names) in
            [("request_headers", &self.request_headers), ("response_headers", &self.response_headers)]
        {
            if names.len() > MAX_HEADERS {
                return Err(ConfigError::new(field, format!("must have at most {MAX_HEADERS} items")));
            }
        }
        PermittedHeaders::compile(self)?;
        in_range("timeout_ms", self.timeout_ms.into(), 1..=60_000)?;
        in_range("max_waiting", self.max_waiting.into(), 1..=1_000_000)
    }

    /// Checks that other keys are given to entries only that there are.
    ///
    /// # Errors
    /// One is given to another.
    pub(crate) fn check_entry_keys<'a>(
        &self,
        entries: impl Iterator<Item = &'a str> + Clone,
    ) -> Result<(), ConfigError> {
        let is_known = |entry: &String| entries.clone().any(|known| known == entry);
        if self.entry_keys.keys().all(is_known) {
            return Ok(());
        }
        let known = entries.collect::<Vec<_>>().join(", ");
        Err(ConfigError::new(
            "entry_keys",
            format!("may have these names only, which the key gives: {known}"),
        ))
    }

    /// The `:authority` of the calls.
    pub(crate) fn authority(&self) -> &str {
        self.authority.as_deref().unwrap_or(&self.cluster)
    }
}

impl DescriptorConfig {
    fn check(&self) -> Result<(), ConfigError> {
        if self.entries.len() > MAX_ENTRIES {
            return Err(ConfigError::new("entries", format!("must have at most {MAX_ENTRIES} items")));
        }
        for (at, entry) in self.entries.iter().enumerate() {
            for (field, text) in [("key", &entry.key), ("value", &entry.value)] {
                if text.is_empty() {
                    let error = ConfigError::new(field, "must not be empty");
                    return Err(error.within(&format!("entries[{at}]")));
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn parse(change: &Value) -> Result<ServiceConfig, String> {
        let mut document = json!({"cluster": "ratelimit", "domain": "portcullis"});
        for (name, value) in change.as_object().unwrap() {
            document[name] = value.clone();
        }
        let config: ServiceConfig = serde_json::from_value(document).map_err(|error| error.to_string())?;
        config.check().map_err(|error| error.to_string())?;
        Ok(config)
    }

    #[test]
    fn defaults_to_what_envoy_s_own_filter_does_and_to_a_local_limit_meanwhile() {
        let config = parse(&json!({})).unwrap();
        assert_eq!(config.timeout_ms, 20);
        // Four workers stay below the circuit breaker of a cluster that says nothing of it.
        assert_eq!(config.max_waiting, 1024 / 4);
        assert_eq!(config.on_outage, OnOutage::Local);
        assert_eq!(config.authority(), "ratelimit");
        assert_eq!(config.descriptors.len(), 1);
        assert!(config.descriptors[0].entries.is_empty());
        assert_eq!(parse(&json!({"authority": "limits:8081"})).unwrap().authority(), "limits:8081");
    }

    #[test]
    fn refuses_what_makes_no_sense_and_names_the_field() {
        let entry = |key, value| json!([{}, {"entries": [{"key": key, "value": value}]}]);
        let many = |n| vec![json!({}); n];
        let fixed = |n| json!([{"entries": vec![json!({"key": "k", "value": "v"}); n]}]);
        for (change, expected) in [
            (json!({"cluster": ""}), "cluster:"),
            (json!({"authority": ""}), "authority:"),
            (json!({"authority": "a b"}), "authority:"),
            (json!({"authority": "a/b"}), "authority:"),
            (json!({"cluster": "rate limit"}), "authority: must be given"),
            (json!({"domain": ""}), "domain:"),
            (json!({"descriptors": []}), "descriptors:"),
            (json!({"descriptors": many(9)}), "descriptors:"),
            (json!({"descriptors": fixed(17)}), "descriptors[0].entries: must have at most 16 items"),
            (json!({"descriptors": entry("", "v")}), "descriptors[1].entries[0].key:"),
            (json!({"descriptors": entry("k", "")}), "descriptors[1].entries[0].value:"),
            (json!({"entry_keys": {"path": ""}}), "entry_keys:"),
            (json!({"tier_entry": ""}), "tier_entry:"),
            (
                json!({"request_headers": ["a", "x_envoy_retry-on"]}),
                "request_headers[1]: must not begin with",
            ),
            (json!({"response_headers": ["Content-Length"]}), "response_headers[0]: must not be"),
            (json!({"response_headers": vec!["a"; 33]}), "response_headers: must have at most 32 items"),
            (json!({"timeout_ms": 0}), "timeout_ms:"),
            (json!({"timeout_ms": 60_001}), "timeout_ms:"),
            (json!({"max_waiting": 0}), "max_waiting:"),
            (json!({"on_outage": "maybe"}), "maybe"),
            (json!({"timeout": 5}), "unknown field"),
        ] {
            let error = parse(&change).unwrap_err();
            assert!(error.contains(expected), "{change}: {error}");
        }
        assert!(parse(&json!({"descriptors": many(8), "timeout_ms": 60_000})).is_ok());
        assert!(parse(&json!({"descriptors": fixed(16)})).is_ok());
        assert!(parse(&json!({"cluster": "rate limit", "authority": "limits"})).is_ok());
    }

    #[test]
    fn refuses_other_keys_for_entries_that_there_are_not() {
        let config = parse(&json!({"entry_keys": {"path": "p", "header_x-tenant": "tenant"}})).unwrap();
        assert!(config.check_entry_keys(["client_id", "header_x-tenant", "path"].into_iter()).is_ok());
        let error = config.check_entry_keys(["client_id", "path"].into_iter()).unwrap_err().to_string();
        assert!(error.starts_with("entry_keys:") && error.ends_with("client_id, path"), "{error}");
    }
}
