//! Every byte, wherever HTTP has room for one. What bare Envoy lets through must come to the upstream byte for byte; what
//! it refuses is refused.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use portcullis_abuse::policies::{GOOD, client_id_with, everything};
use portcullis_abuse::raw2::{self, Answer};
use portcullis_abuse::{Gateway, Message};
use portcullis_testkit::envoy::{ClientError, Http, h1};
use serde_json::json;

/// What becomes of a request: its status, 0 for none, and what the upstream got.
type Fate = (u16, Option<Message>);

/// The fields that policies read, and some that they do not. What xslt-transform changes (`accept-encoding`) is not among
/// them.
const FIELDS: &[&str] = &[
    "x-plain",
    "x-to",
    "x-api-key",
    "cookie",
    "user-agent",
    "referer",
    "authorization",
    "soapaction",
    "accept",
    "traceparent",
    "x-forwarded-for",
    "content-type",
    "content-encoding",
];

/// A request target and the fields that carry credentials.
type Way<'a> = (&'a [u8], Vec<(&'a [u8], &'a [u8])>);

/// A request with nothing added.
struct Raw<'a> {
    method: &'a [u8],
    path: &'a [u8],
    fields: Vec<(&'a [u8], &'a [u8])>,
}

impl Raw<'_> {
    fn send(&self, http: Http, gateway: &Gateway) -> Fate {
        let status = match http {
            Http::One => self.send_1(gateway),
            Http::Two => match raw2::request(
                gateway.addr(),
                &raw2::block(self.method, self.path, &self.fields),
                None,
                &[],
            ) {
                Answer::Status(status) => status,
                Answer::Refused => 0,
            },
        };
        let mut messages = gateway.upstream.take();
        assert!(messages.len() < 2, "{messages:?}");
        (status, messages.pop())
    }

    fn send_1(&self, gateway: &Gateway) -> u16 {
        let mut bytes =
            [self.method, b" ", self.path, b" HTTP/1.1\r\nhost: gateway.test\r\nconnection: close\r\n"]
                .concat();
        for (name, value) in &self.fields {
            bytes.extend([name, &b": "[..], value, b"\r\n"].concat());
        }
        bytes.extend(b"\r\n");
        let mut connection = h1::Connection::open(gateway.addr());
        let _ = connection.send_raw(&bytes);
        match connection.read_response() {
            Ok(response) => response.status,
            Err(ClientError::Timeout) => panic!("no answer to {}", bytes.escape_ascii()),
            Err(_) => 0,
        }
    }
}

fn with_credentials<'a>(fields: &[(&'a [u8], &'a [u8])]) -> Vec<(&'a [u8], &'a [u8])> {
    let credentials = GOOD.map(|(name, value)| (name.as_bytes(), value));
    [&credentials, fields].concat()
}

/// Sends the same to bare Envoy, without the credentials, and to the gateway.
#[track_caller]
fn compare(bare: &Gateway, gateway: &Gateway, http: Http, raw: &Raw) {
    // What continues the line before it, or ends the head, must not concern the credentials.
    let fields = [&[(&b"x-before"[..], &b"1"[..])], &raw.fields[..]].concat();
    let (expected, wanted) = Raw { fields: fields.clone(), ..*raw }.send(http, bare);
    let fields = with_credentials(&fields);
    let (status, got) = Raw { fields, ..*raw }.send(http, gateway);
    let what = || {
        let fields: Vec<_> = raw
            .fields
            .iter()
            .map(|(name, value)| format!("{}: {}", name.escape_ascii(), value.escape_ascii()))
            .collect();
        format!("{http:?} {} {} {fields:?}", raw.method.escape_ascii(), raw.path.escape_ascii())
    };
    assert_eq!(status, expected, "{}", what());
    assert_eq!(
        got.map(|one| one.without_additions()),
        wanted.map(|one| one.without_additions()),
        "{}",
        what()
    );
}

#[test]
fn every_byte_of_a_value_passes_as_bare_envoy_passes_it() {
    let (bare, gateway) = (Gateway::bare(), Gateway::start(&everything()));
    for http in Http::BOTH {
        for byte in 0..=u8::MAX {
            let value = [b'a', byte, b'b'];
            let fields = FIELDS.iter().map(|name| (name.as_bytes(), &value[..])).collect();
            compare(&bare, &gateway, http, &Raw { method: b"GET", path: b"/", fields });
            // At the ends of a value, where white space is not part of it.
            let value = [byte];
            compare(
                &bare,
                &gateway,
                http,
                &Raw { method: b"GET", path: b"/", fields: vec![(b"x-plain", &value)] },
            );
        }
    }
    gateway.assert_sound();
}

#[test]
fn every_byte_of_a_name_passes_as_bare_envoy_passes_it() {
    let (bare, gateway) = (Gateway::bare(), Gateway::start(&everything()));
    for http in Http::BOTH {
        for byte in 0..=u8::MAX {
            for name in [&[b'x', byte, b'y'][..], &[byte]] {
                compare(
                    &bare,
                    &gateway,
                    http,
                    &Raw { method: b"GET", path: b"/", fields: vec![(name, b"1")] },
                );
            }
        }
    }
    gateway.assert_sound();
}

/// But for credentials, which are taken out, a request target stays as it is.
#[test]
fn every_byte_of_a_path_and_a_query_passes_as_bare_envoy_passes_it() {
    let (bare, gateway) = (Gateway::bare(), Gateway::start(&everything()));
    for http in Http::BOTH {
        for byte in 0..=u8::MAX {
            for (before, after) in [("/a", "b"), ("/", ""), ("/a?", "=1"), ("/a?k=", "&x"), ("/a?to=", "")] {
                let path = [before.as_bytes(), &[byte], after.as_bytes()].concat();
                compare(&bare, &gateway, http, &Raw { method: b"GET", path: &path, fields: vec![] });
                // The same byte, percent-encoded.
                let path = format!("{before}%{byte:02x}{after}");
                compare(
                    &bare,
                    &gateway,
                    http,
                    &Raw { method: b"GET", path: path.as_bytes(), fields: vec![] },
                );
            }
        }
    }
    gateway.assert_sound();
}

#[test]
fn every_byte_of_a_method_passes_as_bare_envoy_passes_it() {
    let (bare, gateway) = (Gateway::bare(), Gateway::start(&everything()));
    for http in Http::BOTH {
        for byte in 0..=u8::MAX {
            compare(&bare, &gateway, http, &Raw { method: &[b'G', byte, b'T'], path: b"/", fields: vec![] });
        }
    }
    gateway.assert_sound();
}

/// Whether bare Envoy takes a field with this value over this version of HTTP.
fn is_taken(bare: &Gateway, http: Http, value: &[u8]) -> bool {
    let (status, message) =
        Raw { method: b"GET", path: b"/", fields: vec![(b"x-plain", value)] }.send(http, bare);
    status == 200 && message.is_some_and(|message| message.all("x-plain") == [value])
}

/// What docs/client-id.md says of an identifier of two letters and a byte between them.
fn status_of_id(byte: u8) -> u16 {
    if byte.is_ascii_control() || byte == b':' || !byte.is_ascii() { 400 } else { 200 }
}

/// What it says of a secret.
fn status_of_secret(byte: u8) -> u16 {
    if byte.is_ascii_control() { 400 } else { 200 }
}

/// The secret that the auth service was asked about since the last time.
fn asked(gateway: &Gateway) -> Vec<Vec<u8>> {
    let requests = gateway.auth.requests();
    gateway.auth.clear();
    requests.iter().filter_map(|request| request.headers.get("authorization").map(<[u8]>::to_vec)).collect()
}

fn basic(pair: &[u8]) -> Vec<u8> {
    [&b"Basic "[..], STANDARD.encode(pair).as_bytes()].concat()
}

/// The header origin has what HTTP lets through; the others have every byte there is.
#[test]
fn every_byte_of_an_identifier_is_taken_or_refused_as_documented() {
    let (bare, gateway) =
        (Gateway::bare(), Gateway::start(&[client_id_with(json!({"cache": {"entries": 0}}))]));
    for http in Http::BOTH {
        for byte in 0..=u8::MAX {
            let id = [b'a', byte, b'z'];
            let query = format!("/?client_id=a%{byte:02x}z&client_secret=s&x=1");
            let authorization = basic(&[&id[..], b":s"].concat());
            let mut ways: Vec<Way> =
                vec![(query.as_bytes(), vec![]), (b"/?x=1", vec![(b"authorization", &authorization)])];
            if is_taken(&bare, http, &id) {
                ways.push((b"/?x=1", vec![(b"client_id", &id), (b"client_secret", b"s")]));
            }
            for (way, (path, fields)) in ways.into_iter().enumerate() {
                // In a pair the first colon ends the identifier.
                let (id, expected) = match (byte, way) {
                    (b':', 1) => (&b"a"[..], 200),
                    _ => (&id[..], status_of_id(byte)),
                };
                let (status, message) = Raw { method: b"GET", path, fields }.send(http, &gateway);
                assert_eq!(status, expected, "{http:?} {byte:#x} {way}");
                let identity =
                    message.map(|message| (message.all("x-portcullis-client-id").concat(), message.path()));
                let told = (status == 200).then(|| (id.to_vec(), "/?x=1".to_owned()));
                assert_eq!(identity, told, "{http:?} {byte:#x} {way}");
                let secret = if (byte, way) == (b':', 1) { &b"z:s"[..] } else { b"s" };
                let question = (status == 200).then(|| basic(&[id, b":", secret].concat()));
                assert_eq!(asked(&gateway), Vec::from_iter(question), "{http:?} {byte:#x} {way}");
            }
        }
    }
    gateway.assert_sound();
}

#[test]
fn every_byte_of_a_secret_comes_to_the_auth_service_or_is_refused_as_documented() {
    let (bare, gateway) =
        (Gateway::bare(), Gateway::start(&[client_id_with(json!({"cache": {"entries": 0}}))]));
    for http in Http::BOTH {
        for byte in 0..=u8::MAX {
            let secret = [b's', byte, b't'];
            let pair = [&b"acme:"[..], &secret].concat();
            let query = format!("/?client_id=acme&client_secret=s%{byte:02x}t");
            let authorization = basic(&pair);
            let mut ways: Vec<Way> =
                vec![(query.as_bytes(), vec![]), (b"/", vec![(b"authorization", &authorization)])];
            if is_taken(&bare, http, &secret) {
                ways.push((b"/", vec![(b"client_id", b"acme"), (b"client_secret", &secret)]));
            }
            for (way, (path, fields)) in ways.into_iter().enumerate() {
                let (status, message) = Raw { method: b"GET", path, fields }.send(http, &gateway);
                assert_eq!(status, status_of_secret(byte), "{http:?} {byte:#x} {way}");
                let question = (status == 200).then(|| basic(&pair));
                assert_eq!(asked(&gateway), Vec::from_iter(question), "{http:?} {byte:#x} {way}");
                if let Some(message) = message {
                    assert!(message.path() == "/" && message.all("authorization").is_empty(), "{message:?}");
                    assert!(message.all("client_secret").is_empty(), "{message:?}");
                }
            }
        }
    }
    gateway.assert_sound();
}

/// Trailers are shown to the policies, which take the suite's own names out and leave everything else.
#[test]
fn every_byte_of_a_trailer_passes_as_bare_envoy_passes_it() {
    let (bare, gateway) = (Gateway::bare(), Gateway::start(&everything()));
    for byte in 0..=u8::MAX {
        let value = [b'a', byte, b'b'];
        let trailers: raw2::Block = &[(b"x-said", &value), (b"x-plain", b"1")];
        let fate = |gateway: &Gateway, fields: &[(&[u8], &[u8])]| {
            let block = raw2::block(b"POST", b"/", fields);
            let answer = raw2::request(gateway.addr(), &block, Some(b"body"), trailers);
            (answer, gateway.upstream.take().pop().map(|message| message.without_additions()))
        };
        let expected = fate(&bare, &[]);
        assert_eq!(fate(&gateway, &with_credentials(&[])), expected, "{byte:#x}");
    }
    gateway.assert_sound();
}
