//! Names as they were written.

use core::ops::Range;

use portcullis_xml::tree::{PrefixId, UriId};

use super::ResultName;
use super::scope::Prefix;

/// For each name, how it was written the last time: with the same prefix in scope, it is written so again.
#[derive(Debug, Default)]
pub(super) struct WrittenNames {
    /// By the names' numbers.
    known: Vec<Option<Written>>,
    text: String,
}

#[derive(Debug, Clone)]
struct Written {
    /// The prefix that was asked for.
    asked: PrefixId,
    prefix: Prefix,
    uri: UriId,
    text: Range<usize>,
}

impl WrittenNames {
    /// How the name is written if that prefix stands for that namespace.
    pub(super) fn find(&self, name: ResultName) -> Option<(Prefix, UriId, &str)> {
        let written =
            self.known.get(name.name.index())?.as_ref().filter(|known| known.asked == name.prefix)?;
        Some((written.prefix, written.uri, self.text.get(written.text.clone())?))
    }

    /// Notes how a name was written.
    pub(super) fn note(&mut self, name: ResultName, prefix: Prefix, uri: UriId, text: &str) {
        // A name that is asked for with many prefixes is not worth more than that.
        const MOST_TEXT: usize = 1 << 16;
        if self.text.len().saturating_add(text.len()) > MOST_TEXT {
            return;
        }
        if self.known.len() <= name.name.index() {
            self.known.resize(name.name.index().saturating_add(1), None);
        }
        let start = self.text.len();
        self.text.push_str(text);
        if let Some(known) = self.known.get_mut(name.name.index()) {
            *known = Some(Written { asked: name.prefix, prefix, uri, text: start..self.text.len() });
        }
    }
}
