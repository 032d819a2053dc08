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
    /// Bytes of text in captures, all of them together, those that have ended included.
    pub(crate) capture_bytes: usize,
    /// Nodes in fragments, all of them together, those that have ended included.
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
    /// A string that is no longer needed, for its memory.
    spare: String,
}

#[derive(Debug)]
enum Serializer {
    Xml(Box<XmlSerializer>),
    Text(TextSerializer),
}

#[derive(Debug)]
enum Capture {
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
        Self { output, captures, limits, captured_bytes: 0, recorded_nodes: 0, spare: String::new() }
    }

    /// From here on, all goes to a fragment.
    pub(crate) fn begin_fragment(&mut self) {
        self.captures.push(Capture::Fragment(Recorder::default()));
    }

    /// The fragment that was begun last.
    ///
    /// # Errors
    /// If there is none, or a string was begun after it.
    pub(crate) fn end_fragment(&mut self) -> Result<Fragment, ResultError> {
        match self.captures.pop() {
            Some(Capture::Fragment(recorder)) => Ok(recorder.finish()),
            _ => Err(ResultError::Unbalanced),
        }
    }

    /// From here on, text goes to a string. Other nodes are left out, and so is all that is in them.
    pub(crate) fn begin_string(&mut self) {
        let mut text = core::mem::take(&mut self.spare);
        text.clear();
        self.captures.push(Capture::Text(text, 0));
    }

    /// The string that was begun last.
    ///
    /// # Errors
    /// If there is none, or a fragment was begun after it.
    pub(crate) fn end_string(&mut self) -> Result<String, ResultError> {
        match self.captures.pop() {
            Some(Capture::Text(text, _)) => Ok(text),
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

    fn charge(&mut self, nodes: usize, bytes: usize) -> Result<(), ResultError> {
        self.recorded_nodes = self.recorded_nodes.saturating_add(nodes);
        self.captured_bytes = self.captured_bytes.saturating_add(bytes);
        if self.recorded_nodes > self.limits.fragment_nodes {
            return Err(ResultError::FragmentTooLarge(self.limits.fragment_nodes));
        }
        if self.captured_bytes > self.limits.capture_bytes {
            return Err(ResultError::CapturesTooLarge(self.limits.capture_bytes));
        }
        Ok(())
    }

    /// The same for what is written to the innermost capture: a fragment takes nodes.
    fn charge_capture(&mut self, nodes: usize, bytes: usize) -> Result<(), ResultError> {
        match self.captures.last() {
            None => Ok(()),
            Some(Capture::Fragment(_)) => self.charge(nodes, bytes),
            Some(Capture::Text(..)) => self.charge(0, bytes),
        }
    }
}

impl Receiver for ResultWriter {
    fn start_element(&mut self, names: &Names, name: ResultName) -> Result<(), ResultError> {
        self.charge_capture(1, 0)?;
        match (self.captures.last_mut(), &mut self.output) {
            (None, Serializer::Xml(xml)) => xml.start_element(names, name)?,
            (None, Serializer::Text(_)) => {}
            (Some(Capture::Fragment(recorder)), _) => recorder.start_element(name),
            (Some(Capture::Text(_, skipped)), _) => *skipped = skipped.saturating_add(1),
        }
        Ok(())
    }

    fn namespace(&mut self, names: &Names, prefix: PrefixId, uri: UriId) -> Result<(), ResultError> {
        self.charge_capture(1, 0)?;
        match (self.captures.last_mut(), &mut self.output) {
            (None, Serializer::Xml(xml)) => {
                xml.namespace(names, prefix, uri)?;
            }
            (Some(Capture::Fragment(recorder)), _) => recorder.namespace(prefix, uri),
            (None, Serializer::Text(_)) | (Some(Capture::Text(..)), _) => {}
        }
        Ok(())
    }

    fn namespaces_of(&mut self, document: &Document, element: NodeId) -> Result<(), ResultError> {
        match (self.captures.last(), &mut self.output) {
            (None, Serializer::Xml(xml)) => xml.namespaces_of(document, element),
            (Some(Capture::Fragment(_)), _) => {
                for (prefix, uri) in document.in_scope(document.scope(element)) {
                    self.namespace(document.names(), prefix, uri)?;
                }
                Ok(())
            }
            (None, Serializer::Text(_)) | (Some(Capture::Text(..)), _) => Ok(()),
        }
    }

    fn attribute(&mut self, names: &Names, name: ResultName, value: &str) -> Result<Attached, ResultError> {
        self.charge_capture(1, value.len())?;
        let limit = self.limits.attributes;
        match (self.captures.last_mut(), &mut self.output) {
            (None, Serializer::Xml(xml)) => xml.attribute(names, name, value),
            (None, Serializer::Text(_)) => Ok(Attached::Yes),
            (Some(Capture::Fragment(recorder)), _) => recorder.attribute(name, value, limit),
            (Some(Capture::Text(..)), _) => Ok(Attached::TooLate),
        }
    }

    fn text(&mut self, text: &str) -> Result<(), ResultError> {
        if text.is_empty() {
            return Ok(());
        }
        self.charge_capture(1, text.len())?;
        match (self.captures.last_mut(), &mut self.output) {
            (None, Serializer::Xml(xml)) => xml.text(text)?,
            (None, Serializer::Text(output)) => output.text(text)?,
            (Some(Capture::Fragment(recorder)), _) => recorder.text(text),
            (Some(Capture::Text(string, 0)), _) => string.push_str(text),
            (Some(Capture::Text(..)), _) => {}
        }
        Ok(())
    }

    fn comment(&mut self, text: &str) -> Result<(), ResultError> {
        self.charge_capture(1, text.len())?;
        match (self.captures.last_mut(), &mut self.output) {
            (None, Serializer::Xml(xml)) => xml.comment(text)?,
            (Some(Capture::Fragment(recorder)), _) => recorder.comment(text),
            (None, Serializer::Text(_)) | (Some(Capture::Text(..)), _) => {}
        }
        Ok(())
    }

    fn processing_instruction(&mut self, target: &str, data: &str) -> Result<(), ResultError> {
        self.charge_capture(1, target.len().saturating_add(data.len()))?;
        match (self.captures.last_mut(), &mut self.output) {
            (None, Serializer::Xml(xml)) => xml.processing_instruction(target, data)?,
            (Some(Capture::Fragment(recorder)), _) => recorder.processing_instruction(target, data),
            (None, Serializer::Text(_)) | (Some(Capture::Text(..)), _) => {}
        }
        Ok(())
    }

    fn end_element(&mut self) -> Result<(), ResultError> {
        match (self.captures.last_mut(), &mut self.output) {
            (None, Serializer::Xml(xml)) => xml.end_element()?,
            (None, Serializer::Text(_)) => {}
            (Some(Capture::Fragment(recorder)), _) => recorder.end_element(),
            (Some(Capture::Text(_, skipped)), _) => *skipped = skipped.saturating_sub(1),
        }
        Ok(())
    }
}
