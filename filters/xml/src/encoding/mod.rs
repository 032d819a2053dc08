//! From bytes to characters.
//!
//! A document's encoding is told by a byte order mark, by the `charset` of its content type, and by its XML
//! declaration, in this order of precedence (RFC 7303, section 3). Software differs in what it does when they disagree, so that one
//! that checks a document and one that uses it may see different documents: here, any disagreement is an error.
//! Without any of them the encoding is UTF-8 (XML 1.0, section 4.3.3).
//!
//! The standard library does all that is needed for UTF-8 and UTF-16; in ISO-8859-1 and US-ASCII, a byte is a
//! character. Encodings beyond these are rare in messages, and their tables would be larger in a module than the
//! tokenizer is (see docs/adr).

mod charset;
mod decoder;
mod detect;
mod single;
mod utf16;
mod utf8;

pub use charset::Charset;
pub(crate) use decoder::{Cut, Decoder, Piece};
pub(crate) use detect::{Basis, Detected, detect};
