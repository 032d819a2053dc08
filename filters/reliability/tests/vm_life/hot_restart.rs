//! Envoy's hot restart: a new process takes over the listener of the old one.

use portcullis_reliability::load::Load;
use portcullis_testkit::envoy::{Body, Envoy, EnvoyConfig, Http, PATIENCE, wait_until};

use crate::support::*;

#[test]
fn a_hot_restart_under_load_loses_no_request_and_no_line() {
    let peers = Peers::start();
    let config = |realm: &str| -> EnvoyConfig {
        let arguments =
            ["--drain-strategy", "immediate", "--drain-time-s", "3", "--parent-shutdown-time-s", "8"];
        let config = peers.envoy(gateway(&policies(realm, 1_000_000, 3_600_000))).hot_restart();
        arguments.into_iter().fold(config, EnvoyConfig::argument)
    };
    let old = Envoy::start(&config("old"));
    let addr = old.addr();
    let headers: [(&str, &[u8]); 2] = [("client_id", b"long"), ("client_secret", b"s3cret")];
    let mut long = Http::Two.begin(addr, "POST", "/long/0", &headers, Body::Chunked);
    long.send(b"begun before ").unwrap();
    peers.backend.wait_for_headers(1, PATIENCE);
    let clients = [client("one", Http::One), client("two", Http::Two), client("three", Http::One)];
    let load = Load::start(addr, &clients);
    wait_until("requests come", PATIENCE, || load.answered() >= 200);

    let new = old.successor(&config("new"));
    assert_eq!(new.addr(), addr);
    let before = load.answered();
    wait_until("requests go on", PATIENCE, || load.answered() >= before + 200);
    // The old process lets what is under way come to its end.
    assert!(old.is_running());
    long.send(b"and ended after").unwrap();
    long.end(&[]).unwrap();
    assert_eq!(long.response().unwrap().status, 200);
    wait_until("the old process ends by itself", PATIENCE, || !old.is_running());
    let before = load.answered();
    wait_until("requests go on without it", PATIENCE, || load.answered() >= before + 200);

    let challenge = Http::One.get(addr, "/refused/0", &[]);
    assert!(challenge.headers.text("www-authenticate").is_some_and(|value| value.contains("new")));
    let tallies = load.stop();
    let mut sent = 2;
    for tally in &tallies {
        assert_eq!((tally.statuses.get(&200), tally.lost.len()), (Some(&tally.sent), 0), "{tally:?}");
        assert!(tally.connections >= 2, "{tally:?}");
        sent += tally.sent;
    }
    assert_eq!(peers.backend.count() as u64, sent - 1);
    peers.assert_logged(sent);
}
