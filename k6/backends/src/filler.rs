//! Reply bodies of any size that cost nothing to make: slices of one block that is part of the binary.

use bytes::Bytes;

/// The repeating unit. Its length divides the block's, so byte `n` of any filler is `ALPHABET[n % 64]`.
const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

const BLOCK_BYTES: usize = 64 * 1024;

static BLOCK: [u8; BLOCK_BYTES] = {
    let mut block = [0; BLOCK_BYTES];
    let mut at = 0;
    while at < BLOCK_BYTES {
        block[at] = ALPHABET[at % ALPHABET.len()];
        at += 1;
    }
    block
};

/// What is left to send of a deterministic, printable body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Filler {
    remaining: u64,
}

impl Filler {
    /// A body of exactly `bytes` bytes.
    pub(crate) fn new(bytes: u64) -> Self {
        Self { remaining: bytes }
    }

    /// Bytes not yet taken.
    pub(crate) fn remaining(self) -> u64 {
        self.remaining
    }

    /// The next piece, borrowed from the block; `None` at the end.
    pub(crate) fn next_piece(&mut self) -> Option<Bytes> {
        let length = usize::try_from(self.remaining).map_or(BLOCK_BYTES, |left| left.min(BLOCK_BYTES));
        if length == 0 {
            return None;
        }
        self.remaining -= length as u64;
        Some(Bytes::from_static(&BLOCK[..length]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn collect(mut filler: Filler) -> Vec<u8> {
        let mut all = Vec::new();
        while let Some(piece) = filler.next_piece() {
            all.extend_from_slice(&piece);
        }
        all
    }

    #[test]
    fn has_exactly_the_size_asked_for() {
        for size in [0, 1, 63, 64, 65, BLOCK_BYTES - 1, BLOCK_BYTES, BLOCK_BYTES + 1, 3 * BLOCK_BYTES + 7] {
            assert_eq!(collect(Filler::new(size as u64)).len(), size);
        }
    }

    #[test]
    fn repeats_the_alphabet_across_block_boundaries() {
        let body = collect(Filler::new(2 * BLOCK_BYTES as u64 + 10));
        for (at, byte) in body.iter().enumerate() {
            assert_eq!(*byte, ALPHABET[at % 64], "at {at}");
        }
    }
}
