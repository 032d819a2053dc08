//! The names of operators: those that there are, and those that a module cannot have.

use super::operator::{AddressPart, Cleaning, FlagNames, GrpcStyle, Map, Operator, Own, ViolationPart};
use crate::attribute::Attribute;

/// Names of all operators that there are, for messages.
const SUPPORTED: &str = "START_TIME, EMIT_TIME, DURATION, PROTOCOL, RESPONSE_CODE, RESPONSE_CODE_DETAILS, \
    RESPONSE_FLAGS, RESPONSE_FLAGS_LONG, BYTES_RECEIVED, BYTES_SENT, REQUEST_HEADERS_BYTES, \
    RESPONSE_HEADERS_BYTES, RESPONSE_TRAILERS_BYTES, REQ, RESP, TRAILER, GRPC_STATUS, GRPC_STATUS_NUMBER, \
    UPSTREAM_HOST, UPSTREAM_CLUSTER, UPSTREAM_CLUSTER_RAW, UPSTREAM_LOCAL_ADDRESS, \
    UPSTREAM_LOCAL_ADDRESS_WITHOUT_PORT, UPSTREAM_TRANSPORT_FAILURE_REASON, UPSTREAM_REQUEST_ATTEMPT_COUNT, \
    UPSTREAM_CONNECTION_POOL_READY_DURATION, UPSTREAM_TLS_VERSION, UPSTREAM_PEER_SUBJECT, \
    DOWNSTREAM_REMOTE_ADDRESS, DOWNSTREAM_REMOTE_ADDRESS_WITHOUT_PORT, DOWNSTREAM_REMOTE_PORT, \
    DOWNSTREAM_LOCAL_ADDRESS, DOWNSTREAM_LOCAL_ADDRESS_WITHOUT_PORT, DOWNSTREAM_LOCAL_PORT, \
    DOWNSTREAM_TLS_VERSION, DOWNSTREAM_PEER_SUBJECT, DOWNSTREAM_LOCAL_SUBJECT, DOWNSTREAM_PEER_FINGERPRINT_256, \
    DOWNSTREAM_TRANSPORT_FAILURE_REASON, CONNECTION_ID, CONNECTION_TERMINATION_DETAILS, REQUESTED_SERVER_NAME, \
    ROUTE_NAME, FILTER_CHAIN_NAME, FILTER_STATE, DYNAMIC_METADATA, PORTCULLIS";

/// What PORTCULLIS takes, for messages.
pub(super) const OWN: &str = "PORTCULLIS takes one of CLIENT_ID, CLIENT_NAME, CLIENT_TIER, OUTCOMES, OUTCOME:policy, VIOLATION, \
    VIOLATION_POLICY, VIOLATION_REASON, PHASE, REQUEST_BODY, RESPONSE_BODY, RECEIVED_PATH, UPSTREAM_DURATION, \
    ANSWERED_BY, VIRTUAL_HOST";

/// Operators of Envoy's that a Wasm module cannot have, and what there is instead.
const REFUSED: [(&str, &str); 19] = [
    (
        "REQUEST_DURATION",
        "Envoy has no attribute for it; DURATION and PORTCULLIS(UPSTREAM_DURATION) come near",
    ),
    (
        "REQUEST_TX_DURATION",
        "Envoy has no attribute for it; DURATION and PORTCULLIS(UPSTREAM_DURATION) come near",
    ),
    (
        "RESPONSE_DURATION",
        "Envoy has no attribute for it; DURATION and PORTCULLIS(UPSTREAM_DURATION) come near",
    ),
    (
        "RESPONSE_TX_DURATION",
        "Envoy has no attribute for it; DURATION and PORTCULLIS(UPSTREAM_DURATION) come near",
    ),
    (
        "COMMON_DURATION",
        "Envoy has no attribute for it; DURATION and PORTCULLIS(UPSTREAM_DURATION) come near",
    ),
    ("ROUNDTRIP_DURATION", "Envoy has no attribute for it"),
    ("START_TIME_LOCAL", "a module does not know the time zone; use START_TIME"),
    ("EMIT_TIME_LOCAL", "a module does not know the time zone; use EMIT_TIME"),
    (
        "VIRTUAL_CLUSTER_NAME",
        "Envoy has no attribute for it; ROUTE_NAME and PORTCULLIS(VIRTUAL_HOST) come near",
    ),
    ("HOSTNAME", "a module does not know it"),
    ("ENVIRONMENT", "a module gets only variables that its VM's configuration passes on"),
    ("UNIQUE_ID", "a module has no source of randomness that Envoy shares; use REQ(X-REQUEST-ID)"),
    ("STREAM_ID", "Envoy has no attribute for it; use REQ(X-REQUEST-ID)"),
    ("TRACE_ID", "Envoy has no attribute for it; use REQ(TRACEPARENT)"),
    ("ACCESS_LOG_TYPE", "Envoy has no attribute for it; use PORTCULLIS(PHASE)"),
    ("LOCAL_REPLY_BODY", "Envoy has no attribute for it; use PORTCULLIS(RESPONSE_BODY)"),
    ("UPSTREAM_REMOTE_ADDRESS", "Envoy has no attribute for it; use UPSTREAM_HOST"),
    ("DOWNSTREAM_DIRECT_REMOTE_ADDRESS", "Envoy has no attribute for it; use DOWNSTREAM_REMOTE_ADDRESS"),
    (
        "DOWNSTREAM_DIRECT_REMOTE_ADDRESS_WITHOUT_PORT",
        "Envoy has no attribute for it; use DOWNSTREAM_REMOTE_ADDRESS_WITHOUT_PORT",
    ),
];

/// Why there is no operator of this name.
pub(super) fn refusal(name: &str) -> String {
    let known = REFUSED.iter().find(|(refused, _)| *refused == name);
    match known {
        Some((refused, reason)) => format!("{refused} is not to be had: {reason}; supported are {SUPPORTED}"),
        None => format!("no such operator; supported are {SUPPORTED}"),
    }
}

/// Operators that are a name and nothing else.
pub(super) fn plain(name: &str) -> Option<Operator> {
    use Operator::{Address, Milliseconds, Number, Port, Text};
    Some(match name {
        "DURATION" => Operator::Duration,
        "BYTES_RECEIVED" => Operator::BytesReceived,
        "BYTES_SENT" => Number(Attribute::ResponseSize),
        "RESPONSE_CODE" => Number(Attribute::ResponseCode),
        "RESPONSE_FLAGS" => Operator::Flags(FlagNames::Short),
        "RESPONSE_FLAGS_LONG" => Operator::Flags(FlagNames::Long),
        "REQUEST_HEADERS_BYTES" => Operator::HeaderBytes(Map::Request),
        "RESPONSE_HEADERS_BYTES" => Operator::HeaderBytes(Map::Response),
        "RESPONSE_TRAILERS_BYTES" => Operator::HeaderBytes(Map::ResponseTrailers),
        "GRPC_STATUS_NUMBER" => Operator::GrpcStatus(GrpcStyle::Number),
        "PROTOCOL" => Text(Attribute::Protocol, Cleaning::None),
        "UPSTREAM_HOST" => Address(Attribute::UpstreamAddress, AddressPart::Whole),
        "UPSTREAM_CLUSTER" | "UPSTREAM_CLUSTER_RAW" => Text(Attribute::ClusterName, Cleaning::None),
        "UPSTREAM_LOCAL_ADDRESS" => Address(Attribute::UpstreamLocalAddress, AddressPart::Whole),
        "UPSTREAM_LOCAL_ADDRESS_WITHOUT_PORT" => {
            Address(Attribute::UpstreamLocalAddress, AddressPart::WithoutPort)
        }
        "UPSTREAM_TRANSPORT_FAILURE_REASON" => Text(Attribute::UpstreamTransportFailure, Cleaning::Spaces),
        "UPSTREAM_REQUEST_ATTEMPT_COUNT" => Number(Attribute::UpstreamAttempts),
        "UPSTREAM_CONNECTION_POOL_READY_DURATION" => Milliseconds(Attribute::UpstreamPoolReady),
        "UPSTREAM_TLS_VERSION" => Text(Attribute::UpstreamTlsVersion, Cleaning::None),
        "UPSTREAM_PEER_SUBJECT" => Text(Attribute::UpstreamPeerSubject, Cleaning::None),
        "DOWNSTREAM_REMOTE_ADDRESS" => Address(Attribute::SourceAddress, AddressPart::Whole),
        "DOWNSTREAM_REMOTE_ADDRESS_WITHOUT_PORT" => {
            Address(Attribute::SourceAddress, AddressPart::WithoutPort)
        }
        "DOWNSTREAM_REMOTE_PORT" => Port(Attribute::SourcePort),
        "DOWNSTREAM_LOCAL_ADDRESS" => Address(Attribute::DestinationAddress, AddressPart::Whole),
        "DOWNSTREAM_LOCAL_ADDRESS_WITHOUT_PORT" => {
            Address(Attribute::DestinationAddress, AddressPart::WithoutPort)
        }
        "DOWNSTREAM_LOCAL_PORT" => Port(Attribute::DestinationPort),
        "DOWNSTREAM_TLS_VERSION" => Text(Attribute::TlsVersion, Cleaning::None),
        "DOWNSTREAM_PEER_SUBJECT" => Text(Attribute::PeerSubject, Cleaning::None),
        "DOWNSTREAM_LOCAL_SUBJECT" => Text(Attribute::LocalSubject, Cleaning::None),
        "DOWNSTREAM_PEER_FINGERPRINT_256" => Text(Attribute::PeerFingerprint, Cleaning::None),
        "DOWNSTREAM_TRANSPORT_FAILURE_REASON" => Text(Attribute::TransportFailure, Cleaning::Spaces),
        "CONNECTION_ID" => Number(Attribute::ConnectionId),
        "CONNECTION_TERMINATION_DETAILS" => Text(Attribute::TerminationDetails, Cleaning::None),
        "REQUESTED_SERVER_NAME" => Text(Attribute::RequestedServerName, Cleaning::HostName),
        "ROUTE_NAME" => Text(Attribute::RouteName, Cleaning::None),
        "FILTER_CHAIN_NAME" => Text(Attribute::FilterChainName, Cleaning::None),
        _ => return None,
    })
}

/// What the suite knows under this name.
pub(super) fn own(argument: &str) -> Option<Own> {
    Some(match argument {
        "CLIENT_ID" => Own::ClientId,
        "CLIENT_NAME" => Own::ClientName,
        "CLIENT_TIER" => Own::ClientTier,
        "OUTCOMES" => Own::Outcomes,
        "VIOLATION" => Own::Violation(ViolationPart::Whole),
        "VIOLATION_POLICY" => Own::Violation(ViolationPart::Policy),
        "VIOLATION_REASON" => Own::Violation(ViolationPart::Reason),
        "PHASE" => Own::Phase,
        "REQUEST_BODY" => Own::RequestBody,
        "RESPONSE_BODY" => Own::ResponseBody,
        "RECEIVED_PATH" => Own::ReceivedPath,
        "UPSTREAM_DURATION" => Own::UpstreamDuration,
        "ANSWERED_BY" => Own::AnsweredBy,
        "VIRTUAL_HOST" => Own::VirtualHost,
        _ => {
            let policy = argument.strip_prefix("OUTCOME:")?;
            return (!policy.is_empty()).then(|| Own::Outcome(policy.to_owned()));
        }
    })
}

#[cfg(test)]
mod tests {
    use super::super::operator::Call;
    use super::*;

    #[test]
    fn every_operator_that_is_named_as_supported_compiles() {
        for name in SUPPORTED.split(", ") {
            let argument = match name {
                "REQ" | "RESP" | "TRAILER" => Some("A"),
                "FILTER_STATE" => Some("a:PLAIN"),
                "DYNAMIC_METADATA" => Some("a:b"),
                "PORTCULLIS" => Some("PHASE"),
                _ => None,
            };
            let operator = Operator::compile(&Call { name, argument, limit: None });
            assert!(operator.is_ok(), "{name}: {operator:?}");
        }
        for argument in OWN.trim_start_matches("PORTCULLIS takes one of ").split(", ") {
            assert!(own(argument).is_some(), "{argument}");
        }
    }

    #[test]
    fn no_operator_is_both_supported_and_refused() {
        for (name, _) in REFUSED {
            let error = Operator::compile(&Call { name, argument: None, limit: None }).unwrap_err();
            assert!(error.starts_with(name), "{error}");
            assert!(!SUPPORTED.split(", ").any(|supported| supported == name), "{name}");
        }
    }
}
