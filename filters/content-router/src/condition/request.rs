//! Conditions on what stands in a request's headers.

use std::borrow::Cow;

use portcullis_policy::headers::is_token;
use portcullis_policy::{ConfigError, HeaderList, target};
use portcullis_xml::soap::{Action, Binding};

use super::text::TextMatcher;
use crate::config::{Quantifier, TextTest};

/// A compiled test of a request's headers.
#[derive(Debug)]
pub(crate) enum RequestTest {
    Header { name: String, values: Values },
    Method(Box<[String]>),
    Path(TextMatcher),
    Host(TextMatcher),
    Query { name: String, values: Values },
    Action(TextMatcher),
}

/// A test of the values that a name has.
#[derive(Debug)]
pub(crate) struct Values {
    test: Option<TextMatcher>,
    quantifier: Quantifier,
}

impl Values {
    pub(crate) fn compile(test: Option<&TextTest>, quantifier: Quantifier) -> Result<Self, ConfigError> {
        let test = test.map(TextMatcher::compile).transpose().map_err(|error| error.within("value"))?;
        Ok(Self { test, quantifier })
    }

    /// Whether the values pass. `None` is a value that is there and cannot be read, which passes no test.
    fn pass<'a>(&self, values: impl Iterator<Item = Option<Cow<'a, [u8]>>>) -> bool {
        let mut values = values.peekable();
        let Some(test) = &self.test else {
            return values.peek().is_some();
        };
        let mut passing = values.map(|value| value.is_some_and(|value| test.passes(&value)));
        match self.quantifier {
            Quantifier::Any => passing.any(|passes| passes),
            // There is one at least: the first decides whether there is anything to be all of.
            Quantifier::All => passing.next() == Some(true) && passing.all(|passes| passes),
        }
    }
}

impl RequestTest {
    pub(crate) fn header(
        name: &str,
        value: Option<&TextTest>,
        quantifier: Quantifier,
    ) -> Result<Self, ConfigError> {
        if !is_token(name) {
            let problem = "must be a header name; method, path and host have conditions of their own";
            return Err(ConfigError::new("name", problem));
        }
        Ok(Self::Header { name: name.to_ascii_lowercase(), values: Values::compile(value, quantifier)? })
    }

    pub(crate) fn method(methods: &[String]) -> Result<Self, ConfigError> {
        if methods.is_empty() {
            return Err(ConfigError::new("", "must name at least one method"));
        }
        match methods.iter().position(|method| !is_token(method)) {
            Some(at) => Err(ConfigError::new(format!("[{at}]"), "must be an HTTP method, such as POST")),
            None => Ok(Self::Method(methods.into())),
        }
    }

    pub(crate) fn query(
        name: &str,
        value: Option<&TextTest>,
        quantifier: Quantifier,
    ) -> Result<Self, ConfigError> {
        if name.is_empty() {
            return Err(ConfigError::new("name", "must not be empty"));
        }
        Ok(Self::Query { name: name.to_owned(), values: Values::compile(value, quantifier)? })
    }

    pub(crate) fn is_true(&self, headers: &HeaderList) -> bool {
        let path = || headers.first(":path").unwrap_or_default();
        match self {
            Self::Header { name, values } => {
                values.pass(headers.all(name).map(|value| Some(Cow::Borrowed(value))))
            }
            Self::Method(methods) => {
                let method = headers.first(":method").unwrap_or_default();
                methods.iter().any(|own| own.as_bytes() == method)
            }
            Self::Path(test) => test.passes(target::path(path())),
            Self::Host(test) => test.passes(&target::host(headers.first(":authority").unwrap_or_default())),
            Self::Query { name, values } => values.pass(target::query_values(path(), name)),
            Self::Action(test) => {
                let binding = Binding::of(headers.all("content-type"), headers.all("soapaction"));
                let binding = binding.unwrap_or(Binding::Other);
                binding.action().and_then(Action::uri).is_some_and(|action| test.passes(action.as_bytes()))
            }
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
        assert!(!query(None, Quantifier::All, "/?K=a"));
    }

    #[test]
    fn takes_the_action_from_where_each_version_has_it() {
        let test = RequestTest::Action(TextMatcher::compile(&TextTest::Exact("urn:a".to_owned())).unwrap());
        for (headers, expected) in [
            (&[("content-type", "text/xml"), ("soapaction", "\"urn:a\"")][..], true),
            (&[("content-type", "text/xml"), ("soapaction", "urn:a")], true),
            (&[("content-type", "application/soap+xml; action=\"urn:a\"")], true),
            (&[("content-type", "application/soap+xml"), ("soapaction", "urn:a")], false),
            (&[("content-type", "application/json"), ("soapaction", "urn:a")], false),
            (&[("content-type", "text/xml"), ("soapaction", "urn:a"), ("soapaction", "urn:b")], false),
            (&[("content-type", "text/xml"), ("soapaction", "")], false),
            (&[("content-type", "text/xml")], false),
            (&[("soapaction", "urn:a")], false),
        ] {
            assert_eq!(test.is_true(&headers.iter().copied().collect()), expected, "{headers:?}");
        }
    }
}
