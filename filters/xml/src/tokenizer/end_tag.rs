//! End tags.

use super::fault::{Fault, Place};
use super::input::Input;
use super::lexer::{Lexer, Mark, Next, State, Step};
use super::name::{Extent, NameScan, NameType};
use crate::error::{ErrorKind, excerpt};
use crate::token::Sink;

impl Lexer {
    /// Behind `</` in an element.
    pub(super) fn begin_end_tag<S: Sink>(&mut self, input: &mut Input<'_>, sink: &mut S) -> Step {
        // Nearly always the name is the right one, and its end is here.
        if let Some(length) = self.elements.is_ended_by(input.rest()) {
            input.bump(length.saturating_add(1));
            self.state = State::Content;
            return Ok(self.end_element(sink));
        }
        self.mark = Mark::Here(input.at());
        self.name = NameScan::default();
        self.word.clear();
        self.state = State::EndTagName;
        Ok(Next::Go)
    }

    pub(super) fn end_tag_name<S: Sink>(&mut self, input: &mut Input<'_>, sink: &mut S) -> Step {
        let start = input.at();
        let limit = self.limits.name_bytes;
        let extent = self.name.scan(input, NameType::Qualified, limit, "an element's name")?;
        self.word.push_str(input.since(start));
        if extent == Extent::Open {
            return Ok(Next::More);
        }
        let open = self.elements.qualified_name();
        if self.word != open {
            return Err(Fault::new(ErrorKind::EndTagMismatch(excerpt(open)), Place::Mark));
        }
        self.state = State::InEndTag;
        self.in_end_tag(input, sink)
    }

    pub(super) fn in_end_tag<S: Sink>(&mut self, input: &mut Input<'_>, sink: &mut S) -> Step {
        input.skip_space();
        match input.peek() {
            None => Ok(Next::More),
            Some(b'>') => {
                input.bump(1);
                self.state = State::Content;
                Ok(self.end_element(sink))
            }
            Some(_) => Err(Fault::unexpected(input, "'>' behind the name in an end tag")),
        }
    }
}
