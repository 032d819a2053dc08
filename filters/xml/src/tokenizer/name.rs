//! Names, a piece at a time.

use super::fault::{Checked, Fault, Place};
use super::input::Input;
use crate::chars::{is_name_char, is_name_start};
use crate::error::{ErrorKind, NamespaceRule};
use crate::limits::Limit;

/// Whether a name may have a prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NameType {
    /// `QName` (Namespaces in XML 1.0, production 7).
    Qualified,
    /// `NCName` (production 4).
    Plain,
}

/// Whether the end of a name has been seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Extent {
    /// Another character comes next.
    Complete,
    /// It may go on in the next piece.
    Open,
}

/// A name of which some may have been read.
#[derive(Debug, Default)]
pub(super) struct NameScan {
    length: usize,
    colon: Option<usize>,
    /// Whether something stands behind the last colon, or at the beginning.
    begun: bool,
}

impl NameScan {
    /// How many bytes stand before the colon.
    pub(super) fn prefix_length(&self) -> Option<usize> {
        self.colon
    }

    /// Reads what there is of the name.
    pub(super) fn scan(
        &mut self,
        input: &mut Input<'_>,
        kind: NameType,
        limit: usize,
        expected: &'static str,
    ) -> Checked<Extent> {
        loop {
            if !self.begun {
                match input.peek() {
                    None => return Ok(Extent::Open),
                    Some(b'a'..=b'z' | b'A'..=b'Z' | b'_') => {}
                    Some(0x80..) if input.character().is_some_and(is_name_start) => {}
                    Some(b':') => return Err(colon(input)),
                    Some(_) if self.length > 0 => return Err(colon(input)),
                    Some(_) => return Err(Fault::unexpected(input, expected)),
                }
                self.begun = true;
            }
            let start = input.at();
            let run = input.skip_name();
            self.grow(run, start, limit)?;
            let start = input.at();
            match input.peek() {
                None => return Ok(Extent::Open),
                Some(b':') => {
                    if kind == NameType::Plain || self.colon.is_some() {
                        return Err(colon(input));
                    }
                    self.colon = Some(self.length);
                    self.begun = false;
                    self.grow(1, start, limit)?;
                    input.bump(1);
                }
                Some(0x80..) => match input.character() {
                    Some(c) if is_name_char(c) => {
                        let bytes = c.len_utf8();
                        if self.length.saturating_add(bytes) > limit {
                            return Err(Fault::limit(Limit::NameBytes, limit, Place::At(start)));
                        }
                        self.grow(bytes, start, limit)?;
                        input.bump(bytes);
                    }
                    _ => return Ok(Extent::Complete),
                },
                Some(_) => return Ok(Extent::Complete),
            }
        }
    }

    /// Counts ASCII characters that begin at `start`.
    #[inline]
    fn grow(&mut self, bytes: usize, start: usize, limit: usize) -> Checked<()> {
        let free = limit.saturating_sub(self.length);
        if bytes > free {
            return Err(Fault::limit(Limit::NameBytes, limit, Place::At(start.saturating_add(free))));
        }
        self.length = self.length.saturating_add(bytes);
        Ok(())
    }
}

#[cold]
fn colon(input: &Input<'_>) -> Box<Fault> {
    Fault::new(ErrorKind::Namespace(NamespaceRule::Colon), Place::At(input.at()))
}
