//! The tokenizer: bytes in, parts of a document out.

mod content;
mod declaration;
mod encodings;
mod end_tag;
mod fault;
mod input;
mod instruction;
mod lexer;
mod markup;
mod name;
mod plain;
mod reference;
mod resolve;
mod section;
mod start_tag;

use lexer::Lexer;

use crate::encoding::{Charset, Cut, Decoder, Detected, Piece, detect};
use crate::error::{Error, ErrorKind, Position};
use crate::limits::{Limit, Limits};
use crate::position::Width;
use crate::token::{Control, Sink};

/// How many bytes it takes to detect an encoding.
const FIRST: usize = 4;

/// Reads one document, in chunks of any size. What the sink gets to see, and which error comes where, does not depend
/// on the chunks.
///
/// Strict: a document that is not well-formed by XML 1.0 (fifth edition) and Namespaces in XML 1.0 (third edition) is
/// refused at the first error, behind which nothing is handed on. So is every document type declaration. A document
/// that calls itself version 1.1, or any other 1.x, is read as one of version 1.0, as the fifth edition says (section
/// 2.8).
///
/// ```
/// use portcullis_xml::{Control, Limits, Sink, StartTag, Tokenizer};
///
/// struct Names(Vec<String>);
///
/// impl Sink for Names {
///     fn start(&mut self, tag: &StartTag<'_>) -> Control {
///         self.0.push(format!("{{{}}}{}", tag.name().namespace, tag.name().local));
///         Control::Continue
///     }
/// }
///
/// # fn main() -> Result<(), portcullis_xml::Error> {
/// let mut names = Names(Vec::new());
/// let mut tokenizer = Tokenizer::new(&Limits::default());
/// tokenizer.feed(b"<a xmlns='urn:x", &mut names)?;
/// tokenizer.feed(b"mpl'><b/></a>", &mut names)?;
/// tokenizer.finish(&mut names)?;
/// assert_eq!(names.0, ["{urn:xmpl}a", "{urn:xmpl}b"]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Tokenizer {
    content_type: Option<Charset>,
    document_bytes: u64,
    /// How many bytes there have been.
    taken: u64,
    source: Source,
    lexer: Lexer,
    status: Status,
}

/// Where characters come from.
#[derive(Debug)]
enum Source {
    /// The encoding is not yet known: the first bytes, up to `FIRST` of them.
    First(Vec<u8>),
    Decoder(Decoder),
}

#[derive(Debug, Clone)]
enum Status {
    Open,
    Stopped,
    Failed(Error),
}

impl Tokenizer {
    /// For one document within those limits.
    #[must_use]
    pub fn new(limits: &Limits) -> Self {
        Self {
            content_type: None,
            document_bytes: limits.document_bytes,
            taken: 0,
            source: Source::First(Vec::new()),
            lexer: Lexer::new(limits),
            status: Status::Open,
        }
    }

    /// Tells the encoding that the document was sent with: the `charset` of its content type. To be called before the
    /// first chunk.
    #[must_use]
    pub fn with_charset(mut self, charset: Charset) -> Self {
        self.content_type = Some(charset);
        self
    }

    /// Reads the next bytes and hands on what they complete. [`Control::Stop`] says that the sink has seen enough; from
    /// then on nothing is read, and nothing is wrong.
    ///
    /// # Errors
    /// When the document is refused. It stays so: any further call gives the same error.
    pub fn feed(&mut self, chunk: &[u8], sink: &mut impl Sink) -> Result<Control, Error> {
        self.guarded(|tokenizer| tokenizer.take(chunk, sink))
    }

    /// Takes the end of the document.
    ///
    /// # Errors
    /// When the document is not complete, or has been refused already.
    pub fn finish(&mut self, sink: &mut impl Sink) -> Result<(), Error> {
        self.guarded(|tokenizer| tokenizer.end(sink)).map(|_| ())
    }

    /// Where it has got to: behind the last chunk, or, when the sink has had enough, behind the token with which it
    /// had. Errors have positions of their own.
    #[must_use]
    pub fn position(&self) -> Position {
        self.lexer.locator.position()
    }

    /// How many bytes of memory it takes: for what has begun and not ended, and for the names of what is open.
    #[must_use]
    pub fn memory(&self) -> usize {
        let source = match &self.source {
            Source::First(first) => first.capacity(),
            Source::Decoder(decoder) => decoder.memory(),
        };
        size_of::<Self>().saturating_add(source).saturating_add(self.lexer.memory())
    }

    /// What has been done so far: bytes looked at (twice if twice), and comparisons of names. It is proportional to
    /// time spent, and must be to the document's size.
    #[must_use]
    pub fn work(&self) -> u64 {
        self.lexer.steps()
    }

    /// Does something unless the document has come to its end, and remembers if it does so now.
    fn guarded(
        &mut self,
        action: impl FnOnce(&mut Self) -> Result<Control, Error>,
    ) -> Result<Control, Error> {
        match &self.status {
            Status::Open => {}
            Status::Stopped => return Ok(Control::Stop),
            Status::Failed(error) => return Err(error.clone()),
        }
        let result = action(self);
        match &result {
            Ok(Control::Continue) => {}
            Ok(Control::Stop) => self.status = Status::Stopped,
            Err(error) => self.status = Status::Failed(error.clone()),
        }
        result
    }

    fn take(&mut self, chunk: &[u8], sink: &mut impl Sink) -> Result<Control, Error> {
        let room = usize::try_from(self.document_bytes.saturating_sub(self.taken)).unwrap_or(usize::MAX);
        let allowed = chunk.get(..room).unwrap_or(chunk);
        self.taken = self.taken.saturating_add(u64::try_from(allowed.len()).unwrap_or(u64::MAX));

        let mut rest = allowed;
        if let Source::First(first) = &mut self.source {
            let missing = FIRST.saturating_sub(first.len());
            let (head, tail) = rest.split_at_checked(missing).unwrap_or((rest, &[]));
            first.extend_from_slice(head);
            rest = tail;
            if first.len() == FIRST && self.detect(sink)? == Control::Stop {
                return Ok(Control::Stop);
            }
        }
        if self.decode(rest, sink)? == Control::Stop {
            return Ok(Control::Stop);
        }
        if chunk.len() > allowed.len() {
            let kind = ErrorKind::LimitExceeded(Limit::DocumentBytes, self.document_bytes);
            return Err(self.lexer.error_here(kind));
        }
        Ok(Control::Continue)
    }

    fn end(&mut self, sink: &mut impl Sink) -> Result<Control, Error> {
        if self.detect(sink)? == Control::Stop {
            return Ok(Control::Stop);
        }
        if let Source::Decoder(decoder) = &self.source
            && decoder.is_within_character()
        {
            return Err(self.lexer.error_here(ErrorKind::InvalidEncoding(decoder.charset())));
        }
        self.lexer.finish().map(|()| Control::Continue)
    }

    /// Finds out the encoding, and reads the bytes that told it.
    fn detect(&mut self, sink: &mut impl Sink) -> Result<Control, Error> {
        let Source::First(first) = &mut self.source else { return Ok(Control::Continue) };
        let first = core::mem::take(first);
        let Detected { charset, basis, mark } =
            detect(&first, self.content_type).map_err(|kind| self.lexer.error_here(kind))?;
        self.source = Source::Decoder(Decoder::new(charset));
        self.lexer.encodings.establish(charset, basis);
        self.lexer.locator.set_width(width(charset));
        self.lexer.locator.skip(mark);
        self.decode(first.get(mark..).unwrap_or_default(), sink)
    }

    fn decode(&mut self, bytes: &[u8], sink: &mut impl Sink) -> Result<Control, Error> {
        let Source::Decoder(decoder) = &mut self.source else { return Ok(Control::Continue) };
        let mut rest = bytes;
        loop {
            let cut = if self.lexer.at_start() { Cut::BehindTag } else { Cut::Anywhere };
            match decoder.next(&mut rest, cut) {
                Piece::Nothing if rest.is_empty() => return Ok(Control::Continue),
                Piece::Nothing => {}
                Piece::Invalid => {
                    return Err(self.lexer.error_here(ErrorKind::InvalidEncoding(decoder.charset())));
                }
                Piece::Text(text) => {
                    if self.lexer.read(text, sink)? == Control::Stop {
                        return Ok(Control::Stop);
                    }
                }
            }
            if let Some(declared) = self.lexer.encodings.take_declared() {
                decoder.switch(declared);
                self.lexer.locator.set_width(width(declared));
            }
        }
    }
}

fn width(charset: Charset) -> Width {
    match charset {
        Charset::Utf8 => Width::Utf8,
        Charset::Utf16 | Charset::Utf16Be | Charset::Utf16Le => Width::Utf16,
        Charset::Latin1 | Charset::Ascii => Width::Single,
    }
}
