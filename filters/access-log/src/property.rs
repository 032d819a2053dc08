//! Attributes of an exchange, as the host encodes them: text as it is, numbers, durations and times as eight
//! bytes, little-endian.

use portcullis_policy::Host;
use portcullis_policy::time::Timestamp;

/// The bytes of an attribute; none if there is no such attribute, or an empty one.
pub(crate) fn text(host: &dyn Host, path: &[&str]) -> Option<Vec<u8>> {
    host.property(path).ok().filter(|value| !value.is_empty())
}

/// A number; none if the attribute is not there, is not eight bytes long, or is negative.
pub(crate) fn number(host: &dyn Host, path: &[&str]) -> Option<u64> {
    let value = host.property(path).ok()?;
    let value = i64::from_le_bytes(value.try_into().ok()?);
    u64::try_from(value).ok()
}

/// A point in time, which is a number of nanoseconds since the Unix epoch.
pub(crate) fn time(host: &dyn Host, path: &[&str]) -> Option<Timestamp> {
    number(host, path).map(Timestamp::from_nanos)
}
