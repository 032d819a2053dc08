//! A copy of a header map, as bytes.

use core::ops::Range;

use crate::spelling;

/// Header fields in order, duplicates included. Names are lower-case, as HTTP/2 (RFC 9113, section 8.2) has
/// them and as Envoy gives them for HTTP/1.1 too; values are bytes, for nothing guarantees that they are UTF-8.
///
/// One buffer holds all bytes, so that reading a request's headers costs two allocations and not two a field.
#[derive(Debug, Clone, Default)]
pub struct HeaderList {
    bytes: Vec<u8>,
    fields: Vec<Field>,
}

#[derive(Debug, Clone)]
struct Field {
    name: Range<usize>,
    value: Range<usize>,
}

impl HeaderList {
    /// An empty list.
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads the proxy-wasm ABI's serialized map: a little-endian `u32` count, then for each field the lengths
    /// of name and value as `u32`, then for each field the name, a NUL, the value, a NUL.
    ///
    /// Gives `None` unless every length lies within `bytes`: the host is not trusted to be right.
    pub fn from_serialized(bytes: Vec<u8>) -> Option<Self> {
        if bytes.is_empty() {
            return Some(Self::default());
        }
        let count = usize::try_from(read_u32(&bytes, 0)?).ok()?;
        let table_end = count.checked_mul(8)?.checked_add(4)?;
        // Checked before anything is reserved, so that a nonsensical count cannot make us reserve gigabytes.
        if table_end > bytes.len() {
            return None;
        }
        let mut fields = Vec::with_capacity(count);
        let mut table = 4usize;
        let mut at = table_end;
        for _ in 0..count {
            let name = span(&bytes, &mut at, read_u32(&bytes, table)?)?;
            let value = span(&bytes, &mut at, read_u32(&bytes, table.checked_add(4)?)?)?;
            table = table.checked_add(8)?;
            fields.push(Field { name, value });
        }
        Some(Self { bytes, fields })
    }

    /// How many bytes of memory the list takes.
    pub fn memory(&self) -> usize {
        self.bytes.capacity().saturating_add(self.fields.capacity().saturating_mul(size_of::<Field>()))
    }

    /// How many fields there are.
    pub fn len(&self) -> usize {
        self.fields.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }

    /// Names and values in order.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        self.fields.iter().map(|field| (self.slice(&field.name), self.slice(&field.value)))
    }

    /// The values of all fields of this (lower-case) name, in order. For what Envoy itself goes by, and for what a proxy
    /// before it vouches for; what a reader behind it goes by are [all spellings](Self::all_spellings).
    pub fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a [u8]> {
        self.iter().filter(move |(field, _)| *field == name.as_bytes()).map(|(_, value)| value)
    }

    /// The values of all fields that some reader takes for this name, in order.
    pub fn all_spellings(&self, name: &str) -> impl Iterator<Item = &[u8]> {
        self.iter()
            .filter(move |(field, _)| spelling::is_same(field, name.as_bytes()))
            .map(|(_, value)| value)
    }

    /// The names of the fields that are meant, each once. `None` if one of them is not UTF-8, which no name of a field is
    /// (RFC 9110, section 5.1).
    pub(crate) fn names(&self, is_meant: impl Fn(&[u8]) -> bool) -> Option<Vec<String>> {
        let mut names: Vec<String> = Vec::new();
        for (name, _) in self.iter().filter(|(name, _)| is_meant(name)) {
            let name = core::str::from_utf8(name).ok()?;
            if names.iter().all(|known| known != name) {
                names.push(name.to_owned());
            }
        }
        Some(names)
    }

    /// The value of the first field of this (lower-case) name.
    pub fn first(&self, name: &str) -> Option<&[u8]> {
        self.iter().find(|(field, _)| *field == name.as_bytes()).map(|(_, value)| value)
    }

    /// Whether a field has this (lower-case) name.
    pub fn contains(&self, name: &str) -> bool {
        self.first(name).is_some()
    }

    /// Whether these are the headers of a message that announces a body: one that is chunked, or not of length 0 (RFC
    /// 9112, section 6.3).
    pub fn announces_body(&self) -> bool {
        self.contains("transfer-encoding") || self.all("content-length").any(|length| length != b"0")
    }

    /// Whether these are the headers of a request to go on with another protocol: there is an `upgrade`, and `connection`
    /// names it (RFC 9110, section 7.8). Without the latter it means nothing, and over HTTP/2 there is neither.
    pub fn asks_for_upgrade(&self) -> bool {
        let is_named = |value: &[u8]| {
            value
                .split(|byte| *byte == b',')
                .any(|option| option.trim_ascii().eq_ignore_ascii_case(b"upgrade"))
        };
        self.contains("upgrade") && self.all("connection").any(is_named)
    }

    /// Appends a field.
    pub fn add(&mut self, name: &str, value: &[u8]) {
        let name = self.store(name.as_bytes());
        let value = self.store(value);
        self.fields.push(Field { name, value });
    }

    /// Replaces all fields of this name by one at the place of the first, or appends it.
    pub fn set(&mut self, name: &str, value: &[u8]) {
        let value = self.store(value);
        let Self { bytes, fields } = self;
        let mut kept = false;
        fields.retain_mut(|field| {
            if bytes.get(field.name.clone()) != Some(name.as_bytes()) {
                return true;
            }
            if kept {
                return false;
            }
            kept = true;
            field.value = value.clone();
            true
        });
        if !kept {
            let name = self.store(name.as_bytes());
            self.fields.push(Field { name, value });
        }
    }

    /// Removes all fields of this name.
    pub fn remove(&mut self, name: &str) {
        let Self { bytes, fields } = self;
        fields.retain(|field| bytes.get(field.name.clone()) != Some(name.as_bytes()));
    }

    fn slice(&self, range: &Range<usize>) -> &[u8] {
        self.bytes.get(range.clone()).unwrap_or_default()
    }

    fn store(&mut self, bytes: &[u8]) -> Range<usize> {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(bytes);
        start..self.bytes.len()
    }
}

impl<N: AsRef<str>, V: AsRef<[u8]>> FromIterator<(N, V)> for HeaderList {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(fields: I) -> Self {
        let mut list = Self::new();
        for (name, value) in fields {
            list.add(name.as_ref(), value.as_ref());
        }
        list
    }
}

fn read_u32(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk::<4>().map(|chunk| u32::from_le_bytes(*chunk))
}

/// Takes `length` bytes at `at` and steps over them and the NUL behind them.
fn span(bytes: &[u8], at: &mut usize, length: u32) -> Option<Range<usize>> {
    let start = *at;
    let end = start.checked_add(usize::try_from(length).ok()?)?;
    let next = end.checked_add(1)?;
    if next > bytes.len() {
        return None;
    }
    *at = next;
    Some(start..end)
}

/// Whether the value of a field that lists codings, such as Content-Encoding, names none but `identity` (RFC 9110,
/// section 8.4).
pub fn is_identity(codings: &[u8]) -> bool {
    codings
        .split(|byte| *byte == b',')
        .map(<[u8]>::trim_ascii)
        .all(|coding| coding.is_empty() || coding.eq_ignore_ascii_case(b"identity"))
}

/// The value without the white space around it that HTTP allows and that means nothing: spaces and tabs (`OWS`, RFC 9110,
/// section 5.6.3). What else ASCII and Unicode call white space belongs to the value.
pub fn without_ows(value: &[u8]) -> &[u8] {
    let is_ows = |byte: &u8| matches!(byte, b' ' | b'\t');
    let begin = value.iter().position(|byte| !is_ows(byte)).unwrap_or(value.len());
    let end = value.iter().rposition(|byte| !is_ows(byte)).map_or(begin, |last| last.saturating_add(1));
    value.get(begin..end).unwrap_or_default()
}

/// Whether `text` is a `token` (RFC 9110, section 5.6.2), as names of methods, headers and schemes are.
pub fn is_token(text: &str) -> bool {
    !text.is_empty()
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
}

/// Whether this may be sent as a field's value: it has no control characters but the tab (RFC 9110, section 5.5). Envoy does
/// not look: of a line break it makes the next header, or the body.
pub fn is_field_value(value: &[u8]) -> bool {
    value.iter().all(|byte| *byte == b'\t' || !byte.is_ascii_control())
}

/// Whether this may be sent as a field: the name is a token, or that of a pseudo-header, and the value
/// [is one](is_field_value).
pub(crate) fn is_field(name: &str, value: &[u8]) -> bool {
    is_token(name.strip_prefix(':').unwrap_or(name)) && is_field_value(value)
}

/// Whether only the suite may use this name of a header or a trailer: some reader takes its beginning for
/// `x-portcullis-`.
pub fn is_reserved(name: &[u8]) -> bool {
    spelling::begins_with(name, b"x-portcullis-")
}

/// Whether some reader takes this for the name of a field that says how a message is framed, or that belongs to the
/// connection and ends with it: those of RFC 9110, sections 7.2, 7.6.1 and 10.1.1, and of RFC 9112, sections 6.1 and 6.2,
/// and what HTTP/2 forbids (RFC 9113, section 8.2.2). Envoy and other proxies act on such fields and remove them, so no
/// policy can use one for something else.
pub fn is_framing(name: &str) -> bool {
    const NAMES: [&str; 11] = [
        "connection",
        "content-length",
        "expect",
        "host",
        "http2-settings",
        "keep-alive",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    ];
    is_one_of(&NAMES, name)
}

/// Whether some reader takes this for the name of a field that says how a message is framed ([`is_framing`]) or what its
/// body is: for whoever makes the body to set.
pub fn is_of_body(name: &str) -> bool {
    is_framing(name) || is_one_of(&["content-encoding", "content-type"], name)
}

/// Whether some reader takes this for the name of a field that means something to HTTP, to Envoy or to proxies, in requests
/// or in responses, so that a configuration must not give it another meaning: clients, proxies and Envoy set, change or
/// remove such fields, and act on them.
pub fn has_meaning(name: &str) -> bool {
    const NAMES: [&str; 33] = [
        "accept",
        "age",
        "allow",
        "authorization",
        "baggage",
        "cache-control",
        "cookie",
        "date",
        "etag",
        "expires",
        "forwarded",
        "from",
        "last-modified",
        "link",
        "location",
        "max-forwards",
        "origin",
        "pragma",
        "range",
        "referer",
        "retry-after",
        "server",
        "set-cookie",
        "soapaction",
        "traceparent",
        "tracestate",
        "user-agent",
        "vary",
        "via",
        "warning",
        "www-authenticate",
        "x-real-ip",
        "x-request-id",
    ];
    const BEGINNINGS: [&str; 8] =
        ["accept-", "content-", "grpc-", "if-", "proxy-", "sec-", "x-envoy-", "x-forwarded-"];
    let begins = |beginning: &&str| spelling::begins_with(name.as_bytes(), beginning.as_bytes());
    is_framing(name) || is_one_of(&NAMES, name) || BEGINNINGS.iter().any(begins)
}

fn is_one_of(names: &[&str], name: &str) -> bool {
    names.iter().any(|known| spelling::is_same(name.as_bytes(), known.as_bytes()))
}

/// The policy of the suite that sets the header of this (lower-case) name, if one does. All names that begin with
/// `x-portcullis-` and are not client-id's or content-router's are spare.
pub fn suite_owner(name: &str) -> Option<&'static str> {
    let rest = name.strip_prefix("x-portcullis-")?;
    if rest.starts_with("client-") || rest == "unverified" {
        Some("client-id")
    } else if rest == "route" || rest.starts_with("route-") {
        Some("content-router")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_spaces_and_tabs_around_a_value_mean_nothing() {
        for (value, expected) in [
            ("", ""),
            (" \t ", ""),
            (" \ta b\t ", "a b"),
            ("\x0ca\x0b", "\x0ca\x0b"),
            ("\u{a0}a\u{3000}", "\u{a0}a\u{3000}"),
        ] {
            assert_eq!(without_ows(value.as_bytes()), expected.as_bytes(), "{value:?}");
        }
    }

    #[test]
    fn reserves_the_suite_s_names_in_all_spellings_that_upstreams_take_for_them() {
        for name in
            ["x-portcullis-client-id", "x_portcullis_client_id", "x.portcullis~client!id", "x-portcullis-"]
        {
            assert!(is_reserved(name.as_bytes()), "{name}");
        }
        for name in ["", "x-portcullis", "x-portcullisx", "my-x-portcullis-a", "xportcullis-a"] {
            assert!(!is_reserved(name.as_bytes()), "{name}");
        }
    }

    #[test]
    fn knows_what_may_be_sent_as_a_field() {
        for value in [&b""[..], b"a", b" a b\t", b"\x80\xff", "\u{e9}".as_bytes()] {
            assert!(is_field("x-a", value), "{value:?}");
        }
        for value in [&b"\r"[..], b"a\nb", b"a\r\nb: c", b"\0", b"\x7f", b"\x1b[2J", b"a\x0b"] {
            assert!(!is_field("x-a", value), "{value:?}");
        }
        assert!(is_field(":path", b"/"));
        for name in ["", ":", "a b", "a:", "a\r\nb", "a\0", "\u{e9}"] {
            assert!(!is_field(name, b""), "{name:?}");
        }
    }

    #[test]
    fn knows_which_policy_sets_a_header() {
        for (name, owner) in [
            ("x-portcullis-client-id", Some("client-id")),
            ("x-portcullis-unverified", Some("client-id")),
            ("x-portcullis-route", Some("content-router")),
            ("x-portcullis-route-eu", Some("content-router")),
            ("x-portcullis-router", None),
            ("x-portcullis-client", None),
            ("x_portcullis_client_id", None),
            ("x-portcullis-", None),
            ("client-id", None),
        ] {
            assert_eq!(suite_owner(name), owner, "{name}");
        }
    }

    fn serialize(fields: &[(&[u8], &[u8])]) -> Vec<u8> {
        let mut out = u32::try_from(fields.len()).unwrap().to_le_bytes().to_vec();
        for (name, value) in fields {
            out.extend(u32::try_from(name.len()).unwrap().to_le_bytes());
            out.extend(u32::try_from(value.len()).unwrap().to_le_bytes());
        }
        for (name, value) in fields {
            out.extend_from_slice(name);
            out.push(0);
            out.extend_from_slice(value);
            out.push(0);
        }
        out
    }

    #[test]
    fn reads_what_the_abi_serializes() {
        let list = HeaderList::from_serialized(serialize(&[
            (b":path", b"/a"),
            (b"x", b"\xff\x00"),
            (b"x", b""),
            (b"y", b"1"),
        ]))
        .unwrap();
        assert_eq!(list.len(), 4);
        assert!(!list.is_empty());
        assert_eq!(list.first(":path"), Some(&b"/a"[..]));
        assert_eq!(list.all("x").collect::<Vec<_>>(), [&b"\xff\x00"[..], b""]);
        assert_eq!(list.first("z"), None);
    }

    #[test]
    fn knows_fields_of_framing_and_of_the_connection_in_every_spelling() {
        for name in
            ["connection", "Content-Length", "transfer_encoding", "Keep.Alive", "te", "HOST", "upgrade"]
        {
            assert!(is_framing(name), "{name}");
        }
        for name in ["", "x-connection", "content-type", "hosts", "contentlength", "authorization"] {
            assert!(!is_framing(name), "{name}");
        }
    }

    #[test]
    fn knows_fields_that_mean_something_in_every_spelling() {
        for name in [
            "cookie",
            "Content_Type",
            "x-forwarded-for",
            "X-Request-ID",
            "x.envoy.original-path",
            "server",
            "Date",
            "authorization",
            "connection",
            "sec-fetch-site",
        ] {
            assert!(has_meaning(name), "{name}");
        }
        for name in ["", "client_id", "x-api-key", "cookies", "x-envoy", "x-client-tier", "content"] {
            assert!(!has_meaning(name), "{name}");
        }
        for name in ["content-type", "Content.Encoding", "content-length", "te"] {
            assert!(is_of_body(name), "{name}");
        }
        for name in ["", "content-language", "content", "authorization"] {
            assert!(!is_of_body(name), "{name}");
        }
    }

    #[test]
    fn finds_a_name_in_all_its_spellings() {
        let list: HeaderList = [("x-a", "1"), ("x_a", "2"), ("x-b", "3"), ("x.a", "4")].into_iter().collect();
        assert_eq!(list.all_spellings("x-a").collect::<Vec<_>>(), [b"1", b"2", b"4"]);
        assert_eq!(list.all("x-a").collect::<Vec<_>>(), [b"1"]);
    }

    #[test]
    fn a_body_is_announced_by_a_length_or_by_chunks() {
        for (fields, expected) in [
            (&[][..], false),
            (&[("content-length", "0")], false),
            (&[("content-length", "5")], true),
            (&[("content-length", "0"), ("content-length", "5")], true),
            (&[("transfer-encoding", "chunked")], true),
            (&[("transfer-encoding", "chunked"), ("content-length", "0")], true),
            (&[("content-type", "text/xml")], false),
        ] {
            let headers: HeaderList = fields.iter().copied().collect();
            assert_eq!(headers.announces_body(), expected, "{fields:?}");
        }
    }

    #[test]
    fn knows_a_body_that_is_not_coded() {
        for codings in ["", "identity", "Identity", " identity ,\tidentity", ",identity,"] {
            assert!(is_identity(codings.as_bytes()), "{codings:?}");
        }
        for codings in ["gzip", "identity, gzip", "gzip,identity", "identity gzip", "identit", "*"] {
            assert!(!is_identity(codings.as_bytes()), "{codings:?}");
        }
    }

    #[test]
    fn an_upgrade_is_named_by_connection() {
        for (fields, expected) in [
            (&[("upgrade", "websocket"), ("connection", "Upgrade")][..], true),
            (&[("connection", "keep-alive , upgrade"), ("upgrade", "websocket")], true),
            (&[("connection", "close"), ("connection", "upgrade"), ("upgrade", "x")], true),
            (&[("upgrade", "websocket")], false),
            (&[("upgrade", "websocket"), ("connection", "upgraded")], false),
            (&[("connection", "upgrade")], false),
        ] {
            let headers: HeaderList = fields.iter().copied().collect();
            assert_eq!(headers.asks_for_upgrade(), expected, "{fields:?}");
        }
    }

    #[test]
    fn refuses_every_truncation_and_every_wild_length() {
        let whole = serialize(&[(b"name", b"value"), (b"n", b"v")]);
        for end in 1..whole.len() {
            assert!(HeaderList::from_serialized(whole[..end].to_vec()).is_none(), "cut at {end}");
        }
        for at in (0..20).step_by(4) {
            let mut wild = whole.clone();
            wild[at..at + 4].copy_from_slice(&u32::MAX.to_le_bytes());
            assert!(HeaderList::from_serialized(wild).is_none(), "length at {at}");
        }
    }

    #[test]
    fn reads_a_map_without_fields_in_both_its_forms() {
        for empty in [Vec::new(), serialize(&[])] {
            assert!(HeaderList::from_serialized(empty.clone()).unwrap().is_empty(), "{empty:?}");
        }
    }

    #[test]
    fn set_leaves_one_field_and_remove_none() {
        let mut list: HeaderList = [("a", "1"), ("b", "2"), ("a", "3")].into_iter().collect();
        list.set("a", b"9");
        assert_eq!(list.iter().collect::<Vec<_>>(), [(&b"a"[..], &b"9"[..]), (b"b", b"2")]);
        list.set("c", b"4");
        list.remove("a");
        assert_eq!(list.iter().collect::<Vec<_>>(), [(&b"b"[..], &b"2"[..]), (b"c", b"4")]);
    }
}
