//! The document that is transformed.

use portcullis_xml::{
    Control, Document, Error, ErrorKind, Limit, Limits, Name, Position, Sink, StartTag, Tokenizer,
    TreeBuilder,
};

use crate::program::{Space, SpaceRules, SpaceTest};
use crate::qname;

/// A document to transform, without the white space that the stylesheet strips.
#[derive(Debug, Clone)]
pub struct Source {
    pub(crate) document: Document,
    /// The size of the document as it was transferred.
    pub(crate) bytes: usize,
}

/// Takes a document piece by piece, cut anywhere.
#[derive(Debug)]
pub struct SourceBuilder<'s> {
    tokenizer: Tokenizer,
    sink: StrippingBuilder<'s>,
    limits: Limits,
    bytes: usize,
}

impl<'s> SourceBuilder<'s> {
    pub(crate) fn new(space: &'s SpaceRules, limits: &Limits) -> Self {
        let sink = StrippingBuilder { tree: TreeBuilder::new(limits), space, open: Vec::new() };
        Self { tokenizer: Tokenizer::new(limits), sink, limits: limits.clone(), bytes: 0 }
    }

    /// Takes the next piece.
    ///
    /// # Errors
    /// If the document is not well-formed, or goes beyond a limit.
    pub fn feed(&mut self, chunk: &[u8]) -> Result<(), Error> {
        self.bytes = self.bytes.saturating_add(chunk.len());
        self.tokenizer.feed(chunk, &mut self.sink)?;
        self.check()
    }

    /// The whole document.
    ///
    /// # Errors
    /// If it is not complete.
    pub fn finish(mut self) -> Result<Source, Error> {
        self.tokenizer.finish(&mut self.sink)?;
        self.check()?;
        let (limit, bytes) = (self.limits.nodes, self.bytes);
        match self.sink.tree.finish() {
            Ok(document) => Ok(Source { document, bytes }),
            Err(_) => Err(too_many_nodes(limit)),
        }
    }

    fn check(&self) -> Result<(), Error> {
        match self.sink.tree.failure() {
            None => Ok(()),
            Some(_) => Err(too_many_nodes(self.limits.nodes)),
        }
    }
}

/// Where the one node too many stands does not matter: it is the whole that is too large.
fn too_many_nodes(limit: u32) -> Error {
    let kind = ErrorKind::LimitExceeded(Limit::Nodes, u64::from(limit));
    Error { kind, position: Position { line: 1, column: 1, offset: 0 } }
}

/// Builds a tree without the text nodes that the stylesheet strips (XSLT 1.0, section 3.4).
#[derive(Debug)]
struct StrippingBuilder<'s> {
    tree: TreeBuilder,
    space: &'s SpaceRules,
    /// For each open element: whether it keeps white space, by the stylesheet and by `xml:space`.
    open: Vec<Kept>,
}

#[derive(Debug, Clone, Copy)]
struct Kept {
    by_stylesheet: bool,
    by_document: bool,
}

impl Sink for StrippingBuilder<'_> {
    fn start(&mut self, tag: &StartTag<'_>) -> Control {
        if !self.space.rules.is_empty() {
            let outer = self.open.last().is_some_and(|open| open.by_document);
            let by_document = match tag.attributes.find(qname::XML, "space").map(|space| space.value) {
                Some("preserve") => true,
                Some("default") => false,
                _ => outer,
            };
            self.open.push(Kept { by_stylesheet: self.space.keeps(&tag.name), by_document });
        }
        self.tree.start(tag)
    }

    fn end(&mut self, name: Name<'_>) -> Control {
        self.open.pop();
        self.tree.end(name)
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

impl SpaceRules {
    /// Whether white space counts in an element of this name.
    fn keeps(&self, name: &Name<'_>) -> bool {
        let rule = self.rules.iter().find(|rule| match &rule.test {
            SpaceTest::Any => true,
            SpaceTest::Namespace(uri) => **uri == *name.namespace,
            SpaceTest::Name(wanted) => *wanted.local == *name.local && *wanted.namespace == *name.namespace,
        });
        rule.is_none_or(|rule| rule.space == Space::Preserve)
    }
}
