//! From bytes to a tree.

use super::{Document, Full, TreeBuilder};
use crate::error::{Error, ErrorKind};
use crate::limits::{Limit, Limits};
use crate::tokenizer::Tokenizer;

impl Document {
    /// Parses a document whose encoding its own bytes tell.
    ///
    /// # Errors
    /// If the document is refused: see [`ErrorKind`].
    pub fn parse(bytes: &[u8], limits: &Limits) -> Result<Self, Error> {
        let mut builder = TreeBuilder::new(limits);
        builder.reserve(bytes.len());
        let mut tokenizer = Tokenizer::new(limits);
        tokenizer.feed(bytes, &mut builder)?;
        if builder.failure().is_none() {
            tokenizer.finish(&mut builder)?;
        }
        builder.finish().map_err(|full| {
            let kind = match full {
                Full::Nodes(limit) => ErrorKind::LimitExceeded(Limit::Nodes, u64::from(limit)),
                Full::Text => ErrorKind::LimitExceeded(Limit::DocumentBytes, u64::from(u32::MAX)),
            };
            Error { kind, position: tokenizer.position() }
        })
    }
}
