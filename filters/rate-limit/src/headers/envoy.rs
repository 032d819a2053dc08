//! The headers of Envoy's own rate limit filters, with `enable_x_ratelimit_headers: DRAFT_VERSION_03`.
//!
//! Source: `XRateLimitHeaderUtils` in Envoy's `source/extensions/filters/http/ratelimit/ratelimit_headers.cc`, after
//! draft-polli-ratelimit-headers-03. Limit is the maximum of the limit with the least left, and then every limit with
//! its window in seconds, as `10, 10;w=60, 1000;w=3600`; Remaining and Reset, in seconds, are of the limit with the
//! least left. Windows that are no whole seconds are rounded up. Envoy's local filter leaves the list of limits out.
//! Refusals are marked by `x-envoy-ratelimited: true`, as the global filter does.

use crate::limiter::Standing;

use super::{Put, put_number, seconds, tightest, write_number};

/// The mark of a refusal.
pub(super) const REFUSED: &str = "x-envoy-ratelimited";

pub(super) fn write(standings: &[Standing], value: &mut Vec<u8>, put: Put<'_>) {
    let Some(standing) = tightest(standings) else { return };
    value.clear();
    write_number(value, standing.max);
    for each in standings {
        value.extend_from_slice(b", ");
        write_number(value, each.max);
        if !each.window.is_zero() {
            value.extend_from_slice(b";w=");
            write_number(value, seconds(each.window));
        }
    }
    put("x-ratelimit-limit", value);
    put_number("x-ratelimit-remaining", standing.remaining, value, put);
    put_number("x-ratelimit-reset", seconds(standing.reset), value, put);
}

#[cfg(test)]
mod tests {
    use super::super::tests::{fields, standing};
    use crate::config::Headers;

    #[test]
    fn lists_all_limits_behind_the_one_that_matters() {
        let standings = [standing(10, 60_000, 7, 59_001, 0), standing(1_000, 3_600_000, 4, 3_000_000, 0)];
        assert_eq!(
            fields(Headers::Envoy, Some("name"), &standings),
            [
                "x-ratelimit-limit: 1000, 10;w=60, 1000;w=3600",
                "x-ratelimit-remaining: 4",
                "x-ratelimit-reset: 3000"
            ]
        );
        let [first, ..] = standings;
        assert_eq!(
            fields(Headers::Envoy, None, &[first]),
            ["x-ratelimit-limit: 10, 10;w=60", "x-ratelimit-remaining: 7", "x-ratelimit-reset: 60"]
        );
    }

    #[test]
    fn tells_of_a_burst_in_the_window_in_which_it_comes_back() {
        let mut bucket = standing(20, 60_000, 7, 1, 0);
        bucket.window = core::time::Duration::from_secs(2);
        let mut unknown = bucket;
        unknown.window = core::time::Duration::ZERO;
        let fields = fields(Headers::Envoy, None, &[bucket, unknown]);
        assert_eq!(fields[0], "x-ratelimit-limit: 20, 20;w=2, 20");
    }

    #[test]
    fn rounds_windows_up_to_seconds() {
        let fields = fields(Headers::Envoy, None, &[standing(200, 250, 0, 250, 250)]);
        assert_eq!(fields[0], "x-ratelimit-limit: 200, 200;w=1");
        assert_eq!(fields[2], "x-ratelimit-reset: 1");
    }
}
