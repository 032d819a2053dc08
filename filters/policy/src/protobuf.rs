//! Reading protobuf's wire format (<https://protobuf.dev/programming-guides/encoding/>), as far as the messages that Envoy
//! hands over need it.

/// A field's value, by its wire type.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Field<'a> {
    /// A number of variable length.
    Varint(u64),
    /// Eight bytes, read as a floating-point number.
    Double(f64),
    /// What tells its own length: a text, bytes, or a message.
    Bytes(&'a [u8]),
}

/// Takes one field off a message: its number and its value. `None` if there is no whole field, or one of another wire
/// type.
pub fn field<'a>(rest: &mut &'a [u8]) -> Option<(u64, Field<'a>)> {
    let tag = varint(rest)?;
    let value = match tag & 7 {
        0 => Field::Varint(varint(rest)?),
        1 => {
            let (bytes, after) = rest.split_first_chunk::<8>()?;
            *rest = after;
            Field::Double(f64::from_le_bytes(*bytes))
        }
        2 => {
            let length = usize::try_from(varint(rest)?).ok()?;
            let (bytes, after) = rest.split_at_checked(length)?;
            *rest = after;
            Field::Bytes(bytes)
        }
        _ => return None,
    };
    Some((tag >> 3, value))
}

fn varint(rest: &mut &[u8]) -> Option<u64> {
    let mut value = 0u64;
    for shift in (0..64).step_by(7) {
        let (&byte, after) = rest.split_first()?;
        *rest = after;
        value |= u64::from(byte & 0x7f).checked_shl(shift)?;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}
