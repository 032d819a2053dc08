//! Where in the document the tokenizer is.

use memchr::{memchr, memchr_iter, memchr2_iter};

use crate::error::Position;

/// How many bytes a character takes in the document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Width {
    /// Those of UTF-8.
    Utf8,
    /// Those of UTF-16.
    Utf16,
    /// One.
    Single,
}

impl Width {
    fn bytes(self, text: &str) -> usize {
        match self {
            Self::Utf8 => text.len(),
            Self::Utf16 => text.encode_utf16().count().saturating_mul(2),
            Self::Single => text.chars().count(),
        }
    }
}

/// A position that moves over the text of a document.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Locator {
    position: Position,
    width: Width,
    /// A line feed that comes next belongs to the line end that was there already.
    after_return: bool,
}

impl Locator {
    pub(crate) fn new() -> Self {
        Self { position: Position { line: 1, column: 1, offset: 0 }, width: Width::Utf8, after_return: false }
    }

    pub(crate) fn position(&self) -> Position {
        self.position
    }

    /// The same, elsewhere.
    pub(crate) fn moved_to(self, position: Position) -> Self {
        Self { position, after_return: false, ..self }
    }

    /// The position so many ASCII characters before another in its line.
    pub(crate) fn back(&self, from: Position, characters: usize) -> Position {
        let bytes = characters.saturating_mul(if self.width == Width::Utf16 { 2 } else { 1 });
        Position {
            line: from.line,
            column: from.column.saturating_sub(count(characters)),
            offset: from.offset.saturating_sub(count(bytes)),
        }
    }

    pub(crate) fn set_width(&mut self, width: Width) {
        self.width = width;
    }

    /// Moves over bytes that are no text: a byte order mark.
    pub(crate) fn skip(&mut self, bytes: usize) {
        self.position.offset = self.position.offset.saturating_add(count(bytes));
    }

    pub(crate) fn advance(&mut self, text: &str) {
        let position = &mut self.position;
        position.offset = position.offset.saturating_add(count(self.width.bytes(text)));

        let bytes = text.as_bytes();
        let last = if self.after_return || memchr(b'\r', bytes).is_some() {
            self.lines_with_returns(bytes)
        } else {
            // One pass for both: where there are no vector instructions, to count alone takes a step for each byte.
            let mut last = None;
            for at in memchr_iter(b'\n', bytes) {
                self.position.line = self.position.line.saturating_add(1);
                last = Some(at);
            }
            last
        };
        let position = &mut self.position;
        let tail = match last {
            Some(end) => {
                position.column = 1;
                text.get(end.saturating_add(1)..).unwrap_or_default()
            }
            None => text,
        };
        position.column = position.column.saturating_add(count(tail.chars().count()));
    }

    /// Counts the lines; gives the place of the last byte of a line end.
    fn lines_with_returns(&mut self, bytes: &[u8]) -> Option<usize> {
        let mut last = None;
        // The place where a line feed would be the second half of a line end.
        let mut second = self.after_return.then_some(0);
        for at in memchr2_iter(b'\n', b'\r', bytes) {
            let is_return = bytes.get(at) == Some(&b'\r');
            if is_return || second != Some(at) {
                self.position.line = self.position.line.saturating_add(1);
            }
            second = is_return.then(|| at.saturating_add(1));
            last = Some(at);
        }
        if !bytes.is_empty() {
            self.after_return = second == Some(bytes.len());
        }
        last
    }
}

fn count(items: usize) -> u64 {
    u64::try_from(items).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(pieces: &[&str], width: Width) -> (u64, u64, u64) {
        let mut locator = Locator::new();
        locator.set_width(width);
        for piece in pieces {
            locator.advance(piece);
        }
        let Position { line, column, offset } = locator.position();
        (line, column, offset)
    }

    #[test]
    fn counts_lines_columns_in_characters_and_bytes() {
        for (text, expected) in [
            ("", (1, 1, 0)),
            ("ab", (1, 3, 2)),
            ("ab\n", (2, 1, 3)),
            ("ab\ncä", (2, 3, 6)),
            ("\r\n\r\n", (3, 1, 4)),
            ("\r\r", (3, 1, 2)),
            ("\n\r", (3, 1, 2)),
            ("a\rb\nc\r\nd", (4, 2, 8)),
            ("\u{1F600}x", (1, 3, 5)),
        ] {
            assert_eq!(after(&[text], Width::Utf8), expected, "{text:?}");
        }
    }

    #[test]
    fn counts_the_same_however_the_text_is_cut() {
        let text = "a\r\nb\r\rc\n\n\rd\r\n";
        let whole = after(&[text], Width::Utf8);
        for first in 0..=text.len() {
            for second in first..=text.len() {
                let (head, tail) = text.split_at(second);
                let (start, middle) = head.split_at(first);
                let pieces = [start, middle, tail];
                assert_eq!(after(&pieces, Width::Utf8), whole, "{pieces:?}");
            }
        }
    }

    #[test]
    fn counts_bytes_as_they_are_in_the_document() {
        assert_eq!(after(&["aä\u{1F600}"], Width::Utf16), (1, 4, 8));
        assert_eq!(after(&["aä"], Width::Single), (1, 3, 2));
    }
}
