//! Conditions on the action that a request's headers state.

use portcullis_conditions::TextMatcher;
use portcullis_policy::HeaderList;
use portcullis_xml::soap::{Action, Binding};

use crate::truth::Truth;

/// A compiled test of the action.
#[derive(Debug)]
pub(crate) struct ActionTest(pub(super) TextMatcher);

impl ActionTest {
    /// Whether it is true. Nobody can tell what headers that state no one action say of it.
    pub(crate) fn truth(&self, headers: &HeaderList) -> Truth {
        match Binding::of(headers.all_spellings("content-type"), headers.all_spellings("soapaction")) {
            Ok(binding) => {
                let action = binding.action().and_then(Action::uri);
                action.is_some_and(|action| self.0.passes(action.as_bytes())).into()
            }
            Err(_) => Truth::Unknown,
        }
    }
}

#[cfg(test)]
mod tests {
    use portcullis_conditions::TextTest;

    use super::*;

    #[test]
    fn takes_the_action_from_where_each_version_has_it() {
        let test = ActionTest(TextMatcher::compile(&TextTest::Exact("urn:a".to_owned())).unwrap());
        for (headers, expected) in [
            (&[("content-type", "text/xml"), ("soapaction", "\"urn:a\"")][..], Truth::True),
            (&[("content-type", "text/xml"), ("soapaction", "urn:a")], Truth::True),
            (&[("content-type", "application/soap+xml; action=\"urn:a\"")], Truth::True),
            (&[("content-type", "application/soap+xml"), ("soapaction", "urn:a")], Truth::False),
            (&[("content-type", "application/json"), ("soapaction", "urn:a")], Truth::False),
            (
                &[("content-type", "text/xml"), ("soapaction", "urn:a"), ("soapaction", "urn:b")],
                Truth::Unknown,
            ),
            (&[("content-type", "text/xml"), ("soapaction", "\"urn:a")], Truth::Unknown),
            (
                &[("content-type", "text/xml"), ("content-type", "text/xml"), ("soapaction", "urn:a")],
                Truth::Unknown,
            ),
            (
                &[("content-type", "text/xml"), ("content_type", "text/xml"), ("soapaction", "urn:a")],
                Truth::Unknown,
            ),
            (&[("content-type", "text/xml"), ("soapaction", "")], Truth::False),
            (&[("content-type", "text/xml")], Truth::False),
            (&[("soapaction", "urn:a")], Truth::False),
        ] {
            assert_eq!(test.truth(&headers.iter().copied().collect()), expected, "{headers:?}");
        }
    }
}
