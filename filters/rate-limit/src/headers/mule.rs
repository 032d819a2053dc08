//! The headers of MuleSoft's rate limiting policies.
//!
//! Source: MuleSoft, "Throttling and Rate Limiting Policies Reference", section "Response Headers"
//! (<https://docs.mulesoft.com/api-manager/v/2.x/rate-limiting-and-throttling>), and the policies' option "Expose
//! Headers". Limit is the maximum of the window, Remaining the quota that is left, Reset the time until a new window
//! starts in milliseconds. There is one of each, so with several limits they speak of the one that matters most.

use crate::limiter::Standing;

use super::{Put, put_number, tightest};

/// The fields, in the order in which they are put.
pub(super) const FIELDS: [&str; 3] = ["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"];

pub(super) fn write(standings: &[Standing], value: &mut Vec<u8>, put: Put<'_>) {
    let Some(standing) = tightest(standings) else { return };
    let reset = standing.reset.as_nanos().div_ceil(1_000_000);
    put_number("x-ratelimit-limit", standing.max, value, put);
    put_number("x-ratelimit-remaining", standing.remaining, value, put);
    put_number("x-ratelimit-reset", u64::try_from(reset).unwrap_or(u64::MAX), value, put);
}

#[cfg(test)]
mod tests {
    use core::time::Duration;

    use super::super::tests::{fields, standing};
    use crate::config::Headers;

    #[test]
    fn counts_down_in_milliseconds() {
        let mut one = standing(80_000, 6_000, 79_999, 6_000, 0);
        assert_eq!(
            fields(Headers::Mule, Some("name"), &[one]),
            ["x-ratelimit-limit: 80000", "x-ratelimit-remaining: 79999", "x-ratelimit-reset: 6000"]
        );
        one.reset = Duration::from_nanos(1_000_001);
        assert_eq!(fields(Headers::Mule, None, &[one])[2], "x-ratelimit-reset: 2");
    }

    #[test]
    fn speaks_of_one_limit_only() {
        let standings = [standing(10, 1_000, 9, 1_000, 0), standing(100, 60_000, 3, 40_000, 0)];
        assert_eq!(
            fields(Headers::Mule, None, &standings),
            ["x-ratelimit-limit: 100", "x-ratelimit-remaining: 3", "x-ratelimit-reset: 40000"]
        );
    }
}
