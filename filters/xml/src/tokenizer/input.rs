//! The piece of the document that is being read.

use crate::chars::{ByteSet, NAME, is_space};

/// Decoded text, and how much of it has been read.
pub(super) struct Input<'b> {
    text: &'b str,
    at: usize,
    steps: u64,
}

impl<'b> Input<'b> {
    pub(super) fn new(text: &'b str) -> Self {
        Self { text, at: 0, steps: 0 }
    }

    /// How many bytes have been read.
    #[inline]
    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// Bytes that were looked at, those that were looked at twice counted twice.
    pub(super) fn steps(&self) -> u64 {
        self.steps
    }

    #[inline]
    pub(super) fn rest(&self) -> &'b [u8] {
        self.text.as_bytes().get(self.at..).unwrap_or_default()
    }

    /// The next byte.
    #[inline]
    pub(super) fn peek(&self) -> Option<u8> {
        self.peek_at(0)
    }

    /// The byte behind the next `skipped`.
    #[inline]
    pub(super) fn peek_at(&self, skipped: usize) -> Option<u8> {
        self.text.as_bytes().get(self.at.saturating_add(skipped)).copied()
    }

    /// The next character.
    pub(super) fn character(&self) -> Option<char> {
        self.text.get(self.at..)?.chars().next()
    }

    #[inline]
    pub(super) fn bump(&mut self, bytes: usize) {
        self.at = self.at.saturating_add(bytes);
        self.count(bytes);
    }

    /// What has been read since `start`.
    #[inline]
    pub(super) fn since(&self, start: usize) -> &'b str {
        self.text.get(start..self.at).unwrap_or_default()
    }

    /// What is between two places.
    #[inline]
    pub(super) fn between(&self, start: usize, end: usize) -> &'b str {
        self.text.get(start..end).unwrap_or_default()
    }

    /// Reads up to a byte of the set, which is then next, or begins a character that XML excludes.
    #[inline]
    pub(super) fn skip_to(&mut self, stops: &ByteSet) {
        loop {
            self.skip_while(|byte| !stops.contains(byte));
            match self.rest() {
                [0xEF, 0xBF, 0xBE | 0xBF, ..] => return,
                [0xEF, ..] => self.bump(3),
                _ => return,
            }
        }
    }

    /// Where what there is left begins, which is the end of the text.
    #[inline]
    pub(super) fn place_of(&self, rest: &[u8]) -> usize {
        self.text.len().saturating_sub(rest.len())
    }

    /// Reads up to where what there is left begins: every byte has been looked at twice at the most.
    #[inline]
    pub(super) fn move_to_rest(&mut self, rest: &[u8]) {
        let at = self.place_of(rest);
        self.count(at.saturating_sub(self.at).saturating_mul(2));
        self.at = at;
    }

    /// Reads white space.
    #[inline]
    pub(super) fn skip_space(&mut self) {
        self.skip_while(is_space);
    }

    /// Reads ASCII name characters other than the colon; gives how many there were.
    #[inline]
    pub(super) fn skip_name(&mut self) -> usize {
        self.skip_while(|byte| NAME.contains(byte))
    }

    #[inline]
    fn skip_while(&mut self, continues: impl Fn(u8) -> bool) -> usize {
        let rest = self.rest();
        let run = rest.iter().position(|byte| !continues(*byte)).unwrap_or(rest.len());
        self.at = self.at.saturating_add(run);
        self.count(run.saturating_add(1));
        run
    }

    #[inline]
    fn count(&mut self, steps: usize) {
        self.steps = self.steps.saturating_add(u64::try_from(steps).unwrap_or(u64::MAX));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chars::TEXT;

    #[test]
    fn reads_up_to_a_stop_or_an_excluded_character() {
        for (text, read) in [
            ("", 0),
            ("abc", 3),
            ("ab<c", 2),
            ("a\u{ff21}\u{fffd}\u{f000}b&", 11),
            ("a\u{ff21}\u{fffe}b", 4),
            ("\u{ffff}", 0),
            ("a\tb\n\u{1}", 4),
        ] {
            let mut input = Input::new(text);
            input.skip_to(&TEXT);
            assert_eq!(input.at(), read, "{text:?}");
        }
    }

    #[test]
    fn counts_every_byte_that_it_looks_at() {
        let mut input = Input::new("abc def<");
        input.skip_name();
        assert_eq!((input.at(), input.steps()), (3, 4));
        input.skip_space();
        input.skip_to(&TEXT);
        assert_eq!((input.since(3), input.steps()), (" def", 10));
    }
}
