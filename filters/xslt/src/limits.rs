//! How much a stylesheet may hold, and how much a transformation may take.

use core::fmt;

/// Bounds on a stylesheet with all that it includes and imports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompileLimits {
    /// Size of each document in bytes. Default 1 MiB.
    pub document_bytes: u64,
    /// Elements that are open at once in one document. The compiler goes down to each of them by recursion. Default 96.
    pub depth: u32,
    /// Documents, counted as often as they are included. Default 64.
    pub documents: usize,
    /// Instructions of the compiled stylesheet. Default 262,144.
    pub instructions: usize,
}

impl Default for CompileLimits {
    fn default() -> Self {
        Self { document_bytes: 1 << 20, depth: 96, documents: 64, instructions: 1 << 18 }
    }
}

/// Bounds on one transformation. What goes beyond one ends it with an error that names the bound.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TransformLimits {
    /// Steps: an instruction is one, so is a node that an expression looks at, and so are 16 bytes of text that
    /// are read or written. Default 20,000,000.
    pub steps: u64,
    /// Templates that are being instantiated at once. They live on the heap, not on the stack. Default 10,000.
    pub template_depth: usize,
    /// Bytes of the result. Default 4 MiB.
    pub output_bytes: usize,
    /// Bytes of the result for each byte of the input, on top of 64 KiB. Default 64.
    pub output_factor: usize,
    /// Nodes of the source and of the temporary trees that there are at once: up to 100 bytes each while trees grow. A tree is there as long as the template,
    /// or the round of a loop, that has made it, and to the end if a global variable holds it. Default 524,288.
    pub nodes: u32,
    /// Bytes that all values together may take: variables, arguments, lists of nodes, sort keys, open templates, loops and
    /// elements, the text that is being collected, the text of temporary trees and what expressions make while they are
    /// there; global variables, keys and computed names to the end. Each is held against this before it grows. What grows
    /// has room for more, and is there twice while it is moved: memory for up to three times as many bytes is taken.
    /// Default 64 MiB.
    pub temporary_bytes: usize,
}

impl Default for TransformLimits {
    fn default() -> Self {
        Self {
            steps: 20_000_000,
            template_depth: 10_000,
            output_bytes: 4 << 20,
            output_factor: 64,
            nodes: 1 << 19,
            temporary_bytes: 64 << 20,
        }
    }
}

/// One of the [`TransformLimits`], in an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bound {
    /// [`TransformLimits::steps`]
    Steps,
    /// [`TransformLimits::template_depth`]
    TemplateDepth,
    /// [`TransformLimits::output_bytes`] or [`TransformLimits::output_factor`]
    OutputBytes,
    /// [`TransformLimits::nodes`]
    Nodes,
    /// [`TransformLimits::temporary_bytes`]
    TemporaryBytes,
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Steps => "steps",
            Self::TemplateDepth => "templates inside one another",
            Self::OutputBytes => "bytes of output",
            Self::Nodes => "nodes of the source and of temporary trees",
            Self::TemporaryBytes => "bytes of temporary values",
        })
    }
}
