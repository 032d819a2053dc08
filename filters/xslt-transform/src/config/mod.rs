//! The configuration document.

pub(crate) mod check;
mod condition;
mod transformation;

use std::collections::BTreeMap;

use portcullis_policy::MostMemory;
use portcullis_xslt::TransformLimits;
use serde::{Deserialize, Serialize};

pub use condition::Condition;
pub use portcullis_conditions::{Quantifier, TextTest};
pub use transformation::{
    OnError, OnFailure, ParameterValue, Placement, SourceElement, StylesheetReference, Transformation,
};

/// Configuration of the xslt-transform policy.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Stylesheets by name, for `named` and for one another: what they include and import is looked up here, by paths
    /// relative to their own names. Nothing is ever fetched. Names are relative paths of letters, digits, `.`, `_` and
    /// `-`.
    #[serde(default)]
    pub stylesheets: BTreeMap<String, String>,
    /// What is done to requests. Without it they pass as they are.
    pub request: Option<Transformation>,
    /// What is done to responses of the upstream. Without it they pass as they are. What Envoy and policies answer
    /// themselves always does.
    pub response: Option<Transformation>,
    /// How much a transformation may take.
    #[serde(default)]
    pub limits: Limits,
}

/// How much a transformation may take. What goes beyond ends it with an error.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// Bytes of a body. Envoy's own limit for what it holds, `per_connection_buffer_limit_bytes`, must not be lower, or
    /// Envoy refuses the message first.
    #[cfg_attr(feature = "schema", schemars(range(min = 1024, max = 33_554_432)))]
    pub max_bytes: u32,
    /// How deeply elements may be nested.
    #[cfg_attr(feature = "schema", schemars(range(min = 4, max = 1024)))]
    pub max_depth: u32,
    /// Nodes of the document and of temporary trees: elements, attributes, texts, comments. Each takes 32 bytes, and
    /// its text.
    #[cfg_attr(feature = "schema", schemars(range(min = 1000, max = 2_097_152)))]
    pub max_nodes: u32,
    /// Bytes of the new body, which also lies in Envoy: the same goes for it as for `max_bytes`. It may not have more than
    /// 64 times as many bytes as the old one either, and 64 KiB.
    #[cfg_attr(feature = "schema", schemars(range(min = 1024, max = 16_777_216)))]
    pub max_output_bytes: u32,
    /// Steps: an instruction is one, so is a node that an expression looks at, and so are 16 bytes of text. The worker
    /// does nothing else meanwhile; twenty million take a quarter of a second to a second.
    #[cfg_attr(feature = "schema", schemars(range(min = 1000, max = 1_000_000_000)))]
    pub max_steps: u32,
    /// Templates within one another.
    #[cfg_attr(feature = "schema", schemars(range(min = 16, max = 100_000)))]
    pub max_template_depth: u32,
    /// Bytes of lists of nodes, texts, variables, keys, sort keys, temporary trees and open templates, all that there are
    /// at once. A transformation takes up to three times as much memory for them while they grow.
    #[cfg_attr(feature = "schema", schemars(range(min = 65_536, max = 67_108_864)))]
    pub max_temporary_bytes: u32,
    /// Bytes of memory that all messages together may take that a worker is reading, for this policy and for others of
    /// the same VM: trees, text that has not ended, and the bytes that Envoy holds meanwhile. A message that would take more
    /// is `on_error.busy`; one that takes more by itself is `too_large`.
    #[cfg_attr(feature = "schema", schemars(range(min = 1_048_576, max = 268_435_456)))]
    pub max_held_bytes: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_bytes: 1 << 20,
            max_depth: 256,
            max_nodes: 1 << 18,
            max_output_bytes: 1 << 20,
            max_steps: 20_000_000,
            max_template_depth: 10_000,
            max_temporary_bytes: 16 << 20,
            max_held_bytes: 128 << 20,
        }
    }
}

impl Limits {
    /// Within which limits a body is read.
    pub fn of_documents(&self) -> portcullis_xml::Limits {
        let defaults = portcullis_xml::Limits::default();
        portcullis_xml::Limits {
            depth: self.max_depth,
            document_bytes: u64::from(self.max_bytes),
            text_bytes: size(self.max_bytes).max(defaults.text_bytes),
            nodes: self.max_nodes,
            ..defaults
        }
    }

    /// What the policy may take of memory. A body is copied once from the host, and once more if it is to be decoded; lists
    /// take three times as much while they grow, and what is written takes twice as much.
    pub(crate) fn most_memory(&self) -> MostMemory {
        let at_work = size(self.max_temporary_bytes)
            .saturating_mul(3)
            .saturating_add(size(self.max_output_bytes).saturating_mul(2))
            .saturating_add(size(self.max_bytes).saturating_mul(2));
        MostMemory { messages: size(self.max_held_bytes), at_work, ..MostMemory::default() }
    }

    /// Within which limits it is transformed.
    pub fn of_transformations(&self) -> TransformLimits {
        TransformLimits {
            steps: u64::from(self.max_steps),
            template_depth: size(self.max_template_depth),
            output_bytes: size(self.max_output_bytes),
            nodes: self.max_nodes,
            temporary_bytes: size(self.max_temporary_bytes),
            ..TransformLimits::default()
        }
    }
}

pub(crate) fn size(limit: u32) -> usize {
    usize::try_from(limit).unwrap_or(usize::MAX)
}
