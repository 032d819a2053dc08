//! The result of a transformation, as it is being made.

use portcullis_xml::tree::{Attached, Document, Names, NodeId, PrefixId, UriId};

use super::format::{Method, OutputFormat};
use super::fragment::{Fragment, Recorder};
use super::text::TextSerializer;
use super::xml::XmlSerializer;
use super::{Receiver, ResultError, ResultName};

/// How much may be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ResultLimits {
    /// Bytes of the output.
    pub(crate) output_bytes: usize,
    /// Bytes of text in the captures that there are, all of them together.
    pub(crate) capture_bytes: usize,
    /// Nodes in the fragments that there are, all of them together.
    pub(crate) fragment_nodes: usize,
    /// Attributes written to one element; those that are replaced count, too.
    pub(crate) attributes: usize,
}

/// What instructions write to: the output or, while there is one, the innermost capture.
#[derive(Debug)]
pub(crate) struct ResultWriter {
    output: Serializer,
    captures: Vec<Capture>,
    limits: ResultLimits,
    captured_bytes: usize,
    recorded_nodes: usize,
    /// What [`memory`](Self::memory) has grown by since it was last asked; what has gone is not taken off.
    grown: usize,
    /// A string that is no longer needed, for its memory.
    spare: String,
}

#[derive(Debug)]
enum Serializer {
    Xml(Box<XmlSerializer>),
    Text(TextSerializer),
}

/// What is captured, and how much that is.
#[derive(Debug)]
struct Capture {
    content: Content,
    nodes: usize,
    bytes: usize,
}

#[derive(Debug)]
enum Content {
    Fragment(Recorder),
    /// A string, and how many elements are open in it: their content is no part of it.
    Text(String, usize),
}

impl ResultWriter {
    /// Nothing is written yet.
    #[must_use]
    pub(crate) fn new(format: &OutputFormat, limits: ResultLimits) -> Self {
        let output = match format.method {
            Method::Text => Serializer::Text(TextSerializer::new(limits.output_bytes)),
            Method::Xml | Method::Unspecified => {
                Serializer::Xml(Box::new(XmlSerializer::new(format, limits.output_bytes, limits.attributes)))
            }
        };
        let captures = Vec::new();
        Self {
            output,
            captures,
            limits,
            captured_bytes: 0,
            recorded_nodes: 0,
            grown: 0,
            spare: String::new(),
        }
    }

    /// Makes room for so many bytes of the result. There need not be that many.
    pub(crate) fn reserve(&mut self, bytes: usize) {
        match &mut self.output {
            Serializer::Xml(xml) => xml.reserve(bytes),
            Serializer::Text(text) => text.reserve(bytes),
        }
    }

    /// How many bytes are captured, and are taken by what is open. The output is bounded by itself.
    #[inline]
    pub(crate) fn memory(&self) -> usize {
        let open = match &self.output {
            Serializer::Xml(xml) => xml.open_bytes(),
            Serializer::Text(_) => 0,
        };
        let captures = self.captures.len().saturating_mul(size_of::<Capture>());
        self.captured_bytes.saturating_add(captures).saturating_add(open)
    }

    /// By how many bytes more [`memory`](Self::memory) has grown, at most, since this was last asked.
    #[inline]
    pub(crate) fn take_grown(&mut self) -> usize {
        core::mem::take(&mut self.grown)
    }

    /// From here on, all goes to a fragment.
    pub(crate) fn begin_fragment(&mut self) {
        self.begin(Content::Fragment(Recorder::default()));
    }

    /// The fragment that was begun last.
    ///
    /// # Errors
    /// If there is none, or a string was begun after it.
    pub(crate) fn end_fragment(&mut self) -> Result<Fragment, ResultError> {
        match self.end() {
            Some(Content::Fragment(recorder)) => Ok(recorder.finish()),
            _ => Err(ResultError::Unbalanced),
        }
    }

    /// From here on, text goes to a string. Other nodes are left out, and so is all that is in them.
    pub(crate) fn begin_string(&mut self) {
        let mut text = core::mem::take(&mut self.spare);
        text.clear();
        self.begin(Content::Text(text, 0));
    }

    /// The string that was begun last.
    ///
    /// # Errors
    /// If there is none, or a fragment was begun after it.
    pub(crate) fn end_string(&mut self) -> Result<String, ResultError> {
        match self.end() {
            Some(Content::Text(text, _)) => Ok(text),
            _ => Err(ResultError::Unbalanced),
        }
    }

    /// Gives back a string that is no longer needed: the next one uses its memory.
    pub(crate) fn recycle(&mut self, text: String) {
        if text.capacity() > self.spare.capacity() {
            self.spare = text;
        }
    }

    /// The output. Elements and captures that have not ended, end here; captures without a trace.
    ///
    /// # Errors
    /// If the output gets too large.
    pub(crate) fn finish(self) -> Result<Vec<u8>, ResultError> {
        match self.output {
            Serializer::Xml(xml) => xml.finish(),
            Serializer::Text(text) => Ok(text.finish()),
        }
    }

    /// Trees of the document that is transformed are taken off: their scopes mean nothing any more.
    pub(crate) fn forget_scopes(&mut self) {
        if let Serializer::Xml(xml) = &mut self.output {
            xml.forget_scopes();
        }
    }

    fn begin(&mut self, content: Content) {
        self.grown = self.grown.saturating_add(size_of::<Capture>());
        self.captures.push(Capture { content, nodes: 0, bytes: 0 });
    }

    fn end(&mut self) -> Option<Content> {
        let Capture { content, nodes, bytes } = self.captures.pop()?;
        self.recorded_nodes = self.recorded_nodes.saturating_sub(nodes);
        self.captured_bytes = self.captured_bytes.saturating_sub(bytes);
        Some(content)
    }

    /// The innermost capture takes so much more: a string takes no nodes.
    fn charge_capture(&mut self, nodes: usize, bytes: usize) -> Result<(), ResultError> {
        let Some(capture) = self.captures.last_mut() else { return Ok(()) };
        let nodes = if let Content::Fragment(_) = capture.content { nodes } else { 0 };
        capture.nodes = capture.nodes.saturating_add(nodes);
        capture.bytes = capture.bytes.saturating_add(bytes);
        self.recorded_nodes = self.recorded_nodes.saturating_add(nodes);
        self.captured_bytes = self.captured_bytes.saturating_add(bytes);
        self.grown = self.grown.saturating_add(bytes);
        if self.recorded_nodes > self.limits.fragment_nodes {
            return Err(ResultError::FragmentTooLarge(self.limits.fragment_nodes));
        }
        if self.captured_bytes > self.limits.capture_bytes {
            return Err(ResultError::CapturesTooLarge(self.limits.capture_bytes));
        }
        Ok(())
    }

    /// What is captured, if anything is, and the output.
    fn target(&mut self) -> (Option<&mut Content>, &mut Serializer) {
        (self.captures.last_mut().map(|capture| &mut capture.content), &mut self.output)
    }
}

impl Receiver for ResultWriter {
    fn start_element(&mut self, names: &Names, name: ResultName) -> Result<(), ResultError> {
        self.charge_capture(1, 0)?;
        match self.target() {
            (None, Serializer::Xml(xml)) => {
                xml.start_element(names, name)?;
                self.grown = self.grown.saturating_add(XmlSerializer::ELEMENT_BYTES);
            }
            (None, Serializer::Text(_)) => {}
            (Some(Content::Fragment(recorder)), _) => recorder.start_element(name),
            (Some(Content::Text(_, skipped)), _) => *skipped = skipped.saturating_add(1),
        }
        Ok(())
    }

    fn namespace(&mut self, names: &Names, prefix: PrefixId, uri: UriId) -> Result<(), ResultError> {
        self.charge_capture(1, 0)?;
        match self.target() {
            (None, Serializer::Xml(xml)) => {
                xml.namespace(names, prefix, uri)?;
            }
            (Some(Content::Fragment(recorder)), _) => recorder.namespace(prefix, uri),
            (None, Serializer::Text(_)) | (Some(Content::Text(..)), _) => {}
        }
        Ok(())
    }

    fn namespaces_of(&mut self, document: &Document, element: NodeId) -> Result<usize, ResultError> {
        match self.target() {
            (None, Serializer::Xml(xml)) => xml.namespaces_of(document, element),
            (Some(Content::Fragment(_)), _) => {
                let mut count = 0_usize;
                for (prefix, uri) in document.in_scope(document.scope(element)) {
                    self.namespace(document.names(), prefix, uri)?;
                    count = count.saturating_add(1);
                }
                Ok(count)
            }
            (None, Serializer::Text(_)) | (Some(Content::Text(..)), _) => Ok(0),
        }
    }

    fn attribute(&mut self, names: &Names, name: ResultName, value: &str) -> Result<Attached, ResultError> {
        self.charge_capture(1, value.len())?;
        let limit = self.limits.attributes;
        match self.target() {
            (None, Serializer::Xml(xml)) => xml.attribute(names, name, value),
            (None, Serializer::Text(_)) => Ok(Attached::Yes),
            (Some(Content::Fragment(recorder)), _) => recorder.attribute(name, value, limit),
            (Some(Content::Text(..)), _) => Ok(Attached::TooLate),
        }
    }

    fn text(&mut self, text: &str) -> Result<(), ResultError> {
        if text.is_empty() {
            return Ok(());
        }
        self.charge_capture(1, text.len())?;
        match self.target() {
            (None, Serializer::Xml(xml)) => xml.text(text)?,
            (None, Serializer::Text(output)) => output.text(text)?,
            (Some(Content::Fragment(recorder)), _) => recorder.text(text),
            (Some(Content::Text(string, 0)), _) => string.push_str(text),
            (Some(Content::Text(..)), _) => {}
        }
        Ok(())
    }

    fn comment(&mut self, text: &str) -> Result<(), ResultError> {
        self.charge_capture(1, text.len())?;
        match self.target() {
            (None, Serializer::Xml(xml)) => xml.comment(text)?,
            (Some(Content::Fragment(recorder)), _) => recorder.comment(text),
            (None, Serializer::Text(_)) | (Some(Content::Text(..)), _) => {}
        }
        Ok(())
    }

    fn processing_instruction(&mut self, target: &str, data: &str) -> Result<(), ResultError> {
        self.charge_capture(1, target.len().saturating_add(data.len()))?;
        match self.target() {
            (None, Serializer::Xml(xml)) => xml.processing_instruction(target, data)?,
            (Some(Content::Fragment(recorder)), _) => recorder.processing_instruction(target, data),
            (None, Serializer::Text(_)) | (Some(Content::Text(..)), _) => {}
        }
        Ok(())
    }

    fn end_element(&mut self) -> Result<(), ResultError> {
        match self.target() {
            (None, Serializer::Xml(xml)) => xml.end_element()?,
            (None, Serializer::Text(_)) => {}
            (Some(Content::Fragment(recorder)), _) => recorder.end_element(),
            (Some(Content::Text(_, skipped)), _) => *skipped = skipped.saturating_sub(1),
        }
        Ok(())
    }
}
