//! Header fields and responses as they came over the wire.

use std::fmt;

/// Header or trailer fields in the order in which they came, duplicates included.
///
/// Names are text (what is not UTF-8 in them is replaced), values are bytes.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Headers(Vec<(String, Vec<u8>)>);

impl Headers {
    /// The value of the first field called `name`, whatever its case.
    pub fn get(&self, name: &str) -> Option<&[u8]> {
        self.iter().find(|(candidate, _)| candidate.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    /// The values of every field called `name`, whatever its case, in order.
    pub fn all(&self, name: &str) -> Vec<&[u8]> {
        self.iter()
            .filter(|(candidate, _)| candidate.eq_ignore_ascii_case(name))
            .map(|(_, value)| value)
            .collect()
    }

    /// The value of the first field called `name` as text, with what is not UTF-8 replaced.
    pub fn text(&self, name: &str) -> Option<String> {
        self.get(name).map(|value| String::from_utf8_lossy(value).into_owned())
    }

    /// Whether there is a field called `name`.
    pub fn contains(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// The fields in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_slice()))
    }

    /// The number of fields.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are no fields.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn push(&mut self, name: &[u8], value: &[u8]) {
        self.0.push((String::from_utf8_lossy(name).into_owned(), value.to_vec()));
    }
}

impl From<&http::HeaderMap> for Headers {
    fn from(map: &http::HeaderMap) -> Self {
        Self(map.iter().map(|(name, value)| (name.as_str().to_owned(), value.as_bytes().to_vec())).collect())
    }
}

impl fmt::Debug for Headers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list()
            .entries(self.iter().map(|(name, value)| format!("{name}: {}", value.escape_ascii())))
            .finish()
    }
}

/// A whole response.
#[derive(Clone, PartialEq, Eq)]
pub struct Response {
    /// The status code.
    pub status: u16,
    /// The header fields; pseudo-headers are not among them.
    pub headers: Headers,
    /// The body, freed from its framing.
    pub body: Vec<u8>,
    /// The trailer fields.
    pub trailers: Headers,
}

impl Response {
    /// The body as text, with what is not UTF-8 replaced.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

impl fmt::Debug for Response {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Response")
            .field("status", &self.status)
            .field("headers", &self.headers)
            .field("body", &format_args!("{}", self.body.escape_ascii()))
            .field("trailers", &self.trailers)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_duplicates_in_order_and_ignores_case() {
        let mut headers = Headers::default();
        headers.push(b"X-Key", b"one");
        headers.push(b"other", b"-");
        headers.push(b"x-key", b"\xff");

        assert_eq!(headers.all("X-KEY"), [b"one".as_slice(), b"\xff"]);
        assert_eq!(headers.get("x-key"), Some(b"one".as_slice()));
        assert!(!headers.contains("absent"));
    }
}
