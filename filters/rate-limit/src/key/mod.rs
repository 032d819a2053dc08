//! What a request is counted by.

pub mod address;

use std::borrow::Cow;

use portcullis_policy::{HeaderList, target};

use crate::config::KeyPart;
use address::{Network, SourceAddress};

/// Compiled parts of a key.
#[derive(Debug)]
pub struct KeyReader {
    parts: Vec<Part>,
}

#[derive(Debug)]
struct Part {
    /// What the part is, so that the values of different parts never look alike: a number for its kind, and the name
    /// with its length before it.
    label: Vec<u8>,
    /// What a rate limit service knows the part as.
    entry: String,
    source: Source,
}

#[derive(Debug)]
enum Source {
    ClientId,
    Header(String),
    Query(String),
    Address(SourceAddress),
    Path,
    Method,
    Host,
}

/// What a key is read from.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// The headers.
    pub headers: &'a HeaderList,
    /// The client's identifier, if it has been established.
    pub client_id: Option<&'a [u8]>,
    /// The address of the connection's other end, or what the host takes for it: `192.0.2.1:50000`,
    /// `[2001:db8::1]:50000`.
    pub source_address: Option<&'a [u8]>,
}

/// How much of a key a request has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Completeness {
    /// Every part, once.
    Whole,
    /// A part has several values that differ, or one that cannot be decoded. What the upstream would take for the value
    /// is not known here.
    Ambiguous,
    /// A part is not there.
    Lacking,
}

/// A part's value.
enum Value<'a> {
    One(Cow<'a, [u8]>),
    Network(Network),
    Several,
    None,
}

impl KeyReader {
    /// Compiles the parts of a key.
    pub fn compile(parts: &[KeyPart]) -> Self {
        Self { parts: parts.iter().map(Part::compile).collect() }
    }

    /// Whether a part is the client's identifier.
    pub fn needs_client_id(&self) -> bool {
        self.parts.iter().any(|part| matches!(part.source, Source::ClientId))
    }

    /// Whether a part is the source address.
    pub fn needs_source_address(&self) -> bool {
        self.parts.iter().any(|part| matches!(part.source, Source::Address(_)))
    }

    /// The parts' names for a rate limit service, in order.
    pub(crate) fn entry_names(&self) -> impl Iterator<Item = &str> + Clone {
        self.parts.iter().map(|part| part.entry.as_str())
    }

    /// Appends the request's key to `out`, and says how much of it there is.
    ///
    /// No two different lists of values give the same bytes: each part is its label, then 1, the value's length as a
    /// little-endian `u64` and the value; or 0 if it is not there; or 2 if it has several values.
    pub fn read(&self, request: &Request<'_>, out: &mut Vec<u8>) -> Completeness {
        self.read_each(request, out, |_, _| {})
    }

    /// The same, and tells each part's name and value for a rate limit service: as text where it is not text already, and
    /// no value for what is not there or ambiguous.
    pub(crate) fn read_and_tell(
        &self,
        request: &Request<'_>,
        out: &mut Vec<u8>,
        mut tell: impl FnMut(&str, Option<&[u8]>),
    ) -> Completeness {
        self.read_each(request, out, |part, value| {
            tell(&part.entry, value.into_text(&part.source).as_deref());
        })
    }

    fn read_each(
        &self,
        request: &Request<'_>,
        out: &mut Vec<u8>,
        mut tell: impl FnMut(&Part, Value<'_>),
    ) -> Completeness {
        let mut completeness = Completeness::Whole;
        for part in &self.parts {
            out.extend_from_slice(&part.label);
            let value = part.source.value(request);
            match &value {
                Value::One(value) => {
                    out.push(1);
                    write_text(out, value);
                }
                Value::Network(network) => {
                    out.push(1);
                    write_text(out, &network.to_bytes());
                }
                Value::None => {
                    out.push(0);
                    completeness = completeness.worst(Completeness::Lacking);
                }
                Value::Several => {
                    out.push(2);
                    completeness = completeness.worst(Completeness::Ambiguous);
                }
            }
            tell(part, value);
        }
        completeness
    }
}

impl Completeness {
    /// What is ambiguous stays so whatever else is lacking: `missing_key: skip` is not for requests that have too much.
    fn worst(self, other: Self) -> Self {
        match (self, other) {
            (Self::Ambiguous, _) | (_, Self::Ambiguous) => Self::Ambiguous,
            (Self::Lacking, _) | (_, Self::Lacking) => Self::Lacking,
            (Self::Whole, Self::Whole) => Self::Whole,
        }
    }
}

impl Part {
    fn compile(part: &KeyPart) -> Self {
        let (kind, name, entry, source) = match part {
            KeyPart::ClientId => (0, "", "client_id".to_owned(), Source::ClientId),
            KeyPart::Header { name } => {
                let name = name.to_ascii_lowercase();
                let (label, entry) = (label(1, &name), format!("header_{name}"));
                return Self { label, entry, source: Source::Header(name) };
            }
            KeyPart::Query { name } => {
                (2, name.as_str(), format!("query_{name}"), Source::Query(name.clone()))
            }
            KeyPart::SourceAddress { trusted_hops, prefix_v4, prefix_v6 } => {
                let address = SourceAddress::new(*trusted_hops, *prefix_v4, *prefix_v6);
                // As the actions of Envoy's own filters are called.
                let entry =
                    if address.counts_whole_addresses() { "remote_address" } else { "masked_remote_address" };
                (3, "", entry.to_owned(), Source::Address(address))
            }
            KeyPart::Path => (4, "", "path".to_owned(), Source::Path),
            KeyPart::Method => (5, "", "method".to_owned(), Source::Method),
            KeyPart::Host => (6, "", "host".to_owned(), Source::Host),
        };
        Self { label: label(kind, name), entry, source }
    }
}

impl Source {
    fn value<'a>(&self, request: &Request<'a>) -> Value<'a> {
        let headers = request.headers;
        match self {
            Self::ClientId => Value::from(request.client_id.map(Cow::Borrowed)),
            Self::Header(name) => {
                Value::agreed(headers.all_spellings(name).map(|value| Some(Cow::Borrowed(value))))
            }
            Self::Query(name) => {
                Value::agreed(target::query_values(headers.first(":path").unwrap_or_default(), name))
            }
            Self::Address(address) => {
                address.read(headers, request.source_address).map_or(Value::None, Value::Network)
            }
            Self::Path => headers.first(":path").map_or(Value::None, |path| {
                target::folded_path(target::path(path)).map_or(Value::Several, Value::One)
            }),
            Self::Method => Value::from(headers.first(":method").map(Cow::Borrowed)),
            Self::Host => Value::from(headers.first(":authority").map(target::host).map(Cow::Owned)),
        }
    }
}

impl<'a> Value<'a> {
    /// The one value that all are; `None` among them means that nobody can say what it is.
    fn agreed(mut values: impl Iterator<Item = Option<Cow<'a, [u8]>>>) -> Self {
        match values.next() {
            None => Self::None,
            Some(Some(first)) if values.all(|other| other.as_ref() == Some(&first)) => Self::One(first),
            Some(_) => Self::Several,
        }
    }

    /// For a rate limit service: as text where it is not text already, and nothing for what is not there or ambiguous.
    fn into_text(self, source: &Source) -> Option<Cow<'a, [u8]>> {
        let text = match (self, source) {
            (Value::One(value), _) => return Some(value),
            (Value::Network(network), Source::Address(address)) if address.counts_whole_addresses() => {
                network.address.to_string()
            }
            (Value::Network(network), _) => network.to_string(),
            (Value::Several | Value::None, _) => return None,
        };
        Some(Cow::Owned(text.into_bytes()))
    }
}

impl<'a> From<Option<Cow<'a, [u8]>>> for Value<'a> {
    fn from(value: Option<Cow<'a, [u8]>>) -> Self {
        value.map_or(Self::None, Self::One)
    }
}

fn label(kind: u8, name: &str) -> Vec<u8> {
    let mut label = vec![kind];
    write_text(&mut label, name.as_bytes());
    label
}

fn write_text(out: &mut Vec<u8>, text: &[u8]) {
    let length = u64::try_from(text.len()).unwrap_or(u64::MAX);
    out.extend_from_slice(&length.to_le_bytes());
    out.extend_from_slice(text);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(parts: &str, fields: &[(&str, &str)]) -> (Vec<u8>, Completeness) {
        read_as(parts, fields, None)
    }

    fn read_as(parts: &str, fields: &[(&str, &str)], client: Option<&str>) -> (Vec<u8>, Completeness) {
        let parts: Vec<KeyPart> = serde_json::from_str(parts).unwrap();
        let headers: HeaderList = fields.iter().copied().collect();
        let request =
            Request { headers: &headers, client_id: client.map(str::as_bytes), source_address: None };
        let mut out = Vec::new();
        let completeness = KeyReader::compile(&parts).read(&request, &mut out);
        (out, completeness)
    }

    #[test]
    fn gives_one_key_to_all_requests_if_there_are_no_parts() {
        assert_eq!(read("[]", &[(":path", "/a")]), read("[]", &[]));
        assert_eq!(read("[]", &[]), (Vec::new(), Completeness::Whole));
    }

    #[test]
    fn tells_different_values_apart_however_they_are_cut() {
        let two = r#"[{"header":{"name":"a"}},{"header":{"name":"b"}}]"#;
        let lists: [&[(&str, &str)]; 9] = [
            &[("a", "xy"), ("b", "z")],
            &[("a", "x"), ("b", "yz")],
            &[("a", "xyz"), ("b", "")],
            &[("a", ""), ("b", "xyz")],
            &[("a", "xyz")],
            &[("b", "xyz")],
            &[],
            &[("a", ""), ("b", "")],
            &[("a", "x"), ("a", "yz"), ("b", "")],
        ];
        let keys: Vec<_> = lists.iter().map(|fields| read(two, fields).0).collect();
        for (at, key) in keys.iter().enumerate() {
            assert!(keys[..at].iter().all(|earlier| earlier != key), "{:?}", lists[at]);
        }
    }

    #[test]
    fn tells_parts_of_different_kinds_and_names_apart() {
        let fields = [("a", "x"), ("b", "x"), (":path", "x?a=x"), (":method", "x"), (":authority", "x")];
        let parts = [
            r#""client-id""#,
            r#"{"header":{"name":"a"}}"#,
            r#"{"header":{"name":"b"}}"#,
            r#"{"query":{"name":"a"}}"#,
            r#""path""#,
            r#""method""#,
            r#""host""#,
        ];
        let keys: Vec<_> =
            parts.iter().map(|part| read_as(&format!("[{part}]"), &fields, Some("x"))).collect();
        for (at, (key, completeness)) in keys.iter().enumerate() {
            assert_eq!(*completeness, Completeness::Whole, "{}", parts[at]);
            assert!(keys[..at].iter().all(|(earlier, _)| earlier != key), "{}", parts[at]);
        }
    }

    #[test]
    fn finds_headers_in_any_case_of_their_configured_name() {
        let key = |name: &str| read(&format!(r#"[{{"header":{{"name":"{name}"}}}}]"#), &[("x-tenant", "t")]);
        assert_eq!(key("X-Tenant"), key("x-tenant"));
        assert_eq!(key("X-Tenant").1, Completeness::Whole);
    }

    /// The upstream may read either.
    #[test]
    fn takes_another_spelling_of_a_header_for_one_more_value() {
        let key = |fields: &[(&str, &str)]| read(r#"[{"header":{"name":"x-k"}}]"#, fields);
        let ambiguous = key(&[("x-k", "a"), ("x-k", "b")]);
        for other in ["x_k", "x.k", "x!k"] {
            assert_eq!(key(&[(other, "a")]), key(&[("x-k", "a")]), "{other}");
            assert_eq!(key(&[("x-k", "a"), (other, "a")]), key(&[("x-k", "a")]), "{other}");
            assert_eq!(key(&[("x-k", "a"), (other, "b")]), ambiguous, "{other}");
        }
    }

    /// Were each combination a key of its own, a client whose upstream reads one of the fields could put something new
    /// into the other each time.
    #[test]
    fn gives_one_key_to_all_requests_with_values_that_differ() {
        for part in [r#"[{"header":{"name":"k"}}]"#, r#"[{"query":{"name":"k"}}]"#] {
            let read = |first: &str, second: &str| {
                let path = format!("/?k={first}&k={second}");
                read(part, &[(":path", &path), ("k", first), ("k", second)])
            };
            let (ambiguous, completeness) = read("a", "b");
            assert_eq!(completeness, Completeness::Ambiguous);
            for (first, second) in [("b", "a"), ("a", "c"), ("", "a")] {
                assert_eq!(read(first, second), (ambiguous.clone(), Completeness::Ambiguous));
            }
            let (same, completeness) = read("a", "a");
            assert_eq!(completeness, Completeness::Whole);
            assert_ne!(same, ambiguous);
        }
    }

    /// Each spelling that cannot be decoded would be a fresh quota, though an upstream may read the same value from it.
    #[test]
    fn gives_one_key_to_all_requests_with_a_parameter_that_cannot_be_decoded() {
        let read = |query: &str| read(r#"[{"query":{"name":"k"}}]"#, &[(":path", &format!("/?{query}"))]);
        let (ambiguous, completeness) = read("k=%zz");
        assert_eq!(completeness, Completeness::Ambiguous);
        for query in ["k=%zy", "k=a&k=%", "k=%&k=%", "k%=a", "%6&k=a"] {
            assert_eq!(read(query), (ambiguous.clone(), Completeness::Ambiguous), "{query}");
        }
        assert_eq!(read("other=%&k=a").1, Completeness::Whole);
    }

    #[test]
    fn tells_a_service_whole_addresses_as_they_are_and_others_as_networks() {
        for (prefix_v4, prefix_v6, connection, expected) in [
            (32, 128, "192.0.2.1:1", ("remote_address", "192.0.2.1")),
            (32, 128, "[2001:db8::1]:1", ("remote_address", "2001:db8::1")),
            (32, 64, "192.0.2.1:1", ("masked_remote_address", "192.0.2.1/32")),
            (24, 128, "[2001:db8::1]:1", ("masked_remote_address", "2001:db8::1/128")),
            (24, 64, "192.0.2.1:1", ("masked_remote_address", "192.0.2.0/24")),
        ] {
            let reader =
                KeyReader::compile(&[KeyPart::SourceAddress { trusted_hops: 0, prefix_v4, prefix_v6 }]);
            let headers = HeaderList::new();
            let request =
                Request { headers: &headers, client_id: None, source_address: Some(connection.as_bytes()) };
            let mut told = Vec::new();
            reader.read_and_tell(&request, &mut Vec::new(), |name, value| {
                told.push((name.to_owned(), String::from_utf8(value.unwrap().to_vec()).unwrap()));
            });
            let (name, value) = expected;
            assert_eq!(told, [(name.to_owned(), value.to_owned())], "/{prefix_v4} /{prefix_v6} {connection}");
        }
    }

    #[test]
    fn says_what_is_lacking_and_calls_it_ambiguous_if_another_part_is() {
        let parts = r#"["client-id",{"header":{"name":"a"}},"path"]"#;
        let lacking = [("a", "1"), (":path", "/")];
        let ambiguous = [("a", "1"), ("a", "2")];
        assert_eq!(read(parts, &lacking).1, Completeness::Lacking);
        assert_eq!(read(parts, &ambiguous).1, Completeness::Ambiguous);
        assert_eq!(read_as(parts, &lacking, Some("c")).1, Completeness::Whole);
    }
}
