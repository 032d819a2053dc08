//! What `xsl:message` says.

/// Takes the messages of a transformation (XSLT 1.0, section 13).
pub trait Messages {
    /// A message: its text, without markup, at most [`MESSAGE_BYTES`] of it.
    fn message(&mut self, text: &str);
}

/// How many bytes of a message are handed on.
pub const MESSAGE_BYTES: usize = 4096;

/// Drops all messages.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoMessages;

impl Messages for NoMessages {
    fn message(&mut self, _text: &str) {}
}

impl Messages for Vec<String> {
    fn message(&mut self, text: &str) {
        self.push(text.to_owned());
    }
}
