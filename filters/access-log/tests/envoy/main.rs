//! The policy in real Envoy, alone, beside client-id and behind it in the gateway chain.
#![cfg(test)]

mod access_logger;
mod bodies;
mod capabilities;
mod parity;
mod sinks;
mod support;

use std::time::Duration;

use portcullis_testkit::envoy::Behaviour;
use portcullis_testkit::envoy::{
    Backend, ClosedPort, Cluster, Envoy, EnvoyConfig, HostileServer, PATIENCE, Reply, WasmPlugin, h1, h2,
    wait_until,
};
use serde_json::{Value, json};
use support::{alone, line, lines, marked};

fn auth_admitting() -> Backend {
    Backend::replying(Reply::status(200).header("x-client-tier", "gold"))
}

fn client_id() -> Value {
    json!({"auth": {"per-request": {"cluster": "auth"}}})
}

fn chain() -> WasmPlugin {
    let document = json!({"policies": [{"client-id": client_id()}, {"access-log": {"query": "keep"}}]});
    WasmPlugin::module("gateway").json_configuration(&document)
}

fn clusters(backend: &Backend, auth: &Backend) -> EnvoyConfig {
    EnvoyConfig::new()
        .cluster(Cluster::http1("backend", backend.addr()))
        .cluster(Cluster::http1("auth", auth.addr()))
}

#[test]
fn writes_one_line_for_each_exchange_of_http_1_and_http_2() {
    let backend = Backend::replying(Reply::ok("hello"));
    let envoy = Envoy::start(&alone(&backend));
    let reply = h1::request(envoy.addr(), "POST", "/a?secret=1", &[("x-request-id", b"mine")], b"12345");
    assert_eq!(reply.status, 200);
    let first = line(&envoy, 0);
    assert_eq!(h2::get(envoy.addr(), "/b").status, 200);
    let second = line(&envoy, 1);
    for (line, method, path, protocol, bytes_in) in
        [(&first, "POST", "/a?[redacted]", "HTTP/1.1", 5), (&second, "GET", "/b", "HTTP/2", 0)]
    {
        assert_eq!(line["method"], method);
        assert_eq!(line["path"], path);
        assert_eq!(line["protocol"], protocol);
        assert_eq!(line["status"], 200);
        assert_eq!(line["bytes_in"], bytes_in);
        assert_eq!(line["bytes_out"], 5);
        assert_eq!(line["upstream"], backend.addr().to_string());
        assert_eq!(line["details"], "via_upstream");
        assert!(line["duration_ms"].as_f64().unwrap() > 0.0);
        assert!(line["upstream_ms"].as_f64().unwrap() <= line["duration_ms"].as_f64().unwrap());
        assert!(line["time"].as_str().unwrap().ends_with('Z'));
        assert!(line["request_id"].is_string());
        assert_eq!(line.get("flags"), None);
        assert_eq!(line.get("client_id"), None);
    }
    assert_eq!(lines(&envoy).len(), 2);
}

#[test]
fn tells_who_called_and_what_was_decided_in_a_chain() {
    let (backend, auth) = (Backend::start(), auth_admitting());
    let envoy = Envoy::start(&clusters(&backend, &auth).filter(chain()));
    let missing = h1::request(envoy.addr(), "GET", "/a?x=1", &[], b"");
    assert_eq!(missing.status, 401);
    let line_of_missing = line(&envoy, 0);
    assert_eq!(line_of_missing["outcomes"], json!(["client-id:rejected:missing"]));
    assert_eq!(line_of_missing["details"], "client_id_missing");
    assert_eq!(line_of_missing["status"], 401);
    assert_eq!(line_of_missing.get("client_id"), None);
    let path = "/a?x=1&client_id=acme&client_secret=hunter2";
    assert_eq!(h1::request(envoy.addr(), "GET", path, &[], b"").status, 200);
    let admitted = line(&envoy, 1);
    assert_eq!(admitted["client_id"], "acme");
    assert_eq!(admitted["outcomes"], json!(["client-id:passed:admitted"]));
    assert_eq!(admitted["path"], "/a?x=1");
    assert!(!envoy.log_lines().iter().any(|line| line.contains("hunter2")));
}

/// client-id leaves the credentials of exempt requests where they are, and has told their names to the chain.
#[test]
fn hides_the_credentials_of_exempt_requests_in_a_chain() {
    let (backend, auth) = (Backend::start(), auth_admitting());
    let client_id = json!({
        "auth": {"per-request": {"cluster": "auth"}},
        "credentials": [
            {"headers": {"id": "x-app", "secret": "x-app-key"}},
            {"query": {"id": "app", "secret": "app_key"}},
        ],
        "scope": {"exempt": [{"path_prefix": "/public"}]},
    });
    let access_log = json!({
        "query": "keep",
        "format": {"text": "@line@ %REQ(X-APP-KEY)% %REQ(:PATH)% %PORTCULLIS(OUTCOMES)%"},
    });
    let document = json!({"policies": [{"client-id": client_id}, {"access-log": access_log}]});
    let gateway = WasmPlugin::module("gateway").json_configuration(&document);
    let envoy = Envoy::start(&clusters(&backend, &auth).filter(gateway));
    let path = "/public?app=acme&app_key=hunter2&x=1";
    let key: [(&str, &[u8]); 1] = [("x-app-key", b"hunter2")];
    assert_eq!(h1::request(envoy.addr(), "GET", path, &key, b"").status, 200);
    wait_until("our line", PATIENCE, || !marked(&envoy, "@line@ ").is_empty());
    assert_eq!(
        marked(&envoy, "@line@ "),
        ["[redacted] /public?app=[redacted]&app_key=[redacted]&x=1 client-id:skipped:exempt"]
    );
    assert_eq!(backend.requests()[0].path, path);
    assert!(!envoy.log_lines().iter().any(|line| line.contains("hunter2")));
}

#[test]
fn tells_the_same_when_the_policies_are_filters_of_their_own() {
    let (backend, auth) = (Backend::start(), auth_admitting());
    let envoy = Envoy::start(
        &clusters(&backend, &auth)
            .filter(WasmPlugin::module("client-id").json_configuration(&client_id()))
            .filter(WasmPlugin::module("access-log").json_configuration(&json!({}))),
    );
    let credentials: [(&str, &[u8]); 2] = [("client_id", b"acme"), ("client_secret", b"s")];
    assert_eq!(h1::request(envoy.addr(), "GET", "/", &credentials, b"").status, 200);
    assert_eq!(line(&envoy, 0)["client_id"], "acme");
    assert_eq!(line(&envoy, 0)["outcomes"], json!(["client-id:passed:admitted"]));
    assert_eq!(h1::get(envoy.addr(), "/").status, 401);
    assert_eq!(line(&envoy, 1)["outcomes"], json!(["client-id:rejected:missing"]));
}

#[test]
fn writes_a_line_for_a_request_that_no_filter_has_seen() {
    let backend = Backend::start();
    let envoy = Envoy::start(&alone(&backend));
    let mut connection = h1::Connection::open(envoy.addr());
    connection.send_raw(b"GET / HTTP/1.1\r\nhost: a\r\ncontent-length: x\r\n\r\n").unwrap();
    assert_eq!(connection.read_response().unwrap().status, 400);
    let line = line(&envoy, 0);
    assert_eq!(line["status"], 400);
    assert_eq!(line["flags"], "DPE");
    assert_eq!(backend.count(), 0);
}

#[test]
fn names_flags_and_details_of_failures() {
    let nobody = ClosedPort::reserve();
    let slow = HostileServer::start(Behaviour::Hang);
    let plugin = || WasmPlugin::module("access-log").json_configuration(&json!({}));
    let down = Envoy::start(&EnvoyConfig::new().cluster(Cluster::http1("b", nobody.addr())).filter(plugin()));
    assert_eq!(h1::get(down.addr(), "/").status, 503);
    let refused = line(&down, 0);
    assert!(refused["flags"].as_str().unwrap().contains("UF"), "{refused}");
    assert!(
        refused["details"].as_str().unwrap().starts_with("upstream_reset_before_response_started"),
        "{refused}"
    );

    let hanging =
        Envoy::start(&EnvoyConfig::new().cluster(Cluster::http1("b", slow.addr())).filter(plugin()));
    let mut connection = h1::Connection::open(hanging.addr());
    connection.send("GET", "/", &[], b"").unwrap();
    slow.wait_for(1, PATIENCE);
    connection.abort();
    let aborted = line(&hanging, 0);
    assert!(aborted["flags"].as_str().unwrap().contains("DC"), "{aborted}");
}

#[test]
fn stays_one_line_of_json_whatever_is_sent() {
    let backend = Backend::start();
    let config = alone(&backend).merge_connection_manager(json!({"max_request_headers_kb": 96}));
    let envoy = Envoy::start(&config);
    let nasty: &[u8] = b"\xff\xfe\"}\\\x7f";
    let path = format!("/{}", "p".repeat(5000));
    let replies = [
        h1::request(envoy.addr(), "GET", "/a", &[("x-request-id", nasty), ("user-agent", nasty)], b"").status,
        h1::request(envoy.addr(), "GET", &path, &[], b"").status,
    ];
    wait_until("a line for each", PATIENCE, || lines(&envoy).len() == replies.len());
    let capped = line(&envoy, 1);
    let logged = capped["path"].as_str().unwrap();
    assert!(logged.ends_with('…') && logged.len() < 1100, "{} bytes", logged.len());
}

#[test]
fn writes_no_line_twice_on_two_workers_under_concurrent_load() {
    let backend = Backend::start();
    let envoy = Envoy::start(&alone(&backend).workers(2));
    let statuses = portcullis_testkit::envoy::concurrently(40, |at| {
        h1::request(envoy.addr(), "GET", &format!("/{at}"), &[], b"").status
    });
    assert!(statuses.iter().all(|status| *status == 200));
    wait_until("40 lines", PATIENCE, || lines(&envoy).len() >= 40);
    std::thread::sleep(Duration::from_millis(50));
    let mut paths: Vec<String> = lines(&envoy).iter().map(|line| line["path"].to_string()).collect();
    paths.sort();
    paths.dedup();
    assert_eq!((paths.len(), lines(&envoy).len()), (40, 40));
}
