//! Where the instructions of a stylesheet write to.
//!
//! Instructions know one thing: the [`Receiver`], and the [`ResultWriter`] that a transformation holds. It writes bytes
//! as the calls come in; a tree of the result is never built. What an instruction has to hold back (the value of an
//! attribute, the content of a variable) is a *capture*: begun, written to like everything else, and ended.
//!
//! Names are the numbers of the document that is transformed ([`Names`]): names that the stylesheet writes are looked
//! up in it once per transformation, names of copied nodes are there already, and computed ones are added.
//!
//! What XSLT 1.0 lets a processor recover from, the writer recovers from by leaving out what is wrong: attributes and
//! namespaces that come behind children or outside of elements (section 7.1.3), nodes other than text where a string
//! is made (sections 7.1.3, 7.3, 7.4). Of two attributes of one name the later stays (section 7.1.3).
//!
//! [`Names`]: portcullis_xml::tree::Names

mod attributes;
mod cdata;
mod copy;
mod declared;
mod error;
mod escape;
mod format;
mod fragment;
mod in_scope;
mod indent;
mod prolog;
mod receiver;
mod scope;
mod text;
mod writer;
mod written;
mod xml;

pub(crate) use copy::{copy_element, copy_of};
pub(crate) use error::ResultError;
pub(crate) use format::{DocumentType, Indent, Method, OutputFormat, Standalone, XmlDeclaration};
pub(crate) use fragment::Fragment;
pub(crate) use receiver::{Receiver, ResultName};
pub(crate) use writer::{ResultLimits, ResultWriter};

#[cfg(test)]
mod tests;
