//! Tests of a response's status.

use core::ops::RangeInclusive;

use portcullis_policy::ConfigError;

/// A compiled test of a response's status: whether it is one of these.
#[derive(Debug)]
pub struct StatusTest(Box<[RangeInclusive<u16>]>);

impl StatusTest {
    /// Compiles statuses: each a single one (`404`), a class (`5xx`) or a range (`400-499`).
    ///
    /// # Errors
    /// The first that is none of these, or that there is none at all.
    pub fn compile(statuses: &[String]) -> Result<Self, ConfigError> {
        if statuses.is_empty() {
            return Err(ConfigError::new("", "must have at least one status"));
        }
        let parse_at = |(at, text): (usize, &String)| {
            parse(text).ok_or_else(|| {
                let problem = "must be a status (`404`), a class (`5xx`) or a range (`400-499`)";
                ConfigError::new(format!("[{at}]"), problem)
            })
        };
        statuses.iter().enumerate().map(parse_at).collect::<Result<_, _>>().map(Self)
    }

    /// Whether the status is one of them.
    pub fn passes(&self, status: u16) -> bool {
        self.0.iter().any(|range| range.contains(&status))
    }
}

fn parse(text: &str) -> Option<RangeInclusive<u16>> {
    if let Some(class) = text.strip_suffix("xx") {
        let first = class.parse::<u16>().ok().filter(|class| (1..=5).contains(class))?.checked_mul(100)?;
        return Some(first..=first.checked_add(99)?);
    }
    let (from, to) = text.split_once('-').unwrap_or((text, text));
    let range = status(from)?..=status(to)?;
    (!range.is_empty()).then_some(range)
}

fn status(text: &str) -> Option<u16> {
    let is_plain = text.len() == 3 && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|status| is_plain && (100..=599).contains(status))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compile(statuses: &[&str]) -> Result<StatusTest, ConfigError> {
        StatusTest::compile(&statuses.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn knows_statuses_classes_and_ranges() {
        let test = compile(&["404", "5xx", "200-204"]).unwrap();
        for (status, expected) in
            [(404, true), (403, false), (500, true), (599, true), (200, true), (204, true), (205, false)]
        {
            assert_eq!(test.passes(status), expected, "{status}");
        }
    }

    #[test]
    fn refuses_what_is_none_of_these() {
        for text in ["", "6xx", "0xx", "xx", "4x", "99", "600", "+40", "500-400", "200-", "-", "200 ", "0200"]
        {
            assert_eq!(compile(&["200", text]).unwrap_err().path(), "[1]", "{text}");
        }
        assert!(compile(&[]).is_err());
    }
}
