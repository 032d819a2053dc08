//! Many requests, one question.

use std::thread;
use std::time::Instant;

use portcullis_testkit::envoy::{Behaviour, EnvoyConfig, HostileServer, PATIENCE, concurrently, wait_until};
use serde_json::json;

use crate::support::{Fields, Gateway, Http, admission, per_request, plugin};

const CLIENTS: usize = 200;
const CREDENTIALS: Fields = &[("client_id", b"acme"), ("client_secret", b"s3cret")];

/// Lets all clients come at once, each over a connection of its own, while the auth service holds its answer back;
/// sees that `asked` requests reach it before the first answer, and none after.
#[track_caller]
fn stampede(http: Http, workers: u32, asked: impl Fn(&Gateway) -> usize) {
    let auth = HostileServer::start(Behaviour::Gate(admission()));
    let policy = per_request(json!({}));
    let gateway = Gateway::start_with(auth.addr(), |config: EnvoyConfig| {
        config.workers(workers).filter(plugin(&policy))
    });

    let statuses = thread::scope(|scope| {
        let clients =
            scope.spawn(|| concurrently(CLIENTS, |_| http.get(gateway.addr(), "/", CREDENTIALS).status));
        wait_until("every request waits", PATIENCE, || {
            gateway.count("coalesced").saturating_add(gateway.count("auth_calls")) == CLIENTS as u64
        });
        auth.wait_for_held(asked(&gateway), PATIENCE);
        assert_eq!(gateway.backend.bytes_received(), 0);
        let decided = Instant::now();
        auth.open_gate();
        let statuses = clients.join().unwrap();
        assert!(gateway.backend.requests().iter().all(|request| request.arrived >= decided));
        statuses
    });

    assert_eq!(statuses, vec![200; CLIENTS]);
    assert_eq!(auth.count(), asked(&gateway));
    assert_eq!(gateway.backend.count(), CLIENTS);
    assert_eq!(gateway.count("admitted"), CLIENTS as u64);
    assert_eq!(gateway.count("auth_calls"), asked(&gateway) as u64);
}

#[test]
fn a_worker_asks_once_for_all_first_requests_of_a_client_over_http1() {
    stampede(Http::One, 1, |_| 1);
}

#[test]
fn a_worker_asks_once_for_all_first_requests_of_a_client_over_http2() {
    stampede(Http::Two, 1, |_| 1);
}

#[test]
fn each_of_two_workers_asks_once() {
    for http in Http::BOTH {
        stampede(http, 2, |gateway| {
            gateway.envoy.connections_by_worker().iter().filter(|connections| **connections > 0).count()
        });
    }
}

#[test]
fn different_secrets_of_a_client_are_asked_about_separately() {
    let auth = HostileServer::start(Behaviour::Gate(admission()));
    let gateway = Gateway::start(&per_request(json!({})), auth.addr());
    let secrets = ["a", "b", "c", "d"];
    thread::scope(|scope| {
        let clients = scope.spawn(|| {
            concurrently(8, |n| {
                let headers: [(&str, &[u8]); 2] =
                    [("client_id", b"acme"), ("client_secret", secrets[n % 4].as_bytes())];
                Http::BOTH[n / 4].get(gateway.addr(), "/", &headers).status
            })
        });
        auth.wait_for_held(4, PATIENCE);
        gateway.wait_for_count("coalesced", 4);
        auth.open_gate();
        assert_eq!(clients.join().unwrap(), vec![200; 8]);
    });
    assert_eq!(auth.count(), 4);
}
