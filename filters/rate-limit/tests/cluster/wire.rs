//! Messages of the protocol, byte for byte and by nobody's library.

/// A field of a protobuf message with a length: strings, bytes, messages.
pub(crate) fn field(number: u8, bytes: &[u8]) -> Vec<u8> {
    let length = u8::try_from(bytes.len()).expect("a short field");
    assert!(length < 128);
    [&[number << 3 | 2, length], bytes].concat()
}

/// A `RateLimitResponse` with this overall code, and further fields.
pub(crate) fn response(code: u8, fields: &[Vec<u8>]) -> Vec<u8> {
    [&[1 << 3, code][..], &fields.concat()].concat()
}

pub(crate) fn header(name: &str, value: &str) -> Vec<u8> {
    [field(1, name.as_bytes()), field(2, value.as_bytes())].concat()
}

pub(crate) const OK: u8 = 1;
pub(crate) const OVER_LIMIT: u8 = 2;

/// How a limit stands: `DescriptorStatus` with its code, the limit per hour, what is left and the seconds until reset.
pub(crate) fn status(code: u8, max: u8, left: u8, reset: u8) -> Vec<u8> {
    const HOUR: u8 = 3;
    let limit = [1 << 3, max, 2 << 3, HOUR];
    field(2, &[&[1 << 3, code][..], &field(2, &limit), &[3 << 3, left], &field(4, &[1 << 3, reset])].concat())
}

/// A message behind its prefix.
pub(crate) fn framed(message: &[u8]) -> Vec<u8> {
    let length = u32::try_from(message.len()).expect("a short message").to_be_bytes();
    [&[0], &length[..], message].concat()
}
