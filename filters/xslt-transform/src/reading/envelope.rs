//! An envelope of which the stylesheet gets one element: that becomes a tree, and the rest is written out again.

use portcullis_xml::soap::{Outline, Place, Recognition};
use portcullis_xml::{Control, Sink, StartTag};
use portcullis_xslt::SourceTree;

use super::scope::Scope;
use super::writer::Writer;

/// Takes an envelope's parts. The first element in the Body becomes the source of the transformation. Everything else is
/// written as UTF-8, so that the result can be put in the place of that element, whatever encoding the message is in:
/// the same elements, attributes, namespaces, comments and text, though not always the same quotes or the same way to
/// write a character.
#[derive(Debug)]
pub(crate) struct Envelope {
    outline: Outline,
    tree: SourceTree,
    progress: Progress,
    /// How many elements are open.
    depth: u32,
    /// What is declared on Envelope and Body.
    scope: Scope,
    /// What is written of the envelope, and where in it the element stood.
    writer: Writer,
    place: usize,
    /// The default namespace that the Body's children had, if the Body as it is written takes it from them.
    masked: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Progress {
    /// The element has not begun.
    Before,
    Within,
    Behind,
}

/// What an envelope has turned out to be.
pub(crate) enum Opened {
    /// The element, and what stands before and behind it.
    Element { source: Box<SourceTree>, before: Vec<u8>, behind: Vec<u8> },
    /// The Body is empty.
    Empty,
    /// It is no envelope, or one that breaks the rules.
    Malformed,
}

/// How many elements are open where the children of the Body are: Envelope and Body.
const IN_BODY: u32 = 2;

impl Envelope {
    pub(crate) fn new(tree: SourceTree) -> Self {
        Self {
            outline: Outline::new(),
            tree,
            progress: Progress::Before,
            depth: 0,
            scope: Scope::default(),
            writer: Writer::default(),
            place: 0,
            masked: None,
        }
    }

    /// Whether it can still be an envelope.
    pub(crate) fn is_sound(&self) -> bool {
        let recognized =
            matches!(self.outline.recognition(), Recognition::Pending | Recognition::Envelope(_));
        recognized && self.outline.violation().is_none()
    }

    pub(crate) fn tree(&self) -> &SourceTree {
        &self.tree
    }

    /// How many bytes of memory it takes.
    pub(crate) fn memory(&self) -> usize {
        let masked = self.masked.as_ref().map_or(0, String::capacity);
        let parts = [self.tree.memory(), self.writer.memory(), self.scope.memory(), masked];
        parts.into_iter().fold(0, usize::saturating_add)
    }

    /// Makes room for a message of so many bytes.
    pub(crate) fn reserve(&mut self, bytes: usize) {
        self.tree.reserve(bytes);
    }

    /// The document has ended.
    pub(crate) fn open(self) -> Opened {
        if !self.is_sound() || self.outline.place() != Place::AfterEnvelope {
            return Opened::Malformed;
        }
        match self.progress {
            Progress::Before => Opened::Empty,
            Progress::Within | Progress::Behind => {
                let mut before = self.writer.finish();
                let behind = before.split_off(self.place.min(before.len()));
                Opened::Element { source: Box::new(self.tree), before, behind }
            }
        }
    }

    /// The element begins: its tree knows the namespaces that it has from the elements around it, which may stand in its
    /// values (QNames in content).
    fn begin_source(&mut self, tag: &StartTag<'_>) {
        self.progress = Progress::Within;
        self.place = self.writer.place();
        self.tree.start(tag);
        for (prefix, uri) in self.scope.bindings() {
            if !uri.is_empty() && tag.declarations().all(|(own, _, _)| own != prefix) {
                self.tree.declare_outer(prefix, uri);
            }
        }
    }

    /// Writes the Body's start tag. What is put into it brings the namespaces that it needs, but does not say where it
    /// needs none: the Body must have no default namespace.
    fn write_body(&mut self, tag: &StartTag<'_>) {
        match self.scope.find("").filter(|uri| !uri.is_empty()).map(str::to_owned) {
            None => self.writer.start(tag),
            Some(default) => {
                let prefix = self.scope.unused_prefix();
                self.writer.start_without_default(tag, &prefix);
                self.masked = Some(default);
            }
        }
    }
}

impl Sink for Envelope {
    fn start(&mut self, tag: &StartTag<'_>) -> Control {
        self.outline.start(tag);
        let depth = self.depth;
        self.depth = depth.saturating_add(1);
        if self.progress == Progress::Within {
            return self.tree.start(tag);
        }
        let is_in_body = self.outline.place() == Place::Body;
        if depth == IN_BODY && is_in_body && self.progress == Progress::Before {
            self.begin_source(tag);
            return Control::Continue;
        }
        if depth < IN_BODY {
            self.scope.open(tag);
        }
        match &self.masked {
            None if depth.saturating_add(1) == IN_BODY && is_in_body => self.write_body(tag),
            Some(default) if depth == IN_BODY => self.writer.start_with_default(tag, default),
            _ => self.writer.start(tag),
        }
        Control::Continue
    }

    fn end(&mut self) -> Control {
        self.outline.end();
        self.depth = self.depth.saturating_sub(1);
        if self.progress == Progress::Within {
            if self.depth == IN_BODY {
                self.progress = Progress::Behind;
            }
            return self.tree.end();
        }
        if self.depth < IN_BODY {
            self.scope.close();
        }
        self.writer.end();
        Control::Continue
    }

    fn text(&mut self, text: &str) -> Control {
        self.outline.text(text);
        if self.progress == Progress::Within {
            return self.tree.text(text);
        }
        self.writer.text(text);
        Control::Continue
    }

    fn comment(&mut self, text: &str) -> Control {
        if self.progress == Progress::Within {
            return self.tree.comment(text);
        }
        self.writer.comment(text);
        Control::Continue
    }

    /// No envelope may have one.
    fn processing_instruction(&mut self, target: &str, data: &str) -> Control {
        self.outline.processing_instruction(target, data)
    }
}
