//! Start tags and empty-element tags.

use super::fault::{Checked, Fault, Place, fits};
use super::input::Input;
use super::lexer::{Lexer, Next, Quote, State, Step, Within};
use super::name::{Extent, NameScan, NameType};
use crate::chars::{DOUBLE_QUOTED, SINGLE_QUOTED};
use crate::limits::Limit;
use crate::tag::Kind;
use crate::token::Sink;

impl Lexer {
    pub(super) fn tag_name<S: Sink>(&mut self, input: &mut Input<'_>, sink: &mut S) -> Step {
        let start = input.at();
        let limit = self.limits.name_bytes;
        let extent = self.name.scan(input, NameType::Qualified, limit, "an element's name")?;
        self.elements.push_name(input.since(start));
        if extent == Extent::Open {
            return Ok(Next::More);
        }
        self.elements.set_colon(self.name.prefix_length());
        self.spaced = false;
        self.in_tag(input, sink)
    }

    pub(super) fn in_tag<S: Sink>(&mut self, input: &mut Input<'_>, sink: &mut S) -> Step {
        let start = input.at();
        input.skip_space();
        self.spaced |= input.at() > start;
        match input.peek() {
            None => {
                self.state = State::InTag;
                Ok(Next::More)
            }
            Some(b'>') => {
                input.bump(1);
                self.state = State::Content;
                self.end_of_start_tag(sink)
            }
            Some(b'/') => {
                input.bump(1);
                self.state = State::Slash;
                self.slash(input, sink)
            }
            Some(_) if !self.spaced => Err(Fault::unexpected(input, "white space, '/>' or '>'")),
            Some(_) => {
                self.name_starts.push(input.at());
                self.name = NameScan::default();
                self.tag.begin();
                self.state = State::AttributeName;
                Ok(Next::Go)
            }
        }
    }

    pub(super) fn slash<S: Sink>(&mut self, input: &mut Input<'_>, sink: &mut S) -> Step {
        match input.peek() {
            None => Ok(Next::More),
            Some(b'>') => {
                input.bump(1);
                self.state = State::Content;
                match self.end_of_start_tag(sink)? {
                    Next::Stop => Ok(Next::Stop),
                    _ => Ok(self.end_element(sink)),
                }
            }
            Some(_) => Err(Fault::unexpected(input, "'>' behind '/'")),
        }
    }

    pub(super) fn attribute_name(&mut self, input: &mut Input<'_>) -> Step {
        let start = input.at();
        let limit = self.limits.name_bytes;
        let expected = "an attribute's name, '/>' or '>'";
        let extent = self.name.scan(input, NameType::Qualified, limit, expected)?;
        self.tag.push_name(input.since(start));
        if extent == Extent::Open {
            return Ok(Next::More);
        }
        let order = self.name_positions.len().saturating_add(self.name_starts.len()).saturating_sub(1);
        let (limit, most, count) = match self.tag.end_name(self.name.prefix_length(), order) {
            Kind::Attribute => (Limit::Attributes, self.limits.attributes, self.tag.attribute_count()),
            Kind::Declaration => {
                let count = self.bindings.len().saturating_add(self.tag.declaration_count());
                (Limit::Bindings, self.limits.bindings, count)
            }
        };
        if u32::try_from(count).is_ok_and(|count| count > most) {
            return Err(Fault::limit(limit, most, Place::Name(order)));
        }
        self.before_equals(input)
    }

    pub(super) fn before_equals(&mut self, input: &mut Input<'_>) -> Step {
        input.skip_space();
        match input.peek() {
            None => {
                self.state = State::BeforeEquals;
                Ok(Next::More)
            }
            Some(b'=') => {
                input.bump(1);
                self.before_value(input)
            }
            Some(_) => Err(Fault::unexpected(input, "'=' behind an attribute's name")),
        }
    }

    pub(super) fn before_value(&mut self, input: &mut Input<'_>) -> Step {
        input.skip_space();
        let quote = match input.peek() {
            None => {
                self.state = State::BeforeValue;
                return Ok(Next::More);
            }
            Some(b'"') => Quote::Double,
            Some(b'\'') => Quote::Single,
            Some(_) => return Err(Fault::unexpected(input, "an attribute's value in quotes")),
        };
        input.bump(1);
        self.state = State::Value(quote);
        self.value(input, quote)
    }

    /// In an attribute value, which is normalized on the way (XML 1.0, section 3.3.3).
    pub(super) fn value(&mut self, input: &mut Input<'_>, quote: Quote) -> Step {
        self.line_feed_after_return(input);
        let stops = match quote {
            Quote::Single => &SINGLE_QUOTED,
            Quote::Double => &DOUBLE_QUOTED,
        };
        loop {
            let start = input.at();
            input.skip_to(stops);
            self.keep_run_of_value(input, start)?;
            let place = Place::At(input.at());
            match input.peek() {
                None => return Ok(Next::More),
                // The other quote is not in the set.
                Some(b'"' | b'\'') => {
                    input.bump(1);
                    self.tag.end_value();
                    self.spaced = false;
                    self.state = State::InTag;
                    return Ok(Next::Go);
                }
                Some(b'&') => {
                    self.begin_reference(input, Within::Value(quote));
                    return Ok(Next::Go);
                }
                Some(b'\t' | b'\n') => {
                    self.keep_value(place, " ")?;
                    input.bump(1);
                }
                Some(b'\r') => {
                    self.keep_value(place, " ")?;
                    self.skip_line_end(input);
                }
                Some(_) => {
                    return Err(Fault::unexpected(input, "'&lt;' instead of '<' in an attribute's value"));
                }
            }
        }
    }

    fn keep_run_of_value(&mut self, input: &Input<'_>, start: usize) -> Checked<()> {
        let run = input.since(start);
        match fits(self.tag.value_len(), run, self.limits.value_bytes) {
            Ok(()) => {
                self.tag.push_value(run);
                Ok(())
            }
            Err(room) => Err(self.value_too_long(Place::At(start.saturating_add(room)))),
        }
    }

    pub(super) fn keep_value(&mut self, place: Place, piece: &str) -> Checked<()> {
        if fits(self.tag.value_len(), piece, self.limits.value_bytes).is_err() {
            return Err(self.value_too_long(place));
        }
        self.tag.push_value(piece);
        Ok(())
    }

    #[cold]
    fn value_too_long(&self, place: Place) -> Box<Fault> {
        let limit = self.limits.value_bytes;
        Fault::limit(Limit::ValueBytes, limit, place)
    }
}
