//! What goes on up to its own end mark, whatever is in it: comments, CDATA sections, processing instructions' data.

use super::fault::{Fault, Place};
use super::input::Input;
use super::lexer::{Lexer, Next, Phase, State, Step};
use crate::chars::{ByteSet, CDATA, COMMENT, INSTRUCTION};
use crate::token::{Control, Sink};

/// What the section is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Section {
    Comment,
    Cdata,
    /// A processing instruction's data.
    Data,
    /// What is behind the `<?xml` of the XML declaration.
    Declaration,
}

impl Section {
    /// The end mark is so many of that character, and then `>`.
    fn end(self) -> (u8, &'static str, usize) {
        match self {
            Self::Comment => (b'-', "-", 2),
            Self::Cdata => (b']', "]", 2),
            Self::Data | Self::Declaration => (b'?', "?", 1),
        }
    }

    fn stops(self) -> &'static ByteSet {
        match self {
            Self::Comment => &COMMENT,
            Self::Cdata => &CDATA,
            Self::Data | Self::Declaration => &INSTRUCTION,
        }
    }

    pub(super) fn expected(self) -> &'static str {
        match self {
            Self::Comment => "'-->'",
            Self::Cdata => "']]>'",
            Self::Data | Self::Declaration => "'?>'",
        }
    }
}

/// What is at the end of a run of marks.
enum AtMarks {
    /// The end mark; so many bytes before it are text.
    End(usize),
    /// Text.
    Text,
    /// The end of the piece; so many of the marks may begin the end mark.
    Held(usize),
}

impl Lexer {
    pub(super) fn section<S: Sink>(&mut self, input: &mut Input<'_>, sink: &mut S, section: Section) -> Step {
        self.line_feed_after_return(input);
        match self.resolve_held(input, section)? {
            AtMarks::Text => {}
            AtMarks::End(_) => return self.end_section(sink, section, ""),
            AtMarks::Held(held) => {
                self.held = held;
                return Ok(Next::More);
            }
        }
        let (mark, ..) = section.end();
        let mut start = input.at();
        loop {
            input.skip_to(section.stops());
            match input.peek() {
                None => {
                    self.keep_text(input, start)?;
                    return Ok(Next::More);
                }
                Some(byte) if byte == mark => {
                    let run = input.at();
                    match self
                        .marks(input, section)
                        .or_else(|fault| self.keep_text_to(input, start, run).and(Err(fault)))?
                    {
                        AtMarks::Text => {}
                        AtMarks::End(more) => {
                            let text = input.between(start, run.saturating_add(more));
                            self.check_text(start, text)?;
                            return self.end_section(sink, section, text);
                        }
                        AtMarks::Held(held) => {
                            self.held = held;
                            self.keep_text_to(input, start, input.at().saturating_sub(held))?;
                            return Ok(Next::More);
                        }
                    }
                }
                // The XML declaration is kept as it is: places in it are to be told by the text.
                Some(b'\r') if section == Section::Declaration => input.bump(1),
                Some(b'\r') => {
                    self.keep_text(input, start)?;
                    self.line_end(input)?;
                    start = input.at();
                }
                Some(_) => {
                    self.keep_text(input, start)?;
                    return Err(Fault::unexpected(input, section.expected()));
                }
            }
        }
    }

    /// Reads marks, and the `>` of an end mark.
    fn marks(&self, input: &mut Input<'_>, section: Section) -> Result<AtMarks, Box<Fault>> {
        let (mark, _, most) = section.end();
        let mut run = 0_usize;
        while input.peek() == Some(mark) {
            // Behind two hyphens a comment ends (XML 1.0, section 2.5).
            if section == Section::Comment && run == most {
                return Err(Fault::unexpected(input, "'>' behind '--' in a comment"));
            }
            run = run.saturating_add(1);
            input.bump(1);
        }
        match input.peek() {
            None => Ok(AtMarks::Held(run.min(most))),
            Some(b'>') if run >= most => {
                input.bump(1);
                Ok(AtMarks::End(run.saturating_sub(most)))
            }
            Some(_) if section == Section::Comment && run == most => {
                Err(Fault::unexpected(input, "'>' behind '--' in a comment"))
            }
            Some(_) => Ok(AtMarks::Text),
        }
    }

    /// Finds out what marks at the end of the last piece were.
    fn resolve_held(&mut self, input: &mut Input<'_>, section: Section) -> Result<AtMarks, Box<Fault>> {
        let (mark, text, most) = section.end();
        while self.held > 0 {
            let Some(byte) = input.peek() else { return Ok(AtMarks::Held(self.held)) };
            let at = input.at();
            if self.held == most && byte == b'>' {
                input.bump(1);
                return Ok(AtMarks::End(0));
            }
            if self.held == most && section == Section::Comment {
                return Err(Fault::unexpected(input, "'>' behind '--' in a comment"));
            }
            if byte != mark {
                for back in (1..=self.held).rev() {
                    self.keep(Place::Back(at, back), text)?;
                }
                self.held = 0;
            } else if self.held < most {
                self.held = self.held.saturating_add(1);
                input.bump(1);
            } else {
                self.keep(Place::Back(at, most), text)?;
                input.bump(1);
            }
        }
        Ok(AtMarks::Text)
    }

    /// Hands on what has been kept, and the text that came last.
    fn end_section<S: Sink>(&mut self, sink: &mut S, section: Section, last: &str) -> Step {
        self.held = 0;
        self.state = State::Content;
        let text = match section {
            Section::Comment | Section::Data if self.text.is_empty() => last,
            _ => {
                self.text.push_str(last);
                &self.text
            }
        };
        let control = match section {
            // It goes on with the character data around it.
            Section::Cdata => return Ok(Next::Go),
            Section::Comment => sink.comment(text),
            Section::Data => sink.processing_instruction(&self.word, text),
            Section::Declaration => {
                self.declaration()?;
                self.phase = Phase::Prolog;
                Control::Continue
            }
        };
        self.text.clear();
        Ok(if control == Control::Stop { Next::Stop } else { Next::Go })
    }
}
