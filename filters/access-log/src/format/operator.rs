//! Command operators, as Envoy names them
//! (<https://www.envoyproxy.io/docs/envoy/v1.40.0/configuration/advanced/substitution_formatter>).

use portcullis_policy::Direction;
use portcullis_policy::headers::is_token;

use super::metadata;
use super::names::{OWN, own, plain, refusal};
use super::time::TimeFormat;
use crate::attribute::Attribute;

/// Something that is replaced by a value of the exchange.
#[derive(Debug)]
pub(crate) enum Operator {
    /// When the request began.
    StartTime(TimeFormat),
    /// When the line is written.
    EmitTime(TimeFormat),
    /// Milliseconds since the request began.
    Duration,
    /// Bytes of the request's body.
    BytesReceived,
    /// The response flags.
    Flags(FlagNames),
    /// A text.
    Text(Attribute, Cleaning),
    /// A number, which is 0 when it is not known.
    Number(Attribute),
    /// A duration in milliseconds.
    Milliseconds(Attribute),
    /// An address, or a part of it.
    Address(Attribute, AddressPart),
    /// A port, which stands in an attribute of its own.
    Port(Attribute),
    /// A header or trailer.
    Header(Header),
    /// The length of all names and values in a map.
    HeaderBytes(Map),
    /// The gRPC status.
    GrpcStatus(GrpcStyle),
    /// An object of the filter state.
    FilterState { key: String, limit: Option<usize> },
    /// Dynamic metadata: a filter's name and a path in what it has set.
    Metadata(Vec<String>),
    /// What the suite knows.
    Own(Own),
}

/// Which names flags get.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FlagNames {
    Short,
    Long,
}

/// What is done to a text before it is shown, as Envoy does it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cleaning {
    None,
    /// White space becomes `_`.
    Spaces,
    /// What cannot stand in a host name becomes `_`, and `invalid:` stands before it.
    HostName,
}

/// A part of an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AddressPart {
    Whole,
    WithoutPort,
}

/// A map of headers or trailers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Map {
    Request,
    Response,
    ResponseTrailers,
}

/// A header, or another in its place.
#[derive(Debug)]
pub(crate) struct Header {
    pub(crate) map: Map,
    /// In lower case.
    pub(crate) name: String,
    pub(crate) alternative: Option<String>,
    pub(crate) limit: Option<usize>,
}

/// How a gRPC status is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum GrpcStyle {
    /// `NotFound`.
    Camel,
    /// `NOT_FOUND`.
    Snake,
    /// `5`.
    Number,
}

/// What the suite knows.
#[derive(Debug)]
pub(crate) enum Own {
    ClientId,
    ClientName,
    ClientTier,
    /// What all policies decided: `policy:verdict:reason`.
    Outcomes,
    /// What one policy decided: `verdict:reason`.
    Outcome(String),
    /// The policy that refused the request, and why.
    Violation(ViolationPart),
    Phase,
    RequestBody,
    ResponseBody,
    /// The path as the client sent it.
    ReceivedPath,
    /// The upstream's share of the duration, in milliseconds.
    UpstreamDuration,
    AnsweredBy,
    /// The name of the virtual host, for which Envoy has no operator.
    VirtualHost,
}

/// Which part of a violation is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ViolationPart {
    /// `policy:reason`.
    Whole,
    Policy,
    Reason,
}

/// What is written between the percent signs.
pub(crate) struct Call<'a> {
    pub(crate) name: &'a str,
    pub(crate) argument: Option<&'a str>,
    pub(crate) limit: Option<usize>,
}

impl Operator {
    /// The operator that a call names.
    ///
    /// # Errors
    /// Why there is none, without any of the call's text.
    pub(crate) fn compile(call: &Call<'_>) -> Result<Self, String> {
        if let Some(plain) = plain(call.name) {
            return match call {
                Call { argument: None, limit: None, .. } => Ok(plain),
                _ => Err("this operator takes neither an argument nor a length".to_owned()),
            };
        }
        let argument = call.argument.filter(|argument| !argument.is_empty());
        let takes_length = matches!(call.name, "REQ" | "RESP" | "TRAILER" | "FILTER_STATE");
        if call.limit.is_some() && !takes_length {
            return Err("this operator takes no length".to_owned());
        }
        match call.name {
            "START_TIME" => Ok(Self::StartTime(TimeFormat::compile(argument)?)),
            "EMIT_TIME" => Ok(Self::EmitTime(TimeFormat::compile(argument)?)),
            "RESPONSE_CODE_DETAILS" => match argument {
                None => Ok(Self::Text(Attribute::ResponseCodeDetails, Cleaning::Spaces)),
                Some("ALLOW_WHITESPACES") => Ok(Self::Text(Attribute::ResponseCodeDetails, Cleaning::None)),
                Some(_) => Err("RESPONSE_CODE_DETAILS takes ALLOW_WHITESPACES or nothing".to_owned()),
            },
            "REQ" => header(Map::Request, argument, call.limit),
            "RESP" => header(Map::Response, argument, call.limit),
            "TRAILER" => header(Map::ResponseTrailers, argument, call.limit),
            "GRPC_STATUS" => match argument {
                None | Some("CAMEL_STRING") => Ok(Self::GrpcStatus(GrpcStyle::Camel)),
                Some("SNAKE_STRING") => Ok(Self::GrpcStatus(GrpcStyle::Snake)),
                Some("NUMBER") => Ok(Self::GrpcStatus(GrpcStyle::Number)),
                Some(_) => Err("GRPC_STATUS takes CAMEL_STRING, SNAKE_STRING or NUMBER".to_owned()),
            },
            "FILTER_STATE" => filter_state(argument, call.limit),
            "DYNAMIC_METADATA" => {
                let path = argument.and_then(metadata::path);
                path.map(Self::Metadata).ok_or_else(|| {
                    "DYNAMIC_METADATA takes the name of a filter and keys, joined by colons".to_owned()
                })
            }
            "PORTCULLIS" => argument.and_then(own).map(Self::Own).ok_or_else(|| OWN.to_owned()),
            name => Err(refusal(name)),
        }
    }

    /// Whose body this is, if it is one: bodies have limits of their own.
    pub(crate) fn body(&self) -> Option<Direction> {
        match self {
            Self::Own(Own::RequestBody) => Some(Direction::Request),
            Self::Own(Own::ResponseBody) => Some(Direction::Response),
            _ => None,
        }
    }
}

fn header(map: Map, argument: Option<&str>, limit: Option<usize>) -> Result<Operator, String> {
    let wrong =
        || "takes the name of a header, and may name another for when that is missing: `A?B`".to_owned();
    let mut names = argument.ok_or_else(wrong)?.split('?');
    let name = names.next().filter(|name| is_header_name(name)).ok_or_else(wrong)?;
    let alternative = match names.next() {
        // Envoy takes `A?` for `A`.
        None | Some("") => None,
        Some(name) if is_header_name(name) => Some(name.to_ascii_lowercase()),
        Some(_) => return Err(wrong()),
    };
    if names.next().is_some() {
        return Err(wrong());
    }
    Ok(Operator::Header(Header { map, name: name.to_ascii_lowercase(), alternative, limit }))
}

fn is_header_name(name: &str) -> bool {
    is_token(name.strip_prefix(':').unwrap_or(name))
}

fn filter_state(argument: Option<&str>, limit: Option<usize>) -> Result<Operator, String> {
    let wrong = || {
        "FILTER_STATE takes the name of an object and `:PLAIN`; its typed form and its fields are not to be had"
            .to_owned()
    };
    let (key, form) = argument.and_then(|argument| argument.split_once(':')).ok_or_else(wrong)?;
    if key.is_empty() || key.contains('\0') || form != "PLAIN" {
        return Err(wrong());
    }
    Ok(Operator::FilterState { key: key.to_owned(), limit })
}
