//! HTTP/2 as no client library writes it: any bytes in any field.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

use portcullis_testkit::envoy::PATIENCE;

/// A header block as it is sent: names and values, pseudo-header fields included, in this order.
pub type Block<'a> = &'a [(&'a [u8], &'a [u8])];

/// What the peer said to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// A response with this status.
    Status(u16),
    /// The stream was reset, or the connection closed: there is no response.
    Refused,
}

const DATA: u8 = 0;
pub(crate) const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
pub(crate) const SETTINGS: u8 = 4;
const GOAWAY: u8 = 7;
const CONTINUATION: u8 = 9;

pub(crate) const END_STREAM: u8 = 1;
pub(crate) const END_HEADERS: u8 = 4;
const PADDED: u8 = 8;
const PRIORITY: u8 = 0x20;

/// The largest payload that a peer must take (RFC 9113, section 4.2).
const MAX_FRAME: usize = 16_384;

/// Sends a request with this header block over a connection of its own, and waits for the beginning of the answer. A
/// body, if there is one, is ended by a header block of trailers, if there are any.
///
/// # Panics
/// When the peer does not accept the connection, or sends what is no HTTP/2.
#[track_caller]
pub fn request(addr: SocketAddr, block: Block, body: Option<&[u8]>, trailers: Block) -> Answer {
    let mut stream = TcpStream::connect(addr).expect("the peer accepts");
    stream.set_read_timeout(Some(PATIENCE)).expect("a timeout above zero");
    stream.set_nodelay(true).expect("a connected socket");
    let mut bytes = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec();
    push_frame(&mut bytes, SETTINGS, 0, 0, b"");
    let is_bare = body.is_none() && trailers.is_empty();
    push_block(&mut bytes, block, if is_bare { END_STREAM } else { 0 });
    if let Some(body) = body {
        for (at, piece) in body.chunks(MAX_FRAME).enumerate() {
            let is_last = trailers.is_empty() && (at + 1) * MAX_FRAME >= body.len();
            push_frame(&mut bytes, DATA, if is_last { END_STREAM } else { 0 }, 1, piece);
        }
        if body.is_empty() && trailers.is_empty() {
            push_frame(&mut bytes, DATA, END_STREAM, 1, b"");
        }
    }
    if !trailers.is_empty() {
        push_block(&mut bytes, trailers, END_STREAM);
    }
    // A peer may answer and close before it has read everything: the answer counts.
    let _ = stream.write_all(&bytes);
    answer(&mut stream)
}

/// The pseudo-header fields of a request, before `fields`.
pub fn block<'a>(
    method: &'a [u8],
    path: &'a [u8],
    fields: &[(&'a [u8], &'a [u8])],
) -> Vec<(&'a [u8], &'a [u8])> {
    let mut block: Vec<(&[u8], &[u8])> =
        vec![(b":method", method), (b":scheme", b"http"), (b":authority", b"gateway.test"), (b":path", path)];
    block.extend_from_slice(fields);
    block
}

pub(crate) fn push_frame(bytes: &mut Vec<u8>, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
    let length = u32::try_from(payload.len()).expect("a frame's length").to_be_bytes();
    bytes.extend_from_slice(&length[1..]);
    bytes.extend_from_slice(&[kind, flags]);
    bytes.extend_from_slice(&stream.to_be_bytes());
    bytes.extend_from_slice(payload);
}

/// A block in as many frames as it takes, of literals that are not indexed and not Huffman-coded (RFC 7541, section
/// 6.2.2).
fn push_block(bytes: &mut Vec<u8>, fields: Block, end_stream: u8) {
    let mut block = Vec::new();
    for (name, value) in fields {
        push_literal(&mut block, 0, name, value);
    }
    let pieces: Vec<&[u8]> = block.chunks(MAX_FRAME).collect();
    for (at, piece) in pieces.iter().enumerate() {
        let ending = if at + 1 == pieces.len() { END_HEADERS } else { 0 };
        let (kind, flags) = if at == 0 { (HEADERS, end_stream) } else { (CONTINUATION, 0) };
        push_frame(bytes, kind, flags | ending, 1, piece);
    }
}

/// A literal field with a new name (RFC 7541, section 6.2).
pub(crate) fn push_literal(block: &mut Vec<u8>, kind: u8, name: &[u8], value: &[u8]) {
    block.push(kind);
    for text in [name, value] {
        push_length(block, text.len());
        block.extend_from_slice(text);
    }
}

/// An integer with a prefix of seven bits (RFC 7541, section 5.1).
fn push_length(block: &mut Vec<u8>, length: usize) {
    if length < 127 {
        block.push(u8::try_from(length).expect("less than 127"));
        return;
    }
    block.push(127);
    let mut rest = length - 127;
    while rest >= 128 {
        block.push(u8::try_from(rest % 128).expect("less than 128") | 0x80);
        rest /= 128;
    }
    block.push(u8::try_from(rest).expect("less than 128"));
}

#[track_caller]
fn answer(stream: &mut TcpStream) -> Answer {
    loop {
        let mut head = [0; 9];
        if stream.read_exact(&mut head).is_err() {
            return Answer::Refused;
        }
        let length = usize::from(head[0]) << 16 | usize::from(head[1]) << 8 | usize::from(head[2]);
        let mut payload = vec![0; length];
        if stream.read_exact(&mut payload).is_err() {
            return Answer::Refused;
        }
        match head[3] {
            HEADERS => {
                let status = status(fragment(&payload, head[4]));
                // An interim response is followed by another.
                if status >= 200 {
                    return Answer::Status(status);
                }
            }
            RST_STREAM | GOAWAY => return Answer::Refused,
            _ => {}
        }
    }
}

/// The header block in the payload of a HEADERS frame.
fn fragment(payload: &[u8], flags: u8) -> &[u8] {
    let padding = if flags & PADDED != 0 { usize::from(payload[0]) } else { 0 };
    let from = usize::from(flags & PADDED != 0) + if flags & PRIORITY != 0 { 5 } else { 0 };
    &payload[from..payload.len() - padding]
}

/// The status at the beginning of a response's header block.
///
/// # Panics
/// When the block does not begin with one.
#[track_caller]
fn status(mut block: &[u8]) -> u16 {
    // Updates of the dynamic table's size (RFC 7541, section 6.3).
    while block[0] & 0xe0 == 0x20 {
        let is_long = block[0] & 0x1f == 0x1f;
        block = &block[1..];
        while is_long && block[0] & 0x80 != 0 {
            block = &block[1..];
        }
        block = &block[usize::from(is_long)..];
    }
    match block[0] {
        // The static table's fields 8 to 14 (RFC 7541, appendix A).
        indexed @ 0x88..=0x8e => [200, 204, 206, 304, 400, 404, 500][usize::from(indexed - 0x88)],
        // A literal whose name is the static table's `:status`.
        0x08..=0x0e | 0x18..=0x1e | 0x48..=0x4e => {
            let length = usize::from(block[1] & 0x7f);
            let text = &block[2..2 + length];
            let digits = if block[1] & 0x80 == 0 { text.to_vec() } else { huffman_digits(text) };
            let text = String::from_utf8(digits).expect("digits");
            text.parse().expect("a status")
        }
        other => panic!("a response that begins with {other:#x}"),
    }
}

/// Text of digits, decoded (RFC 7541, appendix B): `0` to `2` are the codes 0 to 2 of five bits, `3` to `9` the codes
/// 0x19 to 0x1f of six.
fn huffman_digits(bytes: &[u8]) -> Vec<u8> {
    let bits: Vec<u8> = bytes.iter().flat_map(|byte| (0..8).rev().map(move |at| byte >> at & 1)).collect();
    let number = |bits: &[u8]| bits.iter().fold(0_u8, |number, bit| number << 1 | bit);
    let (mut digits, mut at) = (Vec::new(), 0);
    while at + 5 <= bits.len() {
        let five = number(&bits[at..at + 5]);
        if five < 3 {
            digits.push(b'0' + five);
            at += 5;
        } else if let Some(six) = bits.get(at..at + 6).map(number).filter(|six| (0x19..=0x1f).contains(six)) {
            digits.push(b'3' + six - 0x19);
            at += 6;
        } else {
            // Padding: the beginning of the code of the end of the text, all ones.
            break;
        }
    }
    digits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_statuses_however_they_are_coded() {
        for (block, expected) in [
            (&[0x88][..], 200),
            (&[0x20, 0x8d], 404),
            (&[0x3f, 0xe1, 0x1f, 0x8c], 400),
            (&[0x48, 0x03, b'4', b'0', b'1'], 401),
            (&[0x08, 0x03, b'5', b'0', b'3'], 503),
            // 307, from RFC 7541, appendix C.6.2.
            (&[0x48, 0x83, 0x64, 0x0e, 0xff], 307),
            // 302, from appendix C.6.1.
            (&[0x48, 0x82, 0x64, 0x02], 302),
        ] {
            assert_eq!(status(block), expected, "{block:x?}");
        }
    }

    #[test]
    fn writes_lengths_of_any_size() {
        for (length, expected) in [(10, &[10][..]), (127, &[127, 0]), (1337, &[127, 0xba, 0x09])] {
            let mut block = Vec::new();
            push_length(&mut block, length);
            assert_eq!(block, expected, "{length}");
        }
    }
}
