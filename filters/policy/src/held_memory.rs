//! What the messages that a worker is reading take of its memory, all together.
//!
//! A module's memory is one for all exchanges of a worker, bounded by the host, and one that needs more is lost with all of
//! them. What grows with what clients send is therefore counted for the whole worker: every policy of every chain in it
//! adds to one sum.

use core::cell::Cell;

thread_local! {
    /// A worker is a thread, and a module's memory has one.
    static HELD: Cell<usize> = const { Cell::new(0) };
}

/// What one message takes, for as long as this lives.
#[derive(Debug, Default)]
pub struct HeldMemory {
    bytes: usize,
}

/// Why a message may not take more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemoryFull {
    /// It takes more than all together may.
    Message,
    /// Together with the others it takes too much.
    Worker,
}

impl HeldMemory {
    /// What all messages of this worker take, in bytes.
    #[must_use]
    pub fn of_worker() -> usize {
        HELD.get()
    }

    /// Says how many bytes the message takes now. All messages of the worker together may take `most`; as long as they take
    /// less than before, nothing is wrong.
    ///
    /// # Errors
    /// If they take more. What this one takes is counted all the same, until it is dropped.
    pub fn set(&mut self, bytes: usize, most: usize) -> Result<(), MemoryFull> {
        let before = core::mem::replace(&mut self.bytes, bytes);
        let held = HELD.get().saturating_sub(before).saturating_add(bytes);
        HELD.set(held);
        if held <= most || bytes <= before {
            Ok(())
        } else {
            Err(if bytes > most { MemoryFull::Message } else { MemoryFull::Worker })
        }
    }
}

impl Drop for HeldMemory {
    fn drop(&mut self) {
        HELD.set(HELD.get().saturating_sub(self.bytes));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_take_of_one_sum_and_give_back_what_they_took() {
        let (mut one, mut other) = (HeldMemory::default(), HeldMemory::default());
        assert_eq!(one.set(60, 100), Ok(()));
        assert_eq!(other.set(40, 100), Ok(()));
        assert_eq!(other.set(41, 100), Err(MemoryFull::Worker));
        assert_eq!(HeldMemory::of_worker(), 101);
        // Who takes no more than before is not to blame.
        assert_eq!(one.set(60, 100), Ok(()));
        drop(other);
        assert_eq!(HeldMemory::of_worker(), 60);
        assert_eq!(one.set(101, 100), Err(MemoryFull::Message));
        let mut largest = HeldMemory::default();
        assert_eq!(largest.set(100, 100), Err(MemoryFull::Worker), "it would have room alone");
        drop((one, largest));
        assert_eq!(HeldMemory::of_worker(), 0);
    }

    #[test]
    fn another_limit_counts_the_same_messages() {
        let (mut one, mut other) = (HeldMemory::default(), HeldMemory::default());
        assert_eq!(one.set(60, 100), Ok(()));
        assert_eq!(other.set(10, 50), Err(MemoryFull::Worker));
    }
}
