//! What is none of the policy's business goes through as it is.

use std::io::{Read, Write};

use portcullis_testkit::envoy::{ClosedPort, Cluster, Envoy, EnvoyConfig, Reply, h1};
use serde_json::json;

use crate::support::*;

#[test]
fn responses_without_a_body_keep_their_headers() {
    let gateway = Gateway::start(&both(&json!({"stylesheet": swap()})));
    for (method, status) in [("HEAD", 200), ("GET", 204), ("GET", 304)] {
        gateway.backend.reply_with(move |_| {
            let reply = Reply::status(status).header("content-type", "text/xml").header("etag", "\"1\"");
            if method == "HEAD" { reply.header("content-length", "4000") } else { reply }
        });
        let mut connection = h1::Connection::open(gateway.addr());
        connection.send(method, "/", &[], b"").unwrap();
        let response = match method {
            "HEAD" => connection.read_head_response(),
            _ => connection.read_response(),
        };
        let response = response.unwrap();
        assert_eq!((response.status, response.body.len()), (status, 0), "{method} {status}");
        assert_eq!(response.headers.text("etag").as_deref(), Some("\"1\""));
        if method == "HEAD" {
            assert_eq!(response.headers.text("content-length").as_deref(), Some("4000"));
        }
        let response = Http::Two.request(gateway.addr(), method, "/", &[], b"");
        assert_eq!((response.status, response.body.len()), (status, 0), "{method} {status}");
        assert_eq!(response.headers.text("etag").as_deref(), Some("\"1\""));
    }
    gateway.assert_sound();
}

#[test]
fn an_empty_body_passes_in_both_directions() {
    let gateway = Gateway::start(&both(&json!({"stylesheet": swap()})));
    for http in Http::BOTH {
        let mut request = http.begin(gateway.addr(), "POST", "/", XML, Body::Chunked);
        request.finish();
        assert_eq!(request.response().unwrap().status, 200, "{http:?}");
        assert_eq!(gateway.received().body, b"");
    }
}

#[test]
fn grpc_streams_through_where_the_condition_excepts_it() {
    let excepted = |name: &str| {
        json!({"not": {"all": [{"media-type": {"exact": "application/grpc"}},
            {name: {"name": "te", "value": {"exact": "trailers"}}}]}})
    };
    let config = json!({"request": {"stylesheet": swap(), "when": excepted("header")},
        "response": {"stylesheet": swap(), "when": excepted("request-header")}});
    let gateway = Gateway::to(Http::Two, |envoy| envoy.filter(plugin(&config, Flag::True)));
    gateway.backend.reply_with(|request| {
        Reply::ok(request.body.clone()).header("content-type", "application/grpc").trailer("grpc-status", "0")
    });
    let headers: Fields = &[("content-type", b"application/grpc"), ("te", b"trailers")];
    let response = gateway.post(Http::Two, headers, b"\0\0\0\0\x01a");
    assert_eq!((response.status, &response.body[..]), (200, &b"\0\0\0\0\x01a"[..]));
    assert_eq!(response.trailers.text("grpc-status").as_deref(), Some("0"));
    assert_eq!(gateway.received().body, b"\0\0\0\0\x01a");
    // gRPC says more than its media type.
    let response = gateway.post(Http::One, &[("content-type", b"application/grpc")], b"<a/>");
    assert_ne!(response.headers.text("grpc-status").as_deref(), Some("0"), "{response:?}");
    assert_eq!(gateway.backend.count(), 0, "the upstream sees nothing of it");
}

#[test]
fn what_calls_itself_grpc_is_refused() {
    let gateway = Gateway::start(&both(&json!({"stylesheet": swap()})));
    gateway
        .backend
        .reply_with(|request| Reply::ok(request.body.clone()).header("content-type", "application/grpc-web"));
    for http in Http::BOTH {
        for content_type in
            [&b"application/grpc-web"[..], b"Application/GRPC-web+proto", b"application/grpc-web-text"]
        {
            let response = gateway.post(http, &[("content-type", content_type)], b"<a/>");
            assert_eq!(response.status, 415, "{http:?} {response:?}");
        }
        // Of gRPC itself, Envoy makes an answer of 200 with a status of its own.
        let response = gateway.post(http, &[("content-type", b"application/grpc")], b"<a/>");
        assert!(
            !response.text().contains("<a/>") && response.headers.contains("grpc-status"),
            "{response:?}"
        );
        assert_eq!(gateway.backend.count(), 0, "{http:?}");
    }
    for http in Http::BOTH {
        let response = gateway.post(http, XML, b"<a/>");
        assert_eq!(response.status, 502, "{http:?} {response:?}");
        assert!(!response.text().contains("<b/>"), "{response:?}");
    }
}

/// Envoy says 100 itself, before the body is there, and the body is transformed as any other.
#[test]
fn clients_that_expect_100_are_told_to_go_on() {
    let gateway = Gateway::start(&json!({"request": {"stylesheet": swap()}}));
    let mut connection = h1::Connection::open(gateway.addr());
    let headers: Fields = &[("content-type", b"text/xml"), ("expect", b"100-continue")];
    connection.send_raw(&h1::head("POST", "/", headers, 4)).unwrap();
    connection.send_raw(b"<a/>").unwrap();
    let response = connection.read_response().unwrap();
    assert_eq!((response.status, response.text()), (200, "<b/>".to_owned()));
    assert_eq!(gateway.received().body, b"<b/>");
}

#[test]
fn what_envoy_answers_for_a_dead_upstream_is_not_transformed() {
    let dead = ClosedPort::reserve();
    let config = EnvoyConfig::new()
        .cluster(Cluster::http1("dead", dead.addr()))
        .filter(plugin(&both(&json!({"stylesheet": swap()})), Flag::True))
        .route(json!({"match": {"path": "/direct"}, "direct_response":
            {"status": 200, "body": {"inline_string": "<a/>"}},
            "response_headers_to_add": [{"header": {"key": "content-type", "value": "text/xml"},
                "append_action": "OVERWRITE_IF_EXISTS_OR_ADD"}]}))
        .route(json!({"match": {"prefix": "/"}, "route": {"cluster": "dead"}}));
    let envoy = Envoy::start(&config);
    for http in Http::BOTH {
        let response = http.request(envoy.addr(), "POST", "/", XML, b"<a/>");
        assert_eq!(response.status, 503, "{response:?}");
        assert!(response.text().contains("upstream connect error"), "{response:?}");
        let response = http.get(envoy.addr(), "/direct", &[]);
        assert_eq!((response.status, response.text()), (200, "<a/>".to_owned()), "{response:?}");
    }
    assert_eq!(envoy.counter("wasmcustom.portcullis.xslt_transform.request.transformed"), 2);
    assert_eq!(envoy.counter("wasmcustom.portcullis.xslt_transform.response.exempt"), 4);
}

#[test]
fn upgrades_pass_and_what_follows_them_is_no_body() {
    let gateway = Gateway::start_with(|config| {
        config
            .filter(plugin(&both(&json!({"stylesheet": swap()})), Flag::True))
            .merge_connection_manager(json!({"upgrade_configs": [{"upgrade_type": "websocket"}]}))
    });
    let headers: Fields =
        &[("upgrade", b"websocket"), ("connection", b"upgrade"), ("content-type", b"text/xml")];
    // The backend refuses the upgrade, as it may: what matters is that the request has come to it at once, as it was.
    gateway.backend.reply(Reply::status(200));
    let response = h1::request(gateway.addr(), "GET", "/", headers, b"");
    assert!(
        response.status == 200 || response.status == 403 || response.status == 502 || response.status == 426,
        "{response:?}"
    );
    assert_eq!(gateway.received().headers.text("upgrade").as_deref(), Some("websocket"));
    // An upgrade that announces a body is one or the other, and nobody knows which.
    let response = h1::request(gateway.addr(), "POST", "/", headers, b"<a/>");
    assert_eq!(response.status, 415, "{response:?}");
}

/// HTTP/2 has no such field (RFC 9113, section 8.2.2). Whatever Envoy makes of it, no body slips past.
#[test]
fn an_upgrade_over_http2_lets_no_body_through() {
    let gateway = Gateway::start_with(|config| {
        config
            .filter(plugin(&json!({"request": {"stylesheet": swap()}}), Flag::True))
            .merge_connection_manager(json!({"upgrade_configs": [{"upgrade_type": "websocket"}]}))
    });
    for (extra, is_plain) in [
        (&[][..], true),
        (&[("upgrade", "websocket")], false),
        (&[("upgrade", "websocket"), ("connection", "upgrade")], false),
    ] {
        let mut connection = std::net::TcpStream::connect(gateway.addr()).unwrap();
        connection.set_read_timeout(Some(std::time::Duration::from_secs(2))).unwrap();
        connection.write_all(&http2_post(extra, b"<a/>")).unwrap();
        let mut response = Vec::new();
        // Until Envoy has no more to say, or closes the connection.
        let _ = connection.read_to_end(&mut response);
        let bodies: Vec<_> = gateway.backend.requests().into_iter().map(|request| request.body).collect();
        gateway.backend.clear();
        if is_plain {
            assert_eq!(bodies, [b"<b/>".to_vec()]);
        }
        assert!(bodies.iter().all(|body| body != b"<a/>"), "{extra:?} {bodies:?}");
    }
    gateway.assert_sound();
}

/// What a client sends over HTTP/2 to POST a body with these fields besides, which a client that keeps to the rules would
/// not send.
fn http2_post(extra: &[(&str, &str)], body: &[u8]) -> Vec<u8> {
    let frame = |kind: u8, flags: u8, stream: u8, payload: &[u8]| {
        let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
        [&length[1..], &[kind, flags, 0, 0, 0, stream], payload].concat()
    };
    let fields = [
        (":method", "POST"),
        (":scheme", "http"),
        (":authority", "shop.test"),
        (":path", "/"),
        ("content-type", "text/xml"),
    ];
    let mut headers = Vec::new();
    for (name, value) in fields.iter().chain(extra) {
        // Literals that are not indexed (RFC 7541, section 6.2.2).
        headers.push(0);
        for text in [name, value] {
            headers.push(u8::try_from(text.len()).unwrap());
            headers.extend_from_slice(text.as_bytes());
        }
    }
    [
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec(),
        frame(4, 0, 0, b""),
        frame(1, 4, 1, &headers),
        frame(0, 1, 1, body),
    ]
    .concat()
}
