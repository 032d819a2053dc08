//! The configuration document.

mod action;
pub(crate) mod check;
mod condition;
mod possible;

use std::collections::BTreeMap;

use portcullis_policy::{Dependency, Fact, Moment};
use serde::{Deserialize, Serialize};

pub use action::{Action, Refusal};
pub use condition::Condition;
pub use portcullis_conditions::{Quantifier, TextTest};

/// The header that carries the route's name, unless the configuration says otherwise.
pub const DEFAULT_HEADER: &str = "x-portcullis-route";

/// Configuration of the content-router policy.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// The request header that gets the route's name, for Envoy's route table to match, or for `cluster_header`. What
    /// clients send under this name is removed. It must have no meaning of its own, as `content-…`, `x-envoy-…`,
    /// `x-forwarded-…`, `authorization` or `soapaction` have, and be no other router's of the chain. Of the names that begin with `x-portcullis-` only those that go on
    /// with `route`, or with `route-` and anything, are free for it.
    #[serde(default = "default_header")]
    pub header: String,
    /// The rules in order. The first whose condition is true is followed.
    pub rules: Vec<Rule>,
    /// What becomes of requests that no rule is true for. By default they are refused with 404, or a fault of that.
    #[serde(default)]
    pub default: Action,
    /// What the prefixes in XPath expressions stand for: namespaces by prefix. `soap11` and `soap12` stand for the
    /// envelopes' namespaces unless they are given here.
    #[serde(default)]
    pub namespaces: BTreeMap<String, String>,
    /// How bodies are read. Only conditions that look into bodies have them read.
    #[serde(default)]
    pub body: Body,
    /// What becomes of requests that a rule would have to look into the body of, and cannot.
    #[serde(default)]
    pub undecided: Undecided,
}

/// A rule: what becomes of requests that its condition is true for.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// The rule's name in metrics: 1 to 32 of `a` to `z`, `0` to `9`, `_` and `-`, and no other rule's. `rule-1`,
    /// `rule-2` and so on by default, by its place.
    pub name: Option<String>,
    /// The condition.
    pub when: Condition,
    /// What becomes of the request.
    pub then: Action,
}

/// How bodies are read.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Body {
    /// How many bytes of a body are held and read before the rules must have decided. Envoy's own limit for what it
    /// holds, `per_connection_buffer_limit_bytes`, must not be lower, or Envoy refuses the request first.
    #[cfg_attr(feature = "schema", schemars(range(min = 1024, max = 67_108_864)))]
    pub max_bytes: u32,
    /// How deeply elements of an envelope may be nested, as far as it is read.
    #[cfg_attr(feature = "schema", schemars(range(min = 4, max = 1024)))]
    pub max_depth: u32,
    /// Bytes of memory that all messages together may take that a worker is reading, for this policy and for others of
    /// the same VM: trees, text that has not ended, and the bytes that Envoy holds meanwhile. A request that would take more is `undecided.busy`.
    #[cfg_attr(feature = "schema", schemars(range(min = 1_048_576, max = 268_435_456)))]
    pub max_held_bytes: u32,
    /// Whether XPath expressions may need the whole body.
    pub xpath: XpathMode,
}

impl Default for Body {
    fn default() -> Self {
        Self { max_bytes: 1 << 20, max_depth: 256, max_held_bytes: 128 << 20, xpath: XpathMode::default() }
    }
}

/// Whether XPath expressions may need the whole body.
#[derive(Debug, Default, Clone, Copy, Deserialize, Serialize, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum XpathMode {
    /// They may not: an expression that cannot be decided while the body streams by is refused with the configuration.
    #[default]
    Streamed,
    /// They may: where one of them needs it, the body is held whole and made a tree of. All of XPath 1.0 can be used.
    Buffered,
}

/// What becomes of requests that a rule would have to look into the body of, and cannot. Rules before that rule have
/// been found not to be true.
#[derive(Debug, Clone, Copy, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Undecided {
    /// The request has no body. If refused, with 400.
    pub no_body: OnUndecided,
    /// Its media type is not one that the rules can read, or cannot be read itself. If refused, with 415.
    pub content_type: OnUndecided,
    /// It is encoded: compressed, say. If refused, with 415.
    pub encoded: OnUndecided,
    /// It has several parts, as SOAP with attachments has (MTOM). If refused, with 415.
    pub multipart: OnUndecided,
    /// More of it came than `body.max_bytes` before the rules had decided. If refused, with 413.
    pub too_large: OnUndecided,
    /// It is not well-formed, is no envelope though its headers say so, is of another version of SOAP, or is JSON in which
    /// readers find different values where a rule looks. If refused, with 400.
    pub malformed: OnUndecided,
    /// What the worker is reading takes more memory than `body.max_held_bytes`. If refused, with 503.
    pub busy: OnUndecided,
}

impl Default for Undecided {
    fn default() -> Self {
        Self {
            no_body: OnUndecided::Default,
            content_type: OnUndecided::Refuse,
            encoded: OnUndecided::Refuse,
            multipart: OnUndecided::Refuse,
            too_large: OnUndecided::Refuse,
            malformed: OnUndecided::Refuse,
            busy: OnUndecided::Refuse,
        }
    }
}

/// What becomes of a request that no rule could decide on.
#[derive(Debug, Clone, Copy, Deserialize, Serialize, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum OnUndecided {
    /// It is refused.
    Refuse,
    /// What `default` says.
    Default,
    /// It passes without a route.
    Pass,
}

impl Config {
    /// What the rules look at that another policy may set.
    pub(crate) fn reads(&self) -> Vec<Dependency> {
        let of_rule = |(at, rule): (usize, &Rule)| {
            let mut names = Vec::new();
            rule.when.headers(&mut names);
            let dependency = |name: &str| Dependency {
                fact: Fact::Header(name.to_owned()),
                moment: Moment::Request,
                field: format!("rules[{at}].when"),
            };
            names.into_iter().map(dependency).collect::<Vec<_>>()
        };
        self.rules.iter().enumerate().flat_map(of_rule).collect()
    }
}

fn default_header() -> String {
    DEFAULT_HEADER.to_owned()
}
