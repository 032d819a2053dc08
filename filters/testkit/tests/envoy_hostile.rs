#![cfg(feature = "envoy")]
//! What Envoy's router makes of upstreams that misbehave.

use std::time::Duration;

use portcullis_testkit::envoy::{
    Backend, Behaviour, ClientError, ClosedPort, Cluster, Envoy, EnvoyConfig, HostileServer, PATIENCE,
    concurrently, h1, http_reply, wait_until,
};

/// For an upstream that never answers: long enough that Envoy has reached it by then.
const ROUTE_TIMEOUT: Duration = Duration::from_secs(2);

fn in_front_of(server: &HostileServer) -> EnvoyConfig {
    EnvoyConfig::new().cluster(Cluster::http1("hostile", server.addr()))
}

fn ok(body: &[u8]) -> Vec<u8> {
    http_reply(200, &[("x-raw", b"\xff")], body)
}

#[test]
fn a_well_formed_reply_passes() {
    let server = HostileServer::start(Behaviour::Reply(ok(b"fine")));
    let envoy = Envoy::start(&in_front_of(&server));

    let response = h1::request(envoy.addr(), "POST", "/path", &[], b"body");
    server.behave(Behaviour::ReplyAfter(Duration::from_millis(20), ok(b"later")));
    let later = h1::get(envoy.addr(), "/");
    server.behave(Behaviour::Drip(Duration::from_millis(1), ok(b"drop by drop")));
    let dripped = h1::get(envoy.addr(), "/");

    assert_eq!((response.status, response.text().as_str()), (200, "fine"));
    assert_eq!(response.headers.get("x-raw"), Some(b"\xff".as_slice()));
    assert_eq!(later.text(), "later");
    assert_eq!(dripped.text(), "drop by drop");
    assert_eq!(server.count(), 3);
    assert_eq!(server.connections(), 1, "the connection is kept alive");
    assert!(server.request_heads()[0].starts_with(b"POST /path HTTP/1.1\r\n"));
}

#[test]
fn misbehaviour_becomes_a_gateway_error() {
    let server = HostileServer::start(Behaviour::Hang);
    let envoy = Envoy::start(&in_front_of(&server));
    let cases = [
        (Behaviour::Reset, 503),
        (Behaviour::CloseAtOnce, 503),
        (Behaviour::Garbage, 502),
        (Behaviour::Reply(b"HTTP/1.1 200 OK\r\nbad header\r\n\r\n".to_vec()), 502),
    ];

    for (behaviour, expected) in cases {
        server.behave(behaviour.clone());
        assert_eq!(h1::get(envoy.addr(), "/").status, expected, "{behaviour:?}");
    }
}

#[test]
fn a_closed_port_becomes_503() {
    let port = ClosedPort::reserve();
    let envoy = Envoy::start(&EnvoyConfig::new().cluster(Cluster::http1("closed", port.addr())));

    assert_eq!(h1::get(envoy.addr(), "/").status, 503);
}

#[test]
fn a_closed_port_may_be_opened() {
    let port = ClosedPort::reserve();
    let envoy = Envoy::start(&EnvoyConfig::new().cluster(Cluster::http1("closed", port.addr())));
    assert_eq!(h1::get(envoy.addr(), "/").status, 503);

    let _server = HostileServer::start_at(port.addr(), Behaviour::Reply(ok(b"open")));

    wait_until("requests succeed", PATIENCE, || h1::get(envoy.addr(), "/").text() == "open");
}

#[test]
fn an_upstream_that_never_answers_becomes_504() {
    let server = HostileServer::start(Behaviour::Hang);
    let envoy = Envoy::start(&in_front_of(&server).route_timeout(ROUTE_TIMEOUT));

    assert_eq!(h1::get(envoy.addr(), "/").status, 504);
    server.wait_for(1, PATIENCE);
    wait_until("Envoy hangs up", PATIENCE, || server.open_connections() == 0);
}

#[test]
fn half_a_reply_breaks_the_downstream_connection() {
    let server = HostileServer::start(Behaviour::HalfReply);
    let envoy = Envoy::start(&in_front_of(&server));

    let outcome = h1::try_request(envoy.addr(), "GET", "/", &[], b"");

    assert!(matches!(outcome, Err(ClientError::Closed | ClientError::Reset)), "{outcome:?}");
}

#[test]
fn the_gate_holds_requests_until_it_opens() {
    let server = HostileServer::start(Behaviour::Gate(ok(b"through")));
    let envoy = Envoy::start(&in_front_of(&server));

    std::thread::scope(|scope| {
        let clients = scope.spawn(|| concurrently(5, |_| h1::get(envoy.addr(), "/").text()));
        server.wait_for_held(5, PATIENCE);
        assert_eq!(server.count(), 5);
        server.open_gate();
        assert_eq!(clients.join().unwrap(), vec!["through"; 5]);
    });
    assert_eq!(server.held(), 0);

    // It stays open until a new gate is set.
    assert_eq!(h1::get(envoy.addr(), "/").text(), "through");
    server.behave(Behaviour::Gate(ok(b"again")));
    let mut connection = h1::Connection::open(envoy.addr());
    connection.send("GET", "/", &[], b"").unwrap();
    server.wait_for_held(1, PATIENCE);
    connection.abort();
    server.wait_for_held(0, PATIENCE);
}

#[test]
fn a_dropped_backend_refuses_connections() {
    let backend = Backend::start();
    let envoy = Envoy::start(&EnvoyConfig::new().cluster(Cluster::http1("backend", backend.addr())));
    assert_eq!(h1::get(envoy.addr(), "/").status, 200);
    assert!(backend.bytes_received() > 0);

    drop(backend);

    wait_until("requests fail", PATIENCE, || h1::get(envoy.addr(), "/").status == 503);
}
