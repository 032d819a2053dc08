//! Which exchanges get a line.

use core::ops::RangeInclusive;

use portcullis_policy::scope::{CompiledScope, Concern};
use portcullis_policy::{ConfigError, HeaderList};

use crate::attribute::Attribute;
use crate::config::{Answerer, Phase, When};
use crate::format::Map;
use crate::sample::Sampler;
use crate::sight::Sight;

/// Compiled conditions, all of which must hold.
#[derive(Debug)]
pub(crate) struct Condition {
    statuses: Vec<Status>,
    /// Nanoseconds.
    min_duration: u64,
    answered_by: Vec<Answerer>,
    sampler: Sampler,
    always: Vec<Status>,
    /// None if every request is concerned.
    scope: Option<CompiledScope>,
}

/// Statuses of responses.
#[derive(Debug)]
enum Status {
    In(RangeInclusive<u64>),
    /// There was no response.
    None,
}

/// What the request's headers say of whether there will be a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Early {
    /// There will be none.
    Never,
    /// Only if the response's status is one that always gets a line.
    IfAlways,
    /// There may be one.
    Perhaps,
}

impl Condition {
    /// Compiles the conditions.
    ///
    /// # Errors
    /// What is wrong with them, or cannot be known in one of the phases.
    pub(crate) fn compile(when: &When, phases: &[Phase]) -> Result<Self, ConfigError> {
        for (field, is_set, known_from) in [
            ("status", !when.status.is_empty(), Phase::Response),
            ("min_duration_ms", when.min_duration_ms > 0, Phase::End),
            ("answered_by", !when.answered_by.is_empty(), Phase::Response),
            ("sample.always", !when.sample.always.is_empty(), Phase::Response),
        ] {
            let too_early = phases.iter().find(|phase| order(**phase) < order(known_from));
            if let (true, Some(phase)) = (is_set, too_early) {
                return Err(ConfigError::new(
                    field,
                    format!("is not known in the phase `{}`", phase.as_str()),
                ));
            }
        }
        if when.min_duration_ms > 86_400_000 {
            let problem = "out of range, expected a number of milliseconds from 0 to 86400000";
            return Err(ConfigError::new("min_duration_ms", problem));
        }
        let scope = &when.scope;
        // Compiled in any case: a rule that could never match is refused.
        let compiled = CompiledScope::compile(scope).map_err(|error| error.within("scope"))?;
        let concerns_all = scope.only.is_empty()
            && scope.exempt.is_empty()
            && scope.cors_preflight == portcullis_policy::scope::CorsPreflight::Enforced;
        Ok(Self {
            statuses: statuses(&when.status, "status")?,
            min_duration: u64::from(when.min_duration_ms).saturating_mul(1_000_000),
            answered_by: when.answered_by.clone(),
            sampler: Sampler::compile(when.sample.percent).map_err(|error| error.within("sample"))?,
            always: statuses(&when.sample.always, "sample.always")?,
            scope: (!concerns_all).then_some(compiled),
        })
    }

    /// Whether anything of it is found in the request's headers.
    pub(crate) fn looks_at_request(&self) -> bool {
        self.scope.is_some() || !self.sampler.takes_all()
    }

    /// What can be told from the request's headers; without headers, nothing is held against the request.
    pub(crate) fn early(&self, headers: Option<&HeaderList>) -> Early {
        let Some(headers) = headers else {
            return Early::Perhaps;
        };
        if self.scope.as_ref().is_some_and(|scope| scope.concern(headers) == Concern::Exempt) {
            Early::Never
        } else if self.sampler.takes_all() || self.sampler.takes(headers.first("x-request-id")) {
            Early::Perhaps
        } else if self.always.is_empty() {
            Early::Never
        } else {
            Early::IfAlways
        }
    }

    /// Whether all of it holds, the cheapest part first: one attribute for the status, one for the duration, all headers
    /// for what the request must be, unless that is `known`, and last who answered.
    pub(crate) fn holds(&self, known: Option<Early>, sight: &mut Sight<'_, '_>) -> bool {
        if known == Some(Early::Never) {
            return false;
        }
        if !self.statuses.is_empty() && !is_one_of(&self.statuses, sight.status()) {
            return false;
        }
        if self.min_duration > 0
            && sight.attributes.number(Attribute::Duration).is_some_and(|took| took < self.min_duration)
        {
            return false;
        }
        let early = known.unwrap_or_else(|| self.early(sight.headers(Map::Request)));
        let is_wanted = match early {
            Early::Never => false,
            Early::IfAlways => is_one_of(&self.always, sight.status()),
            Early::Perhaps => true,
        };
        is_wanted && (self.answered_by.is_empty() || self.answered_by.contains(&sight.answerer()))
    }
}

fn is_one_of(statuses: &[Status], status: Option<u64>) -> bool {
    statuses.iter().any(|own| own.matches(status))
}

/// The place of a phase in an exchange.
fn order(phase: Phase) -> u8 {
    match phase {
        Phase::Request => 0,
        Phase::Response => 1,
        Phase::End => 2,
    }
}

impl Status {
    fn matches(&self, status: Option<u64>) -> bool {
        match (self, status) {
            (Self::In(range), Some(status)) => range.contains(&status),
            (Self::None, None) => true,
            _ => false,
        }
    }

    fn parse(text: &str) -> Option<Self> {
        let number = |text: &str| {
            let is_number = text.len() == 3 && text.bytes().all(|byte| byte.is_ascii_digit());
            is_number.then(|| text.parse::<u64>().ok())?.filter(|status| (100..=599).contains(status))
        };
        if text == "none" {
            return Some(Self::None);
        }
        if let Some(class) = text.strip_suffix("xx") {
            let first = number(&format!("{class}00"))?;
            return Some(Self::In(first..=first.saturating_add(99)));
        }
        let (first, last) = match text.split_once('-') {
            Some((first, last)) => (number(first)?, number(last)?),
            None => (number(text)?, number(text)?),
        };
        (first <= last).then_some(Self::In(first..=last))
    }
}

fn statuses(texts: &[String], field: &str) -> Result<Vec<Status>, ConfigError> {
    let parsed = texts.iter().enumerate().map(|(at, text)| {
        Status::parse(text).ok_or_else(|| {
            let problem = "must be a status (`404`), a class (`5xx`), a range (`400-499`) or `none`";
            ConfigError::new(format!("{field}[{at}]"), problem)
        })
    });
    parsed.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_statuses() {
        for (text, inside, outside) in [
            ("404", &[404][..], &[403, 405][..]),
            ("5xx", &[500, 599], &[499]),
            ("400-499", &[400, 499], &[399, 500]),
            ("200-200", &[200], &[201]),
        ] {
            let status = Status::parse(text).unwrap();
            assert!(inside.iter().all(|inside| status.matches(Some(*inside))), "{text}");
            assert!(!outside.iter().any(|outside| status.matches(Some(*outside))), "{text}");
            assert!(!status.matches(None), "{text}");
        }
        assert!(Status::parse("none").unwrap().matches(None));
        assert!(!Status::parse("none").unwrap().matches(Some(200)));
        for text in ["", "40", "4040", "6xx", "0xx", "xx", "500-400", "4xx-5xx", "+40", "40x", "099", "600"] {
            assert!(Status::parse(text).is_none(), "{text}");
        }
    }
}
