//! Bytes to text, a piece at a time.

use memchr::memchr;

use super::{Charset, single, utf8, utf16};

/// How many bytes become text at once: so little is decoded in vain when the sink has seen enough, and what is decoded
/// is still in the processor's nearest cache when it is read.
const BLOCK: usize = 16 << 10;

/// Decodes one document.
#[derive(Debug)]
pub(crate) struct Decoder {
    charset: Charset,
    /// Bytes at the end of the last piece that are the beginning of a character.
    held: Held,
    /// Text that is not in the document as it stands.
    buffer: String,
}

/// The beginning of a character.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Held {
    bytes: [u8; 4],
    len: usize,
}

/// Where a block must end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cut {
    /// Anywhere.
    Anywhere,
    /// Behind the first `>`, for what comes behind may be in another encoding.
    BehindTag,
}

/// What has been decoded.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Piece<'a> {
    /// Text.
    Text(&'a str),
    /// Nothing: there are no bytes, or what has been taken is the beginning of a character.
    Nothing,
    /// What comes next is not text.
    Invalid,
}

impl Decoder {
    pub(crate) fn new(charset: Charset) -> Self {
        Self { charset, held: Held::default(), buffer: String::new() }
    }

    pub(crate) fn memory(&self) -> usize {
        self.buffer.capacity()
    }

    /// Goes over to another encoding, between characters.
    pub(crate) fn switch(&mut self, charset: Charset) {
        self.charset = charset;
    }

    pub(crate) fn charset(&self) -> Charset {
        self.charset
    }

    /// Decodes some of the bytes, and takes them away.
    pub(crate) fn next<'p, 'b: 'p>(&'p mut self, bytes: &mut &'b [u8], cut: Cut) -> Piece<'p> {
        let bytes_left: &'b [u8] = bytes;
        let block = bytes_left.get(..BLOCK).unwrap_or(bytes_left);
        let block = match cut {
            Cut::Anywhere => block,
            Cut::BehindTag => memchr(b'>', block).and_then(|end| block.get(..=end)).unwrap_or(block),
        };
        let (piece, taken) = match self.charset {
            Charset::Utf8 => utf8::decode(block, &mut self.held, &mut self.buffer),
            Charset::Utf16 | Charset::Utf16Be => {
                utf16::decode(block, u16::from_be_bytes, &mut self.held, &mut self.buffer)
            }
            Charset::Utf16Le => utf16::decode(block, u16::from_le_bytes, &mut self.held, &mut self.buffer),
            Charset::Latin1 => single::decode_latin1(block, &mut self.buffer),
            Charset::Ascii => single::decode_ascii(block),
        };
        *bytes = bytes.get(taken..).unwrap_or_default();
        piece
    }

    /// Whether the document ends within a character.
    pub(crate) fn is_within_character(&self) -> bool {
        self.held.len > 0
    }
}

impl Held {
    pub(crate) fn bytes(&self) -> &[u8] {
        self.bytes.get(..self.len).unwrap_or_default()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }

    pub(crate) fn clear(&mut self) {
        self.len = 0;
    }

    /// Adds a byte, if there is room.
    pub(crate) fn push(&mut self, byte: u8) {
        if let Some(place) = self.bytes.get_mut(self.len) {
            *place = byte;
            self.len = self.len.saturating_add(1);
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// The text up to the end or to what is no text, when decoded in chunks of that many bytes.
    pub(crate) fn decode(charset: Charset, bytes: &[u8], size: usize) -> (String, bool) {
        let mut decoder = Decoder::new(charset);
        let mut text = String::new();
        for mut chunk in bytes.chunks(size) {
            loop {
                match decoder.next(&mut chunk, Cut::Anywhere) {
                    Piece::Text(piece) => text.push_str(piece),
                    Piece::Nothing if chunk.is_empty() => break,
                    Piece::Nothing => {}
                    Piece::Invalid => return (text, false),
                }
            }
            assert!(chunk.is_empty());
        }
        (text, !decoder.is_within_character())
    }

    #[test]
    fn cuts_behind_a_tag() {
        let mut decoder = Decoder::new(Charset::Utf8);
        let mut bytes: &[u8] = b"<a><b>c";
        let mut pieces = Vec::new();
        while let Piece::Text(text) = decoder.next(&mut bytes, Cut::BehindTag) {
            pieces.push(text.to_owned());
        }
        assert_eq!(pieces, ["<a>", "<b>", "c"]);
    }

    #[test]
    fn decodes_more_than_a_block() {
        let text = "ä€\u{1F600}x".repeat(BLOCK / 3);
        assert_eq!(decode(Charset::Utf8, text.as_bytes(), usize::MAX), (text.clone(), true));
        let units: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
        assert_eq!(decode(Charset::Utf16Be, &units, usize::MAX), (text, true));
    }
}
