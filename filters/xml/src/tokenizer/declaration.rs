//! The XML declaration (XML 1.0, section 2.8).

use super::fault::{Checked, Fault, Place};
use super::lexer::Lexer;
use crate::chars::is_space;
use crate::error::{ErrorKind, Found};

impl Lexer {
    /// Takes the declaration, of which `text` holds what is between `<?xml` and `?>`.
    pub(super) fn declaration(&mut self) -> Checked<()> {
        let mut parts = Parts { text: &self.text, at: 0 };
        if !parts.attribute("version")? {
            return Err(parts.unexpected("the version"));
        }
        let version = parts.value()?;
        version.check("a version: '1.' and digits", |place, c| match place {
            0 => c == '1',
            1 => c == '.',
            _ => c.is_ascii_digit(),
        })?;
        if version.text.len() < 3 {
            return Err(version.unexpected(version.text.len(), "a version: '1.' and digits"));
        }
        let mut encoding = None;
        if parts.attribute("encoding")? {
            let value = parts.value()?;
            value.check("an encoding's name", |place, c| match place {
                0 => c.is_ascii_alphabetic(),
                _ => c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-'),
            })?;
            if value.text.is_empty() {
                return Err(value.unexpected(0, "an encoding's name"));
            }
            encoding = Some(value);
        }
        if parts.attribute("standalone")? {
            let value = parts.value()?;
            if !matches!(value.text, "yes" | "no") {
                return Err(value.unexpected(0, "'yes' or 'no'"));
            }
        }
        parts.end()?;
        match encoding {
            None => {
                self.encodings.without_declaration().map_err(|kind| Fault::new(kind, Place::BehindMark(0)))
            }
            Some(Value { text, at, .. }) => {
                self.encodings.declare(text).map_err(|kind| Fault::new(kind, Place::BehindMark(at)))
            }
        }
    }
}

/// The declaration, of which some has been read.
struct Parts<'a> {
    text: &'a str,
    at: usize,
}

/// A value and where it begins.
struct Value<'a> {
    text: &'a str,
    at: usize,
    quote: char,
}

impl<'a> Parts<'a> {
    /// Reads white space, the name and the equals sign, if the name is next.
    fn attribute(&mut self, name: &str) -> Checked<bool> {
        let behind_space = self.behind_space();
        match self.text.get(behind_space..) {
            Some(rest) if rest.starts_with(name) => {
                if behind_space == self.at {
                    return Err(self.unexpected("white space"));
                }
                self.at = behind_space.saturating_add(name.len());
                self.at = self.behind_space();
                if self.peek() != Some('=') {
                    return Err(self.unexpected("'='"));
                }
                self.at = self.at.saturating_add(1);
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    /// Reads white space and a value in quotes.
    fn value(&mut self) -> Checked<Value<'a>> {
        self.at = self.behind_space();
        let Some(quote @ ('"' | '\'')) = self.peek() else {
            return Err(self.unexpected("a value in quotes"));
        };
        let at = self.at.saturating_add(1);
        let rest = self.text.get(at..).unwrap_or_default();
        match rest.split_once(quote) {
            Some((text, _)) => {
                self.at = at.saturating_add(text.len()).saturating_add(1);
                Ok(Value { text, at, quote })
            }
            None => {
                self.at = self.text.len();
                Err(self.unexpected("the quote that ends the value"))
            }
        }
    }

    /// Reads white space, behind which nothing must come.
    fn end(&mut self) -> Checked<()> {
        self.at = self.behind_space();
        if self.at < self.text.len() {
            return Err(self.unexpected("'encoding', 'standalone' or '?>', in that order"));
        }
        Ok(())
    }

    fn behind_space(&self) -> usize {
        let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
        self.at.saturating_add(rest.iter().take_while(|byte| is_space(**byte)).count())
    }

    fn peek(&self) -> Option<char> {
        self.text.get(self.at..)?.chars().next()
    }

    /// What is behind white space is not what could be there.
    fn unexpected(&self, expected: &'static str) -> Box<Fault> {
        unexpected(self.text, self.behind_space(), expected)
    }
}

impl Value<'_> {
    /// Whether each character may stand where it stands.
    fn check(&self, expected: &'static str, may_stand: impl Fn(usize, char) -> bool) -> Checked<()> {
        match self.text.char_indices().find(|(place, c)| !may_stand(*place, *c)) {
            Some((place, _)) => Err(self.unexpected(place, expected)),
            None => Ok(()),
        }
    }

    fn unexpected(&self, place: usize, expected: &'static str) -> Box<Fault> {
        let found = self.text.get(place..).and_then(|rest| rest.chars().next()).unwrap_or(self.quote);
        let place = Place::BehindMark(self.at.saturating_add(place));
        Fault::new(ErrorKind::Unexpected { found: Found::Char(found), expected }, place)
    }
}

fn unexpected(text: &str, at: usize, expected: &'static str) -> Box<Fault> {
    // Behind the declaration's text comes its end mark.
    let found = text.get(at..).and_then(|rest| rest.chars().next()).unwrap_or('?');
    Fault::new(ErrorKind::Unexpected { found: Found::Char(found), expected }, Place::BehindMark(at))
}
