//! What most of a message is made of, in one loop.

use super::fault::Checked;
use super::input::Input;
use super::lexer::{Lexer, Mark, Next, Phase, State};
use crate::chars::TEXT;
use crate::token::{Control, Sink};

impl Lexer {
    /// Reads text of which nothing has to be replaced, start tags without attributes that were to be expected, and end
    /// tags, as long as they are whole and there is nothing else. What else there is comes next then, or the rest of a
    /// start tag; it is left to the states of the lexer, as are all errors but that of too much text.
    pub(super) fn plain<S: Sink>(&mut self, input: &mut Input<'_>, sink: &mut S) -> Checked<Control> {
        let mut rest = input.rest();
        let control = self.plain_in(input, &mut rest, sink);
        input.move_to_rest(rest);
        control
    }

    #[inline]
    fn plain_in<S: Sink>(&mut self, input: &Input<'_>, rest: &mut &[u8], sink: &mut S) -> Checked<Control> {
        loop {
            let run = TEXT.run_before(rest);
            let Some((_, [b'<', markup @ ..])) = rest.split_at_checked(run) else {
                return Ok(Control::Continue);
            };
            let Some(first) = markup.first().filter(|first| **first != b'!') else {
                return Ok(Control::Continue);
            };
            if run > 0 {
                let start = input.place_of(rest);
                let text = input.between(start, start.saturating_add(run));
                self.check_text(start, text)?;
                *rest = rest.get(run..).unwrap_or_default();
                if sink.text(text) == Control::Stop {
                    return Ok(Control::Stop);
                }
            }

            if *first == b'/' {
                let name = markup.get(1..).unwrap_or_default();
                let Some(length) = self.elements.is_ended_by(name) else { return Ok(Control::Continue) };
                *rest = name.get(length.saturating_add(1)..).unwrap_or_default();
                if self.end_element(sink) == Next::Stop {
                    return Ok(Control::Stop);
                }
                if self.phase == Phase::Epilog {
                    return Ok(Control::Continue);
                }
            } else {
                if self.is_at_depth() {
                    return Ok(Control::Continue);
                }
                let Some(length) = self.elements.open_expected(markup, &mut self.bindings) else {
                    return Ok(Control::Continue);
                };
                self.tag.clear();
                let Some([b'>', behind @ ..]) = markup.get(length..) else {
                    let start = input.place_of(rest);
                    self.mark = Mark::Here(start);
                    self.name_starts.push(start.saturating_add(1));
                    self.spaced = false;
                    self.state = State::InTag;
                    *rest = markup.get(length..).unwrap_or_default();
                    return Ok(Control::Continue);
                };
                *rest = behind;
                if self.hand_on_start(sink) == Next::Stop {
                    return Ok(Control::Stop);
                }
            }
        }
    }
}
