//! The configuration document.

mod check;

use std::collections::BTreeMap;

use portcullis_policy::scope::Scope;
use serde::{Deserialize, Serialize};

use crate::cluster::ServiceConfig;

pub(crate) use check::in_range;

/// The longest period of a limit: 366 days.
pub const MAX_PERIOD_MS: u64 = 366 * 24 * 60 * 60 * 1000;

/// Configuration of the rate-limit policy.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// The policy's name: 1 to 32 of `a` to `z`, `0` to `9`, `_` and `-`. Policies of one VM id that have the same name,
    /// key, algorithm, periods and `store.slots` count together; metrics are kept for each name, and the `ietf` headers show
    /// it. By default the plugin's name and the policy's place among those of its kind in the chain tell it apart, so
    /// plugins of one VM id, in all listeners, must have different names, or the policies names of their own.
    pub name: Option<String>,
    /// What requests are counted by: the parts together make the key. Without any, all requests are counted together.
    #[serde(default)]
    pub key: Vec<KeyPart>,
    /// What becomes of a request that lacks a part of the key.
    #[serde(default)]
    pub missing_key: MissingKey,
    /// How requests are counted.
    #[serde(default)]
    pub algorithm: Algorithm,
    /// How many requests may come in how much time, for each key: limits with different periods. All must have quota; a
    /// request counts against all of them or, when it is refused, against none.
    #[cfg_attr(feature = "schema", schemars(length(min = 1, max = 8)))]
    pub limits: Vec<Limit>,
    /// Other limits for callers of a tier, by its name of 1 to 256 bytes. Each of these tiers is counted apart from the
    /// others and from callers without such a tier.
    #[serde(default)]
    pub tiers: BTreeMap<String, Tier>,
    /// Which headers tell the client of its quota, on responses and on refusals.
    #[serde(default)]
    pub headers: Headers,
    /// What a client is told whose quota is used up.
    #[serde(default)]
    pub rejection: Rejection,
    /// Whether requests are refused at all.
    #[serde(default)]
    pub mode: Mode,
    /// Where counts are kept.
    #[serde(default)]
    pub store: Store,
    /// What becomes of requests that cannot be counted because the host does not do what is needed.
    #[serde(default)]
    pub on_failure: OnFailure,
    /// A service that counts for all gateways together, in place of the table. Without it each Envoy counts for itself.
    pub service: Option<ServiceConfig>,
    /// Which requests are concerned. The others are not counted and get no headers.
    #[serde(default)]
    pub scope: Scope,
}

/// A part of what requests are counted by.
#[derive(Debug, Clone, Deserialize, Serialize, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum KeyPart {
    /// The client's identifier, as client-id has established it: before this policy in the same chain, or in a filter
    /// of its own before this one.
    ClientId,
    /// A header.
    Header {
        /// The header's name. Another spelling of it is a further value. All requests in which it stands twice with
        /// different values are counted together. (Envoy
        /// joins the values of some headers with commas, such as Cache-Control: these are one value.)
        name: String,
    },
    /// A query parameter.
    Query {
        /// The parameter's name, which is found in every spelling that some upstream takes for it; the value is compared
        /// percent-decoded. All requests in which it stands twice with different values, or which have a name or a value for
        /// it that cannot be decoded, are counted together.
        name: String,
    },
    /// The address that the request came from.
    SourceAddress {
        /// How many proxies before this one are trusted to have appended to X-Forwarded-For, as Envoy's
        /// `xff_num_trusted_hops` has it: so many entries at its right end are passed over. This counts on
        /// `use_remote_address: true`, with which Envoy itself has appended one; with Envoy's default, `false`, it appends
        /// none, and the number must be one less, or clients choose what they are counted by. 0 takes the address that
        /// Envoy itself has established: with `use_remote_address: true` that of the connection, but with Envoy's
        /// default, `false`, the last entry of X-Forwarded-For, which a client that connects directly writes itself.
        #[serde(default)]
        #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 32)))]
        trusted_hops: u8,
        /// How many bits of an IPv4 address count.
        #[serde(default = "default_prefix_v4")]
        #[cfg_attr(feature = "schema", schemars(range(min = 1, max = 32)))]
        prefix_v4: u8,
        /// How many bits of an IPv6 address count. A client commonly has a whole /64 to itself.
        #[serde(default = "default_prefix_v6")]
        #[cfg_attr(feature = "schema", schemars(range(min = 1, max = 128)))]
        prefix_v6: u8,
    },
    /// The path without the query. All spellings that upstreams may take for one path share a quota: percent-encoding, upper
    /// and lower case, slashes too many, dot segments and path parameters (`;…`) make no difference. Paths that could be
    /// anything are counted together: those with a backslash, a control character or an encoded delimiter (`%2F`).
    Path,
    /// The method.
    Method,
    /// The authority (Host header) in lower case, without the port.
    Host,
}

/// What becomes of a request that lacks a part of the key.
#[derive(Debug, Default, Clone, Copy, Deserialize, Serialize, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum MissingKey {
    /// It is counted with all others that lack the same parts and agree in the rest.
    #[default]
    OwnBucket,
    /// It is refused with 400, and so is one in which a part stands twice with different values.
    Refuse,
    /// It passes uncounted: whoever leaves the part out evades the limits.
    Skip,
}

/// How requests are counted.
#[derive(Debug, Default, Clone, Copy, Deserialize, Serialize, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Algorithm {
    /// A window begins with a key's first request, and `max` requests may come in it. Across the border of two windows
    /// twice as many may come.
    #[default]
    FixedWindow,
    /// In no interval as long as the period more than `max` requests pass. Quota comes back up to a tenth of the period
    /// late.
    SlidingWindow,
    /// Quota comes back evenly, `max` in a period, and up to `burst` may be saved up.
    TokenBucket,
}

/// How many requests may come in how much time.
#[derive(Debug, Clone, Copy, Deserialize, Serialize, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Limit {
    /// How many requests.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub max: u64,
    /// The time, in milliseconds; 366 days at the most.
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = 31_622_400_000_u64)))]
    pub period_ms: u64,
    /// How many requests may come at once. For `token-bucket` only, where it is `max` by default.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub burst: Option<u64>,
}

/// Limits for callers of a tier.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Tier {
    /// The limits, as above.
    #[cfg_attr(feature = "schema", schemars(length(min = 1, max = 8)))]
    pub limits: Vec<Limit>,
}

/// Which headers tell the client of its quota.
#[derive(Debug, Default, Clone, Copy, Deserialize, Serialize, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Headers {
    /// None. Refusals have Retry-After all the same.
    #[default]
    Off,
    /// `X-RateLimit-Limit`, `X-RateLimit-Remaining` and, in milliseconds, `X-RateLimit-Reset`, as MuleSoft's rate
    /// limiting policies send them.
    Mule,
    /// The same names with reset in seconds and the list of limits, as Envoy's own filters send them for
    /// `DRAFT_VERSION_03`.
    Envoy,
    /// `RateLimit-Limit`, `RateLimit-Remaining` and `RateLimit-Reset`, and `X-RateLimit-Limit-Minute` and the like for
    /// each limit, as Kong's rate limiting plugin sends them.
    Kong,
    /// `RateLimit-Policy` and `RateLimit` (draft-ietf-httpapi-ratelimit-headers-11).
    Ietf,
}

/// What a client is told whose quota is used up. Retry-After always says when to come again.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Rejection {
    /// The status.
    #[cfg_attr(feature = "schema", schemars(range(min = 400, max = 599)))]
    pub status: u16,
    /// A body in place of the problem document (RFC 9457). SOAP requests get a fault and gRPC calls a status in any
    /// case.
    pub body: Option<Body>,
}

impl Default for Rejection {
    fn default() -> Self {
        Self { status: 429, body: None }
    }
}

/// The body of a refusal.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Body {
    /// The body, as it is sent.
    pub text: String,
    /// Its Content-Type.
    #[serde(default = "default_content_type")]
    pub content_type: String,
}

/// Whether requests are refused at all.
#[derive(Debug, Default, Clone, Copy, Deserialize, Serialize, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// They are.
    #[default]
    Enforce,
    /// They are not: what would have been refused is counted and recorded, and passes.
    Shadow,
}

/// Where counts are kept: in a table that all workers of the process share.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Store {
    /// How many keys the table has room for at a time, about. Each policy has a table of its own; policies with the same
    /// name must have the same number to share one. Another number begins new counts.
    #[cfg_attr(feature = "schema", schemars(range(min = 16, max = 16_777_216)))]
    pub slots: u32,
    /// What becomes of a request whose key finds no room. No key that is in use is ever forgotten for another.
    pub when_full: WhenFull,
    /// Whether workers may take quota in advance.
    pub precision: Precision,
}

impl Default for Store {
    fn default() -> Self {
        Self { slots: 65_536, when_full: WhenFull::default(), precision: Precision::default() }
    }
}

/// What becomes of a request whose key finds no room in the table.
#[derive(Debug, Default, Clone, Copy, Deserialize, Serialize, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum WhenFull {
    /// It is counted together with others that find no room in the same part of the table.
    #[default]
    Share,
    /// It passes uncounted.
    Admit,
    /// It is refused with 503.
    Refuse,
}

/// Whether workers may take quota in advance.
#[derive(Debug, Default, Clone, Copy, Deserialize, Serialize, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Precision {
    /// They may not: each request is counted in the shared table.
    #[default]
    Exact,
    /// A worker takes up to so many requests' worth of a key's quota at once and serves from that. Never more than
    /// `max` requests pass; in each window up to (workers − 1) × `batch` may be refused that had quota. For
    /// `fixed-window` only.
    Leased {
        /// How many requests' worth at the most; 1 to 1,000,000.
        #[cfg_attr(feature = "schema", schemars(range(min = 1, max = 1_000_000)))]
        batch: u64,
    },
}

/// What becomes of requests that cannot be counted because the host does not do what is needed.
#[derive(Debug, Default, Clone, Copy, Deserialize, Serialize, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum OnFailure {
    /// They are refused with 503.
    #[default]
    Closed,
    /// They pass.
    Open,
}

fn default_content_type() -> String {
    "text/plain; charset=utf-8".to_owned()
}

const fn default_prefix_v4() -> u8 {
    32
}

const fn default_prefix_v6() -> u8 {
    64
}
