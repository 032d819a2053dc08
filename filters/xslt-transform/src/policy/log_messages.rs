//! `xsl:message` writes to the log.

use portcullis_policy::host::Level;
use portcullis_policy::{Host, json};
use portcullis_xslt::Messages;

/// How many messages of one transformation are written, and how many characters of each.
const MESSAGES: usize = 8;
const CHARACTERS: usize = 1024;

/// Writes the messages of one transformation to the host's log.
pub(super) struct LogMessages<'h> {
    host: &'h dyn Host,
    left: usize,
}

impl<'h> LogMessages<'h> {
    pub(super) fn new(host: &'h dyn Host) -> Self {
        Self { host, left: MESSAGES }
    }
}

impl Messages for LogMessages<'_> {
    /// A message may have text of the document in it: it gets one line, whatever is in it.
    fn message(&mut self, text: &str) {
        let Some(left) = self.left.checked_sub(1) else {
            return;
        };
        self.left = left;
        let plain = |character: char| if json::must_be_escaped(character) { ' ' } else { character };
        let line: String = text.chars().take(CHARACTERS).map(plain).collect();
        self.host.log(Level::Info, &format!("xslt-transform: xsl:message: {line}"));
    }
}
