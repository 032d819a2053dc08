//! What the crate offers.

use portcullis_xml::{Error, Limits};

use crate::compile::{self, CompileOptions};
use crate::error::{CompileError, TransformError};
use crate::exec;
use crate::limits::TransformLimits;
use crate::messages::Messages;
use crate::parameters::Parameters;
use crate::program::Program;
use crate::source::{Source, SourceBuilder};

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
    pub fn source(&self, limits: &Limits) -> SourceBuilder<'_> {
        SourceBuilder::new(&self.program.space, limits)
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
        Ok(Output { bytes, media_type: self.program.media_type.clone() })
    }
}
