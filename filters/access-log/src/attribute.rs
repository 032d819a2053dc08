//! Attributes of an exchange, read from the host once for a line and only when the line needs them.
//!
//! The host encodes text as it is, and numbers, durations and times as eight bytes, little-endian
//! (<https://www.envoyproxy.io/docs/envoy/v1.40.0/intro/arch_overview/advanced/attributes>).

use portcullis_policy::Host;

/// An attribute that lines can show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Attribute {
    StartTime,
    Protocol,
    Duration,
    RequestSize,
    RequestTotalSize,
    ResponseCode,
    ResponseCodeDetails,
    ResponseFlags,
    ResponseSize,
    ResponseGrpcStatus,
    BackendLatency,
    UpstreamAddress,
    UpstreamLocalAddress,
    UpstreamTransportFailure,
    UpstreamAttempts,
    UpstreamPoolReady,
    UpstreamTlsVersion,
    UpstreamPeerSubject,
    ClusterName,
    RouteName,
    VirtualHostName,
    FilterChainName,
    SourceAddress,
    SourcePort,
    DestinationAddress,
    DestinationPort,
    RequestedServerName,
    TlsVersion,
    PeerSubject,
    LocalSubject,
    PeerFingerprint,
    ConnectionId,
    TerminationDetails,
    TransportFailure,
    Metadata,
    ReportedClientId,
    ReportedClientIdOutcome,
    ReportedRateLimitOutcome,
}

impl Attribute {
    pub(crate) const fn path(self) -> &'static [&'static str] {
        match self {
            Self::StartTime => &["request", "time"],
            Self::Protocol => &["request", "protocol"],
            Self::Duration => &["request", "duration"],
            Self::RequestSize => &["request", "size"],
            Self::RequestTotalSize => &["request", "total_size"],
            Self::ResponseCode => &["response", "code"],
            Self::ResponseCodeDetails => &["response", "code_details"],
            Self::ResponseFlags => &["response", "flags"],
            Self::ResponseSize => &["response", "size"],
            Self::ResponseGrpcStatus => &["response", "grpc_status"],
            Self::BackendLatency => &["response", "backend_latency"],
            Self::UpstreamAddress => &["upstream", "address"],
            Self::UpstreamLocalAddress => &["upstream", "local_address"],
            Self::UpstreamTransportFailure => &["upstream", "transport_failure_reason"],
            Self::UpstreamAttempts => &["upstream", "request_attempt_count"],
            Self::UpstreamPoolReady => &["upstream", "cx_pool_ready_duration"],
            Self::UpstreamTlsVersion => &["upstream", "tls_version"],
            Self::UpstreamPeerSubject => &["upstream", "subject_peer_certificate"],
            Self::ClusterName => &["xds", "cluster_name"],
            Self::RouteName => &["xds", "route_name"],
            Self::VirtualHostName => &["xds", "virtual_host_name"],
            Self::FilterChainName => &["xds", "filter_chain_name"],
            Self::SourceAddress => &["source", "address"],
            Self::SourcePort => &["source", "port"],
            Self::DestinationAddress => &["destination", "address"],
            Self::DestinationPort => &["destination", "port"],
            Self::RequestedServerName => &["connection", "requested_server_name"],
            Self::TlsVersion => &["connection", "tls_version"],
            Self::PeerSubject => &["connection", "subject_peer_certificate"],
            Self::LocalSubject => &["connection", "subject_local_certificate"],
            Self::PeerFingerprint => &["connection", "sha256_peer_certificate_digest"],
            Self::ConnectionId => &["connection", "id"],
            Self::TerminationDetails => &["connection", "termination_details"],
            Self::TransportFailure => &["connection", "transport_failure_reason"],
            Self::Metadata => &["metadata"],
            Self::ReportedClientId => &["portcullis.client_id"],
            Self::ReportedClientIdOutcome => &["portcullis.client-id.outcome"],
            Self::ReportedRateLimitOutcome => &["portcullis.rate-limit.outcome"],
        }
    }
}

/// What has been read for a line.
pub(crate) struct AttributeCache<'h> {
    host: &'h dyn Host,
    /// A line needs a dozen of them at the most, which a list holds better than a table.
    read: Vec<(Attribute, Option<Vec<u8>>)>,
    /// Objects of the filter state, by name.
    objects: Vec<(String, Option<Vec<u8>>)>,
}

impl<'h> AttributeCache<'h> {
    pub(crate) fn new(host: &'h dyn Host) -> Self {
        Self { host, read: Vec::with_capacity(12), objects: Vec::new() }
    }

    pub(crate) fn host(&self) -> &'h dyn Host {
        self.host
    }

    /// The bytes of an attribute; none if there is no such attribute, or an empty one.
    pub(crate) fn text(&mut self, attribute: Attribute) -> Option<&[u8]> {
        let at = match self.read.iter().position(|(known, _)| *known == attribute) {
            Some(at) => at,
            None => {
                let value = self.host.property(attribute.path()).ok().filter(|value| !value.is_empty());
                self.read.push((attribute, value));
                self.read.len().saturating_sub(1)
            }
        };
        self.read.get(at)?.1.as_deref()
    }

    /// An object of the filter state as text. One that has fields and no text of its own comes as an empty map, which is
    /// four zero bytes.
    pub(crate) fn filter_state(&mut self, key: &str) -> Option<&[u8]> {
        let at = match self.objects.iter().position(|(known, _)| known == key) {
            Some(at) => at,
            None => {
                let value = self.host.property(&["filter_state", key]).ok();
                let value = value.filter(|value| !value.is_empty() && value.as_slice() != [0; 4]);
                self.objects.push((key.to_owned(), value));
                self.objects.len().saturating_sub(1)
            }
        };
        self.objects.get(at)?.1.as_deref()
    }

    /// A number; none if the attribute is not there, is not eight bytes long, or is negative.
    pub(crate) fn number(&mut self, attribute: Attribute) -> Option<u64> {
        u64::try_from(self.signed(attribute)?).ok()
    }

    /// A number that may be negative.
    pub(crate) fn signed(&mut self, attribute: Attribute) -> Option<i64> {
        Some(i64::from_le_bytes(self.text(attribute)?.try_into().ok()?))
    }
}
