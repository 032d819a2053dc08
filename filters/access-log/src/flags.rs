//! Envoy's response flags.

/// The short names by bit, as the access log operator `%RESPONSE_FLAGS%` prints them. The bits are the values of
/// `CoreResponseFlag` in Envoy's `envoy/stream_info/stream_info.h`, the names those of its `ResponseFlagUtils`.
const NAMES: [&str; 30] = [
    "LH", "UH", "UT", "LR", "UR", "UF", "UC", "UO", "NR", "DI", "FI", "RL", "UAEX", "RLSE", "DC", "URX",
    "SI", "IH", "DPE", "UMSDR", "RFCF", "NFCF", "DT", "UPE", "NC", "OM", "DF", "DO", "DR", "UDO",
];

/// The long names, as `%RESPONSE_FLAGS_LONG%` prints them.
const LONG_NAMES: [&str; 30] = [
    "FailedLocalHealthCheck",
    "NoHealthyUpstream",
    "UpstreamRequestTimeout",
    "LocalReset",
    "UpstreamRemoteReset",
    "UpstreamConnectionFailure",
    "UpstreamConnectionTermination",
    "UpstreamOverflow",
    "NoRouteFound",
    "DelayInjected",
    "FaultInjected",
    "RateLimited",
    "UnauthorizedExternalService",
    "RateLimitServiceError",
    "DownstreamConnectionTermination",
    "UpstreamRetryLimitExceeded",
    "StreamIdleTimeout",
    "InvalidEnvoyRequestHeaders",
    "DownstreamProtocolError",
    "UpstreamMaxStreamDurationReached",
    "ResponseFromCacheFilter",
    "NoFilterConfigFound",
    "DurationTimeout",
    "UpstreamProtocolError",
    "NoClusterFound",
    "OverloadManagerTerminated",
    "DnsResolutionFailed",
    "DropOverload",
    "DownstreamRemoteReset",
    "UnconditionalDropOverload",
];

/// Appends the names of the flags in `mask`, joined by commas; bits without a name come last, together as one
/// number.
pub(crate) fn write(out: &mut Vec<u8>, mask: u64) {
    write_names(out, mask, &NAMES);
}

/// The same with the long names.
pub(crate) fn write_long(out: &mut Vec<u8>, mask: u64) {
    write_names(out, mask, &LONG_NAMES);
}

fn write_names(out: &mut Vec<u8>, mask: u64, names: &[&str]) {
    let start = out.len();
    let separate = |out: &mut Vec<u8>| {
        if out.len() > start {
            out.push(b',');
        }
    };
    let mut rest = mask;
    for (bit, name) in names.iter().enumerate() {
        let Some(flag) = u32::try_from(bit).ok().and_then(|bit| 1u64.checked_shl(bit)) else {
            break;
        };
        if mask & flag != 0 {
            separate(out);
            out.extend_from_slice(name.as_bytes());
            rest &= !flag;
        }
    }
    if rest != 0 {
        separate(out);
        out.extend_from_slice(rest.to_string().as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_each_flag_by_its_bit() {
        for (mask, expected) in [
            (1, "LH"),
            (1 << 1, "UH"),
            (1 << 5, "UF"),
            (1 << 8, "NR"),
            (1 << 12, "UAEX"),
            (1 << 14, "DC"),
            (1 << 15, "URX"),
            (1 << 24, "NC"),
            (1 << 29, "UDO"),
            (1 << 5 | 1 << 15, "UF,URX"),
            (1 << 30, "1073741824"),
            (1 << 2 | 1 << 40 | 1 << 41, "UT,3298534883328"),
            (1 << 63, "9223372036854775808"),
            (0, ""),
        ] {
            let mut out = Vec::new();
            write(&mut out, mask);
            assert_eq!(String::from_utf8(out).unwrap(), expected);
        }
    }

    #[test]
    fn no_name_stands_for_two_flags() {
        for names in [NAMES, LONG_NAMES] {
            let mut distinct = names.to_vec();
            distinct.sort_unstable();
            distinct.dedup();
            assert_eq!(distinct.len(), names.len());
        }
    }
}
