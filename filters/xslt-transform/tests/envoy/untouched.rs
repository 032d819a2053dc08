//! What is none of the policy's business goes through as it is.

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
fn grpc_streams_through() {
    let gateway = Gateway::to(Http::Two, |config| {
        config.filter(plugin(&both(&json!({"stylesheet": swap()})), Flag::True))
    });
    gateway.backend.reply_with(|request| {
        Reply::ok(request.body.clone()).header("content-type", "application/grpc").trailer("grpc-status", "0")
    });
    let headers: Fields = &[("content-type", b"application/grpc"), ("te", b"trailers")];
    let response = gateway.post(Http::Two, headers, b"\0\0\0\0\x01a");
    assert_eq!((response.status, &response.body[..]), (200, &b"\0\0\0\0\x01a"[..]));
    assert_eq!(response.trailers.text("grpc-status").as_deref(), Some("0"));
    assert_eq!(gateway.received().body, b"\0\0\0\0\x01a");
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
