//! The configuration document.

use core::ops::RangeInclusive;

use portcullis_policy::headers::{has_meaning, is_reserved, is_token};
use portcullis_policy::scope::Scope;
use portcullis_policy::target::is_authority;
use portcullis_policy::{ConfigError, MostMemory, parameter, spelling};
use serde::{Deserialize, Serialize};

use crate::credentials::{MAX_ID_BYTES, MAX_SECRET_BYTES};

/// Configuration of the client-id policy.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Where credentials are looked for, in order. The first origin that has any of its parts decides; the
    /// others are not looked at, and what stands there never comes to the upstream.
    #[serde(default = "default_origins")]
    pub credentials: Vec<Origin>,
    /// Whether a client must give its secret, or its identifier alone will do.
    #[serde(default)]
    pub secret: SecretRule,
    /// Who decides whether credentials are good.
    pub auth: Auth,
    /// What is remembered of the auth service's answers. Only for `per-request`.
    #[serde(default)]
    pub cache: Cache,
    /// What becomes of requests that nobody can decide on, because the auth service does not answer.
    #[serde(default)]
    pub on_outage: OnOutage,
    /// Whether the upstream gets to see the credentials.
    #[serde(default)]
    pub upstream_credentials: UpstreamCredentials,
    /// What a refused client is told.
    #[serde(default)]
    pub rejection: Rejection,
    /// Which requests are concerned.
    #[serde(default)]
    pub scope: Scope,
    /// How many requests a worker holds, and how many call-outs it has under way, at a time while decisions are
    /// pending. One more is refused with 503. All workers' together should stay below the cluster's circuit breaker
    /// (`max_requests` and `max_pending_requests`, 1024 by default), whose refusals are 503 too.
    #[serde(default = "default_max_waiting")]
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = 1000000)))]
    pub max_waiting: u32,
}

/// A place in a request where credentials can stand.
#[derive(Debug, Clone, Deserialize, Serialize, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Origin {
    /// The Authorization header with the Basic scheme (RFC 7617).
    Basic,
    /// Two headers.
    Headers {
        /// The header that holds the client's identifier.
        #[serde(default = "default_id_name")]
        id: String,
        /// The header that holds the client's secret.
        #[serde(default = "default_secret_name")]
        secret: String,
    },
    /// Two query parameters, which are found in every spelling that some upstream takes for their names.
    Query {
        /// The parameter that holds the client's identifier.
        #[serde(default = "default_id_name")]
        id: String,
        /// The parameter that holds the client's secret.
        #[serde(default = "default_secret_name")]
        secret: String,
    },
}

/// Whether a client must give its secret.
#[derive(Debug, Default, Clone, Copy, Deserialize, Serialize, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum SecretRule {
    /// A request without a secret is refused.
    #[default]
    Required,
    /// The identifier alone will do; a secret that is given must be right. This identifies clients, it does not
    /// authenticate them.
    Optional,
}

/// Who decides whether credentials are good.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Auth {
    /// The auth service is asked about each pair of credentials that is not in the cache, with a request that
    /// carries them as HTTP Basic. 2xx admits, 401 and 403 refuse, 5xx or nothing is an outage, anything else decides
    /// nothing.
    PerRequest(PerRequest),
    /// The auth service is asked for its list of clients from time to time, and decisions are made in the worker.
    Registry(RegistrySource),
}

/// An auth service that is asked about one pair of credentials at a time.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct PerRequest {
    /// The Envoy cluster of the auth service.
    pub cluster: String,
    /// The request's method.
    #[serde(default = "default_method")]
    pub method: String,
    /// The request's path, query included.
    #[serde(default = "default_verify_path")]
    pub path: String,
    /// The request's authority (Host header).
    #[serde(default = "default_authority")]
    pub authority: String,
    /// How long to wait for the answer, in milliseconds.
    #[serde(default = "default_timeout_ms")]
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = 60000)))]
    pub timeout_ms: u32,
    /// How often a request is sent again, at once, when the connection breaks before an answer, which Envoy reports
    /// as 503 or 502: a kept-alive connection may be closed by the service at just that moment.
    #[serde(default = "default_retries")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 3)))]
    pub retries: u8,
    /// Headers of the answer that say who the client is.
    #[serde(default)]
    pub identity: IdentityHeaders,
}

/// An auth service that gives its list of clients.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RegistrySource {
    /// The Envoy cluster of the auth service.
    pub cluster: String,
    /// The path of the list, query included.
    #[serde(default = "default_registry_path")]
    pub path: String,
    /// The request's authority (Host header).
    #[serde(default = "default_authority")]
    pub authority: String,
    /// How long to wait for the list, in milliseconds.
    #[serde(default = "default_registry_timeout_ms")]
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = 60000)))]
    pub timeout_ms: u32,
    /// How long to wait between two requests for the list, in milliseconds; each worker adds up to a tenth of its
    /// own, so that they do not all ask at once.
    #[serde(default = "default_interval_ms")]
    #[cfg_attr(feature = "schema", schemars(range(min = 100, max = 86400000)))]
    pub interval_ms: u32,
    /// What becomes of requests before the first list has come.
    #[serde(default)]
    pub before_first_list: BeforeFirstList,
    /// How long a request is held for the first list, in milliseconds, before that is an outage.
    #[serde(default = "default_hold_ms")]
    #[cfg_attr(feature = "schema", schemars(range(min = 100, max = 60000)))]
    pub hold_ms: u32,
    /// How long a list is believed after the service last confirmed it, in milliseconds; after that, requests are an
    /// outage. 0 believes it for as long as there is no newer one.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 604800000)))]
    pub max_age_ms: u32,
    /// The longest list that is accepted, in bytes. Envoy itself takes no more than 32 MiB by default
    /// (`http.async_response_buffer_limit`).
    #[serde(default = "default_max_document_bytes")]
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = 33_554_432)))]
    pub max_bytes: u32,
    /// How many clients a list may have.
    #[serde(default = "default_max_clients")]
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = 1_000_000)))]
    pub max_clients: u32,
    /// How much of a VM's memory a list may take, with the text that it is read from, in bytes. The list before it is in
    /// memory too until it is replaced.
    #[serde(default = "default_max_memory_bytes")]
    #[cfg_attr(feature = "schema", schemars(range(min = 65_536, max = 402_653_184)))]
    pub max_memory_bytes: u32,
}

/// Headers of the auth service's answer that say who the client is. A name or tier that the answer does not have, or
/// that is not 1 to 256 bytes of UTF-8 text without control characters and white space at its ends, is left out of the
/// identity. Spaces and tabs around a value do not belong to it (RFC 9110, section 5.5). An admission that has one of them
/// twice, in whatever spelling of its name, decides nothing.
#[derive(Debug, Default, Clone, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct IdentityHeaders {
    /// The header with the client's identifier, which every admission must have then; by default the identifier is the
    /// one that the client gave.
    pub client_id: Option<String>,
    /// The header with the client's name.
    pub name: Option<String>,
    /// The header with the client's tier.
    pub tier: Option<String>,
}

/// What is remembered of the auth service's answers, by each worker.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Cache {
    /// How many admissions a worker remembers, and a quarter as many refusals; the least recently used goes first. 0
    /// turns the cache off.
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 1000000)))]
    pub entries: u32,
    /// How long an admission is remembered, in milliseconds.
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 86400000)))]
    pub admit_ttl_ms: u32,
    /// How long a refusal is remembered, in milliseconds.
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 86400000)))]
    pub deny_ttl_ms: u32,
    /// By how much at the most a time to live is shortened at random, in percent, so that what was learnt together
    /// is not forgotten together.
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 100)))]
    pub jitter_percent: u8,
    /// How many answers all workers of the process remember together, on top. 0 turns this level off.
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 1000000)))]
    pub shared_slots: u32,
    /// For how long after its time an answer still serves if the auth service is out, in milliseconds; not when too many
    /// requests are waiting. 0 turns this off.
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 86400000)))]
    pub stale_if_error_ms: u32,
}

impl Default for Cache {
    fn default() -> Self {
        Self {
            entries: 10_000,
            admit_ttl_ms: 60_000,
            deny_ttl_ms: 5_000,
            jitter_percent: 10,
            shared_slots: 0,
            stale_if_error_ms: 0,
        }
    }
}

/// What becomes of requests that nobody can decide on.
#[derive(Debug, Default, Clone, Copy, Deserialize, Serialize, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum OnOutage {
    /// They are refused with 503.
    #[default]
    Closed,
    /// They pass without an identity, marked by the header `x-portcullis-unverified`. Not when too many requests are
    /// waiting, nor while the auth service decides on others: whoever sends such requests would open the gate.
    Open,
}

/// Whether the upstream gets to see the credentials.
#[derive(Debug, Default, Clone, Copy, Deserialize, Serialize, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum UpstreamCredentials {
    /// They are removed from headers and query string, from every configured origin.
    #[default]
    Remove,
    /// Those that decide stay where they are; those in other configured origins, which nobody has checked, are removed.
    Keep,
}

/// What becomes of requests before the first list has come.
#[derive(Debug, Default, Clone, Copy, Deserialize, Serialize, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum BeforeFirstList {
    /// They are held, `hold_ms` at the most.
    #[default]
    Hold,
    /// They are an outage at once.
    Refuse,
}

/// What a refused client is told.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Rejection {
    /// The scheme of the WWW-Authenticate challenge. `Basic` also says `charset="UTF-8"`.
    pub scheme: String,
    /// The realm of the challenge.
    pub realm: String,
    /// Whether the body names the reason (`missing`, `invalid`, `disabled`), which helps honest clients and
    /// attackers alike.
    pub reason: ReasonInBody,
}

impl Default for Rejection {
    fn default() -> Self {
        Self { scheme: "Basic".to_owned(), realm: "portcullis".to_owned(), reason: ReasonInBody::Hidden }
    }
}

/// Whether the body of a rejection names its reason.
#[derive(Debug, Default, Clone, Copy, Deserialize, Serialize, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ReasonInBody {
    /// It does not.
    #[default]
    Hidden,
    /// It does.
    Shown,
}

fn default_origins() -> Vec<Origin> {
    vec![
        Origin::Basic,
        Origin::Headers { id: default_id_name(), secret: default_secret_name() },
        Origin::Query { id: default_id_name(), secret: default_secret_name() },
    ]
}

fn default_id_name() -> String {
    "client_id".to_owned()
}

fn default_secret_name() -> String {
    "client_secret".to_owned()
}

fn default_method() -> String {
    "GET".to_owned()
}

fn default_verify_path() -> String {
    "/verify".to_owned()
}

fn default_registry_path() -> String {
    "/clients".to_owned()
}

fn default_authority() -> String {
    "auth".to_owned()
}

const fn default_timeout_ms() -> u32 {
    1_000
}

const fn default_registry_timeout_ms() -> u32 {
    5_000
}

const fn default_retries() -> u8 {
    1
}

const fn default_interval_ms() -> u32 {
    10_000
}

const fn default_hold_ms() -> u32 {
    5_000
}

const fn default_max_document_bytes() -> u32 {
    4 << 20
}

const fn default_max_clients() -> u32 {
    100_000
}

const fn default_max_memory_bytes() -> u32 {
    64 << 20
}

const fn default_max_waiting() -> u32 {
    256
}

impl Config {
    /// The origins, with header names in the form in which hosts give them.
    pub(crate) fn origins(&self) -> Vec<Origin> {
        let lower = |origin: &Origin| match origin {
            Origin::Headers { id, secret } => {
                Origin::Headers { id: id.to_ascii_lowercase(), secret: secret.to_ascii_lowercase() }
            }
            other => other.clone(),
        };
        self.credentials.iter().map(lower).collect()
    }

    /// What the policy may take of memory: the cache, or two lists, for one is read while the other is in force, and the
    /// requests that wait.
    pub(crate) fn most_memory(&self) -> MostMemory {
        /// A place in the table and in the list of what was used when, the key, and what was decided.
        const ENTRY: usize = 256;
        /// The longest identifier, name or tier, with what the allocator adds.
        const TEXT: usize = MAX_ID_BYTES + 16;
        /// A waiting request's credentials, and its places in lists.
        const WAITING: usize = MAX_ID_BYTES + MAX_SECRET_BYTES + 256;
        let size = |number: u32| usize::try_from(number).unwrap_or(usize::MAX);
        let decisions = match &self.auth {
            Auth::PerRequest(PerRequest { identity: IdentityHeaders { name, tier, .. }, .. }) => {
                let texts =
                    [true, name.is_some(), tier.is_some()].into_iter().filter(|is_there| *is_there).count();
                let admission = ENTRY.saturating_add(TEXT.saturating_mul(texts));
                let denials = size(self.cache.entries.div_ceil(4)).saturating_mul(ENTRY);
                size(self.cache.entries).saturating_mul(admission).saturating_add(denials)
            }
            Auth::Registry(source) => size(source.max_memory_bytes).saturating_mul(2),
        };
        let waiting = size(self.max_waiting).saturating_mul(WAITING);
        MostMemory { kept: decisions.saturating_add(waiting), ..MostMemory::default() }
    }

    /// Checks what types cannot say.
    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        if self.credentials.is_empty() {
            return Err(ConfigError::new("credentials", "must name at least one origin"));
        }
        for (at, origin) in self.credentials.iter().enumerate() {
            let within = |error: ConfigError| error.within(&format!("credentials[{at}]"));
            check_origin(origin).map_err(within)?;
            if self.credentials.iter().take(at).any(|earlier| earlier == origin) {
                return Err(within(ConfigError::new("", "stands in the list already")));
            }
        }
        check_auth(&self.auth).map_err(|error| error.within("auth"))?;
        check_cache(&self.cache).map_err(|error| error.within("cache"))?;
        in_range("max_waiting", self.max_waiting, 1..=1_000_000)
    }
}

fn check_origin(origin: &Origin) -> Result<(), ConfigError> {
    match origin {
        Origin::Basic => Ok(()),
        Origin::Headers { id, secret } => {
            for (field, name) in [("id", id), ("secret", secret)] {
                header_name(field, name)?;
            }
            if spelling::is_same(id.as_bytes(), secret.as_bytes()) {
                return Err(ConfigError::new(
                    "secret",
                    "must be another name than id, also to readers that take `.`, `_` and `-` for one",
                ));
            }
            Ok(())
        }
        Origin::Query { id, secret } => {
            for (field, name) in [("id", id), ("secret", secret)] {
                if name.is_empty() {
                    return Err(ConfigError::new(field, "must not be empty"));
                }
            }
            if parameter::is_same(id.as_bytes(), secret.as_bytes()) {
                return Err(ConfigError::new("secret", "must be another name than id, to every reader"));
            }
            Ok(())
        }
    }
}

fn check_auth(auth: &Auth) -> Result<(), ConfigError> {
    match auth {
        Auth::PerRequest(service) => check_per_request(service).map_err(|error| error.within("per-request")),
        Auth::Registry(source) => check_registry(source).map_err(|error| error.within("registry")),
    }
}

fn check_per_request(service: &PerRequest) -> Result<(), ConfigError> {
    check_call(&service.cluster, &service.path, &service.authority)?;
    if !is_token(&service.method) {
        return Err(ConfigError::new("method", "must be an HTTP method, such as GET"));
    }
    in_range("timeout_ms", service.timeout_ms, 1..=60_000)?;
    in_range("retries", u32::from(service.retries), 0..=3)?;
    let IdentityHeaders { client_id, name, tier } = &service.identity;
    for (field, header) in [("client_id", client_id), ("name", name), ("tier", tier)] {
        if let Some(header) = header {
            header_name(field, header).map_err(|error| error.within("identity"))?;
        }
    }
    Ok(())
}

fn check_registry(source: &RegistrySource) -> Result<(), ConfigError> {
    check_call(&source.cluster, &source.path, &source.authority)?;
    in_range("timeout_ms", source.timeout_ms, 1..=60_000)?;
    in_range("interval_ms", source.interval_ms, 100..=86_400_000)?;
    in_range("hold_ms", source.hold_ms, 100..=60_000)?;
    in_range("max_age_ms", source.max_age_ms, 0..=604_800_000)?;
    in_range("max_bytes", source.max_bytes, 1..=32 << 20)?;
    in_range("max_clients", source.max_clients, 1..=1_000_000)?;
    in_range("max_memory_bytes", source.max_memory_bytes, 64 << 10..=384 << 20)
}

fn check_call(cluster: &str, path: &str, authority: &str) -> Result<(), ConfigError> {
    if cluster.is_empty() {
        return Err(ConfigError::new("cluster", "must name an Envoy cluster"));
    }
    let is_visible = |text: &str| text.bytes().all(|byte| byte.is_ascii_graphic());
    if !path.starts_with('/') || !is_visible(path) || path.contains('#') {
        return Err(ConfigError::new(
            "path",
            "must begin with / and be visible ASCII, percent-encoded if need be",
        ));
    }
    if !is_authority(authority) {
        return Err(ConfigError::new("authority", "must be a host name, with a port if need be"));
    }
    Ok(())
}

fn check_cache(cache: &Cache) -> Result<(), ConfigError> {
    const HOUR_MS: u32 = 3_600_000;
    in_range("entries", cache.entries, 0..=1_000_000)?;
    in_range("admit_ttl_ms", cache.admit_ttl_ms, 0..=24 * HOUR_MS)?;
    in_range("deny_ttl_ms", cache.deny_ttl_ms, 0..=24 * HOUR_MS)?;
    in_range("jitter_percent", u32::from(cache.jitter_percent), 0..=100)?;
    in_range("shared_slots", cache.shared_slots, 0..=1_000_000)?;
    in_range("stale_if_error_ms", cache.stale_if_error_ms, 0..=24 * HOUR_MS)
}

fn header_name(field: &str, name: &str) -> Result<(), ConfigError> {
    if !is_token(name) || is_reserved(name.to_ascii_lowercase().as_bytes()) {
        return Err(ConfigError::new(field, "must be a header name, and not one of the suite's own"));
    }
    if has_meaning(name) {
        let problem = "must not be a header that means something else to HTTP, to Envoy or to other proxies";
        return Err(ConfigError::new(field, problem));
    }
    Ok(())
}

fn in_range(field: &str, value: u32, range: RangeInclusive<u32>) -> Result<(), ConfigError> {
    if range.contains(&value) {
        Ok(())
    } else {
        Err(ConfigError::new(field, format!("must be from {} to {}", range.start(), range.end())))
    }
}

#[cfg(test)]
mod tests {
    use portcullis_policy::{Chain, config};
    use serde_json::{Value, json};

    use super::*;
    use crate::ClientId;

    fn read(document: &Value) -> Value {
        let config: Config = config::parse(document.to_string().as_bytes()).unwrap();
        serde_json::to_value(config).unwrap()
    }

    fn problem(document: &Value) -> Option<String> {
        let chain = Chain::new().then_configured::<ClientId>(document.to_string().as_bytes());
        chain.err().map(|error| error.to_string())
    }

    #[test]
    fn says_how_much_memory_it_may_take_at_most() {
        const MIB: usize = 1 << 20;
        let kept = |document: Value| {
            config::parse::<Config>(document.to_string().as_bytes()).unwrap().most_memory().kept / MIB
        };
        let per_request = |entries: u32, identity: Value, max_waiting: u32| {
            kept(json!({
                "auth": {"per-request": {"cluster": "auth", "identity": identity}},
                "cache": {"entries": entries},
                "max_waiting": max_waiting,
            }))
        };
        // 256 bytes for each entry, a quarter as many for refusals, and 272 for each text.
        assert_eq!(per_request(1_000_000, json!({}), 1), 592_000_000 / MIB);
        let texts = json!({"name": "x-name", "tier": "x-tier"});
        assert_eq!(per_request(1_000_000, texts, 1), 1_136_000_000 / MIB);
        assert_eq!(per_request(0, json!({}), 1_000_000), 1_536_000_000 / MIB);
        let registry = json!({"auth": {"registry": {"cluster": "auth", "max_memory_bytes": 100 * MIB}}});
        assert_eq!(kept(registry), 200);
        assert!(per_request(10_000, json!({}), 256) < 10, "by default");
    }

    #[test]
    fn a_document_with_nothing_but_a_cluster_has_the_documented_defaults() {
        let names = json!({"id": "client_id", "secret": "client_secret"});
        let mut expected = json!({
            "credentials": ["basic", {"headers": names}, {"query": names}],
            "secret": "required",
            "auth": {"per-request": {
                "cluster": "auth",
                "method": "GET",
                "path": "/verify",
                "authority": "auth",
                "timeout_ms": 1000,
                "retries": 1,
                "identity": {"client_id": null, "name": null, "tier": null},
            }},
            "cache": {
                "entries": 10_000,
                "admit_ttl_ms": 60_000,
                "deny_ttl_ms": 5000,
                "jitter_percent": 10,
                "shared_slots": 0,
                "stale_if_error_ms": 0,
            },
            "on_outage": "closed",
            "upstream_credentials": "remove",
            "rejection": {"scheme": "Basic", "realm": "portcullis", "reason": "hidden"},
            "scope": {"only": [], "exempt": [], "cors_preflight": "enforced"},
            "max_waiting": 256,
        });
        assert_eq!(read(&json!({"auth": {"per-request": {"cluster": "auth"}}})), expected);
        expected["auth"] = json!({"registry": {
            "cluster": "auth",
            "path": "/clients",
            "authority": "auth",
            "timeout_ms": 5000,
            "interval_ms": 10_000,
            "before_first_list": "hold",
            "hold_ms": 5000,
            "max_age_ms": 0,
            "max_bytes": 4_194_304,
            "max_clients": 100_000,
            "max_memory_bytes": 67_108_864,
        }});
        assert_eq!(read(&json!({"auth": {"registry": {"cluster": "auth"}}})), expected);
    }

    /// A document with this value at this place.
    fn with(place: &str, value: impl Into<Value>) -> Value {
        let kind = if place.starts_with("auth.registry") { "registry" } else { "per-request" };
        let mut document = json!({"auth": {kind: {"cluster": "auth"}}});
        *place.split('.').fold(&mut document, |at, field| &mut at[field]) = value.into();
        document
    }

    #[test]
    fn every_number_has_its_bounds() {
        for (place, least, most) in [
            ("auth.per-request.timeout_ms", 1, 60_000),
            ("auth.per-request.retries", 0, 3),
            ("auth.registry.timeout_ms", 1, 60_000),
            ("auth.registry.interval_ms", 100, 86_400_000),
            ("auth.registry.hold_ms", 100, 60_000),
            ("auth.registry.max_age_ms", 0, 604_800_000),
            ("auth.registry.max_bytes", 1, 33_554_432),
            ("auth.registry.max_clients", 1, 1_000_000),
            ("auth.registry.max_memory_bytes", 65_536, 402_653_184),
            ("cache.entries", 0, 1_000_000),
            ("cache.admit_ttl_ms", 0, 86_400_000),
            ("cache.deny_ttl_ms", 0, 86_400_000),
            ("cache.jitter_percent", 0, 100),
            ("cache.shared_slots", 0, 1_000_000),
            ("cache.stale_if_error_ms", 0, 86_400_000),
            ("max_waiting", 1, 1_000_000),
        ] {
            for good in [least, most] {
                assert_eq!(problem(&with(place, good)), None, "{place}: {good}");
            }
            let expected = format!("{place}: must be from {least} to {most}");
            for bad in [u32::checked_sub(least, 1), Some(most + 1)].into_iter().flatten() {
                assert_eq!(problem(&with(place, bad)).as_ref(), Some(&expected), "{bad}");
            }
        }
    }

    #[test]
    fn refuses_calls_that_no_host_could_send() {
        const AUTHORITY: &str = "must be a host name, with a port if need be";
        const PATH: &str = "must begin with / and be visible ASCII, percent-encoded if need be";
        for (field, value, expected) in [
            ("cluster", "", Some("must name an Envoy cluster")),
            ("authority", "auth.internal:8080", None),
            ("authority", "", Some(AUTHORITY)),
            ("authority", "user@auth", Some(AUTHORITY)),
            ("authority", "user:secret@auth:8080", Some(AUTHORITY)),
            ("authority", "auth/verify", Some(AUTHORITY)),
            ("authority", "outbound|8080||auth.shop", Some(AUTHORITY)),
            ("authority", "auth internal", Some(AUTHORITY)),
            ("authority", "auth\r\nx: y", Some(AUTHORITY)),
            ("path", "/a?b=%20", None),
            ("path", "", Some(PATH)),
            ("path", "a", Some(PATH)),
            ("path", "/a b", Some(PATH)),
            ("path", "/a#b", Some(PATH)),
        ] {
            for kind in ["per-request", "registry"] {
                let place = format!("auth.{kind}.{field}");
                let expected = expected.map(|expected| format!("{place}: {expected}"));
                assert_eq!(problem(&with(&place, value)), expected, "{value:?}");
            }
        }
    }

    /// Envoy, proxies and clients set them, act on them or remove them, so that no credentials could come in them.
    #[test]
    fn refuses_headers_that_mean_something_else_in_every_spelling() {
        for name in [
            "connection",
            "Transfer_Encoding",
            "content.length",
            "host",
            "te",
            "upgrade",
            "keep-alive",
            "trailer",
            "cookie",
            "Content_Type",
            "x-forwarded-for",
            "X.Request.Id",
            "x-envoy-original-path",
            "server",
            "date",
            "Authorization",
        ] {
            for part in ["id", "secret"] {
                let credentials = json!([{"headers": {part: name}}]);
                let said = problem(&with("credentials", credentials)).unwrap();
                let expected =
                    format!("credentials[0].{part}: must not be a header that means something else");
                assert!(said.starts_with(&expected), "{said}");
            }
            for part in ["client_id", "name", "tier"] {
                let place = format!("auth.per-request.identity.{part}");
                let said = problem(&with(&place, name)).unwrap();
                assert!(said.starts_with(&format!("{place}: must not be a header")), "{said}");
            }
        }
        for credentials in [
            json!([{"headers": {"id": "x-key", "secret": "X.Key"}}]),
            json!([{"headers": {"id": "client_id", "secret": "client-id"}}]),
        ] {
            let said = problem(&with("credentials", credentials)).unwrap();
            assert!(said.starts_with("credentials[0].secret: must be another name than id"), "{said}");
        }
    }
}
