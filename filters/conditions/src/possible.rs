//! Tests that no request can pass: a condition with one of them looks as if it did something, and never does.

use portcullis_policy::{ConfigError, target};

use crate::TextTest;

/// Refuses a test of a path that is false of every path because of how its text is written. What regular expressions
/// can match is not looked into.
///
/// # Errors
/// The field, and how it is to be written.
pub fn check_path(test: &TextTest) -> Result<(), ConfigError> {
    let (field, text) = match test {
        TextTest::Exact(text) => ("exact", text),
        TextTest::Prefix(text) => ("prefix", text),
        TextTest::Matches(_) => return Ok(()),
        TextTest::Number(_) => return Err(ConfigError::new("number", "cannot be: no path is a number")),
    };
    let begins_well = text.is_empty() || text.starts_with('/') || text == "*";
    if begins_well && target::path(text.as_bytes()).len() == text.len() && !has_space(text) {
        return Ok(());
    }
    let problem = "must begin with / and have no query, fragment or white space: paths are compared without";
    Err(ConfigError::new(field, problem))
}

/// The same for a test of a host.
///
/// # Errors
/// The field, and how it is to be written.
pub fn check_host(test: &TextTest) -> Result<(), ConfigError> {
    let (field, text) = match test {
        TextTest::Exact(text) => ("exact", text),
        TextTest::Prefix(text) => ("prefix", text),
        TextTest::Matches(_) => return Ok(()),
        TextTest::Number(_) => return Err(ConfigError::new("number", "cannot be: no host is a number")),
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

    fn refused(checked: Result<(), ConfigError>) -> Option<String> {
        checked.err().map(|error| error.path().to_owned())
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
            assert_eq!(refused(check_host(&exact(text))).as_deref(), Some("exact"), "{text}");
        }
        for text in ["shop.test", "localhost", "192.0.2.1", "[2001:db8::1]", "[::1]", ""] {
            assert_eq!(refused(check_host(&exact(text))), None, "{text}");
            // What the condition would be true of is what it says.
            assert_eq!(target::host(text.as_bytes()), text.as_bytes());
        }
        for text in ["Shop.", "shop.test:80", "shop.test:", "[::1]:80", "http://"] {
            assert_eq!(refused(check_host(&prefix(text))).as_deref(), Some("prefix"), "{text}");
        }
        for text in ["shop.", "shop.test", "[2001:", "[2001:db8::1]"] {
            assert_eq!(refused(check_host(&prefix(text))), None, "{text}");
        }
        assert_eq!(refused(check_host(&TextTest::Matches("(?i)Shop.*".to_owned()))), None);
        let number = TextTest::Number(crate::NumberTest::default());
        assert_eq!(refused(check_host(&number)).as_deref(), Some("number"));
        assert_eq!(refused(check_path(&number)).as_deref(), Some("number"));
    }

    #[test]
    fn a_path_is_written_without_what_it_is_compared_without() {
        for (of, field) in [(exact as fn(&str) -> TextTest, "exact"), (prefix, "prefix")] {
            for text in ["/a?b", "/a?", "/a#b", "#", "?a=b", "a", "a/b", "https://shop.test/a", "/a b"] {
                assert_eq!(refused(check_path(&of(text))).as_deref(), Some(field), "{text}");
            }
            for text in ["/", "/a", "/a%3Fb", "/a/b;c=d", "*"] {
                assert_eq!(refused(check_path(&of(text))), None, "{text}");
            }
        }
        assert_eq!(refused(check_path(&TextTest::Matches("/a[?]b".to_owned()))), None);
    }
}
