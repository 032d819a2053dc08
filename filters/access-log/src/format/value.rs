//! What an operator stands for.

use std::borrow::Cow;

use portcullis_policy::time::Timestamp;
use portcullis_policy::{Direction, HeaderList};

use super::operator::{
    AddressPart, Cleaning, FlagNames, GrpcStyle, Header, Map, Operator, Own, ViolationPart,
};
use super::{grpc, metadata};
use crate::attribute::Attribute;
use crate::flags;
use crate::sight::{Outcomes, Sight};

/// The value of an operator.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value<'a> {
    /// There is none.
    Missing,
    /// Bytes of which nothing is known.
    Text(Cow<'a, [u8]>),
    /// A number.
    Number(u64),
    /// Several texts: a list in JSON, joined by commas in text.
    List(Vec<String>),
    /// A JSON value that is no text.
    Json(serde_json::Value),
}

impl<'a> Value<'a> {
    fn text(text: Option<&'a [u8]>) -> Self {
        text.map_or(Self::Missing, |text| Self::Text(Cow::Borrowed(text)))
    }

    fn owned(text: Option<Vec<u8>>) -> Self {
        text.map_or(Self::Missing, |text| Self::Text(Cow::Owned(text)))
    }

    fn number(number: Option<u64>) -> Self {
        number.map_or(Self::Missing, Self::Number)
    }
}

const NANOS_PER_MILLI: u64 = 1_000_000;

impl Operator {
    /// What the operator stands for in this exchange.
    pub(crate) fn value<'a>(&self, sight: &'a mut Sight<'_, '_>) -> Value<'a> {
        match self {
            Self::StartTime(format) => {
                let time = sight.attributes.number(Attribute::StartTime).map(Timestamp::from_nanos);
                let time = time.unwrap_or_else(|| sight.host().now());
                let mut out = Vec::new();
                format.write(time, &mut out);
                Value::owned(Some(out))
            }
            Self::EmitTime(format) => {
                let mut out = Vec::new();
                format.write(sight.host().now(), &mut out);
                Value::owned(Some(out))
            }
            Self::Duration => Value::number(sight.duration().map(|nanos| nanos / NANOS_PER_MILLI)),
            Self::BytesReceived => Value::number(bytes_received(sight)),
            Self::Flags(names) => {
                let mask = sight.attributes.number(Attribute::ResponseFlags).unwrap_or(0);
                let mut out = Vec::new();
                match (names, mask) {
                    // What Envoy prints, in typed JSON too.
                    (_, 0) => out.push(b'-'),
                    (FlagNames::Short, mask) => flags::write(&mut out, mask),
                    (FlagNames::Long, mask) => flags::write_long(&mut out, mask),
                }
                Value::owned(Some(out))
            }
            Self::Text(attribute, cleaning) => clean(sight.attributes.text(*attribute), *cleaning),
            // Envoy prints 0 for what there is not.
            Self::Number(attribute) => Value::Number(number(*attribute, sight).unwrap_or(0)),
            Self::Milliseconds(attribute) => {
                Value::number(sight.attributes.number(*attribute).map(|nanos| nanos / NANOS_PER_MILLI))
            }
            Self::Address(attribute, AddressPart::Whole) => Value::text(sight.attributes.text(*attribute)),
            Self::Address(attribute, AddressPart::WithoutPort) => {
                Value::text(sight.attributes.text(*attribute).map(without_port))
            }
            Self::Port(attribute) => Value::number(sight.attributes.number(*attribute)),
            Self::Header(header) => header_value(header, sight),
            Self::HeaderBytes(map) => Value::Number(sight.headers(*map).map_or(0, byte_size)),
            Self::GrpcStatus(style) => grpc_status(*style, sight),
            Self::FilterState { key, limit } => {
                let value = sight.attributes.filter_state(key);
                Value::text(value.map(|value| limit.and_then(|limit| value.get(..limit)).unwrap_or(value)))
            }
            Self::Metadata(path) => {
                match sight.attributes.text(Attribute::Metadata).and_then(|bytes| metadata::find(bytes, path))
                {
                    None => Value::Missing,
                    Some(serde_json::Value::String(text)) => Value::Text(Cow::Owned(text.into_bytes())),
                    Some(value) => Value::Json(value),
                }
            }
            Self::Own(own) => own_value(own, sight),
        }
    }

    /// The same where what is not known can be left out: a number of which nothing is known is no 0.
    pub(crate) fn known_value<'a>(&self, sight: &'a mut Sight<'_, '_>) -> Value<'a> {
        match self {
            Self::Number(attribute) => Value::number(number(*attribute, sight)),
            other => other.value(sight),
        }
    }
}

fn number(attribute: Attribute, sight: &mut Sight<'_, '_>) -> Option<u64> {
    match attribute {
        // The response's status is known before the attribute is.
        Attribute::ResponseCode => sight.last_status(),
        attribute => sight.attributes.number(attribute),
    }
}

/// Envoy counts the body's bytes, and tells of them together with the headers'.
fn bytes_received(sight: &mut Sight<'_, '_>) -> Option<u64> {
    let total = sight.attributes.number(Attribute::RequestTotalSize).unwrap_or(0);
    Some(total.saturating_sub(sight.headers(Map::Request).map_or(0, byte_size)))
}

/// What Envoy calls a map's byte size.
fn byte_size(headers: &HeaderList) -> u64 {
    let bytes = headers
        .iter()
        .fold(0usize, |sum, (name, value)| sum.saturating_add(name.len()).saturating_add(value.len()));
    u64::try_from(bytes).unwrap_or(u64::MAX)
}

fn clean(text: Option<&[u8]>, cleaning: Cleaning) -> Value<'_> {
    let Some(text) = text else {
        return Value::Missing;
    };
    let is_bad = |byte: &u8| match cleaning {
        Cleaning::None => false,
        Cleaning::Spaces => matches!(byte, b' ' | b'\t'..=b'\r'),
        Cleaning::HostName => !byte.is_ascii_alphanumeric() && *byte != b'.' && *byte != b'-',
    };
    if !text.iter().any(is_bad) {
        return Value::text(Some(text));
    }
    let cleaned = text.iter().map(|byte| if is_bad(byte) { b'_' } else { *byte });
    let prefix: &[u8] = if cleaning == Cleaning::HostName { b"invalid:" } else { b"" };
    Value::owned(Some(prefix.iter().copied().chain(cleaned).collect()))
}

/// The address of `10.0.0.7:80` and `[::1]:80`; other addresses (of Unix sockets) as they are.
fn without_port(address: &[u8]) -> &[u8] {
    let Some(colon) = memchr::memrchr(b':', address) else {
        return address;
    };
    let (host, port) = address.split_at_checked(colon).unwrap_or((address, b""));
    let is_port = port.len() > 1 && port.iter().skip(1).all(u8::is_ascii_digit);
    match host.strip_prefix(b"[").and_then(|host| host.strip_suffix(b"]")) {
        Some(inside) if is_port => inside,
        None if is_port && !host.contains(&b'/') && !host.contains(&b':') => host,
        _ => address,
    }
}

fn header_value<'a>(header: &Header, sight: &'a mut Sight<'_, '_>) -> Value<'a> {
    let redaction = sight.redaction;
    let Some(headers) = sight.headers(header.map) else {
        return Value::Missing;
    };
    let named =
        |name: &'_ str| headers.iter().find(|(field, _)| *field == name.as_bytes()).map(|(_, value)| value);
    let found = match (named(&header.name), &header.alternative) {
        (Some(value), _) => Some((header.name.as_str(), value)),
        (None, Some(other)) => named(other).map(|value| (other.as_str(), value)),
        (None, None) => None,
    };
    found.map_or(Value::Missing, |(name, value)| {
        let shown = redaction.header(name, value);
        Value::Text(match (header.limit, shown) {
            (Some(limit), Cow::Borrowed(shown)) => Cow::Borrowed(shown.get(..limit).unwrap_or(shown)),
            (Some(limit), Cow::Owned(mut shown)) => {
                shown.truncate(limit);
                Cow::Owned(shown)
            }
            (None, shown) => shown,
        })
    })
}

fn grpc_status(style: GrpcStyle, sight: &mut Sight<'_, '_>) -> Value<'static> {
    let is_grpc = sight
        .headers(Map::Request)
        .and_then(|headers| headers.first("content-type"))
        .is_some_and(grpc::is_content_type);
    if !is_grpc {
        return Value::Missing;
    }
    let known =
        sight.attributes.signed(Attribute::ResponseGrpcStatus).and_then(|code| u64::try_from(code).ok());
    // The attribute knows no codes but those of gRPC itself; Envoy's own operator takes any number.
    let status = known.or_else(|| {
        [Map::ResponseTrailers, Map::Response].into_iter().find_map(|map| {
            let value = sight.headers(map)?.first("grpc-status")?;
            core::str::from_utf8(value).ok()?.parse().ok()
        })
    });
    match (status, style) {
        (None, _) => Value::Missing,
        (Some(code), GrpcStyle::Number) => Value::Number(code),
        (Some(code), style) => {
            let name = grpc::name(code, style).map_or_else(|| code.to_string(), str::to_owned);
            Value::owned(Some(name.into_bytes()))
        }
    }
}

fn own_value<'a>(own: &Own, sight: &'a mut Sight<'_, '_>) -> Value<'a> {
    let identity = sight.exchange().identity();
    match own {
        Own::ClientId => Value::text(sight.client_id()),
        Own::ClientName => {
            Value::text(identity.and_then(|identity| Some(identity.name.as_ref()?.as_bytes())))
        }
        Own::ClientTier => {
            Value::text(identity.and_then(|identity| Some(identity.tier.as_ref()?.as_bytes())))
        }
        Own::Outcomes => match sight.outcomes() {
            Outcomes::None => Value::Missing,
            Outcomes::Known(outcomes) => Value::List(outcomes.iter().map(ToString::to_string).collect()),
            Outcomes::Reported(text) => {
                Value::List(String::from_utf8_lossy(text).split(',').map(str::to_owned).collect())
            }
        },
        Own::Outcome(policy) => match sight.outcomes() {
            Outcomes::None => Value::Missing,
            Outcomes::Known(outcomes) => {
                let outcome = outcomes.iter().find(|outcome| outcome.policy == policy);
                let text = outcome.map(|outcome| format!("{}:{}", outcome.verdict.as_str(), outcome.reason));
                Value::owned(text.map(String::into_bytes))
            }
            Outcomes::Reported(text) => Value::text(
                text.split(|byte| *byte == b',')
                    .find_map(|outcome| outcome.strip_prefix(policy.as_bytes())?.strip_prefix(b":")),
            ),
        },
        Own::Violation(part) => match (sight.violation(), part) {
            (None, _) => Value::Missing,
            (Some((policy, reason)), ViolationPart::Whole) => {
                Value::owned(Some(format!("{policy}:{reason}").into_bytes()))
            }
            (Some((policy, _)), ViolationPart::Policy) => Value::text(Some(policy.as_bytes())),
            (Some((_, reason)), ViolationPart::Reason) => Value::text(Some(reason.as_bytes())),
        },
        Own::Phase => Value::text(Some(sight.phase.as_str().as_bytes())),
        Own::RequestBody => Value::text(sight.body(Direction::Request)),
        Own::ResponseBody => Value::text(sight.body(Direction::Response)),
        Own::ReceivedPath => {
            let redaction = sight.redaction;
            if let Some(path) = sight.exchange().original_path() {
                return Value::Text(redaction.url(path));
            }
            let path = sight.headers(Map::Request).and_then(|headers| headers.first(":path"));
            path.map_or(Value::Missing, |path| Value::Text(redaction.url(path)))
        }
        Own::UpstreamDuration => {
            let nanos = sight.attributes.number(Attribute::BackendLatency);
            Value::number(nanos.map(|nanos| nanos / NANOS_PER_MILLI))
        }
        Own::VirtualHost => Value::text(sight.attributes.text(Attribute::VirtualHostName)),
        Own::AnsweredBy => Value::text(Some(sight.answerer().as_str().as_bytes())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_the_port_from_an_address_and_leaves_what_has_none() {
        for (address, expected) in [
            ("10.0.0.7:80", "10.0.0.7"),
            ("[::1]:80", "::1"),
            ("[2001:db8::1]:8080", "2001:db8::1"),
            ("10.0.0.7", "10.0.0.7"),
            ("/run/envoy.sock", "/run/envoy.sock"),
            ("/run/a:80", "/run/a:80"),
            ("@abstract/a:80", "@abstract/a:80"),
            ("::1", "::1"),
            ("10.0.0.7:", "10.0.0.7:"),
            ("[::1]", "[::1]"),
            ("", ""),
        ] {
            assert_eq!(without_port(address.as_bytes()), expected.as_bytes(), "{address}");
        }
    }

    #[test]
    fn cleans_texts_as_envoy_does() {
        for (text, cleaning, expected) in [
            ("a b\tc\r\n", Cleaning::Spaces, "a_b_c__"),
            ("a b", Cleaning::None, "a b"),
            ("shop.example-1", Cleaning::HostName, "shop.example-1"),
            ("a b\"c", Cleaning::HostName, "invalid:a_b_c"),
        ] {
            assert_eq!(
                clean(Some(text.as_bytes()), cleaning),
                Value::Text(Cow::Borrowed(expected.as_bytes())),
                "{text}"
            );
        }
        assert_eq!(clean(None, Cleaning::Spaces), Value::Missing);
    }
}
