//! What stands between pieces of markup.

use super::fault::{Checked, Fault, Place, fits};
use super::input::Input;
use super::lexer::{Lexer, Mark, Next, Phase, State, Step, Within};
use super::reference::Reference;
use super::section::Section;
use crate::chars::TEXT;
use crate::limits::{Limit, Limits};
use crate::token::{Control, Sink};

impl Lexer {
    /// Outside the document element: white space, and markup.
    pub(super) fn outside(&mut self, input: &mut Input<'_>) -> Step {
        let start = input.at();
        input.skip_space();
        if input.at() > start && self.phase == Phase::Start {
            self.leave_start(start)?;
        }
        match input.peek() {
            None => Ok(Next::More),
            Some(b'<') => {
                self.begin_markup(input);
                Ok(Next::Go)
            }
            Some(_) if self.phase == Phase::Epilog => {
                Err(Fault::unexpected(input, "nothing more than comments and processing instructions"))
            }
            Some(_) => Err(Fault::unexpected(input, "'<'")),
        }
    }

    /// In an element, up to and with the `<` of a piece of markup.
    pub(super) fn content<S: Sink>(&mut self, input: &mut Input<'_>, sink: &mut S) -> Step {
        self.line_feed_after_return(input);
        if self.text.is_empty() && self.held == 0 {
            if self.plain(input, sink)? == Control::Stop {
                return Ok(Next::Stop);
            }
            if self.state != State::Content || self.phase != Phase::Element {
                return Ok(Next::Go);
            }
        }
        let mut start = input.at();
        if self.held > 0 {
            self.brackets_in_text(input, start)?;
        }
        loop {
            input.skip_to(&TEXT);
            match input.peek() {
                None => {
                    self.keep_text(input, start)?;
                    return Ok(Next::More);
                }
                Some(b'<') => {
                    // The data goes on behind the markup if that is a CDATA section.
                    return if matches!(input.peek_at(1), None | Some(b'!')) {
                        self.keep_text(input, start)?;
                        self.begin_markup(input);
                        Ok(Next::Go)
                    } else if self.hand_on_text(input, start, sink)? == Control::Stop {
                        Ok(Next::Stop)
                    } else {
                        self.begin_markup(input);
                        self.markup(input, sink)
                    };
                }
                Some(b'&') => {
                    self.keep_text(input, start)?;
                    self.begin_reference(input, Within::Text);
                    return Ok(Next::Go);
                }
                Some(b']') => self.brackets_in_text(input, start)?,
                Some(b'\r') => {
                    self.keep_text(input, start)?;
                    self.line_end(input)?;
                    start = input.at();
                }
                Some(_) => {
                    self.keep_text(input, start)?;
                    return Err(Fault::unexpected(input, "character data"));
                }
            }
        }
    }

    /// Reads `<`.
    pub(super) fn begin_markup(&mut self, input: &mut Input<'_>) {
        self.mark = Mark::Here(input.at());
        input.bump(1);
        self.state = State::Markup;
    }

    /// Reads `&`.
    pub(super) fn begin_reference(&mut self, input: &mut Input<'_>, within: Within) {
        self.mark = Mark::Here(input.at());
        input.bump(1);
        self.reference = Reference::default();
        self.state = State::Reference(within);
    }

    /// Reads square brackets, unless they turn out to be the beginning of `]]>` (XML 1.0, section 2.4). What has been
    /// read since `start` is kept only if they do, for a limit that it goes beyond is what is wrong first.
    fn brackets_in_text(&mut self, input: &mut Input<'_>, start: usize) -> Checked<()> {
        while input.peek() == Some(b']') {
            self.held = self.held.saturating_add(1).min(2);
            input.bump(1);
        }
        match input.peek() {
            None => {}
            Some(b'>') if self.held == 2 => {
                self.keep_text(input, start)?;
                return Err(Fault::unexpected(input, "'&gt;' instead of '>' behind ']]' in text"));
            }
            Some(_) => self.held = 0,
        }
        Ok(())
    }

    /// Reads a line end that begins with a carriage return, as a line feed (XML 1.0, section 2.11).
    pub(super) fn line_end(&mut self, input: &mut Input<'_>) -> Checked<()> {
        self.keep(Place::At(input.at()), "\n")?;
        self.skip_line_end(input);
        Ok(())
    }

    /// Reads a carriage return and the line feed that may follow.
    pub(super) fn skip_line_end(&mut self, input: &mut Input<'_>) {
        input.bump(1);
        self.after_return = true;
        self.line_feed_after_return(input);
    }

    /// Reads the line feed of a line end whose carriage return has been read.
    #[inline]
    pub(super) fn line_feed_after_return(&mut self, input: &mut Input<'_>) {
        if self.after_return
            && let Some(byte) = input.peek()
        {
            self.after_return = false;
            if byte == b'\n' {
                input.bump(1);
            }
        }
    }

    /// Puts what has been read since `start` to the text that is kept.
    pub(super) fn keep_text(&mut self, input: &Input<'_>, start: usize) -> Checked<()> {
        self.keep_text_to(input, start, input.at())
    }

    pub(super) fn keep_text_to(&mut self, input: &Input<'_>, start: usize, end: usize) -> Checked<()> {
        let run = input.between(start, end);
        self.check_text(start, run)?;
        self.text.push_str(run);
        Ok(())
    }

    /// Puts something to the text that is kept; if it is too much, `place` is where it stands in the document.
    pub(super) fn keep(&mut self, place: Place, piece: &str) -> Checked<()> {
        let (limit, bytes) = self.text_limit();
        if fits(self.text.len(), piece, bytes).is_err() {
            return Err(Fault::limit(limit, u64::try_from(bytes).unwrap_or(u64::MAX), place));
        }
        self.text.push_str(piece);
        Ok(())
    }

    /// Whether there is room for a run that begins at `start`.
    #[inline]
    pub(super) fn check_text(&self, start: usize, run: &str) -> Checked<()> {
        let (limit, bytes) = self.text_limit();
        fits(self.text.len(), run, bytes).map_err(|room| {
            let place = Place::At(start.saturating_add(room));
            Fault::limit(limit, u64::try_from(bytes).unwrap_or(u64::MAX), place)
        })
    }

    /// What bounds the text that is kept.
    #[inline]
    fn text_limit(&self) -> (Limit, usize) {
        match self.state {
            State::Section(Section::Declaration) => (Limit::DeclarationBytes, Limits::DECLARATION_BYTES),
            _ => (Limit::TextBytes, self.limits.text_bytes),
        }
    }

    /// Hands on the text that is kept and what has been read since `start`, without copying if that is all.
    #[inline]
    fn hand_on_text<S: Sink>(&mut self, input: &Input<'_>, start: usize, sink: &mut S) -> Checked<Control> {
        if !self.text.is_empty() {
            self.keep_text(input, start)?;
            return Ok(self.hand_on_kept_text(sink));
        }
        let run = input.since(start);
        if run.is_empty() {
            return Ok(Control::Continue);
        }
        self.check_text(start, run)?;
        Ok(sink.text(run))
    }

    /// Hands on the text that is kept.
    pub(super) fn hand_on_kept_text<S: Sink>(&mut self, sink: &mut S) -> Control {
        if self.text.is_empty() {
            return Control::Continue;
        }
        let control = sink.text(&self.text);
        self.text.clear();
        control
    }
}
