//! Processing instructions up to their data (XML 1.0, section 2.6).

use super::fault::{Fault, Place};
use super::input::Input;
use super::lexer::{Lexer, Mark, Next, Phase, State, Step};
use super::name::{Extent, NameType};
use super::section::Section;
use crate::chars::is_space;
use crate::error::ErrorKind;
use crate::token::{Control, Sink};

impl Lexer {
    pub(super) fn target(&mut self, input: &mut Input<'_>) -> Step {
        let start = input.at();
        let limit = self.limits.name_bytes;
        let extent = self.name.scan(input, NameType::Plain, limit, "a processing instruction's target")?;
        self.word.push_str(input.since(start));
        if extent == Extent::Open {
            return Ok(Next::More);
        }
        self.held = 0;
        if self.word == "xml" && self.phase == Phase::Start {
            self.mark = Mark::Here(input.at());
            self.state = State::Section(Section::Declaration);
            return Ok(Next::Go);
        }
        if self.word.eq_ignore_ascii_case("xml") {
            return Err(Fault::new(ErrorKind::ReservedTarget, Place::Mark));
        }
        if self.phase == Phase::Start {
            self.leave_start_at_mark()?;
        }
        self.state = State::BehindTarget;
        Ok(Next::Go)
    }

    pub(super) fn behind_target(&mut self, input: &mut Input<'_>) -> Step {
        match input.peek() {
            None => Ok(Next::More),
            Some(b'?') => {
                input.bump(1);
                self.state = State::EmptyInstruction;
                Ok(Next::Go)
            }
            Some(byte) if is_space(byte) => {
                self.state = State::BeforeData;
                Ok(Next::Go)
            }
            Some(_) => Err(Fault::unexpected(input, "white space or '?>' behind a target")),
        }
    }

    pub(super) fn empty_instruction<S: Sink>(&mut self, input: &mut Input<'_>, sink: &mut S) -> Step {
        match input.peek() {
            None => Ok(Next::More),
            Some(b'>') => {
                input.bump(1);
                self.state = State::Content;
                let control = sink.processing_instruction(&self.word, "");
                Ok(if control == Control::Stop { Next::Stop } else { Next::Go })
            }
            Some(_) => Err(Fault::unexpected(input, "'>' behind '?'")),
        }
    }

    pub(super) fn before_data(&mut self, input: &mut Input<'_>) -> Step {
        input.skip_space();
        if input.peek().is_some() {
            self.state = State::Section(Section::Data);
            Ok(Next::Go)
        } else {
            Ok(Next::More)
        }
    }
}
