//! Encodings in which a byte is a character.

use core::str;

use super::decoder::Piece;

/// ISO-8859-1: the first 256 characters of Unicode, and no others (so 0x80 to 0x9F are controls; windows-1252, which
/// has other characters there, goes by another name).
pub(super) fn decode_latin1<'a>(block: &'a [u8], buffer: &'a mut String) -> (Piece<'a>, usize) {
    if block.is_ascii() {
        return decode_ascii(block);
    }
    buffer.clear();
    buffer.extend(block.iter().map(|byte| char::from(*byte)));
    (Piece::Text(buffer), block.len())
}

/// US-ASCII: the lower half of the bytes.
pub(super) fn decode_ascii(block: &[u8]) -> (Piece<'_>, usize) {
    let ascii = block.iter().position(|byte| !byte.is_ascii()).unwrap_or(block.len());
    match block.get(..ascii).and_then(|ascii| str::from_utf8(ascii).ok()) {
        Some(text) if !text.is_empty() => (Piece::Text(text), ascii),
        _ if block.is_empty() => (Piece::Nothing, 0),
        _ => (Piece::Invalid, 0),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Charset;
    use super::super::decoder::tests::decode;

    #[test]
    fn reads_every_byte_of_iso_8859_1_as_the_character_of_its_number() {
        let all: Vec<u8> = (0..=255).collect();
        let expected: String = ('\0'..='\u{FF}').collect();
        for size in [1, 100, 256] {
            assert_eq!(decode(Charset::Latin1, &all, size), (expected.clone(), true));
        }
    }

    #[test]
    fn takes_the_lower_half_alone_as_ascii() {
        for size in [1, 2, 10] {
            assert_eq!(decode(Charset::Ascii, b"abc", size), ("abc".to_owned(), true));
            assert_eq!(decode(Charset::Ascii, b"abc\x80d", size), ("abc".to_owned(), false));
        }
    }
}
