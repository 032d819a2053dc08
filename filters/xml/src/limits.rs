//! How much of a document is taken.

use core::fmt;

/// Bounds on a document. What goes beyond one is refused with [`ErrorKind::LimitExceeded`] and the [`Limit`]'s name.
///
/// They bound the tokenizer's memory: it holds at most one tag, one piece of character data, comment or processing
/// instruction, the names of the open elements, and the namespaces' names. Sizes are in bytes of UTF-8, whatever the
/// document's encoding, but for [`document_bytes`](Self::document_bytes).
///
/// The XML declaration, which has to be read before anything is known of the document, is bounded for good, at
/// [`DECLARATION_BYTES`](Self::DECLARATION_BYTES).
///
/// [`ErrorKind::LimitExceeded`]: crate::ErrorKind::LimitExceeded
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Elements that are open at once. Default 256.
    pub depth: u32,
    /// Attributes of one element, namespace declarations not counted. Default 128.
    pub attributes: u32,
    /// Namespace declarations of all open elements together. Default 128.
    pub bindings: u32,
    /// Different namespace names in the whole document. Default 1024.
    pub namespaces: u32,
    /// Length of a name: of an element, an attribute, a processing instruction's target, or an entity that is referred
    /// to. Default 65,536.
    pub name_bytes: usize,
    /// Length of an attribute's value, normalized. Default 65,536.
    pub value_bytes: usize,
    /// Length of one piece of character data (all that the sink gets in one call), of a comment, and of a processing
    /// instruction's data. Default 1 MiB.
    pub text_bytes: usize,
    /// Size of the whole document as it is transferred. Default 1 MiB.
    pub document_bytes: u64,
    /// Nodes of the tree that is made of the document, attributes included; the tokenizer alone does not count them.
    /// Each takes 32 bytes. Default 262,144.
    pub nodes: u32,
}

impl Limits {
    /// Length of the XML declaration, of which what stands between `<?xml` and `?>` counts: 1 KiB.
    pub const DECLARATION_BYTES: usize = 1 << 10;

    /// Whether a tokenizer reads the same documents within both, whatever trees may be made of them.
    #[must_use]
    pub fn read_the_same(&self, other: &Self) -> bool {
        *self == Self { nodes: self.nodes, ..other.clone() }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            depth: 256,
            attributes: 128,
            bindings: 128,
            namespaces: 1024,
            name_bytes: 64 << 10,
            value_bytes: 64 << 10,
            text_bytes: 1 << 20,
            document_bytes: 1 << 20,
            nodes: 1 << 18,
        }
    }
}

/// One of the [`Limits`], in an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// [`Limits::depth`]
    Depth,
    /// [`Limits::attributes`]
    Attributes,
    /// [`Limits::bindings`]
    Bindings,
    /// [`Limits::namespaces`]
    Namespaces,
    /// [`Limits::name_bytes`]
    NameBytes,
    /// [`Limits::value_bytes`]
    ValueBytes,
    /// [`Limits::text_bytes`]
    TextBytes,
    /// [`Limits::DECLARATION_BYTES`]
    DeclarationBytes,
    /// [`Limits::document_bytes`]
    DocumentBytes,
    /// [`Limits::nodes`]
    Nodes,
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Depth => "open elements",
            Self::Attributes => "attributes of an element",
            Self::Bindings => "namespace declarations in scope",
            Self::Namespaces => "different namespaces",
            Self::NameBytes => "bytes of a name",
            Self::ValueBytes => "bytes of an attribute value",
            Self::TextBytes => "bytes of text",
            Self::DeclarationBytes => "bytes of the XML declaration",
            Self::DocumentBytes => "bytes of the document",
            Self::Nodes => "nodes of a tree",
        })
    }
}
