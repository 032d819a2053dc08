//! What a document is made of, as the tokenizer hands it on.

use core::fmt;
use core::ops::Range;

use crate::elements::Elements;
use crate::namespaces::NamespaceNames;
use crate::tag::Tag;

/// Names a namespace among those of one document: the same URI has the same identifier throughout.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NamespaceId(pub u32);

impl NamespaceId {
    /// No namespace.
    pub const NONE: Self = Self(0);
    /// `http://www.w3.org/XML/1998/namespace`, which the prefix `xml` always stands for.
    pub const XML: Self = Self(1);
}

/// The name of an element or an attribute (Namespaces in XML 1.0, section 4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Name<'a> {
    /// What stands before the colon, empty if there is none.
    pub prefix: &'a str,
    /// What stands after the colon.
    pub local: &'a str,
    /// The namespace's URI, empty for no namespace.
    pub namespace: &'a str,
    /// The same, for comparison within the document.
    pub namespace_id: NamespaceId,
}

/// An attribute that is not a namespace declaration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Attribute<'a> {
    /// Its name.
    pub name: Name<'a>,
    /// Its value, normalized as that of a CDATA attribute (XML 1.0, section 3.3.3).
    pub value: &'a str,
}

/// A start tag, or an empty-element tag.
#[derive(Clone, Copy)]
pub struct StartTag<'a> {
    elements: &'a Elements,
    tag: &'a Tag,
    namespaces: &'a NamespaceNames,
}

impl<'a> StartTag<'a> {
    /// The tag of the innermost of the open elements.
    pub(crate) fn new(elements: &'a Elements, tag: &'a Tag, namespaces: &'a NamespaceNames) -> Self {
        Self { elements, tag, namespaces }
    }

    /// The element's name.
    #[must_use]
    pub fn name(&self) -> Name<'a> {
        self.elements.name(self.namespaces)
    }

    /// The number of the name among those that the tokenizer remembers: as long as it reads the document, the same number
    /// is the same name, prefix included. Not every name has one, and one may have several.
    pub(crate) fn number(&self) -> Option<u32> {
        self.elements.number()
    }

    /// Its attributes.
    #[must_use]
    pub fn attributes(&self) -> Attributes<'a> {
        self.tag.attributes(self.namespaces)
    }

    /// The tag's namespace declarations in document order: the prefix (empty for the default namespace), the
    /// namespace's name (empty where the default namespace is undeclared), and what stands for it in this document.
    pub fn declarations(&self) -> impl Iterator<Item = (&'a str, &'a str, NamespaceId)> + use<'a> {
        let (tag, names) = (self.tag, self.namespaces);
        tag.declarations().iter().map(move |declaration| {
            (tag.prefix(declaration), names.name(declaration.namespace), declaration.namespace)
        })
    }
}

impl fmt::Debug for StartTag<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StartTag")
            .field("name", &self.name())
            .field("attributes", &self.attributes())
            .field("declarations", &self.declarations().collect::<Vec<_>>())
            .finish()
    }
}

/// The attributes of an element, without namespace declarations, in document order.
#[derive(Clone, Copy)]
pub struct Attributes<'a> {
    records: &'a [AttributeRecord],
    text: &'a str,
    namespaces: &'a NamespaceNames,
}

impl<'a> Attributes<'a> {
    pub(crate) fn new(records: &'a [AttributeRecord], text: &'a str, namespaces: &'a NamespaceNames) -> Self {
        Self { records, text, namespaces }
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = Attribute<'a>> + use<'a> {
        let Self { records, text, namespaces } = *self;
        records.iter().map(move |record| record.resolve(text, namespaces))
    }

    /// The attribute of that expanded name; no namespace is the empty string.
    #[must_use]
    pub fn find(&self, namespace: &str, local: &str) -> Option<Attribute<'a>> {
        self.iter().find(|attribute| attribute.name.local == local && attribute.name.namespace == namespace)
    }
}

impl fmt::Debug for Attributes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

/// Where an attribute's parts are in the text of its tag.
#[derive(Debug, Clone)]
pub(crate) struct AttributeRecord {
    /// Which name of the tag it is; the element's own comes first.
    pub(crate) order: usize,
    pub(crate) prefix: Range<usize>,
    pub(crate) local: Range<usize>,
    pub(crate) value: Range<usize>,
    pub(crate) namespace: NamespaceId,
}

impl AttributeRecord {
    fn resolve<'a>(&self, text: &'a str, namespaces: &'a NamespaceNames) -> Attribute<'a> {
        let part = |range: &Range<usize>| text.get(range.clone()).unwrap_or_default();
        Attribute {
            name: Name {
                prefix: part(&self.prefix),
                local: part(&self.local),
                namespace: namespaces.name(self.namespace),
                namespace_id: self.namespace,
            },
            value: part(&self.value),
        }
    }
}

/// Where a namespace declaration's parts are in the text of its tag, and what the prefix is bound to.
#[derive(Debug, Clone)]
pub(crate) struct DeclarationRecord {
    /// Which name of the tag it is; the element's own comes first.
    pub(crate) order: usize,
    pub(crate) prefix: Range<usize>,
    pub(crate) value: Range<usize>,
    pub(crate) namespace: NamespaceId,
}

/// Whether the sink wants to see more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Control {
    /// Go on.
    Continue,
    /// It knows enough: the tokenizer stops behind this token, and takes no more.
    Stop,
}

/// Takes the parts of a document, in document order. What a sink does not implement it ignores.
///
/// The same document gives the same calls, however it was cut into chunks: character data is handed on whole, from one
/// piece of markup to the next, CDATA sections and references included and line ends normalized (XML 1.0, section
/// 2.11); it is never empty. White space outside the document element is not handed on.
pub trait Sink {
    /// A start tag, or the start of an empty-element tag: [`end`](Sink::end) follows at once.
    fn start(&mut self, _tag: &StartTag<'_>) -> Control {
        Control::Continue
    }

    /// The end of the innermost element that is open.
    fn end(&mut self) -> Control {
        Control::Continue
    }

    /// Character data of the innermost element that is open.
    fn text(&mut self, _text: &str) -> Control {
        Control::Continue
    }

    /// A comment; `text` is what stands between `<!--` and `-->`.
    fn comment(&mut self, _text: &str) -> Control {
        Control::Continue
    }

    /// A processing instruction. The XML declaration is none.
    fn processing_instruction(&mut self, _target: &str, _data: &str) -> Control {
        Control::Continue
    }
}
