//! The headers of Kong's rate limiting plugin.
//!
//! Source: `kong/plugins/rate-limiting/handler.lua`, and the plugin's documentation, "Headers sent to the client"
//! (<https://docs.konghq.com/hub/kong-inc/rate-limiting>). `RateLimit-Limit`, `RateLimit-Remaining` and
//! `RateLimit-Reset` (in seconds, at least one) are of the limit that matters most; each limit whose period Kong has a
//! name for has an `X-RateLimit-Limit-<Period>` and an `X-RateLimit-Remaining-<Period>` besides. Kong has names for a
//! second, a minute, an hour, a day, a month of 30 days and a year of 365 days; limits with other periods have no
//! fields of their own, but count for the first three like any other; and so do token buckets whose burst is not what
//! comes back in a period, for nothing else would say so.

use core::time::Duration;

use crate::limiter::Standing;

use super::{Put, put_number, seconds, tightest};

/// Seconds of a period, and the fields that Kong has for it.
const PERIODS: [(u64, &str, &str); 6] = [
    (1, "x-ratelimit-limit-second", "x-ratelimit-remaining-second"),
    (60, "x-ratelimit-limit-minute", "x-ratelimit-remaining-minute"),
    (3_600, "x-ratelimit-limit-hour", "x-ratelimit-remaining-hour"),
    (86_400, "x-ratelimit-limit-day", "x-ratelimit-remaining-day"),
    (2_592_000, "x-ratelimit-limit-month", "x-ratelimit-remaining-month"),
    (31_536_000, "x-ratelimit-limit-year", "x-ratelimit-remaining-year"),
];

/// The fields for all limits together.
pub(super) const FIELDS: [&str; 3] = ["ratelimit-limit", "ratelimit-remaining", "ratelimit-reset"];

/// All fields that Kong has for periods.
pub(super) fn period_names() -> impl Iterator<Item = &'static str> {
    PERIODS.iter().flat_map(|(_, limit, remaining)| [*limit, *remaining])
}

pub(super) fn write(standings: &[Standing], value: &mut Vec<u8>, put: Put<'_>) {
    let Some(standing) = tightest(standings) else { return };
    put_number("ratelimit-limit", standing.max, value, put);
    put_number("ratelimit-remaining", standing.remaining, value, put);
    put_number("ratelimit-reset", seconds(standing.reset).max(1), value, put);
    for each in standings {
        let is_period =
            |(period, ..): &&(u64, _, _)| [each.period, each.window] == [Duration::from_secs(*period); 2];
        if let Some((_, limit, remaining)) = PERIODS.iter().find(is_period) {
            put_number(limit, each.max, value, put);
            put_number(remaining, each.remaining, value, put);
        }
    }
}

#[cfg(test)]
mod tests {
    use core::time::Duration;

    use super::super::tests::{fields, standing};
    use crate::config::Headers;

    #[test]
    fn names_the_periods_that_kong_has_names_for() {
        let standings =
            [standing(5, 1_000, 4, 1, 0), standing(10, 60_000, 2, 59_001, 0), standing(99, 6_000, 98, 1, 0)];
        assert_eq!(
            fields(Headers::Kong, Some("name"), &standings),
            [
                "ratelimit-limit: 10",
                "ratelimit-remaining: 2",
                "ratelimit-reset: 60",
                "x-ratelimit-limit-second: 5",
                "x-ratelimit-remaining-second: 4",
                "x-ratelimit-limit-minute: 10",
                "x-ratelimit-remaining-minute: 2",
            ]
        );
    }

    #[test]
    fn does_not_tell_of_a_burst_as_if_it_were_a_period_s_quota() {
        let mut bucket = standing(20, 60_000, 7, 1, 0);
        bucket.window = Duration::from_secs(2);
        assert_eq!(
            fields(Headers::Kong, None, &[bucket]),
            ["ratelimit-limit: 20", "ratelimit-remaining: 7", "ratelimit-reset: 1"]
        );
    }

    #[test]
    fn knows_all_of_kong_s_periods() {
        const DAY: u64 = 86_400_000;
        for (period, name) in [
            (1_000, "second"),
            (60_000, "minute"),
            (3_600_000, "hour"),
            (DAY, "day"),
            (30 * DAY, "month"),
            (365 * DAY, "year"),
        ] {
            let fields = fields(Headers::Kong, None, &[standing(3, period, 1, 0, 0)]);
            let expected =
                [format!("x-ratelimit-limit-{name}: 3"), format!("x-ratelimit-remaining-{name}: 1")];
            assert_eq!(fields[3..], expected);
            assert_eq!(fields[2], "ratelimit-reset: 1");
        }
    }
}
