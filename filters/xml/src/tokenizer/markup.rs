//! What comes behind `<`.

use super::fault::{Fault, Place};
use super::input::Input;
use super::lexer::{Keyword, Lexer, Mark, Next, Phase, State, Step};
use super::name::NameScan;
use super::section::Section;
use crate::error::ErrorKind;
use crate::limits::Limit;
use crate::token::{Control, Sink};

impl Keyword {
    /// What stands behind `<!`.
    fn bytes(self) -> &'static [u8] {
        match self {
            Self::Comment => b"--",
            Self::Cdata => b"[CDATA[",
            Self::DocumentType => b"DOCTYPE",
        }
    }

    pub(super) fn expected(self) -> &'static str {
        match self {
            Self::Comment => "'<!--'",
            Self::Cdata => "'<![CDATA['",
            Self::DocumentType => "'<!--'",
        }
    }
}

impl Lexer {
    pub(super) fn markup<S: Sink>(&mut self, input: &mut Input<'_>, sink: &mut S) -> Step {
        let Some(byte) = input.peek() else { return Ok(Next::More) };
        if byte == b'!' {
            input.bump(1);
            self.state = State::Bang;
            return Ok(Next::Go);
        }
        if self.hand_on_kept_text(sink) == Control::Stop {
            return Ok(Next::Stop);
        }
        match byte {
            b'/' if self.phase == Phase::Element => {
                input.bump(1);
                self.begin_end_tag(input, sink)
            }
            b'?' => {
                input.bump(1);
                self.mark = Mark::Here(input.at());
                self.name = NameScan::default();
                self.word.clear();
                self.state = State::Target;
                Ok(Next::Go)
            }
            _ => self.begin_start_tag(input, sink),
        }
    }

    fn begin_start_tag<S: Sink>(&mut self, input: &mut Input<'_>, sink: &mut S) -> Step {
        let place = Place::At(input.at());
        match self.phase {
            Phase::Start => self.leave_start_at_mark()?,
            Phase::Epilog => {
                return Err(Fault::unexpected(input, "'!--' or '?': the document element has ended"));
            }
            Phase::Prolog | Phase::Element => {}
        }
        if self.is_at_depth() {
            return Err(Fault::limit(Limit::Depth, self.limits.depth, place));
        }
        self.elements.open(self.bindings.len());
        self.tag.clear();
        self.name_starts.push(input.at());
        self.name = NameScan::default();
        self.phase = Phase::Element;
        self.state = State::TagName;
        self.tag_name(input, sink)
    }

    /// Whether there are as many open elements as there may be.
    #[inline]
    pub(super) fn is_at_depth(&self) -> bool {
        u32::try_from(self.elements.depth()).is_ok_and(|depth| depth >= self.limits.depth)
    }

    pub(super) fn bang<S: Sink>(&mut self, input: &mut Input<'_>, sink: &mut S) -> Step {
        let Some(byte) = input.peek() else { return Ok(Next::More) };
        if self.phase == Phase::Start {
            self.leave_start_at_mark()?;
        }
        if byte != b'[' && self.hand_on_kept_text(sink) == Control::Stop {
            return Ok(Next::Stop);
        }
        let keyword = match byte {
            b'-' => Keyword::Comment,
            b'[' if self.phase == Phase::Element => Keyword::Cdata,
            b'D' => Keyword::DocumentType,
            _ if self.phase == Phase::Element => return Err(Fault::unexpected(input, "'--' or '[CDATA['")),
            _ => return Err(Fault::unexpected(input, "'--'")),
        };
        self.state = State::Keyword(keyword, 0);
        Ok(Next::Go)
    }

    pub(super) fn keyword(&mut self, input: &mut Input<'_>, keyword: Keyword, matched: usize) -> Step {
        let mut matched = matched;
        while let Some(wanted) = keyword.bytes().get(matched) {
            match input.peek() {
                None => {
                    self.state = State::Keyword(keyword, matched);
                    return Ok(Next::More);
                }
                Some(byte) if byte == *wanted => {
                    input.bump(1);
                    matched = matched.saturating_add(1);
                }
                Some(_) => return Err(Fault::unexpected(input, keyword.expected())),
            }
        }
        self.held = 0;
        self.state = match keyword {
            Keyword::Comment => State::Section(Section::Comment),
            Keyword::Cdata => State::Section(Section::Cdata),
            Keyword::DocumentType => return Err(Fault::new(ErrorKind::DocumentType, Place::Mark)),
        };
        Ok(Next::Go)
    }

    /// Nothing that comes from here on can be the XML declaration.
    pub(super) fn leave_start(&mut self, at: usize) -> Result<(), Box<Fault>> {
        self.phase = Phase::Prolog;
        self.encodings.without_declaration().map_err(|kind| Fault::new(kind, Place::At(at)))
    }

    pub(super) fn leave_start_at_mark(&mut self) -> Result<(), Box<Fault>> {
        self.phase = Phase::Prolog;
        self.encodings.without_declaration().map_err(|kind| Fault::new(kind, Place::Mark))
    }
}
