//! Tests of what stands in a message's headers.

use std::borrow::Cow;

use portcullis_policy::headers::is_token;
use portcullis_policy::{ConfigError, HeaderList, target};

use crate::{Quantifier, TextMatcher, TextTest, Values};

/// A compiled test of a request's headers; that of a header can be asked of a response's headers too.
#[derive(Debug)]
pub enum RequestTest {
    /// Of the fields that some reader takes for this (lower-case) name ([`portcullis_policy::spelling`]): what the upstream
    /// may find under it is a value of it.
    Header {
        /// The name.
        name: String,
        /// What the values must be.
        values: Values,
    },
    /// The method is one of these.
    Method(Box<[String]>),
    /// Of the path, without the query.
    Path(TextMatcher),
    /// Of the host, as [`target::host`] has it.
    Host(TextMatcher),
    /// Of the query parameters of this name.
    Query {
        /// The name, decoded.
        name: String,
        /// What the values must be.
        values: Values,
    },
}

impl RequestTest {
    /// A test of a header.
    ///
    /// # Errors
    /// What is wrong with its `name` or `value`.
    pub fn header(name: &str, value: Option<&TextTest>, quantifier: Quantifier) -> Result<Self, ConfigError> {
        if !is_token(name) {
            let problem = "must be a header name; method, path and host have conditions of their own";
            return Err(ConfigError::new("name", problem));
        }
        Ok(Self::Header { name: name.to_ascii_lowercase(), values: Values::compile(value, quantifier)? })
    }

    /// A test of the method.
    ///
    /// # Errors
    /// If there is none to be, or one of them is no method.
    pub fn method(methods: &[String]) -> Result<Self, ConfigError> {
        if methods.is_empty() {
            return Err(ConfigError::new("", "must name at least one method"));
        }
        match methods.iter().position(|method| !is_token(method)) {
            Some(at) => Err(ConfigError::new(format!("[{at}]"), "must be an HTTP method, such as POST")),
            None => Ok(Self::Method(methods.into())),
        }
    }

    /// A test of a query parameter.
    ///
    /// # Errors
    /// What is wrong with its `name` or `value`.
    pub fn query(name: &str, value: Option<&TextTest>, quantifier: Quantifier) -> Result<Self, ConfigError> {
        if name.is_empty() {
            return Err(ConfigError::new("name", "must not be empty"));
        }
        Ok(Self::Query { name: name.to_owned(), values: Values::compile(value, quantifier)? })
    }

    /// Whether it asks for method, path or host, which stay as they are on the way through a chain of policies. They change
    /// headers, and take secrets out of queries.
    #[must_use]
    pub fn is_of_target(&self) -> bool {
        match self {
            Self::Method(_) | Self::Path(_) | Self::Host(_) => true,
            Self::Header { .. } | Self::Query { .. } => false,
        }
    }

    /// Whether it is true of these headers.
    pub fn is_true(&self, headers: &HeaderList) -> bool {
        let path = || headers.first(":path").unwrap_or_default();
        match self {
            Self::Header { name, values } => {
                values.pass(headers.all_spellings(name).map(|value| Some(Cow::Borrowed(value))))
            }
            Self::Method(methods) => {
                let method = headers.first(":method").unwrap_or_default();
                methods.iter().any(|own| own.as_bytes() == method)
            }
            Self::Path(test) => test.passes(target::path(path())),
            Self::Host(test) => test.passes(&target::host(headers.first(":authority").unwrap_or_default())),
            Self::Query { name, values } => values.pass(target::query_values(path(), name)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(name: &str, value: Option<&str>, quantifier: Quantifier, headers: &[(&str, &str)]) -> bool {
        let value = value.map(|text| TextTest::Exact(text.to_owned()));
        let test = RequestTest::header(name, value.as_ref(), quantifier).unwrap();
        test.is_true(&headers.iter().copied().collect())
    }

    #[test]
    fn looks_at_all_values_of_a_header() {
        use Quantifier::{All, Any};
        for (values, all, any) in [
            (&[][..], false, false),
            (&["a"], true, true),
            (&["b"], false, false),
            (&["a", "a"], true, true),
            (&["a", "b"], false, true),
            (&["b", "a"], false, true),
            (&["a, b"], false, false),
        ] {
            let headers: Vec<_> = values.iter().map(|value| ("x-tier", *value)).collect();
            assert_eq!(header("X-Tier", Some("a"), All, &headers), all, "{values:?}");
            assert_eq!(header("X-Tier", Some("a"), Any, &headers), any, "{values:?}");
            for quantifier in [All, Any] {
                assert_eq!(header("X-Tier", None, quantifier, &headers), !values.is_empty(), "{values:?}");
            }
        }
    }

    /// `all` fails, and `any` sees it: a rule that lets pass what it knows is not fooled, and one that keeps out what it
    /// knows is not evaded, whichever field the upstream reads.
    #[test]
    fn another_spelling_is_a_further_value() {
        use Quantifier::{All, Any};
        for other in ["x_role", "x.role", "x~role", "x'role"] {
            for (headers, all, any) in [
                (&[("x-role", "user"), (other, "user")][..], true, true),
                (&[("x-role", "user"), (other, "admin")], false, true),
                (&[(other, "admin"), ("x-role", "user")], false, true),
                (&[(other, "user")], true, true),
                (&[(other, "admin")], false, false),
                (&[("x-roles", "user"), ("xxrole", "user")], false, false),
            ] {
                for name in ["X-Role", "x_role", "x.role"] {
                    assert_eq!(header(name, Some("user"), All, headers), all, "{name} {headers:?}");
                    assert_eq!(header(name, Some("user"), Any, headers), any, "{name} {headers:?}");
                }
            }
            assert!(header("x-role", None, All, &[(other, "")]));
        }
        assert!(!header("-path", None, All, &[(":path", "/")]), "a pseudo-header is no header");
    }

    #[test]
    fn a_parameter_that_cannot_be_decoded_is_there_and_passes_no_test() {
        let query = |value: Option<&str>, quantifier, path: &str| {
            let value = value.map(|text| TextTest::Exact(text.to_owned()));
            let test = RequestTest::query("k", value.as_ref(), quantifier).unwrap();
            test.is_true(&[(":path", path)].into_iter().collect())
        };
        assert!(query(Some("a b"), Quantifier::All, "/?%6b=a+b"));
        assert!(!query(Some("a"), Quantifier::All, "/?k=a&k=%zz"));
        assert!(query(Some("a"), Quantifier::Any, "/?k=a&k=%zz"));
        assert!(query(None, Quantifier::All, "/?k=%zz"));
        assert!(!query(None, Quantifier::All, "/?kk=a"));
    }

    #[test]
    fn a_parameter_in_another_spelling_is_a_further_value() {
        for spelled in ["/?k=a&+k=b", "/?k=a&k[]=b", "/?K=b&k=a", "/?k=a&x;k=b"] {
            let passes = |quantifier| {
                let test =
                    RequestTest::query("k", Some(&TextTest::Exact("a".to_owned())), quantifier).unwrap();
                test.is_true(&[(":path", spelled)].into_iter().collect())
            };
            assert!(!passes(Quantifier::All) && passes(Quantifier::Any), "{spelled}");
        }
    }
}
