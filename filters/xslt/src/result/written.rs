//! Tags as they were written.

use portcullis_xml::tree::{PrefixId, UriId};

use super::ResultName;
use super::scope::Prefix;

/// For each name, how an element's tags were written the last time: with the same prefix in scope, they are written so
/// again.
#[derive(Debug, Default)]
pub(super) struct WrittenTags {
    /// By the names' numbers.
    known: Vec<Option<Written>>,
    text: Vec<u8>,
}

#[derive(Debug, Clone, Copy)]
struct Written {
    /// The prefix that was asked for.
    asked: PrefixId,
    prefix: Prefix,
    uri: UriId,
    tags: Tags,
}

/// Where among the texts the beginning of a start tag stands, up to the name's end, and behind it the end tag.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tags {
    start: usize,
    middle: usize,
    end: usize,
}

impl WrittenTags {
    /// How the tags of an element of that name are written if that prefix stands for that namespace.
    #[inline]
    pub(super) fn find(&self, name: ResultName) -> Option<(Prefix, UriId, Tags)> {
        let written =
            self.known.get(name.name.index())?.as_ref().filter(|known| known.asked == name.prefix)?;
        Some((written.prefix, written.uri, written.tags))
    }

    /// The beginning of the start tag.
    #[inline]
    pub(super) fn start_tag(&self, tags: Tags) -> &[u8] {
        self.text.get(tags.start..tags.middle).unwrap_or_default()
    }

    /// The end tag.
    #[inline]
    pub(super) fn end_tag(&self, tags: Tags) -> &[u8] {
        self.text.get(tags.middle..tags.end).unwrap_or_default()
    }

    /// Notes how a name was written.
    pub(super) fn note(&mut self, name: ResultName, prefix: Prefix, uri: UriId, text: &[u8]) {
        // A name that is asked for with many prefixes is not worth more than that.
        const MOST_TEXT: usize = 1 << 16;
        let start = self.text.len();
        if start.saturating_add(text.len().saturating_mul(2)) > MOST_TEXT {
            return;
        }
        if self.known.len() <= name.name.index() {
            self.known.resize(name.name.index().saturating_add(1), None);
        }
        self.text.push(b'<');
        self.text.extend_from_slice(text);
        let middle = self.text.len();
        self.text.extend_from_slice(b"</");
        self.text.extend_from_slice(text);
        self.text.push(b'>');
        if let Some(known) = self.known.get_mut(name.name.index()) {
            let tags = Tags { start, middle, end: self.text.len() };
            *known = Some(Written { asked: name.prefix, prefix, uri, tags });
        }
    }
}
