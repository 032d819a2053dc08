//! Fixtures for requests that come slowly, wait, and become something else than HTTP.

#![cfg(feature = "envoy")]

use portcullis_testkit::envoy::{
    Backend, ClosedPort, Cluster, Envoy, EnvoyConfig, Gate, PATIENCE, Reply, h1, h2, wait_until,
};
use serde_json::json;

fn to(backend: &Backend) -> EnvoyConfig {
    EnvoyConfig::new().cluster(Cluster::http1("backend", backend.addr())).merge_connection_manager(json!({
        "upgrade_configs": [{"upgrade_type": "websocket"}],
        "http2_protocol_options": {"allow_connect": true},
    }))
}

#[test]
fn a_reply_waits_at_its_gate() {
    let gate = Gate::closed();
    let backend = Backend::replying(Reply::ok("at last").behind(&gate));
    let envoy = Envoy::start(&to(&backend));
    let mut connection = h1::Connection::open(envoy.addr());
    connection.send("GET", "/", &[], b"").unwrap();
    gate.wait_for_held(1, PATIENCE);
    let gone = h1::Connection::open(envoy.addr());
    drop(gone);
    assert_eq!(gate.held(), 1);
    gate.open();
    assert_eq!(connection.read_response().unwrap().text(), "at last");
    assert_eq!(h1::get(envoy.addr(), "/").text(), "at last", "it stays open");
}

#[test]
fn a_backend_can_take_a_port_that_refused() {
    let port = ClosedPort::reserve();
    assert!(h1::Connection::try_open(port.addr()).is_err());
    let backend = Backend::replying_at(port.addr(), Reply::ok("up"));
    assert_eq!(h1::get(port.addr(), "/").text(), "up");
    drop(backend);
    assert!(h1::Connection::try_open(port.addr()).is_err());
}

#[test]
fn an_http_2_connection_can_drip() {
    let backend = Backend::start();
    let envoy = Envoy::start(&to(&backend));
    let connection = h2::Connection::try_open_dripping(envoy.addr()).unwrap();
    let response = connection.request("POST", "/slow", &[], &[b"body"], &[("x-check", b"1")]);
    assert_eq!(response.status, 200);
    let request = &backend.requests()[0];
    assert_eq!((request.path.as_str(), request.body.as_slice()), ("/slow", &b"body"[..]));
}

#[test]
fn an_upgrade_is_taken_up_over_both_versions_and_echoes() {
    let backend = Backend::start();
    let switching = Reply::status(101).header("connection", "upgrade").header("upgrade", "websocket");
    backend.reply(switching);
    let envoy = Envoy::start(&to(&backend));

    let mut connection = h1::Connection::open(envoy.addr());
    let headers: [(&str, &[u8]); 2] = [("connection", b"upgrade"), ("upgrade", b"websocket")];
    connection.send("GET", "/one", &headers, b"").unwrap();
    assert_eq!(connection.read_response().unwrap().status, 101);
    // What is echoed is a head, for that is what this client can read.
    connection.send_raw(b"HTTP/1.1 204 Echo\r\n\r\n").unwrap();
    assert_eq!(connection.read_response().unwrap().status, 204);

    let connection = h2::Connection::open(envoy.addr());
    let stream = connection.begin_upgrade("websocket", "/two", &[]).unwrap();
    assert_eq!(stream.upgrade_response().unwrap().status, 200);

    backend.reply(Reply::status(403).body("no"));
    let connection = h2::Connection::open(envoy.addr());
    let refused = connection.begin_upgrade("websocket", "/three", &[]).unwrap().upgrade_response().unwrap();
    assert_eq!((refused.status, refused.text()), (403, "no".to_owned()));
}

#[test]
fn an_interim_response_is_told_from_a_final_one() {
    let backend = Backend::start();
    let envoy = Envoy::start(&to(&backend));
    let mut connection = h1::Connection::open(envoy.addr());
    connection.send_raw(&h1::head("POST", "/", &[("expect", b"100-continue")], 4)).unwrap();
    assert_eq!(connection.read_interim().unwrap(), 100);
    connection.send_raw(b"body").unwrap();
    assert!(connection.read_interim().is_err());
    assert_eq!(backend.requests()[0].body, b"body");
}

#[test]
fn a_successor_takes_over_the_listener() {
    let backend = Backend::start();
    let config = |body: &str| {
        let config = to(&backend).hot_restart().route(json!({
            "match": {"prefix": "/"}, "direct_response": {"status": 200, "body": {"inline_string": body}},
        }));
        config.argument("--parent-shutdown-time-s").argument("1").argument("--drain-time-s").argument("1")
    };
    let first = Envoy::start(&config("first"));
    assert_eq!(h1::get(first.addr(), "/").text(), "first");
    let second = first.successor(&config("second"));
    assert_eq!(second.addr(), first.addr());
    wait_until("the first ends", PATIENCE, || !first.is_running());
    let third = second.successor(&config("third"));
    wait_until("the second ends", PATIENCE, || !second.is_running());
    assert_eq!(h1::get(third.addr(), "/").text(), "third");
}
