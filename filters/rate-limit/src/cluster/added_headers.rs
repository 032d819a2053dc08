//! Headers that the rate limit service wants added to the request or to the response.

use portcullis_policy::headers::{is_reserved, is_token};
use portcullis_policy::{Exchange, HeaderMap, HostError};

use super::messages::HeaderValue;

/// Headers that say where a message ends or how its connection is used: for the host alone to set.
const OF_THE_HOST: [&str; 9] = [
    "host",
    "content-length",
    "transfer-encoding",
    "connection",
    "keep-alive",
    "proxy-connection",
    "te",
    "trailer",
    "upgrade",
];

/// Headers, in order, that may be added to a message: no pseudo-headers, none of the suite's own (`x-portcullis-…`), none
/// that frame a message, and nothing that would end a line. The service's other wishes are left out.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct AddedHeaders(Vec<(String, Vec<u8>)>);

impl AddedHeaders {
    pub(super) fn of(wishes: Vec<HeaderValue>) -> Self {
        Self(wishes.into_iter().filter_map(admissible).collect())
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

    /// Takes out all fields of this name, and gives the value of the last.
    pub(super) fn take(&mut self, name: &str) -> Option<Vec<u8>> {
        let mut taken = None;
        self.0.retain_mut(|(field, value)| {
            let stays = field != name;
            if !stays {
                taken = Some(core::mem::take(value));
            }
            stays
        });
        taken
    }

    /// Appends them to a message, keeping fields of the same name that are there, as Envoy's own filter does.
    ///
    /// # Errors
    /// The host's refusal.
    pub fn append_to(&self, map: HeaderMap, exchange: &mut Exchange<'_>) -> Result<(), HostError> {
        self.iter().try_for_each(|(name, value)| exchange.add_header(map, name, value))
    }
}

fn admissible(wish: HeaderValue) -> Option<(String, Vec<u8>)> {
    let name = wish.key.to_ascii_lowercase();
    let value = if wish.raw_value.is_empty() { wish.value.into_bytes() } else { wish.raw_value };
    let is_ours = is_reserved(name.as_bytes());
    // RFC 9110, section 5.5: no control characters but the tab.
    let is_plain = |byte: &u8| *byte == b'\t' || !byte.is_ascii_control();
    (is_token(&name) && !is_ours && !OF_THE_HOST.contains(&name.as_str()) && value.iter().all(is_plain))
        .then_some((name, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wish(key: &str, value: &str) -> HeaderValue {
        HeaderValue { key: key.to_owned(), value: value.to_owned(), raw_value: Vec::new() }
    }

    #[test]
    fn takes_over_ordinary_headers_in_order_and_in_lower_case() {
        let raw = HeaderValue { raw_value: b"\xff".to_vec(), ..wish("Raw", "") };
        let added =
            AddedHeaders::of(vec![wish("RateLimit-Limit", "5"), wish("x", ""), wish("x", "a\tb"), raw]);
        let fields: Vec<(&str, &[u8])> =
            vec![("ratelimit-limit", b"5"), ("x", b""), ("x", b"a\tb"), ("raw", b"\xff")];
        assert_eq!(added.iter().collect::<Vec<_>>(), fields);
    }

    #[test]
    fn leaves_out_what_a_service_may_not_set() {
        for (name, value) in [
            (":path", "/admin"),
            (":status", "200"),
            ("X-Portcullis-Client-Id", "root"),
            ("x-portcullis-unverified", "1"),
            ("X_Portcullis_Client_Id", "root"),
            ("Host", "a"),
            ("content-length", "0"),
            ("Transfer-Encoding", "chunked"),
            ("connection", "close"),
            ("upgrade", "h2c"),
            ("", "v"),
            ("a b", "v"),
            ("a\r\nb", "v"),
            ("a", "v\r\nb: c"),
            ("a", "v\0"),
            ("a", "\x7f"),
        ] {
            assert!(AddedHeaders::of(vec![wish(name, value)]).is_empty(), "{name:?}: {value:?}");
        }
    }
}
