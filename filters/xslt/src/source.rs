//! The document that is transformed.

use std::rc::Rc;

use portcullis_xml::{
    Charset, Control, Document, Error, ErrorKind, Limit, Limits, Position, Sink, StartTag, Tokenizer,
    TreeBuilder,
};

use crate::program::SpaceRules;
use crate::qname;

/// A document to transform, without the white space that the stylesheet strips.
#[derive(Debug, Clone)]
pub struct Source {
    pub(crate) document: Document,
    /// The size of the document as it was transferred.
    pub(crate) bytes: usize,
}

impl Source {
    /// A document that was parsed for other purposes too, of so many bytes: for stylesheets that strip no white space
    /// ([`Stylesheet::strips_space`](crate::Stylesheet::strips_space)).
    #[must_use]
    pub fn unstripped(document: Document, bytes: usize) -> Self {
        Self { document, bytes }
    }
}

/// Takes a document piece by piece, cut anywhere.
#[derive(Debug)]
pub struct SourceBuilder {
    tokenizer: Tokenizer,
    tree: SourceTree,
    bytes: usize,
}

impl SourceBuilder {
    pub(crate) fn new(tree: SourceTree, limits: &Limits) -> Self {
        Self { tokenizer: Tokenizer::new(limits), tree, bytes: 0 }
    }

    /// Tells the encoding that the document was sent with. To be called before the first piece.
    #[must_use]
    pub fn with_charset(mut self, charset: Charset) -> Self {
        self.tokenizer = self.tokenizer.with_charset(charset);
        self
    }

    /// Takes the next piece.
    ///
    /// # Errors
    /// If the document is not well-formed, or goes beyond a limit.
    pub fn feed(&mut self, chunk: &[u8]) -> Result<(), Error> {
        self.bytes = self.bytes.saturating_add(chunk.len());
        self.tokenizer.feed(chunk, &mut self.tree)?;
        self.tree.check()
    }

    /// The whole document.
    ///
    /// # Errors
    /// If it is not complete.
    pub fn finish(mut self) -> Result<Source, Error> {
        self.tokenizer.finish(&mut self.tree)?;
        self.tree.finish(self.bytes)
    }
}

/// Where the one node too many stands does not matter: it is the whole that is too large.
fn too_many_nodes(limit: u32) -> Error {
    let kind = ErrorKind::LimitExceeded(Limit::Nodes, u64::from(limit));
    Error { kind, position: Position { line: 1, column: 1, offset: 0 } }
}

/// Takes the parts of a document, or of one element of it, from whoever has it tokenized, and builds a tree without
/// the text nodes that the stylesheet strips (XSLT 1.0, section 3.4).
#[derive(Debug)]
pub struct SourceTree {
    tree: TreeBuilder,
    max_nodes: u32,
    space: Rc<SpaceRules>,
    /// For each open element: whether it keeps white space, by the stylesheet and by `xml:space`.
    open: Vec<Kept>,
}

#[derive(Debug, Clone, Copy)]
struct Kept {
    by_stylesheet: bool,
    by_document: bool,
}

impl SourceTree {
    pub(crate) fn new(space: Rc<SpaceRules>, limits: &Limits) -> Self {
        Self { tree: TreeBuilder::new(limits), max_nodes: limits.nodes, space, open: Vec::new() }
    }

    /// The same, of a tree that somebody else has begun, without stripping anything: for stylesheets that strip no white
    /// space ([`Stylesheet::strips_space`](crate::Stylesheet::strips_space)).
    #[must_use]
    pub fn unstripped(tree: TreeBuilder, limits: &Limits) -> Self {
        let tree = tree.within(limits);
        Self { tree, max_nodes: limits.nodes, space: Rc::default(), open: Vec::new() }
    }

    /// Makes room for the tree of a text of so many bytes. There need not be that many.
    pub fn reserve(&mut self, bytes: usize) {
        self.tree.reserve(bytes);
    }

    /// How many bytes of memory it takes.
    #[must_use]
    pub fn memory(&self) -> usize {
        self.tree.memory().saturating_add(self.open.capacity().saturating_mul(size_of::<Kept>()))
    }

    /// Declares a namespace on the element that was just started, as one that an element around it had declared: an
    /// empty prefix stands for the default namespace. The element's own declarations go before.
    pub fn declare_outer(&mut self, prefix: &str, uri: &str) {
        let names = self.tree.names();
        if let (Some(prefix), Some(uri)) = (names.prefix(prefix), names.uri(uri)) {
            // What does not fit in, `check` reports.
            let _ = self.tree.declare(prefix, uri);
        }
    }

    /// Whether all has fitted in so far.
    ///
    /// # Errors
    /// If there are more nodes than the limits allow.
    pub fn check(&self) -> Result<(), Error> {
        match self.tree.failure() {
            None => Ok(()),
            Some(_) => Err(too_many_nodes(self.max_nodes)),
        }
    }

    /// What has been built, to be transformed as the whole document; `bytes` is how much was transferred for it.
    ///
    /// # Errors
    /// If there are more nodes than the limits allow.
    pub fn finish(self, bytes: usize) -> Result<Source, Error> {
        self.check()?;
        match self.tree.finish() {
            Ok(document) => Ok(Source { document, bytes }),
            Err(_) => Err(too_many_nodes(self.max_nodes)),
        }
    }
}

impl Sink for SourceTree {
    fn start(&mut self, tag: &StartTag<'_>) -> Control {
        if !self.space.is_empty() {
            let outer = self.open.last().is_some_and(|open| open.by_document);
            let by_document = match tag.attributes().find(qname::XML, "space").map(|space| space.value) {
                Some("preserve") => true,
                Some("default") => false,
                _ => outer,
            };
            self.open.push(Kept {
                by_stylesheet: self.space.keeps(tag.name().namespace, tag.name().local),
                by_document,
            });
        }
        self.tree.start(tag)
    }

    fn end(&mut self) -> Control {
        self.open.pop();
        self.tree.end()
    }

    fn text(&mut self, text: &str) -> Control {
        let strips = self.open.last().is_some_and(|open| !open.by_stylesheet && !open.by_document);
        if strips && text.chars().all(qname::is_space) {
            return Control::Continue;
        }
        self.tree.text(text)
    }

    fn comment(&mut self, text: &str) -> Control {
        self.tree.comment(text)
    }

    fn processing_instruction(&mut self, target: &str, data: &str) -> Control {
        self.tree.processing_instruction(target, data)
    }
}
