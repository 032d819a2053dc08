//! Tests of texts, and of numbers that are written as texts.

use portcullis_policy::ConfigError;
use regex::bytes::{Regex, RegexBuilder};

use crate::number::Notation;
use crate::{NumberMatcher, TextTest};

/// How large a compiled expression may become, in bytes, and the table that speeds it up.
///
/// The engine's time is linear in the text, whatever the expression (there is no backtracking), but by a factor that
/// can be as large as the compiled expression, once the table is too small. So the first bounds memory and time: what
/// it lets through takes 17 µs for a byte at the worst, and a text has 64 KiB at the most. It works on bytes and
/// knows no Unicode tables, unlike the engine's default: values of headers are bytes, the tables are as large as the
/// rest of the module, and the classes of the expressions that people bring along from gateways in Java are ASCII
/// too. `regex-lite` would be a third of the size; it has no bytes, and simulates the automaton state by state, at
/// several times the cost for each byte.
const SIZE_LIMIT: usize = 128 << 10;
const TABLE_LIMIT: usize = 256 << 10;
/// An expression is compiled in every worker; that takes time in proportion to its length, repetitions written
/// out.
const MAX_PATTERN: usize = 4096;

/// A compiled test of a text.
#[derive(Debug)]
pub enum TextMatcher {
    /// It is this text.
    Exact(Box<[u8]>),
    /// It begins with this text.
    Prefix(Box<[u8]>),
    /// It matches this expression.
    Matches(Box<Regex>),
    /// It is a number within bounds.
    Number(NumberMatcher),
}

/// A value in a JSON document that is neither an object nor an array.
#[derive(Debug, Clone, Copy)]
pub enum JsonScalar<'a> {
    /// A string, with its escapes resolved.
    String(&'a str),
    /// A number, `true`, `false` or `null`, as it is written.
    Literal(&'a str),
}

impl TextMatcher {
    /// Compiles a test.
    ///
    /// # Errors
    /// If it is a prefix without text, an expression that is none or too large, or bounds that make no sense.
    pub fn compile(test: &TextTest) -> Result<Self, ConfigError> {
        Ok(match test {
            TextTest::Exact(text) => Self::Exact(text.as_bytes().into()),
            TextTest::Prefix(text) if text.is_empty() => {
                return Err(ConfigError::new("prefix", "must not be empty: every text begins with that"));
            }
            TextTest::Prefix(text) => Self::Prefix(text.as_bytes().into()),
            TextTest::Matches(pattern) => Self::Matches(Box::new(compile(pattern)?)),
            TextTest::Number(test) => {
                Self::Number(NumberMatcher::compile(test).map_err(|error| error.within("number"))?)
            }
        })
    }

    /// Whether this text passes.
    pub fn passes(&self, text: &[u8]) -> bool {
        match self {
            Self::Exact(own) => **own == *text,
            Self::Prefix(own) => text.starts_with(own),
            Self::Matches(pattern) => pattern.is_match(text),
            // A number that readers disagree on is as good as none.
            Self::Number(test) => test.passes(text, Notation::Plain) == Some(true),
        }
    }

    /// Whether a value of a JSON document passes. `None` if that depends on how a reader rounds: it is a number that is not
    /// a bound, but becomes the same double.
    pub fn passes_json(&self, value: JsonScalar<'_>) -> Option<bool> {
        match (self, value) {
            (Self::Number(_), JsonScalar::String(_)) => Some(false),
            (Self::Number(test), JsonScalar::Literal(text)) => test.passes(text.as_bytes(), Notation::Json),
            (_, JsonScalar::String(text) | JsonScalar::Literal(text)) => Some(self.passes(text.as_bytes())),
        }
    }
}

fn compile(pattern: &str) -> Result<Regex, ConfigError> {
    let refused = |problem: String| ConfigError::new("matches", problem);
    if pattern.len() > MAX_PATTERN {
        return Err(refused(format!("must have at most {MAX_PATTERN} bytes")));
    }
    let build = |pattern: &str| {
        RegexBuilder::new(pattern).unicode(false).size_limit(SIZE_LIMIT).dfa_size_limit(TABLE_LIMIT).build()
    };
    // By itself first: a stray parenthesis must not close the group below.
    build(pattern).and_then(|_| build(&format!(r"\A(?:{pattern}{})\z", end_of_comment(pattern)))).map_err(
        |error| {
            refused(match error {
                regex::Error::CompiledTooBig(limit) => format!("must not need more than {limit} bytes"),
                // The message shows the expression, which may be a secret; what is wrong stands in its last
                // line.
                error => {
                    let text = error.to_string();
                    let reason = text.lines().last().and_then(|line| line.strip_prefix("error: "));
                    let reason = reason.unwrap_or("it cannot be parsed");
                    format!("must be a regular expression: {reason}")
                }
            })
        },
    )
}

/// In an expression with the flag `x` a comment may run to the end of the line, and would swallow what
/// follows.
fn end_of_comment(pattern: &str) -> &'static str {
    if pattern.contains('#') && pattern.contains("(?") { "\n" } else { "" }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matcher(test: TextTest) -> TextMatcher {
        TextMatcher::compile(&test).unwrap()
    }

    fn matches(pattern: &str, text: &[u8]) -> bool {
        matcher(TextTest::Matches(pattern.to_owned())).passes(text)
    }

    #[test]
    fn compares_bytes() {
        let exact = matcher(TextTest::Exact("a".to_owned()));
        assert!(exact.passes(b"a") && !exact.passes(b"A") && !exact.passes(b"ab") && !exact.passes(b""));
        let prefix = matcher(TextTest::Prefix("ab".to_owned()));
        assert!(prefix.passes(b"ab") && prefix.passes(b"ab\xff") && !prefix.passes(b"a"));
    }

    #[test]
    fn an_expression_matches_the_whole_text_or_not_at_all() {
        for (pattern, text, expected) in [
            (r"xadmin;server1;community#1\.0##", &b"xadmin;server1;community#1.0##"[..], true),
            (r"xadmin;server1;community#1\.0##", b"xadmin;server1;community#1.0##\n", false),
            ("a|ab", b"ab", true),
            ("a|b", b"ab", false),
            ("a", b"ba", false),
            ("^a$", b"a", true),
            ("(?m)^a$", b"a\nb", false),
            ("", b"", true),
            ("", b"a", false),
            ("(?x) a # comment", b"a", true),
            ("(?x) a # comment", b"ab", false),
            ("(?i)abc", b"ABC", true),
            ("a.c", b"a\xffc", true),
            ("a.c", b"a\nc", false),
            ("\u{e9}+", "\u{e9}".as_bytes(), true),
            ("(?u:.)", "\u{e9}".as_bytes(), true),
            (".", "\u{e9}".as_bytes(), false),
            (r"\d+", "\u{663}".as_bytes(), false),
        ] {
            assert_eq!(matches(pattern, text), expected, "{pattern} {text:?}");
        }
    }

    #[test]
    fn refuses_what_is_no_expression_or_too_large_a_one_without_showing_it() {
        for pattern in ["(", ")", "a)(b", "[", "(?P<", r"\p{L}", "a{1000}{1000}{1000}", r"(a)\1"] {
            let error = TextMatcher::compile(&TextTest::Matches(pattern.to_owned())).unwrap_err();
            assert_eq!(error.path(), "matches");
            assert!(!error.to_string().contains(pattern), "{error}");
        }
        let long = "a".repeat(MAX_PATTERN + 1);
        assert!(TextMatcher::compile(&TextTest::Matches(long)).is_err());
        assert!(TextMatcher::compile(&TextTest::Prefix(String::new())).is_err());
    }

    /// How large an expression becomes decides how long a byte takes it, at the worst.
    #[test]
    fn takes_expressions_of_the_size_that_people_write_and_none_of_thousands_of_states() {
        let compile = |pattern: &str| TextMatcher::compile(&TextTest::Matches(pattern.to_owned()));
        let partners: Vec<_> = (0..150).map(|number| format!("partner-{number:04}")).collect();
        for pattern in [
            partners.join("|").as_str(),
            "[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}",
            r"(?i)[a-z0-9._%+-]{1,64}@[a-z0-9.-]{1,255}\.[a-z]{2,24}",
            ".{0,1000}x",
        ] {
            assert!(compile(pattern).is_ok(), "{pattern}");
        }
        for pattern in [".*a.{0,1500}b", "(a|b|ab|aab|.)*a.{2500}"] {
            let error = compile(pattern).unwrap_err().to_string();
            assert_eq!(error, "matches: must not need more than 131072 bytes");
        }
    }

    /// Expressions that take a backtracking engine exponential time.
    #[test]
    fn is_done_at_once_with_what_makes_backtracking_engines_hang() {
        let text = [&b"a".repeat(100_000)[..], b"!"].concat();
        for pattern in ["(a+)+", "(a|aa)+", "(a|a?)+", "(.*a){20}"] {
            assert!(!matches(pattern, &text), "{pattern}");
        }
    }
}
