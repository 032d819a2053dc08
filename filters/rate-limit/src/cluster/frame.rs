//! How gRPC puts a message into the body of an HTTP/2 message ("gRPC over HTTP2", Length-Prefixed-Message): a byte that
//! says whether it is compressed, its length as four bytes, most significant first, and the message.

/// A prefix's length in bytes.
pub(crate) const PREFIX: usize = 5;

/// Why a body is not one message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BadFrame {
    /// It is shorter than it says, or it goes on behind the message.
    Length,
    /// It is compressed, which nobody has asked for, or its first byte makes no sense.
    Compressed,
}

/// The body that carries `message`.
pub(crate) fn wrap(message: &impl prost::Message) -> Vec<u8> {
    let length = message.encoded_len();
    let mut body = Vec::with_capacity(length.saturating_add(PREFIX));
    body.push(0);
    // A message is made of a request's headers: its length is far from the end of the scale.
    body.extend_from_slice(&u32::try_from(length).unwrap_or(u32::MAX).to_be_bytes());
    message.encode_raw(&mut body);
    body
}

/// The one message that `body` carries.
pub(crate) fn unwrap(body: &[u8]) -> Result<&[u8], BadFrame> {
    let ([compressed, length @ ..], message) = body.split_first_chunk::<PREFIX>().ok_or(BadFrame::Length)?;
    if *compressed != 0 {
        return Err(BadFrame::Compressed);
    }
    if usize::try_from(u32::from_be_bytes(*length)) == Ok(message.len()) {
        Ok(message)
    } else {
        Err(BadFrame::Length)
    }
}

#[cfg(test)]
mod tests {
    use super::super::messages::Entry;
    use super::*;

    #[test]
    fn unwraps_what_it_wraps() {
        let entry = Entry { key: "k".to_owned(), value: "v".to_owned() };
        let body = wrap(&entry);
        assert_eq!(body, b"\x00\x00\x00\x00\x06\x0a\x01k\x12\x01v");
        assert_eq!(unwrap(&body), Ok(&body[PREFIX..]));
        assert_eq!(unwrap(&wrap(&Entry::default())), Ok(&b""[..]));
    }

    #[test]
    fn refuses_whatever_is_not_one_plain_message() {
        for (body, expected) in [
            (&b""[..], BadFrame::Length),
            (b"\x00\x00\x00\x00", BadFrame::Length),
            (b"\x00\x00\x00\x00\x01", BadFrame::Length),
            (b"\x00\x00\x00\x00\x00x", BadFrame::Length),
            (b"\x00\xff\xff\xff\xffx", BadFrame::Length),
            (b"\x01\x00\x00\x00\x00", BadFrame::Compressed),
            (b"\x80\x00\x00\x00\x00", BadFrame::Compressed),
            (b"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00", BadFrame::Length),
        ] {
            assert_eq!(unwrap(body), Err(expected), "{body:?}");
        }
    }
}
