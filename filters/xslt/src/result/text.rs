//! The text output method: the string-value of the result tree, without escaping (XSLT 1.0, section 16.3).

use super::ResultError;

#[derive(Debug)]
pub(super) struct TextSerializer {
    out: Vec<u8>,
    limit: usize,
}

impl TextSerializer {
    pub(super) fn new(limit: usize) -> Self {
        Self { out: Vec::new(), limit }
    }

    pub(super) fn reserve(&mut self, bytes: usize) {
        self.out.reserve(bytes.min(self.limit));
    }

    pub(super) fn text(&mut self, text: &str) -> Result<(), ResultError> {
        if self.out.len().saturating_add(text.len()) > self.limit {
            return Err(ResultError::OutputTooLarge(self.limit));
        }
        self.out.extend_from_slice(text.as_bytes());
        Ok(())
    }

    pub(super) fn finish(self) -> Vec<u8> {
        self.out
    }
}
