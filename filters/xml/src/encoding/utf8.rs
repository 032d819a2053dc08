//! UTF-8.

use core::str;

use super::decoder::{Held, Piece};

pub(super) fn decode<'a>(block: &'a [u8], held: &mut Held, buffer: &'a mut String) -> (Piece<'a>, usize) {
    if !held.is_empty() {
        return complete(block, held, buffer);
    }
    if block.is_empty() {
        return (Piece::Nothing, 0);
    }
    let error = match str::from_utf8(block) {
        Ok(text) => return (Piece::Text(text), block.len()),
        Err(error) => error,
    };
    let valid = block.get(..error.valid_up_to()).and_then(|valid| str::from_utf8(valid).ok());
    match (valid, error.error_len()) {
        (Some(text), _) if !text.is_empty() => (Piece::Text(text), text.len()),
        (_, Some(_)) => (Piece::Invalid, 0),
        (_, None) => {
            for byte in block {
                held.push(*byte);
            }
            (Piece::Nothing, block.len())
        }
    }
}

/// Goes on with a character that has begun.
fn complete<'a>(block: &[u8], held: &mut Held, buffer: &'a mut String) -> (Piece<'a>, usize) {
    for (place, byte) in block.iter().enumerate() {
        held.push(*byte);
        match str::from_utf8(held.bytes()) {
            Ok(character) => {
                buffer.clear();
                buffer.push_str(character);
                held.clear();
                return (Piece::Text(buffer), place.saturating_add(1));
            }
            Err(error) if error.error_len().is_some() => return (Piece::Invalid, place),
            Err(_) => {}
        }
    }
    (Piece::Nothing, block.len())
}

#[cfg(test)]
mod tests {
    use super::super::Charset;
    use super::super::decoder::tests::decode;

    #[test]
    fn stops_at_the_first_byte_of_what_is_not_utf_8_however_it_is_cut() {
        for (bytes, text, whole) in [
            (&b"a\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80"[..], "aä€\u{1F600}", true),
            (b"a\xC3", "a", false),
            (b"a\xC3b", "a", false),
            (b"a\xE2\x82b", "a", false),
            (b"a\xF0\x9F\x98b", "a", false),
            (b"a\x80", "a", false),
            (b"a\xC0\x80", "a", false),
            (b"a\xED\xA0\x80", "a", false),
            (b"a\xF4\x90\x80\x80", "a", false),
            (b"a\xFF", "a", false),
        ] {
            for size in 1..=bytes.len() {
                assert_eq!(decode(Charset::Utf8, bytes, size), (text.to_owned(), whole), "{bytes:x?} {size}");
            }
        }
    }
}
