//! Writes parts of a document as they were read.

use portcullis_xml::escape::write_text;
use portcullis_xml::{Name, StartTag};

/// Writes elements, text and comments, in UTF-8.
#[derive(Debug, Default)]
pub(super) struct Writer {
    out: Vec<u8>,
    /// The names of the open elements, as they were written.
    open: Vec<String>,
    last: Last,
}

/// What was written last.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Last {
    /// A start tag without the `>` that ends it.
    UnfinishedTag,
    #[default]
    Other,
}

impl Writer {
    /// All that was written.
    pub(super) fn finish(mut self) -> Vec<u8> {
        self.finish_tag();
        self.out
    }

    /// How many bytes of memory it takes.
    pub(super) fn memory(&self) -> usize {
        let names = self.open.iter().map(|name| name.capacity().saturating_add(size_of::<String>()));
        names.fold(self.out.capacity(), usize::saturating_add)
    }

    /// How much has been written.
    pub(super) fn place(&mut self) -> usize {
        self.finish_tag();
        self.out.len()
    }

    /// A start tag as it is.
    pub(super) fn start(&mut self, tag: &StartTag<'_>) {
        self.begin(qualified(tag.name()));
        for (prefix, uri, _) in tag.declarations() {
            self.declare(prefix, uri);
        }
        self.attributes(tag);
    }

    /// A start tag with this default namespace, unless it declares one itself.
    pub(super) fn start_with_default(&mut self, tag: &StartTag<'_>, default: &str) {
        self.begin(qualified(tag.name()));
        if tag.declarations().all(|(prefix, _, _)| !prefix.is_empty()) {
            self.declare("", default);
        }
        for (prefix, uri, _) in tag.declarations() {
            self.declare(prefix, uri);
        }
        self.attributes(tag);
    }

    /// A start tag that leaves no default namespace behind; an element that is in it itself gets the prefix.
    pub(super) fn start_without_default(&mut self, tag: &StartTag<'_>, prefix: &str) {
        if tag.name().prefix.is_empty() {
            self.begin(qualified(Name { prefix, ..tag.name() }));
            self.declare(prefix, tag.name().namespace);
        } else {
            self.begin(qualified(tag.name()));
        }
        self.declare("", "");
        for (prefix, uri, _) in tag.declarations().filter(|(prefix, _, _)| !prefix.is_empty()) {
            self.declare(prefix, uri);
        }
        self.attributes(tag);
    }

    /// The end of the innermost element.
    pub(super) fn end(&mut self) {
        let name = self.open.pop().unwrap_or_default();
        if core::mem::take(&mut self.last) == Last::UnfinishedTag {
            self.put("/>");
        } else {
            self.put("</");
            self.put(&name);
            self.put(">");
        }
    }

    pub(super) fn text(&mut self, text: &str) {
        self.finish_tag();
        write_text(&mut self.out, text);
    }

    pub(super) fn comment(&mut self, text: &str) {
        self.finish_tag();
        self.put("<!--");
        self.put(text);
        self.put("-->");
    }

    fn put(&mut self, text: &str) {
        self.out.extend_from_slice(text.as_bytes());
    }

    fn finish_tag(&mut self) {
        if core::mem::take(&mut self.last) == Last::UnfinishedTag {
            self.put(">");
        }
    }

    fn begin(&mut self, name: String) {
        self.finish_tag();
        self.put("<");
        self.put(&name);
        self.open.push(name);
        self.last = Last::UnfinishedTag;
    }

    fn declare(&mut self, prefix: &str, uri: &str) {
        self.put(if prefix.is_empty() { " xmlns" } else { " xmlns:" });
        self.put(prefix);
        self.value(uri);
    }

    fn attributes(&mut self, tag: &StartTag<'_>) {
        for attribute in tag.attributes().iter() {
            self.put(" ");
            self.put(&qualified(attribute.name));
            self.value(attribute.value);
        }
    }

    /// A value of an attribute. Tabs and line ends are written as references, or a reader would take them for spaces
    /// (XML 1.0, section 3.3.3).
    fn value(&mut self, value: &str) {
        self.put("=\"");
        for piece in value.split_inclusive(['\t', '\n']) {
            let (plain, end) = match (piece.strip_suffix('\t'), piece.strip_suffix('\n')) {
                (Some(plain), _) => (plain, "&#9;"),
                (_, Some(plain)) => (plain, "&#10;"),
                _ => (piece, ""),
            };
            write_text(&mut self.out, plain);
            self.put(end);
        }
        self.put("\"");
    }
}

/// A name as it is written.
fn qualified(name: Name<'_>) -> String {
    if name.prefix.is_empty() { name.local.to_owned() } else { format!("{}:{}", name.prefix, name.local) }
}
