//! The headers of the IETF's draft.
//!
//! Source: draft-ietf-httpapi-ratelimit-headers-11, "RateLimit header fields for HTTP" (May 2026), sections 3 and 4, as
//! Structured Fields (RFC 9651). Both fields are lists with an item for each limit. An item of `RateLimit-Policy` has
//! the quota `q` and the window `w`, in seconds, which are rounded up, if it is known; one of `RateLimit` has what is left, `r`, and
//! for how long it must do, `t`. The items' names are in [`policy_name`].
//!
//! `t` is the time until the quota is whole again, but for a limit that refuses, the time until a request would be
//! admitted: Retry-After should not point to an earlier time than it (section 6).

use std::io::Write;

use crate::limiter::Standing;

use super::{Put, seconds, write_number};

/// The greatest integer of Structured Fields (RFC 9651, section 3.3.1). What is greater is cut to it.
const MAX_INTEGER: u64 = 999_999_999_999_999;

/// The fields, in the order in which they are put.
pub(super) const FIELDS: [&str; 2] = ["ratelimit-policy", "ratelimit"];

pub(super) fn write(name: &str, standings: &[Standing], value: &mut Vec<u8>, put: Put<'_>) {
    if standings.is_empty() {
        return;
    }
    let [policy, left] = FIELDS;
    value.clear();
    for (at, standing) in standings.iter().enumerate() {
        write_item(name, standings, at, value);
        write_parameter("q", standing.max, value);
        if !standing.window.is_zero() {
            write_parameter("w", seconds(standing.window), value);
        }
    }
    put(policy, value);
    value.clear();
    for (at, standing) in standings.iter().enumerate() {
        let effective = if standing.retry.is_zero() { standing.reset } else { standing.retry };
        write_item(name, standings, at, value);
        write_parameter("r", standing.remaining, value);
        write_parameter("t", seconds(effective), value);
    }
    put(left, value);
}

/// The name of the limit at this place: the policy's name; with several limits the period is added, if it is known, as in
/// `default-60s` and `default-1500ms`, and to a name that stands there already a number: `default-60s-2`.
pub(crate) fn policy_name(name: &str, standings: &[Standing], at: usize) -> String {
    let mut text = Vec::new();
    write_name(name, standings, at, &mut text);
    String::from_utf8_lossy(&text).into_owned()
}

/// The policy's name has no character that would have to be escaped.
fn write_item(name: &str, standings: &[Standing], at: usize, value: &mut Vec<u8>) {
    if at > 0 {
        value.extend_from_slice(b", ");
    }
    value.push(b'"');
    write_name(name, standings, at, value);
    value.push(b'"');
}

fn write_name(name: &str, standings: &[Standing], at: usize, out: &mut Vec<u8>) {
    out.extend_from_slice(name.as_bytes());
    let (Some(standing), 2..) = (standings.get(at), standings.len()) else { return };
    let period = standing.period;
    // Writing to memory cannot fail.
    let _ = match period.subsec_nanos() {
        _ if period.is_zero() => Ok(()),
        0 => write!(out, "-{}s", period.as_secs()),
        _ => write!(out, "-{}ms", period.as_millis()),
    };
    let earlier = standings.iter().take(at).filter(|earlier| earlier.period == period).count();
    if earlier > 0 {
        let _ = write!(out, "-{}", earlier.saturating_add(1));
    }
}

fn write_parameter(name: &str, number: u64, value: &mut Vec<u8>) {
    value.push(b';');
    value.extend_from_slice(name.as_bytes());
    value.push(b'=');
    write_number(value, number.min(MAX_INTEGER));
}

#[cfg(test)]
mod tests {
    use super::super::tests::{fields, standing};
    use crate::config::Headers;

    #[test]
    fn gives_policy_and_standing_under_one_name() {
        let one = [standing(100, 60_000, 50, 29_001, 0)];
        assert_eq!(
            fields(Headers::Ietf, None, &one),
            ["ratelimit-policy: \"default\";q=100;w=60", "ratelimit: \"default\";r=50;t=30"]
        );
        assert_eq!(fields(Headers::Ietf, Some("per-client"), &one)[1], "ratelimit: \"per-client\";r=50;t=30");
    }

    #[test]
    fn names_several_limits_by_their_periods() {
        let several = [standing(10, 1_500, 9, 1_500, 0), standing(1_000, 86_400_000, 999, 86_400_000, 0)];
        assert_eq!(
            fields(Headers::Ietf, Some("n"), &several),
            [
                "ratelimit-policy: \"n-1500ms\";q=10;w=2, \"n-86400s\";q=1000;w=86400",
                "ratelimit: \"n-1500ms\";r=9;t=2, \"n-86400s\";r=999;t=86400",
            ]
        );
    }

    #[test]
    fn tells_of_a_burst_in_the_window_in_which_it_comes_back() {
        let mut bucket = standing(20, 60_000, 7, 1, 0);
        bucket.window = core::time::Duration::from_secs(2);
        assert_eq!(fields(Headers::Ietf, None, &[bucket])[0], "ratelimit-policy: \"default\";q=20;w=2");
    }

    /// A service may have several limits with one period, and periods that nobody here has heard of.
    #[test]
    fn gives_no_two_limits_one_name() {
        let (minute, unknown) = (standing(10, 60_000, 9, 500, 0), standing(7, 0, 6, 1_500, 0));
        assert_eq!(
            fields(Headers::Ietf, None, &[minute, unknown, minute, unknown, minute]),
            [
                "ratelimit-policy: \"default-60s\";q=10;w=60, \"default\";q=7, \"default-60s-2\";q=10;w=60, \
                 \"default-2\";q=7, \"default-60s-3\";q=10;w=60",
                "ratelimit: \"default-60s\";r=9;t=1, \"default\";r=6;t=2, \"default-60s-2\";r=9;t=1, \
                 \"default-2\";r=6;t=2, \"default-60s-3\";r=9;t=1",
            ]
        );
    }

    #[test]
    fn does_not_promise_a_refused_client_less_than_retry_after_does() {
        let refused = [standing(10, 60_000, 0, 60_000, 5_500)];
        assert_eq!(fields(Headers::Ietf, None, &refused)[1], "ratelimit: \"default\";r=0;t=6");
    }

    #[test]
    fn stays_within_the_integers_of_structured_fields() {
        let huge = [standing(u64::MAX, 1, u64::MAX, 1, 0)];
        assert_eq!(
            fields(Headers::Ietf, None, &huge),
            [
                "ratelimit-policy: \"default\";q=999999999999999;w=1",
                "ratelimit: \"default\";r=999999999999999;t=1",
            ]
        );
    }
}
