//! Short runs of bytes: names, for the most part. WebAssembly has no instruction that compares them, and what stands in
//! for it in the library looks at one byte after the other.

/// Whether two runs are the same.
#[inline]
pub(crate) fn same(one: &[u8], other: &[u8]) -> bool {
    if one.len() != other.len() {
        return false;
    }
    let (words, rest) = one.as_chunks::<8>();
    let (other_words, other_rest) = other.as_chunks::<8>();
    let words_differ =
        words.iter().zip(other_words).any(|(a, b)| u64::from_le_bytes(*a) != u64::from_le_bytes(*b));
    if words_differ {
        return false;
    }
    let (half, rest) = rest.as_chunks::<4>();
    let (other_half, other_rest) = other_rest.as_chunks::<4>();
    let halves_differ =
        half.iter().zip(other_half).any(|(a, b)| u32::from_le_bytes(*a) != u32::from_le_bytes(*b));
    !halves_differ && rest.iter().zip(other_rest).all(|(a, b)| a == b)
}

/// Whether a run begins with another.
#[inline]
pub(crate) fn begins_with(run: &[u8], start: &[u8]) -> bool {
    run.get(..start.len()).is_some_and(|head| same(head, start))
}

/// A multiplicative hash of a text and a number, eight bytes at a time.
pub(crate) fn hash(with: u32, text: &str) -> u32 {
    const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;
    let mut state = u64::from(with).wrapping_add(FACTOR);
    let mut mix = |word: u64| state = (state.rotate_left(5) ^ word).wrapping_mul(FACTOR);
    let (words, rest) = text.as_bytes().as_chunks::<8>();
    for word in words {
        mix(u64::from_le_bytes(*word));
    }
    let mut last = [0; 8];
    for (to, from) in last.iter_mut().zip(rest) {
        *to = *from;
    }
    mix(u64::from_le_bytes(last));
    mix(u64::try_from(text.len()).unwrap_or(u64::MAX));
    u32::try_from(state >> 32).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tells_runs_apart_by_every_byte_and_by_length() {
        let run: Vec<u8> = (1..=40).collect();
        for length in 0..=run.len() {
            let one = &run[..length];
            assert!(same(one, one));
            assert!(begins_with(&run, one));
            assert!(!same(one, &run[..length.saturating_sub(1)]) || length == 0);
            for changed in 0..length {
                let mut other = one.to_vec();
                other[changed] ^= 0x80;
                assert!(!same(one, &other), "{length} {changed}");
                assert!(!begins_with(&run, &other), "{length} {changed}");
            }
        }
        assert!(!begins_with(b"ab", b"abc"));
    }
}
