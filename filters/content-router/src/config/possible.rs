//! Conditions that no request can fulfil: a rule with one of them looks as if it did something, and never does.

use portcullis_conditions::possible::{check_host, check_path};
use portcullis_policy::ConfigError;

use super::Condition;

/// Refuses a condition, or one within it, that is false of every request because of how its text is written. What
/// regular expressions can match is not looked into.
///
/// # Errors
/// The field, and how it is to be written.
pub(super) fn check(condition: &Condition) -> Result<(), ConfigError> {
    match condition {
        Condition::All(conditions) => each("all", conditions),
        Condition::Any(conditions) => each("any", conditions),
        Condition::Not(condition) => check(condition).map_err(|error| error.within("not")),
        Condition::Path(test) => check_path(test).map_err(|error| error.within("path")),
        Condition::Host(test) => check_host(test).map_err(|error| error.within("host")),
        Condition::Header { .. }
        | Condition::Method(_)
        | Condition::Query { .. }
        | Condition::Action(_)
        | Condition::Operation { .. }
        | Condition::SoapHeader { .. }
        | Condition::Xpath { .. }
        | Condition::Json { .. } => Ok(()),
    }
}

fn each(field: &str, conditions: &[Condition]) -> Result<(), ConfigError> {
    let mut conditions = conditions.iter().enumerate();
    conditions.try_for_each(|(at, condition)| {
        check(condition).map_err(|error| error.within(&format!("{field}[{at}]")))
    })
}

#[cfg(test)]
mod tests {
    use portcullis_conditions::TextTest;

    use super::*;

    fn refused(condition: &Condition) -> Option<String> {
        check(condition).err().map(|error| error.path().to_owned())
    }

    fn exact(text: &str) -> TextTest {
        TextTest::Exact(text.to_owned())
    }

    #[test]
    fn conditions_within_others_are_found() {
        let wrong = || Condition::Host(exact("Shop"));
        let fine = || Condition::Host(exact("shop"));
        let condition = Condition::Any(vec![fine(), Condition::Not(Box::new(Condition::All(vec![wrong()])))]);
        assert_eq!(refused(&condition).as_deref(), Some("any[1].not.all[0].host.exact"));
        assert_eq!(refused(&Condition::Any(vec![fine(), fine()])), None);
    }
}
