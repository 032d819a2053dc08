//! The attributes of the start tag that is being written.

use core::ops::Range;

use portcullis_xml::tree::NameId;

/// Where the attributes of one tag stand, by their names, and which of them a later one has replaced.
#[derive(Debug, Default)]
pub(super) struct AttributeSet {
    /// For each name, the tag that last had it, and which of its attributes it was.
    last: Vec<(u64, usize)>,
    /// The number of the tag, from 1.
    tag: u64,
    ranges: Vec<Range<usize>>,
    replaced: Vec<Range<usize>>,
}

impl AttributeSet {
    /// A tag begins.
    pub(super) fn start(&mut self) {
        self.tag = self.tag.saturating_add(1);
        self.ranges.clear();
    }

    /// An attribute has been written; how many that are now, replaced ones among them.
    pub(super) fn add(&mut self, name: NameId, range: Range<usize>) -> usize {
        if self.last.len() <= name.index() {
            self.last.resize(name.index().saturating_add(1), (0, 0));
        }
        if let Some((tag, index)) = self.last.get_mut(name.index()) {
            if *tag == self.tag
                && let Some(before) = self.ranges.get(*index)
            {
                self.replaced.push(before.clone());
            }
            (*tag, *index) = (self.tag, self.ranges.len());
        }
        self.ranges.push(range);
        self.ranges.len()
    }

    /// The tag ends with `out`: takes out what was replaced.
    pub(super) fn settle(&mut self, out: &mut Vec<u8>) {
        if self.replaced.is_empty() {
            return;
        }
        self.replaced.sort_unstable_by_key(|range| range.start);
        let first = self.replaced.first().map_or(out.len(), |range| range.start);
        let tail = out.split_off(first.min(out.len()));
        let mut from = 0;
        for range in self.replaced.drain(..) {
            let (start, end) = (range.start.saturating_sub(first), range.end.saturating_sub(first));
            out.extend_from_slice(tail.get(from..start).unwrap_or_default());
            from = end;
        }
        out.extend_from_slice(tail.get(from..).unwrap_or_default());
    }
}
