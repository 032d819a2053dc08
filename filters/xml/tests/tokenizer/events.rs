//! What a sink gets to see, written down.

use portcullis_xml::{Charset, Control, Error, Limits, Name, Position, Sink, StartTag, Tokenizer};

/// Writes one line for each call; stops after so many.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Events {
    pub(crate) lines: Vec<String>,
    /// The names of the open elements.
    open: Vec<String>,
    stop_after: Option<usize>,
}

impl Events {
    pub(crate) fn stopping_after(calls: usize) -> Self {
        Self { stop_after: Some(calls), ..Self::default() }
    }

    fn add(&mut self, line: String) -> Control {
        self.lines.push(line);
        if self.stop_after == Some(self.lines.len()) { Control::Stop } else { Control::Continue }
    }
}

fn name(name: Name<'_>) -> String {
    let colon = if name.prefix.is_empty() { "" } else { ":" };
    let written = format!("{}{colon}{}", name.prefix, name.local);
    if name.namespace.is_empty() { written } else { format!("{written}{{{}}}", name.namespace) }
}

impl Sink for Events {
    fn start(&mut self, tag: &StartTag<'_>) -> Control {
        let mut line = format!("<{}", name(tag.name()));
        for (prefix, uri, _) in tag.declarations() {
            line += &format!(" ({prefix}={uri})");
        }
        assert_eq!(tag.attributes().len(), tag.attributes().iter().count());
        for attribute in tag.attributes().iter() {
            line += &format!(" {}={:?}", name(attribute.name), attribute.value);
        }
        self.open.push(name(tag.name()));
        self.add(line)
    }

    fn end(&mut self) -> Control {
        let name = self.open.pop().unwrap();
        self.add(format!(">{name}"))
    }

    fn text(&mut self, text: &str) -> Control {
        assert!(!text.is_empty());
        self.add(format!("{text:?}"))
    }

    fn comment(&mut self, text: &str) -> Control {
        self.add(format!("!{text:?}"))
    }

    fn processing_instruction(&mut self, target: &str, data: &str) -> Control {
        self.add(format!("?{target} {data:?}"))
    }
}

/// What comes of a document that arrives in these chunks.
#[derive(Debug, PartialEq)]
pub(crate) struct Outcome {
    pub(crate) events: Events,
    pub(crate) error: Option<Error>,
    /// Where it got to without one.
    pub(crate) position: Option<Position>,
    pub(crate) work: u64,
}

pub(crate) fn read_chunks<'a>(
    mut tokenizer: Tokenizer,
    mut events: Events,
    chunks: impl IntoIterator<Item = &'a [u8]>,
) -> Outcome {
    let mut result = Ok(());
    for chunk in chunks {
        result = tokenizer.feed(chunk, &mut events).map(|_| ());
        if result.is_err() {
            assert_eq!(tokenizer.feed(b"<a/>", &mut events).map(|_| ()), result, "the error stays");
            break;
        }
    }
    let error = result.and_then(|()| tokenizer.finish(&mut events)).err();
    let position = error.is_none().then(|| tokenizer.position());
    Outcome { events, error, position, work: tokenizer.work() }
}

pub(crate) fn read_with(limits: &Limits, document: &[u8]) -> Outcome {
    read_chunks(Tokenizer::new(limits), Events::default(), [document])
}

/// The calls for a document that must be well-formed.
pub(crate) fn events(document: impl AsRef<[u8]>) -> Vec<String> {
    let outcome = read_with(&Limits::default(), document.as_ref());
    assert_eq!(outcome.error, None, "{}", String::from_utf8_lossy(document.as_ref()));
    outcome.events.lines
}

/// The error of a document that must not be.
pub(crate) fn error(document: impl AsRef<[u8]>) -> Error {
    let document = document.as_ref();
    let error = read_with(&Limits::default(), document).error;
    error.unwrap_or_else(|| panic!("accepted: {}", String::from_utf8_lossy(document)))
}

/// The same for one that came with a content type.
pub(crate) fn read_as(charset: Charset, document: &[u8]) -> Outcome {
    let tokenizer = Tokenizer::new(&Limits::default()).with_charset(charset);
    read_chunks(tokenizer, Events::default(), [document])
}
