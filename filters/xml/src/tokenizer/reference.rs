//! References to characters, and to the five entities that need no declaration (XML 1.0, sections 4.1 and 4.6).

use super::fault::{Checked, Fault, Place};
use super::input::Input;
use super::lexer::{Lexer, Next, State, Step, Within};
use super::name::{Extent, NameScan, NameType};
use crate::chars::is_char;
use crate::error::{ErrorKind, excerpt};

/// How much of a reference has been read.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reference {
    /// `&`
    #[default]
    Begun,
    /// `&#`
    Number,
    /// `&#` and digits.
    Decimal(u32),
    /// `&#x` and digits, if any.
    Hexadecimal(Option<u32>),
    /// `&` and, possibly, a part of the name.
    Name,
}

impl Lexer {
    pub(super) fn reference(&mut self, input: &mut Input<'_>, within: Within) -> Step {
        let Some(character) = self.referred(input)? else { return Ok(Next::More) };
        let mut buffer = [0; 4];
        let piece = character.encode_utf8(&mut buffer);
        match within {
            Within::Text => {
                self.keep(Place::Mark, piece)?;
                self.state = State::Content;
            }
            Within::Value(quote) => {
                self.keep_value(Place::Mark, piece)?;
                self.state = State::Value(quote);
            }
        }
        Ok(Next::Go)
    }

    /// Reads the rest of a reference; gives what it stands for.
    fn referred(&mut self, input: &mut Input<'_>) -> Checked<Option<char>> {
        while let Some(byte) = input.peek() {
            self.reference = match (self.reference, byte) {
                (Reference::Begun, b'#') => Reference::Number,
                (Reference::Begun, _) => {
                    self.name = NameScan::default();
                    self.word.clear();
                    self.reference = Reference::Name;
                    continue;
                }
                (Reference::Number, b'x') => Reference::Hexadecimal(None),
                (Reference::Number, b'0'..=b'9') => Reference::Decimal(digit(0, 10, byte)),
                (Reference::Number, _) => return Err(Fault::unexpected(input, "a digit or 'x'")),
                (Reference::Decimal(number), b'0'..=b'9') => Reference::Decimal(digit(number, 10, byte)),
                (Reference::Hexadecimal(number), b'0'..=b'9' | b'a'..=b'f' | b'A'..=b'F') => {
                    Reference::Hexadecimal(Some(digit(number.unwrap_or_default(), 16, byte)))
                }
                (Reference::Decimal(number) | Reference::Hexadecimal(Some(number)), b';') => {
                    input.bump(1);
                    let character = char::from_u32(number).filter(|c| is_char(*c));
                    return match character {
                        Some(_) => Ok(character),
                        None => Err(Fault::new(ErrorKind::IllegalReference, Place::Mark)),
                    };
                }
                (Reference::Decimal(_), _) => return Err(Fault::unexpected(input, "a digit or ';'")),
                (Reference::Hexadecimal(None), _) => {
                    return Err(Fault::unexpected(input, "a hexadecimal digit"));
                }
                (Reference::Hexadecimal(_), _) => {
                    return Err(Fault::unexpected(input, "a hexadecimal digit or ';'"));
                }
                (Reference::Name, _) => return self.entity(input),
            };
            input.bump(1);
        }
        Ok(None)
    }

    fn entity(&mut self, input: &mut Input<'_>) -> Checked<Option<char>> {
        let start = input.at();
        let limit = self.limits.name_bytes;
        let extent = self.name.scan(input, NameType::Plain, limit, "an entity's name or '#' behind '&'")?;
        self.word.push_str(input.since(start));
        if extent == Extent::Open {
            return Ok(None);
        }
        if input.peek() != Some(b';') {
            return Err(Fault::unexpected(input, "';' behind an entity's name"));
        }
        input.bump(1);
        match self.word.as_str() {
            "amp" => Ok(Some('&')),
            "lt" => Ok(Some('<')),
            "gt" => Ok(Some('>')),
            "apos" => Ok(Some('\'')),
            "quot" => Ok(Some('"')),
            name => Err(Fault::new(ErrorKind::UndefinedEntity(excerpt(name)), Place::Mark)),
        }
    }
}

/// A number with one digit more; one that is too great for a character stays so.
fn digit(number: u32, base: u32, byte: u8) -> u32 {
    let value = char::from(byte).to_digit(base).unwrap_or_default();
    number.saturating_mul(base).saturating_add(value)
}
