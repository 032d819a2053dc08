//! The XML output method (XSLT 1.0, section 16.1), in UTF-8.

mod naming;

use core::ops::Range;

use portcullis_xml::tree::{Attached, Names, ScopeId, UriId};

use super::attributes::AttributeSet;
use super::cdata::CdataNames;
use super::escape;
use super::format::{DocumentType, Indent, Method, OutputFormat};
use super::in_scope::InScope;
use super::indent::Layout;
use super::prolog;
use super::scope::{Binding, Scope};
use super::written::{Tags, WrittenTags};
use super::{ResultError, ResultName};
use crate::qname;

/// Writes nodes as they come. Start tags too: an attribute that a later one replaces is taken out again at the end of
/// its tag.
#[derive(Debug)]
pub(super) struct XmlSerializer {
    out: Vec<u8>,
    limit: usize,
    max_attributes: usize,
    method: Method,
    document_type: Option<DocumentType>,
    /// Where the XML declaration ends.
    prolog: usize,
    scope: Scope,
    written: WrittenTags,
    in_scope: InScope,
    open: Vec<Element>,
    attributes: AttributeSet,
    cdata: CdataNames,
    layout: Option<Layout>,
    state: State,
}

#[derive(Debug)]
struct Element {
    name: Name,
    /// See [`Scope::enter`].
    scope: usize,
    text: Text,
    /// The namespaces of the source that it has, all of them.
    namespaces: Option<ScopeId>,
}

/// Where the name of an element stands that is open.
#[derive(Debug)]
enum Name {
    /// In the output.
    There(Range<usize>),
    /// Among the tags that have been written before.
    Known(Tags),
}

/// How an element's text is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Text {
    Escaped,
    Cdata,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Outside of all elements, and there was none yet.
    Prolog,
    /// In a start tag.
    Tag,
    /// In content.
    Content,
    /// In a CDATA section that began there.
    Cdata(usize),
}

impl XmlSerializer {
    pub(super) fn reserve(&mut self, bytes: usize) {
        self.out.reserve(bytes.min(self.limit));
    }

    pub(super) fn new(format: &OutputFormat, limit: usize, max_attributes: usize) -> Self {
        let mut out = Vec::new();
        prolog::write_declaration(&mut out, format);
        Self {
            prolog: out.len(),
            out,
            limit,
            max_attributes,
            method: format.method,
            document_type: format.document_type.clone(),
            scope: Scope::new(),
            written: WrittenTags::default(),
            in_scope: InScope::default(),
            open: Vec::new(),
            attributes: AttributeSet::default(),
            cdata: CdataNames::new(&format.cdata_elements),
            layout: (format.indent == Indent::TwoSpaces).then(Layout::new),
            state: State::Prolog,
        }
    }

    /// How many bytes an element takes that is open.
    pub(super) const ELEMENT_BYTES: usize = size_of::<Element>();

    /// How many bytes the elements take that are open.
    #[inline]
    pub(super) fn open_bytes(&self) -> usize {
        self.open.len().saturating_mul(Self::ELEMENT_BYTES)
    }

    /// The bytes. Elements that are still open end here.
    pub(super) fn finish(mut self) -> Result<Vec<u8>, ResultError> {
        while !self.open.is_empty() {
            self.end_element()?;
        }
        match self.layout {
            None => Ok(self.out),
            Some(layout) => {
                let laid_out = layout.apply(&self.out, self.prolog, self.limit);
                laid_out.ok_or(ResultError::OutputTooLarge(self.limit))
            }
        }
    }

    pub(super) fn start_element(&mut self, names: &Names, name: ResultName) -> Result<(), ResultError> {
        if self.state == State::Prolog {
            self.begin_document(names, name)?;
        }
        self.close_text_or_tag();
        if let Some(layout) = &mut self.layout {
            layout.start(self.out.len());
        }
        let scope = self.scope.enter();
        let known = self.written.find(name).filter(|(prefix, uri, _)| self.scope.uses(*prefix, *uri));
        let written = if let Some((_, _, tags)) = known {
            self.out.extend_from_slice(self.written.start_tag(tags));
            Name::Known(tags)
        } else {
            self.out.push(b'<');
            let from = self.out.len();
            Name::There(from..self.write_element_name(names, name)?)
        };
        let text = if self.cdata.contains(names, name.name) { Text::Cdata } else { Text::Escaped };
        self.open.push(Element { name: written, scope, text, namespaces: None });
        self.attributes.start();
        self.state = State::Tag;
        self.check()
    }

    pub(super) fn attribute(
        &mut self,
        names: &Names,
        name: ResultName,
        value: &str,
    ) -> Result<Attached, ResultError> {
        if self.state != State::Tag {
            return Ok(Attached::TooLate);
        }
        let uri = names.namespace(name.name);
        let binding =
            if uri == UriId::NONE { None } else { Some(self.scope.of_attribute(names, name.prefix, uri)?) };
        if let Some(binding @ Binding::New(_)) = binding {
            self.declare(names, binding, uri);
        }
        self.room_for(value.len())?;
        let from = self.out.len();
        self.out.push(b' ');
        match binding {
            Some(binding) => self.write_name(names, binding, name),
            None => self.out.extend_from_slice(names.local(name.name).as_bytes()),
        }
        self.out.extend_from_slice(b"=\"");
        escape::write_attribute(&mut self.out, value);
        self.out.push(b'"');
        if self.attributes.add(name.name, from..self.out.len()) > self.max_attributes {
            return Err(ResultError::TooManyAttributes(self.max_attributes));
        }
        if let Some(layout) = &mut self.layout
            && value == "preserve"
            && names.local(name.name) == "space"
            && names.uri_text(uri) == qname::XML
        {
            layout.keep();
        }
        self.check()?;
        Ok(Attached::Yes)
    }

    pub(super) fn text(&mut self, text: &str) -> Result<(), ResultError> {
        if text.is_empty() {
            return Ok(());
        }
        self.room_for(text.len())?;
        match self.state {
            State::Tag => self.close_text_or_tag(),
            // What begins with text is no HTML (section 16).
            State::Prolog if !text.chars().all(qname::is_space) => self.method = Method::Xml,
            State::Prolog | State::Content | State::Cdata(_) => {}
        }
        if let Some(layout) = &mut self.layout {
            layout.keep();
        }
        match (self.open.last().map(|element| element.text), self.state) {
            (Some(Text::Cdata), State::Cdata(start)) => escape::write_cdata(&mut self.out, start, text),
            (Some(Text::Cdata), _) => {
                self.out.extend_from_slice(b"<![CDATA[");
                let start = self.out.len();
                self.state = State::Cdata(start);
                escape::write_cdata(&mut self.out, start, text);
            }
            _ => escape::write_text(&mut self.out, text),
        }
        self.check()
    }

    pub(super) fn comment(&mut self, text: &str) -> Result<(), ResultError> {
        self.room_for(text.len())?;
        self.begin_leaf();
        self.out.extend_from_slice(b"<!--");
        escape::write_comment(&mut self.out, text);
        self.out.extend_from_slice(b"-->");
        self.check()
    }

    pub(super) fn processing_instruction(&mut self, target: &str, data: &str) -> Result<(), ResultError> {
        self.room_for(target.len().saturating_add(data.len()))?;
        self.begin_leaf();
        self.out.extend_from_slice(b"<?");
        self.out.extend_from_slice(target.as_bytes());
        if !data.is_empty() {
            self.out.push(b' ');
            escape::write_instruction(&mut self.out, data);
        }
        self.out.extend_from_slice(b"?>");
        self.check()
    }

    pub(super) fn end_element(&mut self) -> Result<(), ResultError> {
        let Some(element) = self.open.pop() else { return Ok(()) };
        if self.state == State::Tag {
            self.attributes.settle(&mut self.out);
            self.out.extend_from_slice(b"/>");
            if let Some(layout) = &mut self.layout {
                layout.end(self.out.len());
            }
        } else {
            self.close_text_or_tag();
            if let Some(layout) = &mut self.layout {
                layout.end(self.out.len());
            }
            match element.name {
                Name::Known(tags) => self.out.extend_from_slice(self.written.end_tag(tags)),
                Name::There(name) => {
                    self.out.extend_from_slice(b"</");
                    if name.end <= self.out.len() {
                        self.out.extend_from_within(name);
                    }
                    self.out.push(b'>');
                }
            }
        }
        self.state = State::Content;
        self.scope.leave(element.scope);
        self.check()
    }

    /// A comment or a processing instruction comes next.
    fn begin_leaf(&mut self) {
        self.close_text_or_tag();
        if let Some(layout) = &mut self.layout {
            layout.node(self.out.len());
        }
    }

    /// What comes next is no part of the text or the start tag that is being written.
    fn close_text_or_tag(&mut self) {
        match self.state {
            State::Prolog | State::Content => return,
            State::Cdata(_) => self.out.extend_from_slice(b"]]>"),
            State::Tag => {
                self.attributes.settle(&mut self.out);
                self.out.push(b'>');
            }
        }
        self.state = State::Content;
    }

    fn begin_document(&mut self, names: &Names, name: ResultName) -> Result<(), ResultError> {
        let local = names.local(name.name);
        let namespace = names.namespace(name.name);
        if self.method == Method::Unspecified
            && namespace == UriId::NONE
            && local.eq_ignore_ascii_case("html")
        {
            return Err(ResultError::HtmlByDefault);
        }
        let Some(document_type) = self.document_type.take() else { return Ok(()) };
        if let Some(layout) = &mut self.layout {
            layout.node(self.out.len());
        }
        prolog::write_document_type(&mut self.out, &document_type, names, name);
        if self.layout.is_none() {
            self.out.push(b'\n');
        }
        Ok(())
    }

    /// Before text is copied: it will not get shorter.
    fn room_for(&self, bytes: usize) -> Result<(), ResultError> {
        if self.out.len().saturating_add(bytes) > self.limit { self.too_large() } else { Ok(()) }
    }

    fn check(&self) -> Result<(), ResultError> {
        if self.out.len() > self.limit { self.too_large() } else { Ok(()) }
    }

    fn too_large(&self) -> Result<(), ResultError> {
        Err(ResultError::OutputTooLarge(self.limit))
    }
}
