//! The messages of `envoy.service.ratelimit.v3`, as far as they are used: fields that are not listed are skipped when
//! they come. Names and numbers are those of Envoy's `rls.proto`, `ratelimit.proto` and `base.proto`.

/// `envoy.service.ratelimit.v3.RateLimitRequest`. Without `hits_addend` a request counts as one.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct RateLimitRequest {
    #[prost(string, tag = "1")]
    pub(crate) domain: String,
    #[prost(message, repeated, tag = "2")]
    pub(crate) descriptors: Vec<RateLimitDescriptor>,
}

/// `envoy.extensions.common.ratelimit.v3.RateLimitDescriptor`.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct RateLimitDescriptor {
    #[prost(message, repeated, tag = "1")]
    pub(crate) entries: Vec<Entry>,
}

/// `envoy.extensions.common.ratelimit.v3.RateLimitDescriptor.Entry`.
#[derive(Clone, PartialEq, Eq, prost::Message)]
pub(crate) struct Entry {
    #[prost(string, tag = "1")]
    pub(crate) key: String,
    #[prost(string, tag = "2")]
    pub(crate) value: String,
}

/// `envoy.service.ratelimit.v3.RateLimitResponse`.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct RateLimitResponse {
    /// See [`OK`](code::OK). A number, since a service may give one that has no name yet.
    #[prost(int32, tag = "1")]
    pub(crate) overall_code: i32,
    #[prost(message, repeated, tag = "2")]
    pub(crate) statuses: Vec<DescriptorStatus>,
    #[prost(message, repeated, tag = "3")]
    pub(crate) response_headers_to_add: Vec<HeaderValue>,
    #[prost(message, repeated, tag = "4")]
    pub(crate) request_headers_to_add: Vec<HeaderValue>,
    #[prost(bytes = "vec", tag = "5")]
    pub(crate) raw_body: Vec<u8>,
}

/// `envoy.service.ratelimit.v3.RateLimitResponse.Code`.
pub(crate) mod code {
    pub(crate) const OK: i32 = 1;
    pub(crate) const OVER_LIMIT: i32 = 2;
}

/// `envoy.service.ratelimit.v3.RateLimitResponse.DescriptorStatus`.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct DescriptorStatus {
    #[prost(int32, tag = "1")]
    pub(crate) code: i32,
    /// None when the service knows no limit for the descriptor.
    #[prost(message, optional, tag = "2")]
    pub(crate) current_limit: Option<RateLimit>,
    #[prost(uint32, tag = "3")]
    pub(crate) limit_remaining: u32,
    #[prost(message, optional, tag = "4")]
    pub(crate) duration_until_reset: Option<ProtoDuration>,
}

/// `envoy.service.ratelimit.v3.RateLimitResponse.RateLimit`, without its name.
#[derive(Clone, PartialEq, Eq, prost::Message)]
pub(crate) struct RateLimit {
    #[prost(uint32, tag = "1")]
    pub(crate) requests_per_unit: u32,
    /// See [`unit_period`].
    #[prost(int32, tag = "2")]
    pub(crate) unit: i32,
}

/// The length of a `RateLimitResponse.RateLimit.Unit`; none if it is unknown. A month has 30 days and a year 365, as the
/// reference service has it.
pub(crate) fn unit_period(unit: i32) -> Option<core::time::Duration> {
    const DAY: u64 = 86_400;
    let seconds = match unit {
        1 => 1,
        2 => 60,
        3 => 3_600,
        4 => DAY,
        5 => DAY * 30,
        6 => DAY * 365,
        7 => DAY * 7,
        _ => return None,
    };
    Some(core::time::Duration::from_secs(seconds))
}

/// `google.protobuf.Duration`.
#[derive(Clone, PartialEq, Eq, prost::Message)]
pub(crate) struct ProtoDuration {
    #[prost(int64, tag = "1")]
    pub(crate) seconds: i64,
    #[prost(int32, tag = "2")]
    pub(crate) nanos: i32,
}

/// `envoy.config.core.v3.HeaderValue`.
#[derive(Clone, PartialEq, Eq, prost::Message)]
pub(crate) struct HeaderValue {
    #[prost(string, tag = "1")]
    pub(crate) key: String,
    #[prost(string, tag = "2")]
    pub(crate) value: String,
    /// For what is not UTF-8; only one of the two is set.
    #[prost(bytes = "vec", tag = "3")]
    pub(crate) raw_value: Vec<u8>,
}
