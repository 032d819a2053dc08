//! A body that one policy of a chain reads as XML, and others want to have read.

use portcullis_xml::{Charset, Document, Limits, Tokenizer, TreeBuilder};

use crate::held_memory::HeldMemory;

/// The body of a request as a tree, as far as a policy has read it: those behind it in the chain need not read that part
/// again.
#[derive(Debug)]
pub struct SharedDocument {
    /// How much of the body has been read, in bytes.
    pub read: usize,
    /// The encoding that the headers stated, if they stated one.
    pub charset: Option<Charset>,
    /// The limits within which it was read. Those on nodes are for whoever takes it to look after: its own differ.
    pub limits: Limits,
    /// The tree.
    pub tree: SharedTree,
    /// What it takes of the worker's memory.
    pub memory: HeldMemory,
}

/// A tree that is whole, or is being built.
#[derive(Debug)]
pub enum SharedTree {
    /// The document has not ended, or nobody has looked: whoever takes it goes on with what follows.
    Growing {
        /// What reads it.
        tokenizer: Box<Tokenizer>,
        /// What it is made to.
        tree: Box<TreeBuilder>,
    },
    /// The document has ended.
    Whole(Box<Document>),
}
