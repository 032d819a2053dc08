//! Headers that the rate limit service wants added to the request or to the response.

use core::fmt;

use portcullis_policy::headers::{is_field_value, is_of_body, is_reserved, is_token};
use portcullis_policy::{ConfigError, Exchange, HeaderMap, HostError, spelling};

use super::config::ServiceConfig;
use super::messages::HeaderValue;

/// What the names begin with of headers by which Envoy routes, retries and waits.
const OF_ENVOY: &str = "x-envoy-";

/// How much of a name a line of the log shows, in bytes.
const MAX_SHOWN: usize = 64;

/// The headers that the service may add to messages. Names are compared in lower case and in no other spelling.
#[derive(Debug, Default, Clone)]
pub struct PermittedHeaders {
    pub(super) request: Box<[String]>,
    pub(super) response: Box<[String]>,
}

impl PermittedHeaders {
    /// What the configuration permits.
    ///
    /// # Errors
    /// The first name that a service must not set.
    pub fn compile(config: &ServiceConfig) -> Result<Self, ConfigError> {
        Ok(Self {
            request: names("request_headers", &config.request_headers)?,
            response: names("response_headers", &config.response_headers)?,
        })
    }
}

fn names(field: &str, names: &[String]) -> Result<Box<[String]>, ConfigError> {
    let name = |(at, name): (usize, &String)| {
        let problem = if !is_token(name) {
            "must be a header name"
        } else if is_reserved(name.as_bytes()) {
            "must not begin with x-portcullis-: only policies set such headers"
        } else if spelling::begins_with(name.as_bytes(), OF_ENVOY.as_bytes()) {
            "must not begin with x-envoy-: such headers tell Envoy what to do"
        } else if is_of_body(name) {
            "must not be a header that frames a message, describes its body or belongs to its connection"
        } else {
            return Ok(name.to_ascii_lowercase());
        };
        Err(ConfigError::new(format!("{field}[{at}]"), problem))
    };
    names.iter().enumerate().map(name).collect()
}

/// Headers, in order, that may be added to a message: none but those that are permitted, and nothing that would end a
/// line.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct AddedHeaders(Vec<(String, Vec<u8>)>);

/// The service's wishes that were left out.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Refused {
    /// How many.
    pub count: u32,
    /// The name of the first.
    first: Option<String>,
}

/// The name, if it is one, and no more of it than a line of a log should have.
impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.first.as_deref().filter(|name| is_token(name)) {
            Some(name) => f.write_str(name.get(..MAX_SHOWN).unwrap_or(name)),
            None => f.write_str("one without a valid name"),
        }
    }
}

impl AddedHeaders {
    /// Those of the service's wishes that are permitted; the others are counted.
    pub(super) fn of(wishes: Vec<HeaderValue>, permitted: &[String], refused: &mut Refused) -> Self {
        Self(wishes.into_iter().filter_map(|wish| admissible(wish, permitted, refused)).collect())
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Names, in lower case, and values.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_slice()))
    }

    /// Leaves out the fields with such names.
    pub(crate) fn leave_out(&mut self, is_unwanted: impl Fn(&str) -> bool) {
        self.0.retain(|(name, _)| !is_unwanted(name));
    }

    /// Appends them to a message, keeping fields of the same name that are there, as Envoy's own filter does.
    ///
    /// # Errors
    /// The host's refusal.
    pub fn append_to(&self, map: HeaderMap, exchange: &mut Exchange<'_>) -> Result<(), HostError> {
        self.iter().try_for_each(|(name, value)| exchange.add_header(map, name, value))
    }
}

/// Takes out all fields of this (lower-case) name, and gives the value of the last, if it may be one.
pub(super) fn take(wishes: &mut Vec<HeaderValue>, name: &str) -> Option<Vec<u8>> {
    let is_it = |wish: &mut HeaderValue| wish.key.eq_ignore_ascii_case(name);
    wishes.extract_if(.., is_it).last().map(value).filter(|value| is_field_value(value))
}

fn admissible(wish: HeaderValue, permitted: &[String], refused: &mut Refused) -> Option<(String, Vec<u8>)> {
    let name = wish.key.to_ascii_lowercase();
    let value = value(wish);
    if permitted.contains(&name) && is_field_value(&value) {
        return Some((name, value));
    }
    refused.count = refused.count.saturating_add(1);
    refused.first.get_or_insert(name);
    None
}

fn value(wish: HeaderValue) -> Vec<u8> {
    if wish.raw_value.is_empty() { wish.value.into_bytes() } else { wish.raw_value }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn wish(key: &str, value: &str) -> HeaderValue {
        HeaderValue { key: key.to_owned(), value: value.to_owned(), raw_value: Vec::new() }
    }

    fn permit(names: &[&str]) -> Result<Vec<String>, ConfigError> {
        let config = json!({"cluster": "limits", "domain": "shop", "request_headers": names});
        let config = serde_json::from_value(config).unwrap();
        Ok(PermittedHeaders::compile(&config)?.request.into_vec())
    }

    /// The names and values that are admitted, and how many are not.
    fn admitted(permitted: &[&str], wishes: Vec<HeaderValue>) -> (AddedHeaders, Refused) {
        let mut refused = Refused::default();
        let added = AddedHeaders::of(wishes, &permit(permitted).unwrap(), &mut refused);
        (added, refused)
    }

    #[test]
    fn takes_over_permitted_headers_in_order_and_in_lower_case() {
        let raw = HeaderValue { raw_value: b"\xff".to_vec(), ..wish("Raw", "") };
        let wishes = vec![wish("RateLimit-Limit", "5"), wish("x", ""), wish("x", "a\tb"), raw];
        let (added, refused) = admitted(&["raw", "X", "ratelimit-LIMIT"], wishes);
        let fields: Vec<(&str, &[u8])> =
            vec![("ratelimit-limit", b"5"), ("x", b""), ("x", b"a\tb"), ("raw", b"\xff")];
        assert_eq!(added.iter().collect::<Vec<_>>(), fields);
        assert_eq!(refused, Refused::default());
    }

    #[test]
    fn leaves_out_and_counts_what_a_service_may_not_set() {
        let wishes: Vec<_> = [
            ("x-envoy-upstream-rq-timeout-ms", "1"),
            ("x-envoy-original-path", "/admin"),
            ("authorization", "Basic cm9vdDo="),
            ("expect", "100-continue"),
            (":path", "/admin"),
            ("X-Portcullis-Client-Id", "root"),
            ("x.portcullis.client.id", "root"),
            ("x-portcullis-unverified", "1"),
            ("Host", "a"),
            ("Transfer-Encoding", "chunked"),
            ("x_limited", "another spelling of what is permitted"),
            ("x-limited\r\nb", "v"),
            ("", "v"),
            ("x-limited", "v\r\nb: c"),
            ("x-limited", "v\0"),
            ("x-limited", "\x7f"),
        ]
        .into_iter()
        .map(|(name, value)| wish(name, value))
        .collect();
        let count = u32::try_from(wishes.len()).unwrap();
        let (added, refused) = admitted(&["x-limited"], wishes);
        assert!(added.is_empty(), "{added:?}");
        assert_eq!(refused.count, count);
        assert_eq!(refused.to_string(), "x-envoy-upstream-rq-timeout-ms");
    }

    #[test]
    fn a_name_is_shown_in_part_and_only_if_it_is_one() {
        for (name, shown) in [
            ("x".repeat(10_000), "x".repeat(64)),
            ("a\n[warning] b".to_owned(), "one without a valid name".to_owned()),
        ] {
            assert_eq!(admitted(&[], vec![wish(&name, "v")]).1.to_string(), shown);
        }
    }

    #[test]
    fn some_headers_can_never_be_permitted() {
        for name in [
            "",
            ":path",
            "a b",
            "x-portcullis-client-id",
            "X_Portcullis_Route",
            "x-envoy-original-path",
            "X.Envoy.Upstream-rq-timeout-ms",
            "Host",
            "content-length",
            "content_length",
            "Content-Type",
            "transfer.encoding",
            "connection",
            "expect",
            "upgrade",
            "te",
        ] {
            assert_eq!(permit(&["x", name]).unwrap_err().path(), "request_headers[1]", "{name}");
        }
        for name in ["authorization", "x-limited", "ratelimit", "contents-length", "x-envoy"] {
            assert!(permit(&[name]).is_ok(), "{name}");
        }
    }
}
