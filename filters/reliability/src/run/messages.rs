//! What clients send and upstreams answer.

use serde_json::{Value, json};

/// The body of every request that has one. Its first half has what content-router decides by.
pub(super) fn request() -> String {
    document("order", "<region>blue</region>")
}

/// The same, transformed.
pub(super) fn transformed_request() -> String {
    document("redro", "<region>blue</region>")
}

/// The body of every reply of the upstream's that has one and is not huge.
pub(super) fn reply() -> String {
    document("answer", "<accepted/>")
}

/// The same, transformed.
pub(super) fn transformed_reply() -> String {
    document("rewsna", "<accepted/>")
}

/// More than xslt-transform takes, and than the connections buffer.
pub(super) const HUGE_REPLY: usize = 5 << 20;

/// More than Envoy keeps of a call-out's answer, which is 32 MiB.
pub(super) const HUGE_ANSWER: usize = 40 << 20;

/// No HTTP of any version.
pub(super) const GARBAGE: &[u8] = b"\x00\xffnot HTTP at all\x00\r\n\r\n\xfe\xfe";

fn document(root: &str, first: &str) -> String {
    format!("<{root}>{first}<items>{}</items></{root}>", "<item>1</item>".repeat(20))
}

/// A transformation that gives the root element another name.
pub(super) fn renaming(from: &str, to: &str) -> Value {
    let sheet = format!(
        "<xsl:stylesheet version='1.0' xmlns:xsl='http://www.w3.org/1999/XSL/Transform'>\
         <xsl:output omit-xml-declaration='yes'/>\
         <xsl:template match='/{from}'><{to}><xsl:copy-of select='*'/></{to}></xsl:template></xsl:stylesheet>"
    );
    json!({"stylesheet": {"inline": sheet}})
}

/// A gRPC message of the rate limit service's: a `RateLimitResponse` that the request is within its limits, with the status
/// of one limit of 40 an hour (envoy.service.ratelimit.v3, in protobuf's wire format).
pub(super) fn within_limits() -> Vec<u8> {
    const OK: u8 = 1;
    const HOUR: u8 = 3;
    let limit = [1 << 3, 40, 2 << 3, HOUR];
    let until_reset = [1 << 3, 10];
    let status = [
        &[1 << 3, OK, 2 << 3 | 2, u8::try_from(limit.len()).unwrap_or_default()][..],
        &limit,
        &[3 << 3, 39, 4 << 3 | 2, u8::try_from(until_reset.len()).unwrap_or_default()],
        &until_reset,
    ]
    .concat();
    let head = [1 << 3, OK, 2 << 3 | 2, u8::try_from(status.len()).unwrap_or_default()];
    grpc_frame(&[&head[..], &status].concat())
}

/// A message with the prefix that gRPC has: not compressed, and its length.
pub(super) fn grpc_frame(message: &[u8]) -> Vec<u8> {
    let length = u32::try_from(message.len()).unwrap_or(u32::MAX).to_be_bytes();
    [&[0], &length[..], message].concat()
}
