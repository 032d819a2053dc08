//! The namespaces that are declared on the elements around what is read.

use portcullis_xml::StartTag;

/// Declarations of a few open elements: those of an Envelope and its Body.
#[derive(Debug, Default)]
pub(super) struct Scope {
    /// Prefix and namespace; the empty prefix is that of the default namespace, the empty namespace undeclares it.
    declared: Vec<(String, String)>,
    /// How many declarations there were before each open element.
    outer: Vec<usize>,
}

impl Scope {
    /// How many bytes of memory it takes.
    pub(super) fn memory(&self) -> usize {
        let texts =
            self.declared.iter().map(|(prefix, uri)| prefix.capacity().saturating_add(uri.capacity()));
        let entries = self.declared.capacity().saturating_mul(size_of::<(String, String)>());
        texts.fold(entries, usize::saturating_add)
    }

    /// An element begins.
    pub(super) fn open(&mut self, tag: &StartTag<'_>) {
        self.outer.push(self.declared.len());
        for (prefix, uri, _) in tag.declarations() {
            self.declared.push((prefix.to_owned(), uri.to_owned()));
        }
    }

    /// The innermost element ends.
    pub(super) fn close(&mut self) {
        if let Some(outer) = self.outer.pop() {
            self.declared.truncate(outer);
        }
    }

    /// What a prefix stands for.
    pub(super) fn find(&self, prefix: &str) -> Option<&str> {
        self.declared.iter().rev().find(|(known, _)| known == prefix).map(|(_, uri)| uri.as_str())
    }

    /// Each prefix with what it stands for. The number of declarations is bounded by the tokenizer's limits.
    pub(super) fn bindings(&self) -> impl Iterator<Item = (&str, &str)> {
        let places = self.declared.iter().enumerate();
        places.filter_map(|(at, (prefix, uri))| {
            let later = self.declared.get(at.saturating_add(1)..).unwrap_or_default();
            later.iter().all(|(known, _)| known != prefix).then_some((prefix.as_str(), uri.as_str()))
        })
    }

    /// A prefix that stands for nothing.
    pub(super) fn unused_prefix(&self) -> String {
        let numbered = (1..).map(|number: u32| format!("soapenv{number}"));
        let mut prefixes = core::iter::once("soapenv".to_owned()).chain(numbered);
        prefixes.find(|prefix| self.find(prefix).is_none()).unwrap_or_default()
    }
}
