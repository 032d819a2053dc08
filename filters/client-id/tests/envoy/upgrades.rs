//! Requests that want to become something else than HTTP.

use portcullis_testkit::envoy::{EnvoyConfig, h1, h2};
use serde_json::json;

use crate::support::{Fields, Gateway, Http, auth_service, per_request, plugin};

const GOOD: Fields = &[("client_id", b"acme"), ("client_secret", b"s3cret")];

/// CONNECT is terminated: what follows it goes to the backend's port as it is.
fn gateway(auth: std::net::SocketAddr) -> Gateway {
    // Rules by path, so that the lack of one is looked at.
    let policy = per_request(json!({"scope": {"only": [{"path_prefix": "/api"}]}}));
    Gateway::start_with(auth, |config: EnvoyConfig| {
        config
            .filter(plugin(&policy))
            .merge_connection_manager(json!({
                "upgrade_configs": [{"upgrade_type": "CONNECT"}, {"upgrade_type": "websocket"}],
                "http2_protocol_options": {"allow_connect": true},
            }))
            .route(json!({
                "match": {"connect_matcher": {}},
                "route": {
                    "cluster": "backend",
                    "upgrade_configs": [{"upgrade_type": "CONNECT", "connect_config": {}}],
                },
            }))
    })
}

#[test]
fn a_connect_request_without_a_path_is_enforced() {
    let auth = auth_service();
    let gateway = gateway(auth.addr());
    let before = gateway.mark();

    let mut connection = h1::Connection::open(gateway.addr());
    connection.send_raw(b"CONNECT gateway.test:80 HTTP/1.1\r\nhost: gateway.test:80\r\n\r\n").unwrap();
    assert_eq!(connection.read_response().unwrap().status, 401);
    let connection = h2::Connection::open(gateway.addr());
    let stream = connection.begin("CONNECT", "", &[("host", b"gateway.test:80")], h2::Rest::Follows);
    assert_eq!(stream.unwrap().response().unwrap().status, 401);

    gateway.assert_backend_untouched_since(&before);
    assert_eq!(gateway.count("rejected_missing"), 2);
}

#[test]
fn a_connect_request_with_credentials_becomes_a_tunnel() {
    let auth = auth_service();
    let gateway = gateway(auth.addr());
    let mut connection = h1::Connection::open(gateway.addr());
    connection
        .send_raw(
            b"CONNECT gateway.test:80 HTTP/1.1\r\nhost: gateway.test:80\r\n\
              client_id: acme\r\nclient_secret: s3cret\r\n\r\n",
        )
        .unwrap();
    // What is in the tunnel is nobody's business here. The backend closes it when it has answered.
    connection.send_raw(b"GET /tunnelled HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").unwrap();
    let bytes = String::from_utf8_lossy(&connection.read_to_end().unwrap()).into_owned();
    assert_eq!(bytes.matches("HTTP/1.1 200 OK").count(), 2, "{bytes}");
    assert_eq!(gateway.backend.requests()[0].path, "/tunnelled");
    assert_eq!(gateway.count("admitted"), 1);
}

#[test]
fn a_websocket_is_opened_for_known_clients_only() {
    let auth = auth_service();
    let gateway = gateway(auth.addr());
    let before = gateway.mark();
    let upgrade: Fields = &[
        ("connection", b"Upgrade"),
        ("upgrade", b"websocket"),
        ("sec-websocket-key", b"dGhlIHNhbXBsZSBub25jZQ=="),
        ("sec-websocket-version", b"13"),
    ];
    let response = Http::One.get(gateway.addr(), "/api", upgrade);
    assert_eq!(response.status, 401);
    gateway.assert_backend_untouched_since(&before);

    // The backend declines by answering as HTTP, but it has been asked.
    assert_eq!(Http::One.get(gateway.addr(), "/api", &[upgrade, GOOD].concat()).status, 200);
    let request = &gateway.backend.requests()[0];
    assert_eq!(request.headers.text("upgrade").as_deref(), Some("websocket"));
    assert!(!request.headers.contains("client_secret"));
}
