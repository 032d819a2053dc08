//! Bodies that are small on the wire and large behind it.

use std::io::Write;

use flate2::Compression;
use flate2::write::{GzEncoder, ZlibEncoder};
use portcullis_abuse::Gateway;
use portcullis_abuse::policies::{GOOD, WRAPPING, everything, reading_bodies};
use portcullis_testkit::envoy::{EnvoyConfig, Http, http_reply};
use serde_json::json;

const MIB: usize = 1 << 20;

fn gzip(plain: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(plain).unwrap();
    encoder.finish().unwrap()
}

fn deflate(plain: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(plain).unwrap();
    encoder.finish().unwrap()
}

/// An XML document of so many bytes, all but none of them white space.
fn blank_document(length: usize) -> Vec<u8> {
    let mut document = b"<order to='a'>".to_vec();
    document.resize(length, b' ');
    document.extend(b"</order>");
    document
}

/// The policies do not decompress. Whatever is encoded is refused where it would have to be read, unread.
#[test]
fn encoded_bodies_are_refused_unread_where_they_would_be_read() {
    let gateway = Gateway::start(&reading_bodies());
    let bomb = gzip(&blank_document(16 * MIB));
    assert!(bomb.len() < MIB, "{} bytes", bomb.len());
    for http in Http::BOTH {
        for (encoding, body) in [
            ("gzip", bomb.clone()),
            ("GZIP", bomb.clone()),
            ("x-gzip", bomb.clone()),
            ("deflate", deflate(b"<a/>")),
            ("gzip, identity", bomb.clone()),
            ("identity, gzip", bomb.clone()),
            ("gzip,gzip", gzip(&bomb)),
            ("br", b"\x0b\x02\x80<a/>\x03".to_vec()),
            ("nonsense", b"<a/>".to_vec()),
            ("", b"<a/>".to_vec()),
        ] {
            let headers =
                [&GOOD[..], &[("content-type", b"text/xml"), ("content-encoding", encoding.as_bytes())]]
                    .concat();
            let response = http.request(gateway.addr(), "POST", "/", &headers, &body);
            // An empty list of encodings is none.
            let expected = if encoding.is_empty() { 200 } else { 415 };
            assert_eq!(response.status, expected, "{http:?} {encoding:?}");
            let passed = gateway.upstream.take();
            assert_eq!(passed.len(), usize::from(expected == 200), "{http:?} {encoding:?}");
        }
        // Bytes of an encoding without its name are no XML.
        let headers = [&GOOD[..], &[("content-type", &b"text/xml"[..])]].concat();
        assert_eq!(http.request(gateway.addr(), "POST", "/", &headers, &bomb).status, 400, "{http:?}");
    }
    assert_eq!(gateway.upstream.take(), []);
    gateway.assert_sound();
}

/// What is not to be read passes as it is, however it is encoded, and no line shows it.
#[test]
fn encoded_bodies_that_nobody_reads_pass_as_they_came() {
    let gateway = Gateway::start(&everything());
    let secret = gzip(b"{\"password\":\"hunter2\"}");
    for (at, http) in Http::BOTH.into_iter().enumerate() {
        let headers =
            [&GOOD[..], &[("content-type", b"application/json"), ("content-encoding", b"gzip")]].concat();
        let response = http.request(gateway.addr(), "POST", "/", &headers, &secret);
        assert_eq!(response.status, 200, "{http:?}");
        assert_eq!(gateway.upstream.take_one().body, secret, "{http:?}");
        assert_eq!(gateway.line(at)["request"], "[not captured: it is encoded]");
    }
    gateway.assert_sound();
}

fn decompressing(config: EnvoyConfig) -> EnvoyConfig {
    config.native_filter(json!({
        "name": "decompressor",
        "typed_config": {
            "@type": "type.googleapis.com/envoy.extensions.filters.http.decompressor.v3.Decompressor",
            "decompressor_library": {
                "name": "gzip",
                "typed_config": {
                    "@type": "type.googleapis.com/envoy.extensions.compression.gzip.decompressor.v3.Gzip",
                    "max_inflate_ratio": 1032,
                },
            },
        },
    }))
}

/// Behind Envoy's decompressor, as docs/content-router.md advises for compressed messages, what comes out of a bomb is
/// bounded as any other body is.
#[test]
fn what_comes_out_of_a_bomb_is_bounded_as_any_other_body() {
    let gateway = Gateway::launch(|config| {
        decompressing(config).filter(portcullis_abuse::gateway::plugin(&reading_bodies()))
    });
    let bombs = [
        (blank_document(20_000), &[200][..]),
        (blank_document(2 * MIB), &[413]),
        // Envoy gives up on what grows that much in one step, before or after the policy does.
        (blank_document(16 * MIB), &[413, 400, 503]),
    ]
    .map(|(plain, statuses)| (plain.len(), gzip(&plain), statuses));
    for http in Http::BOTH {
        for (length, bomb, statuses) in &bombs {
            let headers =
                [&GOOD[..], &[("content-type", b"text/xml"), ("content-encoding", b"gzip")]].concat();
            let response = http.request(gateway.addr(), "POST", "/", &headers, bomb);
            assert!(statuses.contains(&response.status), "{http:?} {length} {response:?}");
            let passed = gateway.upstream.take();
            assert_eq!(passed.len(), usize::from(response.status == 200), "{http:?} {length}");
            for message in passed {
                assert!(message.body.starts_with(WRAPPING.0.as_bytes()), "{message:?}");
            }
        }
    }
    gateway.assert_sound();
}

/// Of an upstream that compresses although it was asked not to, the client gets nothing that was to be transformed.
#[test]
fn an_upstream_that_compresses_all_the_same_is_a_bad_gateway() {
    let gateway = Gateway::start(&everything());
    let bomb = gzip(&blank_document(MIB));
    let reply = http_reply(200, &[("content-type", b"text/xml"), ("content-encoding", b"gzip")], &bomb);
    gateway.upstream.reply_with(move |_| reply.clone());
    for http in Http::BOTH {
        let headers = [&GOOD[..], &[("accept-encoding", &b"gzip"[..])]].concat();
        let response = http.get(gateway.addr(), "/", &headers);
        assert_eq!(response.status, 502, "{http:?}");
        assert_eq!(gateway.upstream.take_one().text("accept-encoding").as_deref(), Some("identity"));
    }
    gateway.upstream.reply_with(|_| http_reply(200, &[], b""));
    gateway.assert_sound();
}
