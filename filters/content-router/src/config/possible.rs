//! Conditions that no request can fulfil: a rule with one of them looks as if it did something, and never does.

use portcullis_policy::{ConfigError, target};

use super::{Condition, TextTest};

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

fn check_path(test: &TextTest) -> Result<(), ConfigError> {
    let (field, text) = match test {
        TextTest::Exact(text) => ("exact", text),
        TextTest::Prefix(text) => ("prefix", text),
        TextTest::Matches(_) => return Ok(()),
    };
    let begins_well = text.is_empty() || text.starts_with('/') || text == "*";
    if begins_well && target::path(text.as_bytes()).len() == text.len() && !has_space(text) {
        return Ok(());
    }
    let problem = "must begin with / and have no query, fragment or white space: paths are compared without";
    Err(ConfigError::new(field, problem))
}

fn check_host(test: &TextTest) -> Result<(), ConfigError> {
    let (field, text) = match test {
        TextTest::Exact(text) => ("exact", text),
        TextTest::Prefix(text) => ("prefix", text),
        TextTest::Matches(_) => return Ok(()),
    };
    let has_upper_case = text.bytes().any(|byte| byte.is_ascii_uppercase());
    let has_port = match test {
        // The dot at the end goes the same way.
        TextTest::Exact(_) => target::host(text.as_bytes()).len() != text.len(),
        // What a host begins with may end with a dot, and within brackets with a colon.
        _ => text.contains(':') && !text.starts_with('[') || text.contains("]:"),
    };
    if !has_upper_case && !has_port && !text.contains(['/', '?', '#', '@']) && !has_space(text) {
        return Ok(());
    }
    let problem =
        "must be a host as it is compared: in lower case, without scheme, port and the dot at its end";
    Err(ConfigError::new(field, problem))
}

fn has_space(text: &str) -> bool {
    text.bytes().any(|byte| byte.is_ascii_whitespace() || byte.is_ascii_control())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(condition: &Condition) -> Option<String> {
        check(condition).err().map(|error| error.path().to_owned())
    }

    fn exact(text: &str) -> TextTest {
        TextTest::Exact(text.to_owned())
    }

    fn prefix(text: &str) -> TextTest {
        TextTest::Prefix(text.to_owned())
    }

    #[test]
    fn a_host_is_written_as_it_is_compared() {
        let never = ["Shop.Test", "shop.test:80", "shop.test:", "shop.test.", "[::1]:80", "[2001:DB8::1]"];
        for text in never.iter().chain(&["http://shop.test", "shop.test/", "a b", "u@shop.test"]) {
            assert_eq!(refused(&Condition::Host(exact(text))).as_deref(), Some("host.exact"), "{text}");
        }
        for text in ["shop.test", "localhost", "192.0.2.1", "[2001:db8::1]", "[::1]", ""] {
            assert_eq!(refused(&Condition::Host(exact(text))), None, "{text}");
            // What the condition would be true of is what it says.
            assert_eq!(target::host(text.as_bytes()), text.as_bytes());
        }
        for text in ["Shop.", "shop.test:80", "shop.test:", "[::1]:80", "http://"] {
            assert_eq!(refused(&Condition::Host(prefix(text))).as_deref(), Some("host.prefix"), "{text}");
        }
        for text in ["shop.", "shop.test", "[2001:", "[2001:db8::1]"] {
            assert_eq!(refused(&Condition::Host(prefix(text))), None, "{text}");
        }
        assert_eq!(refused(&Condition::Host(TextTest::Matches("(?i)Shop.*".to_owned()))), None);
    }

    #[test]
    fn a_path_is_written_without_what_it_is_compared_without() {
        for (of, field) in [(exact as fn(&str) -> TextTest, "path.exact"), (prefix, "path.prefix")] {
            for text in ["/a?b", "/a?", "/a#b", "#", "?a=b", "a", "a/b", "https://shop.test/a", "/a b"] {
                assert_eq!(refused(&Condition::Path(of(text))).as_deref(), Some(field), "{text}");
            }
            for text in ["/", "/a", "/a%3Fb", "/a/b;c=d", "*"] {
                assert_eq!(refused(&Condition::Path(of(text))), None, "{text}");
            }
        }
        assert_eq!(refused(&Condition::Path(TextTest::Matches("/a[?]b".to_owned()))), None);
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
