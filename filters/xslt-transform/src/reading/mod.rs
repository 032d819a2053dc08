//! A message that is being read, and what becomes of it.

mod content_type;
mod envelope;
mod scope;
mod writer;

use portcullis_policy::{HeaderList, SharedDocument, SharedTree};
use portcullis_xml::{Charset, Document, Limits, Tokenizer};
use portcullis_xslt::{Messages, Output, Parameters, Source, SourceTree, TransformError, TransformLimits};

use crate::config::{Placement, SourceElement};
use crate::failure::Failure;
use crate::side::Side;
use envelope::{Envelope, Opened};

/// How much a transformation may take.
#[derive(Debug)]
pub(crate) struct Bounds {
    pub(crate) xml: Limits,
    pub(crate) transform: TransformLimits,
}

/// A body that is being read, and what its new one will need to know.
#[derive(Debug)]
pub(crate) struct Reading {
    source: ReadingSource,
    /// How many bytes have been read.
    read: usize,
    parameters: Parameters,
    /// The message's Content-Type.
    content_type: Vec<u8>,
    length: Length,
    stale: Vec<&'static str>,
}

/// Fields that say something of a body that is not true of another one: digests (RFC 9530, and what came before it),
/// the validator of just these bytes, and that parts of them can be had (RFC 9110, sections 8.8.3 and 14.3).
pub(crate) const STALE: [&str; 6] =
    ["accept-ranges", "content-digest", "content-md5", "digest", "etag", "repr-digest"];

#[derive(Debug)]
enum ReadingSource {
    Document(Box<Tokenizer>, Box<SourceTree>),
    Operation(Box<Tokenizer>, Box<Envelope>),
    /// A policy before this one has read all of it.
    Whole(Box<Document>),
}

/// Whether the headers say how long the body is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Length {
    Announced,
    Unannounced,
}

/// What takes a body's place.
#[derive(Debug)]
pub(crate) struct NewBody {
    pub(crate) bytes: Vec<u8>,
    /// Its Content-Type, if that is another one than before.
    pub(crate) content_type: Option<Vec<u8>>,
    pub(crate) length: Length,
    /// Fields of the message's headers that are not true any more.
    pub(crate) stale: Vec<&'static str>,
}

/// Why there is no new body.
#[derive(Debug)]
pub(crate) enum NoBody {
    /// There is nothing to transform.
    Empty,
    /// It cannot be read.
    Failed(Failure),
    /// The stylesheet failed.
    Stylesheet(TransformError),
    /// The new body would be too large.
    TooLarge,
}

impl From<Failure> for NoBody {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

impl Reading {
    /// Begins to read a body of a message with these headers.
    pub(crate) fn new(
        side: &Side,
        bounds: &Bounds,
        headers: &HeaderList,
        charset: Option<Charset>,
        shared: Option<SharedDocument>,
        parameters: Parameters,
    ) -> Self {
        let (source, read) = source(side, bounds, charset, shared);
        Self {
            source,
            read,
            parameters,
            content_type: headers.first("content-type").unwrap_or_default().to_vec(),
            length: if headers.contains("content-length") { Length::Announced } else { Length::Unannounced },
            stale: STALE.into_iter().filter(|name| headers.contains(name)).collect(),
        }
    }

    /// How many bytes have been read.
    pub(crate) fn read(&self) -> usize {
        self.read
    }

    /// Reads the next piece.
    pub(crate) fn feed(&mut self, piece: &[u8]) -> Result<(), Failure> {
        self.read = self.read.saturating_add(piece.len());
        let (fed, tree) = match &mut self.source {
            ReadingSource::Document(tokenizer, tree) => (tokenizer.feed(piece, &mut **tree), &**tree),
            ReadingSource::Operation(tokenizer, envelope) => {
                let fed = tokenizer.feed(piece, &mut **envelope);
                if !envelope.is_sound() {
                    return Err(Failure::Malformed);
                }
                (fed, envelope.tree())
            }
            // More than all there was.
            ReadingSource::Whole(_) => return Err(Failure::Malformed),
        };
        fed.and_then(|_| tree.check()).map_err(|error| Failure::from(&error))
    }

    /// The body has ended: transforms it.
    pub(crate) fn finish(
        self,
        side: &Side,
        bounds: &Bounds,
        messages: &mut dyn Messages,
    ) -> Result<NewBody, NoBody> {
        let Self { source, read, parameters, content_type, length, stale } = self;
        if read == 0 {
            return Err(NoBody::Empty);
        }
        let unreadable = |error: portcullis_xml::Error| NoBody::Failed(Failure::from(&error));
        let (source, around) = match source {
            ReadingSource::Whole(document) => (Source::unstripped(*document, read), None),
            ReadingSource::Document(mut tokenizer, mut tree) => {
                tokenizer.finish(&mut *tree).map_err(unreadable)?;
                (tree.finish(read).map_err(unreadable)?, None)
            }
            ReadingSource::Operation(mut tokenizer, mut envelope) => {
                tokenizer.finish(&mut *envelope).map_err(unreadable)?;
                match envelope.open() {
                    Opened::Element { source, before, behind } => {
                        (source.finish(read).map_err(unreadable)?, Some((before, behind)))
                    }
                    Opened::Empty => return Err(NoBody::Empty),
                    Opened::Malformed => return Err(Failure::Malformed.into()),
                }
            }
        };
        let output = side
            .stylesheet
            .transform(source, &parameters, &bounds.transform, messages)
            .map_err(NoBody::Stylesheet)?;
        let placed_in = around.filter(|_| side.result == Placement::InPlace);
        let content_type = content_type::of_result(&content_type, side, placed_in.is_some());
        let Some((mut bytes, behind)) = placed_in else {
            return Ok(NewBody { bytes: output.bytes, content_type, length, stale });
        };
        let element = without_declaration(&output);
        let total = bytes.len().saturating_add(element.len()).saturating_add(behind.len());
        if total > bounds.transform.output_bytes {
            return Err(NoBody::TooLarge);
        }
        bytes.extend_from_slice(element);
        bytes.extend_from_slice(&behind);
        Ok(NewBody { bytes, content_type, length, stale })
    }
}

/// What a body is read with: from where another policy has left off, if one has read it and this one can take it so.
fn source(
    side: &Side,
    bounds: &Bounds,
    charset: Option<Charset>,
    shared: Option<SharedDocument>,
) -> (ReadingSource, usize) {
    let can_take = side.source == SourceElement::Document && !side.stylesheet.strips_space();
    if let Some(SharedDocument { read, tree, .. }) = shared.filter(|_| can_take) {
        let source = match tree {
            SharedTree::Whole(document) => ReadingSource::Whole(document),
            SharedTree::Growing { tokenizer, tree } => {
                ReadingSource::Document(tokenizer, Box::new(SourceTree::unstripped(*tree, &bounds.xml)))
            }
        };
        return (source, read);
    }
    let mut tokenizer = Tokenizer::new(&bounds.xml);
    if let Some(charset) = charset {
        tokenizer = tokenizer.with_charset(charset);
    }
    let tree = side.stylesheet.tree(&bounds.xml);
    let source = match side.source {
        SourceElement::Document => ReadingSource::Document(Box::new(tokenizer), Box::new(tree)),
        SourceElement::Operation => {
            ReadingSource::Operation(Box::new(tokenizer), Box::new(Envelope::new(tree)))
        }
    };
    (source, 0)
}

/// A result without the XML declaration that it may begin with.
fn without_declaration(output: &Output) -> &[u8] {
    let bytes = &*output.bytes;
    let is_declared = bytes.starts_with(b"<?xml ");
    let end = bytes.windows(2).position(|pair| pair == b"?>").filter(|_| is_declared);
    match end.and_then(|end| bytes.get(end.saturating_add(2)..)) {
        Some(rest) => rest.strip_prefix(b"\n").unwrap_or(rest),
        None => bytes,
    }
}
