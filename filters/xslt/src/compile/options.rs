//! What a stylesheet is compiled with.

use std::collections::BTreeMap;

use crate::limits::CompileLimits;

/// What a stylesheet may refer to, and how large it may be.
#[derive(Debug, Clone, Default)]
pub struct CompileOptions {
    /// The documents that it may include and import, by name: nothing is ever fetched. An `href` is resolved against
    /// the name of the document that it stands in, as relative paths are (`a/b.xsl` and `../c.xsl` give `c.xsl`).
    pub documents: BTreeMap<String, Vec<u8>>,
    /// The bounds.
    pub limits: CompileLimits,
}
