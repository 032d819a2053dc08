//! What a worker holds of its clients' messages and exchanges, all together.
//!
//! A module's memory is one for all exchanges of a worker, bounded by the host, and one that needs more is lost with all of
//! them. What grows with what clients send is therefore counted for the whole worker: every policy of every chain in it
//! adds to one sum. Two limits are held against it: one for messages that are being read ([`HeldMemory`]), and one for
//! exchanges that are open ([`ExchangeMemory`]), so that many open exchanges are refused before messages cannot be read.

use core::cell::Cell;

thread_local! {
    /// A worker is a thread, and a module's memory has one.
    static HELD: Cell<Held> = const { Cell::new(Held { messages: 0, exchanges: 0 }) };
}

/// The sum, in bytes.
#[derive(Debug, Clone, Copy)]
struct Held {
    messages: usize,
    exchanges: usize,
}

impl Held {
    fn total(self) -> usize {
        self.messages.saturating_add(self.exchanges)
    }
}

/// What one message takes, for as long as this lives.
#[derive(Debug, Default)]
pub struct HeldMemory {
    bytes: usize,
}

/// Why a message or an exchange may not take more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemoryFull {
    /// It takes more than all together may.
    Message,
    /// Together with the others it takes too much.
    Worker,
}

impl HeldMemory {
    /// What all messages and exchanges of this worker take, in bytes.
    #[must_use]
    pub fn of_worker() -> usize {
        HELD.get().total()
    }

    /// What all messages that this worker is reading take, in bytes, without the exchanges that are open.
    #[must_use]
    pub fn of_messages() -> usize {
        HELD.get().messages
    }

    /// Says how many bytes the message takes now. All messages and exchanges of the worker together may take `most`; as long
    /// as they take less than before, nothing is wrong.
    ///
    /// # Errors
    /// If they take more. What this one takes is counted all the same, until it is dropped.
    pub fn set(&mut self, bytes: usize, most: usize) -> Result<(), MemoryFull> {
        let before = core::mem::replace(&mut self.bytes, bytes);
        let mut held = HELD.get();
        held.messages = held.messages.saturating_sub(before).saturating_add(bytes);
        HELD.set(held);
        if held.total() <= most || bytes <= before {
            Ok(())
        } else {
            Err(if bytes > most { MemoryFull::Message } else { MemoryFull::Worker })
        }
    }
}

impl Drop for HeldMemory {
    fn drop(&mut self) {
        let mut held = HELD.get();
        held.messages = held.messages.saturating_sub(self.bytes);
        HELD.set(held);
    }
}

/// What one open exchange takes besides the messages that are being read, for as long as this lives.
#[derive(Debug, Default)]
pub(crate) struct ExchangeMemory {
    bytes: usize,
}

impl ExchangeMemory {
    /// What all open exchanges of this worker take, in bytes.
    pub(crate) fn of_worker() -> usize {
        HELD.get().exchanges
    }

    /// Says how many bytes the exchange takes now.
    pub(crate) fn set(&mut self, bytes: usize) {
        let before = core::mem::replace(&mut self.bytes, bytes);
        if before != bytes {
            let mut held = HELD.get();
            held.exchanges = held.exchanges.saturating_sub(before).saturating_add(bytes);
            HELD.set(held);
        }
    }
}

impl Drop for ExchangeMemory {
    fn drop(&mut self) {
        self.set(0);
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

    #[test]
    fn messages_have_no_room_that_exchanges_take_but_not_the_other_way_round() {
        let (mut message, mut exchange) = (HeldMemory::default(), ExchangeMemory::default());
        exchange.set(60);
        assert_eq!(message.set(41, 100), Err(MemoryFull::Worker));
        assert_eq!((ExchangeMemory::of_worker(), HeldMemory::of_worker()), (60, 101));
        exchange.set(10);
        assert_eq!(message.set(42, 100), Ok(()));
        drop(exchange);
        assert_eq!((ExchangeMemory::of_worker(), HeldMemory::of_worker()), (0, 42));
    }
}
