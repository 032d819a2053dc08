//! A VM that traps, and is started anew (`FAIL_RELOAD`).

use portcullis_testkit::envoy::{
    Behaviour, Cluster, Envoy, EnvoyConfig, Fields, HostileServer, Http, PATIENCE, Reply, Response, h1, h2,
    http_reply, wait_until,
};
use serde_json::json;

use crate::support::*;

const HOUR_MS: u64 = 3_600_000;
const GOOD: Fields = &[("client_id", b"acme"), ("client_secret", b"s3cret")];
const RELOADED: &str = "wasm.trapping.vm_reload_success";

fn trap_at(place: &str) -> Vec<(&str, &[u8])> {
    [GOOD, &[("x-trap", place.as_bytes())]].concat()
}

/// A connection to this worker: the kernel chooses, so that some may be needed.
fn connection_to(envoy: &Envoy, worker: usize) -> h1::Connection {
    for _ in 0..200 {
        let before = envoy.connections_by_worker();
        let connection = h1::Connection::open(envoy.addr());
        let grown = || {
            let now = envoy.connections_by_worker();
            now.iter().zip(&before).position(|(now, before)| now > before)
        };
        wait_until("the connection is accepted", PATIENCE, || grown().is_some());
        if grown() == Some(worker) {
            return connection;
        }
    }
    panic!("no connection came to worker {worker}");
}

fn exchange(connection: &mut h1::Connection, path: &str, headers: Fields) -> Response {
    connection.send("GET", path, headers, b"").unwrap();
    connection.read_response().unwrap()
}

#[test]
fn a_trap_costs_the_requests_of_its_worker_and_no_other() {
    let peers = Peers::start();
    let auth = HostileServer::start(Behaviour::Reply(http_reply(200, &[], b"")));
    let config = EnvoyConfig::new()
        .workers(2)
        .cluster(Cluster::http1("backend", peers.backend.addr()))
        .cluster(Cluster::http1("auth", auth.addr()))
        .cluster(Cluster::http1("collector", peers.collector.addr()))
        .route(json!({"match": {"path": "/waiting"}, "route": {"cluster": "backend", "idle_timeout": "2s"}}))
        .route(json!({"match": {"prefix": "/"}, "route": {"cluster": "backend", "timeout": "0s"}}))
        .filter(trapping(&policies("traps", 1_000_000, HOUR_MS), json!({})));
    let envoy = Envoy::start(&config);
    let (mut trapped, mut waiting, mut sending) =
        (connection_to(&envoy, 0), connection_to(&envoy, 0), connection_to(&envoy, 0));
    let (mut other, mut other_sending, mut later) =
        (connection_to(&envoy, 1), connection_to(&envoy, 1), connection_to(&envoy, 1));

    // In each worker a request is half sent, and another one waits for the auth service's answer.
    for connection in [&mut sending, &mut other_sending] {
        let headers = [GOOD, &[("transfer-encoding", b"chunked")]].concat();
        connection.send_raw(&h1::head("POST", "/sending", &headers, 0)).unwrap();
        connection.send_chunk(b"half").unwrap();
    }
    peers.backend.wait_for_headers(2, PATIENCE);
    auth.behave(Behaviour::Gate(http_reply(200, &[], b"")));
    waiting.send("GET", "/waiting", &[("client_id", b"a"), ("client_secret", b"1")], b"").unwrap();
    other.send("GET", "/other", &[("client_id", b"b"), ("client_secret", b"2")], b"").unwrap();
    auth.wait_for_held(2, PATIENCE);
    assert_eq!(exchange(&mut trapped, "/trap", &[("x-trap", b"request-headers")]).status, 503);

    // The other worker's go on.
    auth.open_gate();
    assert_eq!(other.read_response().unwrap().status, 200);
    other_sending.send_chunk(b"and half").unwrap();
    other_sending.end_chunks(&[]).unwrap();
    assert_eq!(other_sending.read_response().unwrap().status, 200);
    assert_eq!(exchange(&mut later, "/later", GOOD).status, 200);
    // Its own worker's are refused with what comes of them next. Of one that waits for a call-out nothing comes, and the VM
    // is no more that waits for the answer: Envoy's timeout ends it.
    sending.send_chunk(b"and half").unwrap();
    assert_eq!(sending.read_response().unwrap().status, 503);
    let status = waiting.read_response().unwrap().status;
    // Envoy's 504 passes through the VM that is no more, if it is so by then.
    assert!([503, 504].contains(&status), "{status}");
    assert_eq!(envoy.counter("http.ingress.downstream_rq_idle_timeout"), 1);
    assert_eq!(envoy.stat(RELOADED).unwrap_or(0), 0, "nobody has needed the VM yet");

    // The next one starts the VM anew, and it enforces as before.
    let mut after = connection_to(&envoy, 0);
    assert_eq!(exchange(&mut after, "/stranger", &[]).status, 401);
    assert_eq!(exchange(&mut after, "/after", GOOD).status, 200);
    assert_eq!(envoy.counter(RELOADED), 1);
    let mut paths: Vec<_> = peers.backend.requests().into_iter().map(|request| request.path).collect();
    paths.sort();
    assert_eq!(paths, ["/after", "/later", "/other", "/sending", "/sending"]);
}

#[test]
fn wherever_it_traps_nothing_passes_unchecked_and_counts_are_kept() {
    const QUOTA: u64 = 20;
    let peers = Peers::start();
    peers.backend.reply(Reply::ok("a reply"));
    let plugin = trapping(&policies("traps", QUOTA, HOUR_MS), json!({}));
    let envoy = Envoy::start(&peers.envoy(plugin).workers(1));
    let tenant: Fields = &[GOOD[0], GOOD[1], ("x-tenant", b"t")];
    let mut used = 0;
    for http in Http::BOTH {
        for (place, method, reaches) in [
            ("request-headers", "GET", false),
            ("request-body", "POST", false),
            ("response-headers", "GET", true),
            ("log", "GET", true),
        ] {
            let case = format!("{http:?} {place}");
            peers.backend.clear();
            let body: &[u8] = if method == "POST" { b"a body" } else { b"" };
            let response = http.request(envoy.addr(), method, "/trap", &trap_at(place), body);
            // What has gone out before the trap has gone out.
            assert_eq!(response.status, if place == "log" { 200 } else { 503 }, "{case}");
            // A body is seen after the headers have gone on.
            let requests = peers.backend.requests();
            assert!(reaches || requests.iter().all(|request| request.body.is_empty()), "{case} {requests:?}");

            // Until the VM runs again all is refused.
            wait_until("the VM runs again", PATIENCE, || {
                let stranger = http.get(envoy.addr(), "/stranger", &[]).status;
                assert!([401, 503].contains(&stranger), "{case} {stranger}");
                stranger == 401
            });
            let requests = peers.backend.requests();
            assert!(requests.iter().all(|request| request.path == "/trap"), "{case} {requests:?}");
            assert_eq!(http.get(envoy.addr(), "/", tenant).status, 200, "{case}");
            used += 1;
        }
    }
    assert!(envoy.counter(RELOADED) >= used);
    // Shared data has outlived the VMs.
    let left = (0..QUOTA * 2).filter(|_| Http::One.get(envoy.addr(), "/", tenant).status == 200).count();
    assert_eq!(left as u64, QUOTA - used);
}

/// Streams of one connection share a worker, and so a VM; the connection itself outlives it.
#[test]
fn a_connection_outlives_the_vm_of_its_worker() {
    let peers = Peers::start();
    let plugin = trapping(&policies("traps", 1_000_000, HOUR_MS), json!({}));
    let envoy = Envoy::start(&peers.envoy(plugin).workers(1));
    let connection = h2::Connection::open(envoy.addr());
    assert_eq!(connection.request("GET", "/", GOOD, &[], &[]).status, 200);
    let trap = trap_at("request-headers");
    assert_eq!(connection.request("GET", "/trap", &trap, &[], &[]).status, 503);
    wait_until("the VM runs again", PATIENCE, || {
        connection.request("GET", "/", GOOD, &[], &[]).status == 200
    });
    assert_eq!(envoy.counter("http.ingress.downstream_cx_total"), 1);
}
