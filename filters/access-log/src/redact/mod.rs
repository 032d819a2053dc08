//! What lines must not show, and how it is taken out.

mod json;
mod names;
mod parameters;
mod pointers;
mod url;
mod value;
mod words;

use std::borrow::Cow;

use portcullis_policy::ConfigError;
use portcullis_policy::headers::is_token;

pub use json::redact as redact_json;
pub use names::Names;
pub use parameters::{Syntax, redact as redact_parameters};
pub use pointers::Pointers;

use crate::config::{Query, Redact};
use names::fold;

/// What stands for something that is not shown.
pub(crate) const REDACTED: &str = "[redacted]";

/// Headers that are never shown, besides those whose [words](words) suggest a secret.
const HEADERS: [&str; 6] =
    ["authorization", "proxy-authorization", "cookie", "set-cookie", "client_id", "client_secret"];

/// Query parameters, form fields and, at any depth, members of JSON that are never shown, besides those whose
/// [words](words) suggest a secret: the credentials of client-id's defaults; of OAuth 2.0 and OpenID Connect (RFC 6749, 6750, 7521, 7636, 8628, 8693); of SAML; and of login forms.
const NAMES: [&str; 26] = [
    "auth",
    "pass",
    "sid",
    "user_code",
    "client_id",
    "client_secret",
    "password",
    "new_password",
    "passwd",
    "pin",
    "otp",
    "access_token",
    "refresh_token",
    "id_token",
    "token",
    "subject_token",
    "actor_token",
    "id_token_hint",
    "logout_token",
    "client_assertion",
    "assertion",
    "saml_response",
    "code",
    "code_verifier",
    "device_code",
    "jsessionid",
];

/// Headers whose value is a URL or a path, or has one in it.
const URLS: [&str; 19] = [
    ":path",
    ":authority",
    "x-envoy-original-path",
    "referer",
    "location",
    "content-location",
    "x-original-url",
    "x-original-uri",
    "x-rewrite-url",
    "x-forwarded-uri",
    "x-accel-redirect",
    "refresh",
    "link",
    "destination",
    "hx-current-url",
    "hx-redirect",
    "hx-location",
    "hx-push-url",
    "hx-replace-url",
];

/// The most names, and the most pointers, that a configuration may list.
const MAX_ENTRIES: usize = 64;

/// Compiled rules.
#[derive(Debug)]
pub(crate) struct Redaction {
    headers: Names,
    /// Of parameters, fields and members.
    names: Names,
    pointers: Pointers,
    query: Query,
    /// Whether the configuration names anything that can only be found where there are names.
    has_own_names: bool,
}

/// A path as it may be shown.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct ShownPath {
    pub(crate) path: Vec<u8>,
    /// With its `?` or `#`; none if there is none, or it is left out.
    pub(crate) query: Option<Vec<u8>>,
}

impl Redaction {
    /// Compiles the rules.
    ///
    /// # Errors
    /// The first entry that could never match.
    pub(crate) fn compile(config: &Redact, query: Query) -> Result<Self, ConfigError> {
        for (field, length) in [
            ("headers", config.headers.len()),
            ("query", config.query.len()),
            ("json", config.json.len()),
            ("except", config.except.len()),
        ] {
            if length > MAX_ENTRIES {
                return Err(ConfigError::new(field, format!("must have {MAX_ENTRIES} entries at the most")));
            }
        }
        if let Some(at) = config.headers.iter().position(|name| !is_token(name) || fold(name).is_empty()) {
            return Err(ConfigError::new(format!("headers[{at}]"), "must be a header's name"));
        }
        if let Some(at) = config.query.iter().position(|name| fold(name).is_empty()) {
            let problem = "must be a parameter's name, decoded, with a letter or digit";
            return Err(ConfigError::new(format!("query[{at}]"), problem));
        }
        if let Some(at) = config.except.iter().position(|name| fold(name).is_empty()) {
            return Err(ConfigError::new(format!("except[{at}]"), "must be a name, with a letter or digit"));
        }
        let mut pointers = Pointers::default();
        for (at, pointer) in config.json.iter().enumerate() {
            pointers.add(pointer).map_err(|problem| ConfigError::new(format!("json[{at}]"), problem))?;
        }
        let mut redaction = Self {
            headers: Names::of_secrets(),
            names: Names::of_secrets(),
            pointers,
            query,
            has_own_names: !config.json.is_empty() || !config.query.is_empty(),
        };
        for name in &config.except {
            redaction.headers.except(name);
            redaction.names.except(name);
        }
        for name in HEADERS.into_iter().chain(config.headers.iter().map(String::as_str)) {
            redaction.hide_header(name);
        }
        for name in NAMES.into_iter().chain(config.query.iter().map(String::as_str)) {
            redaction.hide_name(name);
        }
        Ok(redaction)
    }

    /// Hides a header from now on.
    pub(crate) fn hide_header(&mut self, name: &str) {
        self.headers.add(name);
    }

    /// Hides parameters, fields and members of this name from now on.
    pub(crate) fn hide_name(&mut self, name: &str) {
        self.names.add(name);
    }

    /// A header's value as it may be shown.
    pub(crate) fn header<'a>(&self, name: &str, value: &'a [u8]) -> Cow<'a, [u8]> {
        if self.headers.hide(name) {
            return Cow::Borrowed(REDACTED.as_bytes());
        }
        if URLS.contains(&name) { self.url(value) } else { Cow::Borrowed(value) }
    }

    /// A URL or a path as it may be shown.
    pub(crate) fn url<'a>(&self, url: &'a [u8]) -> Cow<'a, [u8]> {
        let (before, marked) = url::split(url);
        let path = url::path(before, &self.names, self.query);
        match marked {
            None => path,
            Some(marked) => {
                let query = url::query(marked, &self.names, self.query).unwrap_or_default();
                Cow::Owned([&path, query.as_slice()].concat())
            }
        }
    }

    /// The path of a request as it may be shown: the path that was received, with the query as policies have left it.
    /// A query of which that is not known is not kept.
    pub(crate) fn path(&self, received: &[u8], forwarded: Option<&[u8]>) -> ShownPath {
        let (before, marked) = url::split(received);
        let query = match (self.query, forwarded) {
            (Query::Keep, Some(forwarded)) => {
                let (_, marked) = url::split(forwarded);
                marked.and_then(|marked| url::query(marked, &self.names, Query::Keep))
            }
            (Query::Keep | Query::Redacted, _) => {
                marked.and_then(|marked| url::query(marked, &self.names, Query::Redacted))
            }
            (Query::Drop, _) => None,
        };
        ShownPath { path: url::path(before, &self.names, self.query).into_owned(), query }
    }

    /// A form as it may be shown.
    pub(crate) fn form<'a>(&self, form: &'a [u8]) -> Cow<'a, [u8]> {
        parameters::redact(form, &self.names, Syntax::Form)
    }

    /// A JSON text as it may be shown, perhaps cut off.
    pub(crate) fn json(&self, text: &[u8]) -> Vec<u8> {
        json::redact(text, &self.pointers, &self.names)
    }

    /// Whether a body may be shown in which names cannot be found.
    pub(crate) fn allows_opaque_bodies(&self) -> bool {
        !self.has_own_names
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn redaction(query: Query) -> Redaction {
        let config = Redact {
            headers: vec!["X-Api-Key".to_owned()],
            query: vec!["Token".to_owned()],
            json: Vec::new(),
            except: Vec::new(),
        };
        Redaction::compile(&config, query).unwrap()
    }

    fn shown(redaction: &Redaction, name: &str, value: &str) -> String {
        String::from_utf8(redaction.header(name, value.as_bytes()).into_owned()).unwrap()
    }

    #[test]
    fn hides_headers_that_hold_credentials_and_those_that_are_named() {
        let mut redaction = redaction(Query::Keep);
        for name in HEADERS.into_iter().chain(["x-api-key"]) {
            assert_eq!(shown(&redaction, name, "hunter2"), "[redacted]", "{name}");
        }
        assert_eq!(shown(&redaction, "x-own-value", "hunter2"), "hunter2");
        redaction.hide_header("X-Own-Value");
        assert_eq!(shown(&redaction, "x-own-value", "hunter2"), "[redacted]");
    }

    #[test]
    fn treats_headers_that_hold_urls_like_the_path() {
        for name in URLS {
            for (query, expected) in [
                (Query::Redacted, "https://[redacted]@a/b?[redacted]"),
                (Query::Keep, "https://[redacted]@a/b?x=1&token=[redacted]&Y"),
                (Query::Drop, "https://[redacted]@a/b"),
            ] {
                let redaction = redaction(query);
                assert_eq!(shown(&redaction, name, "https://u:p@a/b?x=1&token=t&Y"), expected, "{name}");
                assert_eq!(shown(&redaction, name, "/plain"), "/plain");
            }
        }
        assert_eq!(shown(&redaction(Query::Redacted), "user-agent", "a?b"), "a?b");
    }

    /// Whatever else a header says beside a URL, what is hidden does not come out.
    #[test]
    fn no_url_in_a_longer_value_shows_what_is_hidden() {
        for query in [Query::Redacted, Query::Keep, Query::Drop] {
            for (name, value) in [
                ("refresh", "5; url=https://a/b?access_token=hunter2"),
                ("refresh", "5;url=https://u:hunter2@a/b"),
                ("link", "<https://a/b?x=1>; rel=next, <https://a/b?access_token=hunter2>; rel=last"),
                ("link", "<https://u:hunter2@a/b>; rel=next, <https://v:hunter2@a/c>"),
                ("hx-location", r#"{"path":"/a?token=hunter2"}"#),
                ("location", "/to?url=https%3A%2F%2Fa%2Fb%3Faccess_token%3Dhunter2"),
            ] {
                let shown = shown(&redaction(query), name, value);
                assert!(!shown.contains("hunter2"), "{query:?} {name}: {shown}");
            }
        }
    }

    #[test]
    fn a_query_that_the_policies_have_not_left_is_not_kept() {
        let shown = |query, received: &str, forwarded: Option<&str>| {
            let shown = redaction(query).path(received.as_bytes(), forwarded.map(str::as_bytes));
            let query = shown.query.unwrap_or_default();
            String::from_utf8([shown.path, query].concat()).unwrap()
        };
        for (query, forwarded, expected) in [
            (Query::Keep, Some("/b?x=1&token=t"), "/a?x=1&token=[redacted]"),
            (Query::Keep, Some("/b"), "/a"),
            (Query::Keep, None, "/a?[redacted]"),
            (Query::Redacted, Some("/b"), "/a?[redacted]"),
            (Query::Drop, Some("/b?x=1"), "/a"),
        ] {
            assert_eq!(shown(query, "/a?own=hunter2", forwarded), expected, "{query:?} {forwarded:?}");
        }
        assert_eq!(shown(Query::Redacted, "/a#access_token=S", None), "/a#[redacted]");
    }

    #[test]
    fn names_of_headers_are_the_same_with_an_underscore() {
        let redaction = redaction(Query::Keep);
        for name in ["client-secret", "client_secret", "x_api_key", "client.secret", "client~id", "x!api'key"]
        {
            assert_eq!(shown(&redaction, name, "hunter2"), "[redacted]", "{name}");
        }
    }
}
