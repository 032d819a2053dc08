//! Telling a client of its quota.
//!
//! Each dialect is a file of its own, named after who speaks it. All of them get how the request's limits stand, in the
//! order of the configuration, and put header fields; what does not fit into a dialect is left out there.

mod envoy;
mod ietf;
mod kong;
mod mule;

use core::cmp::Reverse;
use core::time::Duration;
use std::borrow::Cow;

use portcullis_policy::{Exchange, HeaderMap, QuotaLeft};

use crate::config::Headers;
use crate::limiter::Standing;

/// Writes header fields in one dialect.
#[derive(Debug)]
pub(crate) struct Announcer {
    dialect: Headers,
    /// What the limits are called.
    name: String,
    /// Values are written here, one after the other.
    value: Vec<u8>,
}

/// Takes a field's name and value.
type Put<'a> = &'a mut dyn FnMut(&'static str, &[u8]);

impl Announcer {
    pub(crate) fn new(dialect: Headers, name: Option<&str>) -> Self {
        let name = name.unwrap_or("default").to_owned();
        Self { dialect, name, value: Vec::with_capacity(64) }
    }

    /// Whether it has anything to say at all.
    pub(crate) fn is_silent(&self) -> bool {
        self.dialect == Headers::Off
    }

    /// Whether the dialect has a field of this name.
    pub(crate) fn owns(&self, field: &str) -> bool {
        match self.dialect {
            Headers::Off => false,
            Headers::Mule => mule::FIELDS.contains(&field),
            Headers::Envoy => mule::FIELDS.contains(&field) || field == envoy::REFUSED,
            Headers::Kong => kong::FIELDS.contains(&field) || kong::period_names().any(|name| name == field),
            Headers::Ietf => ietf::FIELDS.contains(&field),
        }
    }

    /// Puts the fields that tell how the limits stand; none if there are no limits.
    pub(crate) fn announce(&mut self, standings: &[Standing], put: Put<'_>) {
        match self.dialect {
            Headers::Off => {}
            Headers::Mule => mule::write(standings, &mut self.value, put),
            Headers::Envoy => envoy::write(standings, &mut self.value, put),
            Headers::Kong => kong::write(standings, &mut self.value, put),
            Headers::Ietf => ietf::write(&self.name, standings, &mut self.value, put),
        }
    }

    /// The same on a refusal.
    pub(crate) fn announce_refusal(&mut self, standings: &[Standing], put: Put<'_>) {
        if self.dialect == Headers::Envoy {
            put(envoy::REFUSED, b"true");
        }
        self.announce(standings, put);
    }

    /// Puts the fields onto the response, in place of the upstream's own of the same dialect: two answers to how much
    /// is left are none. Another policy of the chain may have put the same fields already: lists then have the items of
    /// both, and of single values the tighter quota's stay. A host that refuses keeps nobody from its response.
    pub(crate) fn announce_on_response(&mut self, standings: &[Standing], exchange: &mut Exchange<'_>) {
        let (Some(field), Some(tightest)) = (self.leading_field(), tightest(standings)) else { return };
        let left = QuotaLeft { remaining: tightest.remaining, retry: tightest.retry };
        let told = exchange.quota_told(field);
        let joins = self.dialect == Headers::Ietf && told.is_some();
        if told.is_none_or(|told| left.is_tighter_than(told)) {
            exchange.tell_quota(field, left);
        } else if !joins {
            return;
        }
        if self.dialect == Headers::Kong
            && let Ok(present) = exchange.headers(HeaderMap::ResponseHeaders)
        {
            for name in kong::period_names().filter(|name| present.contains(name)) {
                let _ = exchange.remove_header(HeaderMap::ResponseHeaders, name);
            }
        }
        self.announce(standings, &mut |name, value| {
            let _ = if joins {
                exchange.add_header(HeaderMap::ResponseHeaders, name, value)
            } else {
                exchange.set_header(HeaderMap::ResponseHeaders, name, value)
            };
        });
    }

    /// The field by which the dialect is known: dialects that share fields have the same.
    const fn leading_field(&self) -> Option<&'static str> {
        match self.dialect {
            Headers::Off => None,
            Headers::Mule | Headers::Envoy => Some("x-ratelimit-limit"),
            Headers::Kong => Some("ratelimit-limit"),
            Headers::Ietf => Some("ratelimit"),
        }
    }

    /// The names of the limits that refuse: those whose quota must come back before a request is admitted.
    pub(crate) fn violated(&self, standings: &[Standing]) -> Vec<Cow<'static, str>> {
        let refuses = |(_, standing): &(usize, &Standing)| !standing.retry.is_zero();
        let name = |(at, _): (usize, &Standing)| Cow::Owned(ietf::policy_name(&self.name, standings, at));
        standings.iter().enumerate().filter(refuses).map(name).collect()
    }
}

/// The value of Retry-After (RFC 9110, section 10.2.3): the seconds until a request would be admitted, at least one.
pub(crate) fn retry_after(standings: &[Standing]) -> Vec<u8> {
    let wait = standings.iter().map(|standing| standing.retry).max().unwrap_or_default();
    let mut value = Vec::new();
    write_number(&mut value, seconds(wait).max(1));
    value
}

/// The limit that matters most to the client: the one that refuses it for longest, otherwise the one with the least
/// left, and of several such the one that is whole again last.
fn tightest(standings: &[Standing]) -> Option<&Standing> {
    standings
        .iter()
        .min_by_key(|standing| (Reverse(standing.retry), standing.remaining, Reverse(standing.reset)))
}

/// Whole seconds, rounded up: who waits that long has waited long enough.
fn seconds(duration: Duration) -> u64 {
    duration.as_secs().saturating_add(u64::from(duration.subsec_nanos() > 0))
}

fn write_number(out: &mut Vec<u8>, number: u64) {
    out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}

/// Puts a field whose value is a number.
fn put_number(name: &'static str, number: u64, value: &mut Vec<u8>, put: Put<'_>) {
    value.clear();
    write_number(value, number);
    put(name, value);
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn standing(
        max: u64,
        period_ms: u64,
        remaining: u64,
        reset_ms: u64,
        retry_ms: u64,
    ) -> Standing {
        Standing {
            max,
            period: Duration::from_millis(period_ms),
            window: Duration::from_millis(period_ms),
            remaining,
            reset: Duration::from_millis(reset_ms),
            retry: Duration::from_millis(retry_ms),
        }
    }

    pub(super) fn fields(dialect: Headers, name: Option<&str>, standings: &[Standing]) -> Vec<String> {
        let mut fields = Vec::new();
        Announcer::new(dialect, name).announce(standings, &mut |name, value| {
            fields.push(format!("{name}: {}", String::from_utf8(value.to_vec()).unwrap()));
        });
        fields
    }

    #[test]
    fn says_nothing_of_no_limits_and_when_told_to_be_silent() {
        for dialect in [Headers::Off, Headers::Mule, Headers::Envoy, Headers::Kong, Headers::Ietf] {
            assert_eq!(fields(dialect, None, &[]), [""; 0], "{dialect:?}");
        }
        assert_eq!(fields(Headers::Off, None, &[standing(1, 1, 1, 1, 0)]), [""; 0]);
    }

    #[test]
    fn says_to_come_again_when_all_limits_will_admit_and_not_before() {
        for (retries, expected) in [
            (&[0][..], "1"),
            (&[1], "1"),
            (&[1_000], "1"),
            (&[1_001], "2"),
            (&[59_999, 0], "60"),
            (&[500, 3_600_000, 1_500], "3600"),
            (&[], "1"),
        ] {
            let standings: Vec<_> = retries.iter().map(|retry| standing(1, 1, 0, 0, *retry)).collect();
            assert_eq!(retry_after(&standings), expected.as_bytes(), "{retries:?}");
        }
    }

    #[test]
    fn speaks_of_the_limit_that_matters_most() {
        let [plenty, little, less_but_sooner, used_up, longest] = [
            standing(100, 1, 90, 5_000, 0),
            standing(100, 2, 10, 9_000, 0),
            standing(100, 3, 10, 8_000, 0),
            standing(100, 4, 0, 1_000, 1_000),
            standing(100, 5, 0, 7_000, 7_000),
        ];
        assert_eq!(tightest(&[plenty, less_but_sooner, little]), Some(&little));
        assert_eq!(tightest(&[little, used_up]), Some(&used_up));
        assert_eq!(tightest(&[used_up, longest, plenty]), Some(&longest));
        // Used up by this very request, which was admitted.
        let last = standing(5, 6, 0, 20_000, 0);
        assert_eq!(tightest(&[plenty, last]), Some(&last));
        assert_eq!(tightest(&[]), None);
    }

    #[test]
    fn names_the_policies_that_refuse() {
        let [free, refusing, also] =
            [standing(9, 1_000, 5, 1, 0), standing(9, 60_000, 0, 1, 1), standing(9, 1_500, 0, 1, 1)];
        fn violated(name: Option<&str>, standings: &[Standing]) -> Vec<Cow<'static, str>> {
            Announcer::new(Headers::Off, name).violated(standings)
        }
        assert_eq!(violated(None, &[refusing]), ["default"]);
        assert_eq!(violated(Some("n"), &[refusing, free, also, also]), ["n-60s", "n-1500ms", "n-1500ms-2"]);
        assert_eq!(violated(None, &[free]), [""; 0]);
    }

    #[test]
    fn owns_the_fields_that_it_puts() {
        let second = standing(9, 1_000, 5, 1, 0);
        for dialect in [Headers::Mule, Headers::Envoy, Headers::Kong, Headers::Ietf] {
            let mut announcer = Announcer::new(dialect, None);
            let mut names = Vec::new();
            announcer.announce_refusal(&[second], &mut |name, _| names.push(name));
            assert!(names.len() > 1 && names.iter().all(|name| announcer.owns(name)), "{dialect:?}");
            assert!(names.contains(&announcer.leading_field().unwrap()));
            assert!(!announcer.owns("retry-after") && !announcer.owns("x"));
        }
        assert!(!Announcer::new(Headers::Off, None).owns("ratelimit"));
    }
}
