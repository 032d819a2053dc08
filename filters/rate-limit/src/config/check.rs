//! What types cannot say.

use core::ops::RangeInclusive;

use portcullis_policy::headers::{is_field_value, is_token};
use portcullis_policy::{ConfigError, Dependency, Fact, Moment, spelling};

use super::{Algorithm, Body, Config, KeyPart, Limit, MAX_PERIOD_MS, Precision};
use crate::limiter::MAX_LIMITS;

impl Config {
    /// Refuses what makes no sense, with the path of the first field that does not.
    ///
    /// # Errors
    /// That field, and what would be right.
    pub fn check(&self) -> Result<(), ConfigError> {
        if let Some(name) = &self.name {
            check_name(name)?;
        }
        for (at, part) in self.key.iter().enumerate() {
            let within = |error: ConfigError| error.within(&format!("key[{at}]"));
            check_part(part).map_err(within)?;
            if self.key.iter().take(at).any(|earlier| same_part(earlier, part)) {
                return Err(within(ConfigError::new("", "stands in the list already")));
            }
        }
        check_limits(&self.limits, self.algorithm).map_err(|error| error.within("limits"))?;
        for (at, (name, tier)) in self.tiers.iter().enumerate() {
            if name.is_empty() || name.len() > 256 {
                return Err(ConfigError::new("tiers", format!("name {at} must have 1 to 256 bytes")));
            }
            check_limits(&tier.limits, self.algorithm)
                .map_err(|error| error.within("limits").within(name).within("tiers"))?;
        }
        self.check_rejection().map_err(|error| error.within("rejection"))?;
        self.check_store().map_err(|error| error.within("store"))?;
        match &self.service {
            Some(service) => service.check().map_err(|error| error.within("service")),
            None => Ok(()),
        }
    }

    /// What requests are counted by that another policy may set.
    pub(crate) fn reads(&self) -> Vec<Dependency> {
        let of_key = self.key.iter().enumerate().filter_map(|(at, part)| {
            let fact = match part {
                KeyPart::ClientId => Fact::Identity,
                KeyPart::Header { name } => Fact::Header(name.clone()),
                KeyPart::Query { .. }
                | KeyPart::SourceAddress { .. }
                | KeyPart::Path
                | KeyPart::Method
                | KeyPart::Host => return None,
            };
            Some(Dependency { fact, moment: Moment::Request, field: format!("key[{at}]") })
        });
        let tells_tier = self.service.as_ref().is_some_and(|service| service.tier_entry.is_some());
        let of_tier = [(!self.tiers.is_empty(), "tiers"), (tells_tier, "service.tier_entry")];
        let of_tier = of_tier.into_iter().filter(|(is_read, _)| *is_read);
        let of_tier = of_tier.map(|(_, field)| Dependency {
            fact: Fact::Identity,
            moment: Moment::Request,
            field: field.to_owned(),
        });
        of_key.chain(of_tier).collect()
    }

    fn check_rejection(&self) -> Result<(), ConfigError> {
        in_range("status", u64::from(self.rejection.status), 400..=599)?;
        match &self.rejection.body {
            Some(Body { content_type, .. })
                if content_type.trim().is_empty() || !is_field_value(content_type.as_bytes()) =>
            {
                Err(ConfigError::new("body.content_type", "must be a media type, such as application/json"))
            }
            _ => Ok(()),
        }
    }

    fn check_store(&self) -> Result<(), ConfigError> {
        in_range("slots", u64::from(self.store.slots), 16..=1 << 24)?;
        match (self.store.precision, self.algorithm) {
            (Precision::Exact, _) => Ok(()),
            (Precision::Leased { batch }, Algorithm::FixedWindow) => {
                in_range("precision.leased.batch", batch, 1..=1_000_000)
            }
            (Precision::Leased { .. }, Algorithm::SlidingWindow | Algorithm::TokenBucket) => {
                Err(ConfigError::new("precision", "may be leased with the algorithm fixed-window only"))
            }
        }
    }
}

fn check_name(name: &str) -> Result<(), ConfigError> {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"_-".contains(&byte);
    if (1..=32).contains(&name.len()) && name.bytes().all(is_plain) {
        Ok(())
    } else {
        Err(ConfigError::new("name", "must be 1 to 32 of a to z, 0 to 9, _ and -"))
    }
}

fn check_part(part: &KeyPart) -> Result<(), ConfigError> {
    match part {
        KeyPart::ClientId | KeyPart::Path | KeyPart::Method | KeyPart::Host => Ok(()),
        KeyPart::Header { name } if !is_token(name) => {
            Err(ConfigError::new("header.name", "must be a header name"))
        }
        KeyPart::Query { name } if name.is_empty() => {
            Err(ConfigError::new("query.name", "must not be empty"))
        }
        KeyPart::Header { .. } | KeyPart::Query { .. } => Ok(()),
        KeyPart::SourceAddress { trusted_hops, prefix_v4, prefix_v6 } => {
            in_range("trusted_hops", u64::from(*trusted_hops), 0..=32)
                .and_then(|()| in_range("prefix_v4", u64::from(*prefix_v4), 1..=32))
                .and_then(|()| in_range("prefix_v6", u64::from(*prefix_v6), 1..=128))
                .map_err(|error| error.within("source-address"))
        }
    }
}

/// Names of headers match in every spelling.
fn same_part(one: &KeyPart, other: &KeyPart) -> bool {
    match (one, other) {
        (KeyPart::Header { name: one }, KeyPart::Header { name: other }) => {
            spelling::is_same(one.as_bytes(), other.as_bytes())
        }
        _ => one == other,
    }
}

fn check_limits(limits: &[Limit], algorithm: Algorithm) -> Result<(), ConfigError> {
    if limits.is_empty() || limits.len() > MAX_LIMITS {
        return Err(ConfigError::new("", format!("must be 1 to {MAX_LIMITS} limits")));
    }
    for (at, limit) in limits.iter().enumerate() {
        let within = |error: ConfigError| error.within(&format!("[{at}]"));
        check_limit(limit, algorithm).map_err(within)?;
        if limits.iter().take(at).any(|earlier| earlier.period_ms == limit.period_ms) {
            return Err(within(ConfigError::new(
                "period_ms",
                "must be another period than that of an earlier limit",
            )));
        }
    }
    Ok(())
}

fn check_limit(limit: &Limit, algorithm: Algorithm) -> Result<(), ConfigError> {
    in_range("max", limit.max, 1..=u64::MAX)?;
    in_range("period_ms", limit.period_ms, 1..=MAX_PERIOD_MS)?;
    match (limit.burst, algorithm) {
        (None, _) => Ok(()),
        (Some(burst), Algorithm::TokenBucket) => in_range("burst", burst, 1..=u64::MAX),
        (Some(_), Algorithm::FixedWindow | Algorithm::SlidingWindow) => {
            Err(ConfigError::new("burst", "is for the algorithm token-bucket only"))
        }
    }
}

/// Checks that a number is within its range.
pub(crate) fn in_range(field: &str, value: u64, range: RangeInclusive<u64>) -> Result<(), ConfigError> {
    if range.contains(&value) {
        Ok(())
    } else {
        Err(ConfigError::new(field, format!("must be from {} to {}", range.start(), range.end())))
    }
}
