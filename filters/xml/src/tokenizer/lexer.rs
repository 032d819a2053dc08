//! The state of a document that has been read in part, and the way from one state to the next.

use super::encodings::Encodings;
use super::fault::{Checked, Fault, Place};
use super::input::Input;
use super::name::NameScan;
use super::reference::Reference;
use super::section::Section;
use crate::elements::Elements;
use crate::error::{Error, ErrorKind, Found, Position, excerpt};
use crate::limits::Limits;
use crate::namespaces::{Bindings, NamespaceNames};
use crate::position::Locator;
use crate::tag::Tag;
use crate::token::{Control, Sink};

/// Where in the document's grammar the reader is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// Between pieces of markup.
    Content,
    /// Behind `&`.
    Reference(Within),
    /// Behind `<`.
    Markup,
    /// Behind `<!`.
    Bang,
    /// Behind so many bytes of a word that begins a piece of markup.
    Keyword(Keyword, usize),
    /// In what goes on up to its own end mark.
    Section(Section),
    /// In a processing instruction's target.
    Target,
    /// Behind it.
    BehindTarget,
    /// Behind it and a question mark.
    EmptyInstruction,
    /// In the white space behind it.
    BeforeData,
    /// In the name of a start tag.
    TagName,
    /// Behind it, or behind an attribute.
    InTag,
    /// In the name of an attribute or a declaration.
    AttributeName,
    /// Behind it.
    BeforeEquals,
    /// Behind the equals sign.
    BeforeValue,
    /// In an attribute value.
    Value(Quote),
    /// Behind the slash that ends an empty-element tag.
    Slash,
    /// In the name of an end tag.
    EndTagName,
    /// Behind it.
    InEndTag,
}

/// What a reference stands in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Within {
    Text,
    Value(Quote),
}

/// What an attribute value is enclosed in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Quote {
    Single,
    Double,
}

/// What may stand behind `<!`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Keyword {
    Comment,
    Cdata,
    DocumentType,
}

/// The parts of a document (XML 1.0, production 1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    /// Nothing has been read but, possibly, the beginning of what could be the XML declaration.
    Start,
    /// Before the document element.
    Prolog,
    /// In the document element.
    Element,
    /// Behind it.
    Epilog,
}

/// Where something began that an error may have to point at.
#[derive(Debug, Clone, Copy)]
pub(super) enum Mark {
    /// So many bytes into this piece.
    Here(usize),
    /// In an earlier one.
    Before(Position),
}

/// What comes after a state has had its turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    /// The next state.
    Go,
    /// More of the document.
    More,
    /// Nothing: the sink has seen enough.
    Stop,
}

pub(super) type Step = Checked<Next>;

/// Reads decoded text.
#[derive(Debug)]
pub(super) struct Lexer {
    pub(super) limits: Limits,
    pub(super) locator: Locator,
    pub(super) encodings: Encodings,
    pub(super) state: State,
    pub(super) phase: Phase,
    pub(super) mark: Mark,
    /// Character data, a comment, a target or data of which the end has not been seen, or that is not as it is in the
    /// document.
    pub(super) text: String,
    /// A name that is not that of a start tag or an attribute.
    pub(super) word: String,
    pub(super) name: NameScan,
    pub(super) reference: Reference,
    /// Bytes at the end of what has been read that may belong to the end mark of a section, or to `]]>` in text.
    pub(super) held: usize,
    /// A line feed that comes next belongs to a line end that was there already.
    pub(super) after_return: bool,
    /// Whether there is white space behind the last thing in a tag.
    pub(super) spaced: bool,
    pub(super) tag: Tag,
    /// Where the names in the tag begin: those of this piece, and those of earlier ones.
    pub(super) name_starts: Vec<usize>,
    pub(super) name_positions: Vec<Position>,
    pub(super) elements: Elements,
    pub(super) bindings: Bindings,
    pub(super) namespaces: NamespaceNames,
    steps: u64,
}

impl Lexer {
    pub(super) fn memory(&self) -> usize {
        let starts = self.name_starts.capacity().saturating_mul(size_of::<usize>());
        let positions = self.name_positions.capacity().saturating_mul(size_of::<Position>());
        let own = [self.text.capacity(), self.word.capacity(), starts, positions];
        let parts =
            [self.tag.memory(), self.elements.memory(), self.bindings.memory(), self.namespaces.memory()];
        own.into_iter().chain(parts).fold(0, usize::saturating_add)
    }

    pub(super) fn new(limits: &Limits) -> Self {
        Self {
            limits: limits.clone(),
            locator: Locator::new(),
            encodings: Encodings::default(),
            state: State::Content,
            phase: Phase::Start,
            mark: Mark::Here(0),
            text: String::new(),
            word: String::new(),
            name: NameScan::default(),
            reference: Reference::default(),
            held: 0,
            after_return: false,
            spaced: false,
            tag: Tag::default(),
            name_starts: Vec::new(),
            name_positions: Vec::new(),
            elements: Elements::default(),
            bindings: Bindings::default(),
            namespaces: NamespaceNames::default(),
            steps: 0,
        }
    }

    /// Whether the XML declaration may still be ahead, or is being read.
    pub(super) fn at_start(&self) -> bool {
        self.phase == Phase::Start
    }

    /// Bytes looked at and comparisons made so far.
    pub(super) fn steps(&self) -> u64 {
        [self.tag.steps(), self.bindings.steps(), self.namespaces.steps()]
            .iter()
            .fold(self.steps, |sum, steps| sum.saturating_add(*steps))
    }

    /// Reads the next piece of the document.
    pub(super) fn read<S: Sink>(&mut self, piece: &str, sink: &mut S) -> Result<Control, Error> {
        let mut input = Input::new(piece);
        let result = self.run(&mut input, sink);
        self.steps = self.steps.saturating_add(input.steps());
        match result {
            Ok(Control::Stop) => {
                // Character data ends before the markup that showed that it had ended.
                let position = match (self.state, self.mark) {
                    (State::Markup | State::Bang, Mark::Before(position)) => position,
                    (State::Markup | State::Bang, Mark::Here(at)) => self.position(piece, at),
                    _ => self.position(piece, input.at()),
                };
                self.locator = self.locator.moved_to(position);
                Ok(Control::Stop)
            }
            Ok(Control::Continue) => {
                self.leave(piece);
                Ok(Control::Continue)
            }
            Err(fault) => Err(self.locate(*fault, piece)),
        }
    }

    /// Takes the end of the document.
    pub(super) fn finish(&self) -> Result<(), Error> {
        let expected = match (self.state, self.phase) {
            (State::Content, Phase::Epilog) => return Ok(()),
            (State::Content, Phase::Element) => {
                return Err(
                    self.error_here(ErrorKind::UnclosedElement(excerpt(self.elements.qualified_name())))
                );
            }
            (state, _) => state.expected(),
        };
        Err(self.error_here(ErrorKind::Unexpected { found: Found::End, expected }))
    }

    /// An error behind all that has been read.
    pub(super) fn error_here(&self, kind: ErrorKind) -> Error {
        Error { kind, position: self.locator.position() }
    }

    fn run<S: Sink>(&mut self, input: &mut Input<'_>, sink: &mut S) -> Checked<Control> {
        loop {
            let next = match self.state {
                State::Content if self.phase == Phase::Element => self.content(input, sink),
                State::Content => self.outside(input),
                State::Reference(within) => self.reference(input, within),
                State::Markup => self.markup(input, sink),
                State::Bang => self.bang(input, sink),
                State::Keyword(keyword, matched) => self.keyword(input, keyword, matched),
                State::Section(section) => self.section(input, sink, section),
                State::Target => self.target(input),
                State::BehindTarget => self.behind_target(input),
                State::EmptyInstruction => self.empty_instruction(input, sink),
                State::BeforeData => self.before_data(input),
                State::TagName => self.tag_name(input, sink),
                State::InTag => self.in_tag(input, sink),
                State::AttributeName => self.attribute_name(input),
                State::BeforeEquals => self.before_equals(input),
                State::BeforeValue => self.before_value(input),
                State::Value(quote) => self.value(input, quote),
                State::Slash => self.slash(input, sink),
                State::EndTagName => self.end_tag_name(input, sink),
                State::InEndTag => self.in_end_tag(input, sink),
            }?;
            match next {
                Next::Go => {}
                Next::More => return Ok(Control::Continue),
                Next::Stop => return Ok(Control::Stop),
            }
        }
    }

    /// Leaves a piece that has been read: places in it become positions.
    fn leave(&mut self, piece: &str) {
        if self.state != State::Content
            && let Mark::Here(at) = self.mark
        {
            self.mark = Mark::Before(self.position(piece, at));
        }
        let (mut locator, mut before) = (self.locator, 0);
        for start in self.name_starts.drain(..) {
            locator.advance(piece.get(before..start).unwrap_or_default());
            self.name_positions.push(locator.position());
            before = start;
        }
        self.locator.advance(piece);
    }

    fn position(&self, piece: &str, at: usize) -> Position {
        let mut locator = self.locator;
        locator.advance(piece.get(..at).unwrap_or(piece));
        locator.position()
    }

    #[cold]
    fn locate(&self, fault: Fault, piece: &str) -> Error {
        let mark = match self.mark {
            Mark::Here(at) => self.position(piece, at),
            Mark::Before(position) => position,
        };
        let position = match fault.place {
            Place::At(at) => self.position(piece, at),
            Place::Back(at, characters) => self.locator.back(self.position(piece, at), characters),
            Place::Mark => mark,
            Place::BehindMark(bytes) => {
                let mut locator = self.locator.moved_to(mark);
                locator.advance(self.text.get(..bytes).unwrap_or_default());
                locator.position()
            }
            Place::Name(order) => match order.checked_sub(self.name_positions.len()) {
                None => self.name_positions.get(order).copied().unwrap_or(mark),
                Some(later) => self.position(piece, self.name_starts.get(later).copied().unwrap_or_default()),
            },
        };
        Error { kind: fault.kind, position }
    }
}

impl State {
    /// What the document would have had to go on with.
    fn expected(self) -> &'static str {
        match self {
            Self::Content => "the document element",
            Self::Reference(_) => "the rest of a reference",
            Self::Markup | Self::Bang => "the rest of a piece of markup",
            Self::Keyword(keyword, _) => keyword.expected(),
            Self::Section(section) => section.expected(),
            Self::Target => "a processing instruction's target",
            Self::BehindTarget | Self::EmptyInstruction | Self::BeforeData => "'?>'",
            Self::TagName | Self::InTag | Self::Slash => "the end of a start tag",
            Self::AttributeName | Self::BeforeEquals => "an attribute's name and '='",
            Self::BeforeValue => "an attribute's value in quotes",
            Self::Value(_) => "the quote that ends an attribute's value",
            Self::EndTagName | Self::InEndTag => "the end of an end tag",
        }
    }
}
