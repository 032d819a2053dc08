//! Records that have not been sent.

use std::collections::VecDeque;

/// Encoded records in the order of their coming, bounded in number and in bytes.
#[derive(Debug)]
pub(crate) struct Queue {
    /// The records one after the other.
    bytes: VecDeque<u8>,
    /// The length of each.
    lengths: VecDeque<usize>,
    max_records: usize,
    max_bytes: usize,
}

/// How much a batch may take.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BatchLimits {
    pub(crate) records: usize,
    pub(crate) bytes: usize,
}

impl Queue {
    pub(crate) fn new(max_records: usize, max_bytes: usize) -> Self {
        Self { bytes: VecDeque::new(), lengths: VecDeque::new(), max_records, max_bytes }
    }

    pub(crate) fn len(&self) -> usize {
        self.lengths.len()
    }

    /// How many bytes the records have altogether.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.lengths.is_empty()
    }

    /// Appends a record, which must not be longer than the whole queue may be, and drops the oldest until it fits. Gives
    /// how many were dropped.
    pub(crate) fn push(&mut self, record: &[u8]) -> usize {
        let mut dropped = 0usize;
        while self.lengths.len() >= self.max_records
            || self.bytes.len().saturating_add(record.len()) > self.max_bytes
        {
            let Some(length) = self.lengths.pop_front() else {
                break;
            };
            self.bytes.drain(..length.min(self.bytes.len()));
            dropped = dropped.saturating_add(1);
        }
        self.reserve(record.len());
        self.bytes.extend(record);
        self.lengths.push_back(record.len());
        dropped
    }

    /// Grows by doubling, as ever, but not beyond what can be needed.
    fn reserve(&mut self, more: usize) {
        let needed = self.bytes.len().saturating_add(more);
        if needed > self.bytes.capacity() {
            let capacity = self.bytes.capacity().saturating_mul(2).clamp(needed, self.max_bytes.max(needed));
            self.bytes.reserve_exact(capacity.saturating_sub(self.bytes.len()));
        }
    }

    /// Whether there is as much as a batch may take.
    pub(crate) fn has_full_batch(&self, limits: BatchLimits) -> bool {
        self.lengths.len() >= limits.records || self.bytes.len() >= limits.bytes
    }

    /// Moves the oldest records, as many as the limits allow, to the end of `out`. Gives how many those are.
    pub(crate) fn take(&mut self, limits: BatchLimits, out: &mut Vec<u8>) -> usize {
        let (mut records, mut bytes) = (0usize, 0usize);
        for length in self.lengths.iter().take(limits.records) {
            let with_next = bytes.saturating_add(*length);
            if with_next > limits.bytes {
                break;
            }
            (records, bytes) = (records.saturating_add(1), with_next);
        }
        let (first, second) = self.bytes.as_slices();
        let from_first = bytes.min(first.len());
        out.extend_from_slice(first.get(..from_first).unwrap_or_default());
        out.extend_from_slice(second.get(..bytes.saturating_sub(from_first)).unwrap_or_default());
        self.bytes.drain(..bytes);
        self.lengths.drain(..records);
        records
    }

    /// Forgets all records. Gives how many those were.
    pub(crate) fn clear(&mut self) -> usize {
        let records = self.lengths.len();
        self.bytes.clear();
        self.lengths.clear();
        records
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: BatchLimits = BatchLimits { records: usize::MAX, bytes: usize::MAX };

    fn taken(queue: &mut Queue, limits: BatchLimits) -> (usize, String) {
        let mut out = Vec::new();
        let records = queue.take(limits, &mut out);
        (records, String::from_utf8(out).unwrap())
    }

    #[test]
    fn gives_records_in_order_as_many_as_a_batch_may_have() {
        let mut queue = Queue::new(10, 100);
        for record in ["one,", "two,", "three,", "four,"] {
            assert_eq!(queue.push(record.as_bytes()), 0);
        }
        assert_eq!(taken(&mut queue, BatchLimits { records: 1, bytes: 100 }), (1, "one,".to_owned()));
        assert_eq!(taken(&mut queue, BatchLimits { records: 9, bytes: 12 }), (2, "two,three,".to_owned()));
        assert_eq!(taken(&mut queue, ALL), (1, "four,".to_owned()));
        assert_eq!(taken(&mut queue, ALL), (0, String::new()));
    }

    #[test]
    fn drops_the_oldest_when_records_or_bytes_are_too_many() {
        let mut queue = Queue::new(3, 10);
        for (record, dropped) in
            [("a,", 0), ("b,", 0), ("c,", 0), ("d,", 1), ("eeeee,", 1), ("fffffffff,", 3)]
        {
            assert_eq!(queue.push(record.as_bytes()), dropped, "{record}");
            assert!(queue.len() <= 3 && queue.bytes.len() <= 10);
        }
        assert_eq!(taken(&mut queue, ALL), (1, "fffffffff,".to_owned()));
    }

    #[test]
    fn needs_no_more_memory_than_it_may_hold() {
        let mut queue = Queue::new(1_000_000, 10_000);
        for _ in 0..5_000 {
            queue.push(&[b'x'; 33]);
            assert!(queue.bytes.capacity() <= 10_000, "{}", queue.bytes.capacity());
        }
        assert_eq!(queue.len(), 303);
        let mut out = Vec::new();
        while queue.take(BatchLimits { records: 7, bytes: 1_000 }, &mut out) > 0 {}
        assert_eq!(out, [b'x'; 33 * 303]);
    }
}
