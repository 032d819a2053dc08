//! The documents that a stylesheet is made of.

use std::collections::BTreeMap;

use portcullis_xml::{
    Control, Document, Error, Limits, NodeId, NodeKind, Position, Sink, StartTag, Tokenizer, TreeBuilder,
};

use crate::error::{CompileError, CompileErrorKind, Place};
use crate::limits::CompileLimits;

/// A document, and where its elements begin.
#[derive(Debug)]
pub(super) struct Module {
    /// The name that it was included by; empty for the stylesheet itself.
    pub(super) name: Box<str>,
    pub(super) document: Document,
    /// Line and column of the start tags.
    places: BTreeMap<NodeId, (u32, u32)>,
    /// The document element.
    pub(super) element: NodeId,
}

impl Module {
    /// Parses a document.
    pub(super) fn parse(name: &str, bytes: &[u8], limits: &CompileLimits) -> Result<Self, CompileError> {
        let limits =
            Limits { depth: limits.depth, document_bytes: limits.document_bytes, ..Limits::default() };
        let mut sink = LocatingBuilder { tree: TreeBuilder::new(&limits), at: (1, 1), starts: Vec::new() };
        let tokenized = tokenize(bytes, &limits, &mut sink);
        let LocatingBuilder { tree, starts, .. } = sink;
        let failed = |position: Position, kind| CompileError {
            place: Place {
                document: (!name.is_empty()).then(|| name.into()),
                line: narrow(position.line),
                column: narrow(position.column),
                instruction: Box::default(),
            },
            kind: CompileErrorKind::Xml(kind),
        };
        tokenized.map_err(|error| failed(error.position, error.kind))?;
        let document = tree.finish().map_err(|_| {
            let kind = portcullis_xml::ErrorKind::LimitExceeded(
                portcullis_xml::Limit::Nodes,
                u64::from(limits.nodes),
            );
            failed(Position { line: 1, column: 1, offset: 0 }, kind)
        })?;
        let elements = InOrder::new(&document).filter(|node| document.kind(*node) == NodeKind::Element);
        let places = elements.zip(starts).collect();
        let element = document.children(NodeId::ROOT).find(|node| document.kind(*node) == NodeKind::Element);
        Ok(Self { name: name.into(), element: element.unwrap_or(NodeId::ROOT), document, places })
    }

    /// Where a start tag is, for an error.
    pub(super) fn place(&self, element: NodeId) -> Place {
        let (line, column) = self.line_and_column(element);
        let (prefix, local) = (self.document.prefix(element), self.document.local_name(element));
        let instruction = if prefix.is_empty() { local.to_owned() } else { format!("{prefix}:{local}") };
        let document = (!self.name.is_empty()).then(|| self.name.clone());
        Place { document, line, column, instruction: instruction.into() }
    }

    pub(super) fn line_and_column(&self, element: NodeId) -> (u32, u32) {
        self.places.get(&element).copied().unwrap_or((1, 1))
    }
}

fn narrow(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// Feeds the document in pieces, each of which begins a tag or ends one: so that the sink knows where a tag begins.
fn tokenize(bytes: &[u8], limits: &Limits, sink: &mut LocatingBuilder) -> Result<(), Error> {
    let mut tokenizer = Tokenizer::new(limits);
    let (mut line, mut column) = (1_u32, 1_u32);
    let mut rest = bytes;
    while let Some(first) = rest.first() {
        if *first == b'<' {
            sink.at = (line, column);
        }
        let following = rest.iter().skip(1).position(|byte| *byte == b'<').map(|at| at.saturating_add(1));
        let (piece, others) = rest.split_at_checked(following.unwrap_or(rest.len())).unwrap_or((rest, &[]));
        tokenizer.feed(piece, sink)?;
        for byte in piece {
            match byte {
                b'\n' => (line, column) = (line.saturating_add(1), 1),
                // A continuation byte of UTF-8 is no character of its own.
                0x80..=0xBF => {}
                _ => column = column.saturating_add(1),
            }
        }
        rest = others;
    }
    tokenizer.finish(sink)
}

/// Builds a tree, and notes where the start tags are.
struct LocatingBuilder {
    tree: TreeBuilder,
    /// Where the last `<` was.
    at: (u32, u32),
    /// Of each element, in document order.
    starts: Vec<(u32, u32)>,
}

impl Sink for LocatingBuilder {
    fn start(&mut self, tag: &StartTag<'_>) -> Control {
        self.starts.push(self.at);
        self.tree.start(tag)
    }

    fn end(&mut self) -> Control {
        self.tree.end()
    }

    fn text(&mut self, text: &str) -> Control {
        self.tree.text(text)
    }

    fn comment(&mut self, _text: &str) -> Control {
        // Comments and processing instructions of a stylesheet mean nothing, and do not separate text.
        Control::Continue
    }

    fn processing_instruction(&mut self, _target: &str, _data: &str) -> Control {
        Control::Continue
    }
}

/// The nodes of a tree in document order, attributes left out, without recursion.
struct InOrder<'a> {
    document: &'a Document,
    next: Option<NodeId>,
}

impl<'a> InOrder<'a> {
    fn new(document: &'a Document) -> Self {
        Self { document, next: Some(NodeId::ROOT) }
    }
}

impl Iterator for InOrder<'_> {
    type Item = NodeId;

    fn next(&mut self) -> Option<NodeId> {
        let node = self.next?;
        let document = self.document;
        self.next = document.first_child(node).or_else(|| {
            let mut up = Some(node);
            while let Some(at) = up {
                if let Some(sibling) = document.next_sibling(at) {
                    return Some(sibling);
                }
                up = document.parent(at);
            }
            None
        });
        Some(node)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knows_where_each_start_tag_is() {
        let source = "<a>\n  <b x='>'>é<c/></b>\n<!-- <z> -->\t<d\n/></a>";
        let module = Module::parse("", source.as_bytes(), &CompileLimits::default()).unwrap();

        let document = &module.document;
        let places: Vec<_> = InOrder::new(document)
            .filter(|node| document.kind(*node) == NodeKind::Element)
            .map(|node| (document.local_name(node), module.line_and_column(node)))
            .collect();
        assert_eq!(places, [("a", (1, 1)), ("b", (2, 3)), ("c", (2, 13)), ("d", (3, 14))]);
    }

    #[test]
    fn names_the_document_that_is_not_well_formed() {
        let error = Module::parse("part.xsl", b"<a>\n</b>", &CompileLimits::default()).unwrap_err();
        assert_eq!(error.place.document.as_deref(), Some("part.xsl"));
        assert_eq!(error.place.line, 2);
    }
}
