//! What the crate offers.

use std::rc::Rc;

use portcullis_xml::{Error, Limits};

use crate::compile::{self, CompileOptions};
use crate::error::{CompileError, TransformError};
use crate::exec;
use crate::limits::TransformLimits;
use crate::messages::Messages;
use crate::parameters::Parameters;
use crate::program::Program;
use crate::result::Method;
use crate::source::{Source, SourceBuilder, SourceTree};

/// A compiled stylesheet. It holds nothing of any document, and can be used for any number of transformations.
#[derive(Debug)]
pub struct Stylesheet {
    program: Program,
}

/// What a transformation yields.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    /// The result, in UTF-8.
    pub bytes: Vec<u8>,
    /// Its media type, without parameters: what `xsl:output` says; else `text/xml`, or `text/plain` for text.
    pub media_type: Box<str>,
}

/// What the result of a stylesheet is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputKind {
    /// Text that is not markup: what looks like it is not escaped.
    Text,
    /// XML that can stand in another document, once its XML declaration is taken off.
    Xml,
    /// XML that begins with a document type declaration.
    XmlWithDocumentType,
}

impl Stylesheet {
    /// Compiles a stylesheet with all that it includes and imports.
    ///
    /// # Errors
    /// The first thing that is wrong with it or not supported, and where it stands.
    pub fn compile(source: &[u8], options: &CompileOptions) -> Result<Self, CompileError> {
        Ok(Self { program: compile::compile(source, options)? })
    }

    /// Parses a document to transform.
    ///
    /// # Errors
    /// If it is not well-formed, or goes beyond a limit.
    pub fn parse(&self, bytes: &[u8], limits: &Limits) -> Result<Source, Error> {
        let mut builder = self.source(limits);
        builder.feed(bytes)?;
        builder.finish()
    }

    /// Takes a document to transform piece by piece.
    #[must_use]
    pub fn source(&self, limits: &Limits) -> SourceBuilder {
        SourceBuilder::new(self.tree(limits), limits)
    }

    /// Takes the parts of a document to transform from a tokenizer. Of the limits, that on nodes applies.
    #[must_use]
    pub fn tree(&self, limits: &Limits) -> SourceTree {
        SourceTree::new(Rc::clone(&self.program.space), limits)
    }

    /// Whether it strips white space from its source (XSLT 1.0, section 3.4).
    #[must_use]
    pub fn strips_space(&self) -> bool {
        !self.program.space.is_empty()
    }

    /// Whether the stylesheet has a global parameter of this name; the namespace is empty for a name without prefix.
    #[must_use]
    pub fn has_parameter(&self, namespace: &str, local: &str) -> bool {
        let mut parameters = self.program.parameters.iter();
        parameters.any(|name| *name.namespace == *namespace && *name.local == *local)
    }

    /// What the result is, as `xsl:output` has it.
    #[must_use]
    pub fn output_kind(&self) -> OutputKind {
        match (self.program.output.method, &self.program.output.document_type) {
            (Method::Text, _) => OutputKind::Text,
            (Method::Xml | Method::Unspecified, None) => OutputKind::Xml,
            (Method::Xml | Method::Unspecified, Some(_)) => OutputKind::XmlWithDocumentType,
        }
    }

    /// The media type that `xsl:output` gives to the result, if it does.
    #[must_use]
    pub fn media_type(&self) -> Option<&str> {
        self.program.media_type.as_deref()
    }

    /// Transforms a document. It has to be one that this stylesheet has parsed: which white space counts is the
    /// stylesheet's to say.
    ///
    /// # Errors
    /// What kept the transformation from being completed, and at which instruction.
    pub fn transform(
        &self,
        source: Source,
        parameters: &Parameters,
        limits: &TransformLimits,
        messages: &mut dyn Messages,
    ) -> Result<Output, TransformError> {
        let bytes = exec::transform(&self.program, source, parameters, limits, messages)?;
        let media_type = self.media_type().unwrap_or(match self.output_kind() {
            OutputKind::Text => "text/plain",
            OutputKind::Xml | OutputKind::XmlWithDocumentType => "text/xml",
        });
        Ok(Output { bytes, media_type: media_type.into() })
    }
}
