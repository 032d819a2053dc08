//! UTF-16 (RFC 2781).

use super::decoder::{Held, Piece};

/// What some bytes are.
enum Units {
    Character(char),
    Incomplete,
    Invalid,
}

pub(super) fn decode<'a>(
    block: &[u8],
    unit: fn([u8; 2]) -> u16,
    held: &mut Held,
    buffer: &'a mut String,
) -> (Piece<'a>, usize) {
    buffer.clear();
    let mut plain = 0_usize;
    if held.is_empty() {
        let units = block.as_chunks::<2>().0.iter().map(|pair| unit(*pair));
        for character in char::decode_utf16(units).map_while(Result::ok) {
            buffer.push(character);
            plain = plain.saturating_add(character.len_utf16().saturating_mul(2));
        }
    }
    // What is left is cut off, or is no text.
    let mut bytes = block.get(plain..).unwrap_or_default().iter();
    loop {
        match judge(held.bytes(), unit) {
            Units::Character(character) => {
                buffer.push(character);
                held.clear();
            }
            // It stays held, so that it is found again behind the text.
            Units::Invalid if buffer.is_empty() => return (Piece::Invalid, taken(block, &bytes)),
            Units::Invalid => break,
            Units::Incomplete => match bytes.next() {
                Some(byte) => held.push(*byte),
                None => break,
            },
        }
    }
    let taken = taken(block, &bytes);
    if buffer.is_empty() { (Piece::Nothing, taken) } else { (Piece::Text(buffer), taken) }
}

fn taken(block: &[u8], rest: &core::slice::Iter<'_, u8>) -> usize {
    block.len().saturating_sub(rest.len())
}

fn judge(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Units {
    let units = match bytes {
        [a, b] => [unit([*a, *b]), 0],
        [a, b, c, d] => [unit([*a, *b]), unit([*c, *d])],
        _ => return Units::Incomplete,
    };
    match char::decode_utf16(units).next() {
        Some(Ok(character)) => Units::Character(character),
        Some(Err(error)) if bytes.len() == 2 && matches!(error.unpaired_surrogate(), 0xD800..=0xDBFF) => {
            Units::Incomplete
        }
        _ => Units::Invalid,
    }
}

#[cfg(test)]
mod tests {
    use super::super::Charset;
    use super::super::decoder::tests::decode;

    #[test]
    fn stops_at_a_surrogate_without_its_pair_however_it_is_cut() {
        for (units, text, whole) in [
            (&[0x61, 0xE4, 0x20AC, 0xD83D, 0xDE00][..], "aä€\u{1F600}", true),
            (&[0x61, 0xD83D], "a", false),
            (&[0x61, 0xD83D, 0x62], "a", false),
            (&[0x61, 0xDE00, 0x62], "a", false),
            (&[0x61, 0xD83D, 0xD83D, 0xDE00], "a", false),
        ] {
            let big: Vec<u8> = units.iter().copied().flat_map(u16::to_be_bytes).collect();
            let little: Vec<u8> = units.iter().copied().flat_map(u16::to_le_bytes).collect();
            for size in 1..=big.len() {
                let expected = (text.to_owned(), whole);
                assert_eq!(decode(Charset::Utf16Be, &big, size), expected, "{units:x?} {size}");
                assert_eq!(decode(Charset::Utf16Le, &little, size), expected, "{units:x?} {size}");
            }
        }
    }

    #[test]
    fn wants_whole_units() {
        assert_eq!(decode(Charset::Utf16Be, b"\0a\0", 2), ("a".to_owned(), false));
    }
}
