//! A message that is being read, and what becomes of it.

mod content_type;
mod envelope;
mod scope;
mod writer;

use portcullis_policy::{Direction, HeaderList, HeldMemory, SharedDocument, SharedTree};
use portcullis_xml::{Charset, Document, Limits, Tokenizer};
use portcullis_xslt::{Messages, Output, Parameters, Source, SourceTree, TransformError, TransformLimits};

use crate::config::{Placement, SourceElement, size};
use crate::failure::Failure;
use crate::side::Side;
use envelope::{Envelope, Opened};

/// How much a transformation may take.
#[derive(Debug)]
pub(crate) struct Bounds {
    pub(crate) xml: Limits,
    pub(crate) transform: TransformLimits,
    /// How much memory all messages that the worker is reading may take, in bytes.
    pub(crate) held: usize,
}

/// What the headers say of a message that is going to be read.
#[derive(Debug)]
pub(crate) struct Head {
    pub(crate) expected: Expected,
    pub(crate) parameters: Parameters,
    /// The message's Content-Type.
    content_type: Vec<u8>,
    length: Length,
    stale: Vec<&'static str>,
}

/// What there will be in a body.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Expected {
    /// A document in this encoding, if the headers state one.
    Document(Option<Charset>),
    /// Nothing; anything else fails.
    Nothing(Failure),
}

impl Head {
    pub(crate) fn new(
        at: Direction,
        headers: &HeaderList,
        expected: Expected,
        parameters: Parameters,
    ) -> Self {
        let date = (at == Direction::Response).then_some(LAST_MODIFIED);
        Self {
            expected,
            parameters,
            content_type: headers.all_spellings("content-type").next().unwrap_or_default().to_vec(),
            length: if headers.contains("content-length") { Length::Announced } else { Length::Unannounced },
            stale: STALE.into_iter().chain(date).filter(|name| headers.contains(name)).collect(),
        }
    }
}

/// A body that is being read, and what its new one will need to know.
#[derive(Debug)]
pub(crate) struct Reading {
    source: ReadingSource,
    /// How many bytes have been read.
    read: usize,
    head: Head,
    /// What it takes, with the bytes that the host holds.
    memory: HeldMemory,
}

/// Fields that say something of a body that is not true of another one: digests (RFC 9530, and what came before it),
/// the validator of just these bytes, and that parts of them can be had (RFC 9110, sections 8.8.3 and 14.3).
pub(crate) const STALE: [&str; 6] =
    ["accept-ranges", "content-digest", "content-md5", "digest", "etag", "repr-digest"];
/// The same of responses: a stylesheet changes them, and this date does not tell (section 8.8.2).
const LAST_MODIFIED: &str = "last-modified";

#[derive(Debug)]
enum ReadingSource {
    Document(Box<Tokenizer>, Box<SourceTree>),
    Operation(Box<Tokenizer>, Box<Envelope>),
    /// A policy before this one has read all of it.
    Whole(Box<Document>),
    /// There is nothing to be read.
    Nothing(Failure),
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
    /// Begins to read a body of a message with this head, or goes on from where a policy before this one has left off, if
    /// that is [of use](can_share).
    ///
    /// # Errors
    /// If there is no memory for it.
    pub(crate) fn new(
        side: &Side,
        bounds: &Bounds,
        head: Head,
        shared: Option<SharedDocument>,
    ) -> Result<Self, Failure> {
        let (source, read, memory) = source(side, bounds, head.expected, shared)?;
        let mut reading = Self { source, read, head, memory };
        reading.account(bounds)?;
        Ok(reading)
    }

    /// How many bytes have been read.
    pub(crate) fn read(&self) -> usize {
        self.read
    }

    /// Reads the next piece.
    pub(crate) fn feed(&mut self, piece: &[u8], bounds: &Bounds) -> Result<(), Failure> {
        let is_first = self.read == 0;
        self.read = self.read.saturating_add(piece.len());
        let (fed, tree) = match &mut self.source {
            ReadingSource::Document(tokenizer, tree) => {
                if is_first {
                    tree.reserve(piece.len());
                }
                (tokenizer.feed(piece, &mut **tree), &**tree)
            }
            ReadingSource::Operation(tokenizer, envelope) => {
                if is_first {
                    envelope.reserve(piece.len());
                }
                let fed = tokenizer.feed(piece, &mut **envelope);
                if !envelope.is_sound() {
                    return Err(Failure::Malformed);
                }
                (fed, envelope.tree())
            }
            // More than all there was.
            ReadingSource::Whole(_) => return Err(Failure::Malformed),
            ReadingSource::Nothing(failure) => return Err(*failure),
        };
        fed.and_then(|_| tree.check()).map_err(|error| Failure::from(&error))?;
        self.account(bounds)
    }

    /// Counts what it takes by now, with what has been read: the host holds that until the new body is there.
    fn account(&mut self, bounds: &Bounds) -> Result<(), Failure> {
        let (tokenizer, tree) = match &self.source {
            ReadingSource::Document(tokenizer, tree) => (tokenizer.memory(), tree.memory()),
            ReadingSource::Operation(tokenizer, envelope) => (tokenizer.memory(), envelope.memory()),
            ReadingSource::Whole(document) => (0, document.memory()),
            ReadingSource::Nothing(_) => (0, 0),
        };
        let taken = tokenizer.saturating_add(tree).saturating_add(self.read);
        Ok(self.memory.set(taken, bounds.held)?)
    }

    /// The body has ended: transforms it.
    pub(crate) fn finish(
        self,
        side: &Side,
        bounds: &Bounds,
        messages: &mut dyn Messages,
    ) -> Result<NewBody, NoBody> {
        // The memory is counted until the new body is there.
        let Self { source, read, head, memory: _memory } = self;
        let Head { parameters, content_type, length, stale, .. } = head;
        if read == 0 {
            return Err(NoBody::Empty);
        }
        let unreadable = |error: portcullis_xml::Error| NoBody::Failed(Failure::from(&error));
        let (source, around) = match source {
            ReadingSource::Nothing(failure) => return Err(failure.into()),
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

/// Whether a side can go on from where another policy has left off.
pub(crate) fn can_share(side: &Side) -> bool {
    side.source == SourceElement::Document && !side.stylesheet.strips_space()
}

/// What a body is read with.
fn source(
    side: &Side,
    bounds: &Bounds,
    expected: Expected,
    shared: Option<SharedDocument>,
) -> Result<(ReadingSource, usize, HeldMemory), Failure> {
    let charset = match expected {
        Expected::Document(charset) => charset,
        Expected::Nothing(failure) => {
            return Ok((ReadingSource::Nothing(failure), 0, HeldMemory::default()));
        }
    };
    if let Some(SharedDocument { read, tree, memory, .. }) = shared {
        let source = match tree {
            SharedTree::Whole(document) if document.len() > size(bounds.xml.nodes) => {
                return Err(Failure::Malformed);
            }
            SharedTree::Whole(document) => ReadingSource::Whole(document),
            SharedTree::Growing { tokenizer, tree } => {
                let tree = SourceTree::unstripped(*tree, &bounds.xml);
                tree.check().map_err(|error| Failure::from(&error))?;
                ReadingSource::Document(tokenizer, Box::new(tree))
            }
        };
        return Ok((source, read, memory));
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
    Ok((source, 0, HeldMemory::default()))
}

/// A result without the XML declaration that it may begin with.
fn without_declaration(output: &Output) -> &[u8] {
    let bytes = &*output.bytes;
    if !bytes.starts_with(b"<?xml ") {
        return bytes;
    }
    let end = bytes.windows(2).position(|pair| pair == b"?>");
    match end.and_then(|end| bytes.get(end.saturating_add(2)..)) {
        Some(rest) => rest.strip_prefix(b"\n").unwrap_or(rest),
        None => bytes,
    }
}
