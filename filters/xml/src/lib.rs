//! Bounded XML: an incremental tokenizer, a tree, XPath 1.0, and SOAP.
//!
//! The [`Tokenizer`] takes a document in chunks of any size and hands its parts on to a [`Sink`]. It is strict (XML 1.0
//! fifth edition and Namespaces in XML 1.0 third edition) but for document types, which it refuses on sight: without
//! them there are no entities to expand, and nothing to fetch. All that it keeps is bounded by [`Limits`], and its
//! work by the bytes that it has seen.

mod bytes;
mod chars;
mod elements;
mod encoding;
mod error;
pub mod escape;
mod limits;
mod namespaces;
mod position;
pub mod soap;
mod tag;
pub mod token;
mod tokenizer;
pub mod tree;
pub mod xpath;

pub use encoding::Charset;
pub use error::{Error, ErrorKind, Found, NamespaceRule, Position};
pub use limits::{Limit, Limits};
pub use token::{Attribute, Attributes, Control, Name, NamespaceId, Sink, StartTag};
pub use tokenizer::Tokenizer;
pub use tree::{Document, NodeId, NodeKind, TreeBuilder};
pub use xpath::{Namespaces, XPath};
