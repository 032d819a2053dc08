//! Clients that leave while a call-out is under way.

use std::time::Instant;

use portcullis_testkit::envoy::{Behaviour, HostileServer, PATIENCE, h1, h2};
use serde_json::json;

use crate::support::{Begun, Body, Fields, Gateway, Http, admission, per_request};

const CREDENTIALS: Fields = &[("client_id", b"acme"), ("client_secret", b"s3cret")];

fn setup() -> (HostileServer, Gateway) {
    let auth = HostileServer::start(Behaviour::Hang);
    let gateway = Gateway::start(&per_request(json!({"cache": {"entries": 0}})), auth.addr());
    (auth, gateway)
}

/// One request that asked the auth service, and one that waits for the same answer.
#[track_caller]
fn leader_and_waiter(gateway: &Gateway, auth: &HostileServer, http: Http) -> (Begun, Begun) {
    auth.behave(Behaviour::Gate(admission()));
    let coalesced = gateway.count("coalesced");
    let leader = http.begin(gateway.addr(), "GET", "/leader", CREDENTIALS, Body::Nothing);
    auth.wait_for_held(1, PATIENCE);
    let waiter = http.begin(gateway.addr(), "GET", "/waiter", CREDENTIALS, Body::Nothing);
    gateway.wait_for_count("coalesced", coalesced.saturating_add(1));
    (leader, waiter)
}

#[test]
fn waiters_are_admitted_by_the_call_out_of_a_leader_that_left() {
    let (auth, gateway) = setup();
    for (http, asked) in [(Http::One, 1), (Http::Two, 2)] {
        gateway.backend.clear();
        let (leader, waiter) = leader_and_waiter(&gateway, &auth, http);
        leader.abort();
        gateway.wait_for_active(1);
        // One that comes after the leader has left joins all the same.
        let late = http.begin(gateway.addr(), "GET", "/late", CREDENTIALS, Body::Nothing);
        gateway.wait_for_active(2);
        assert_eq!(auth.held(), 1, "{http:?}");

        let decided = Instant::now();
        auth.open_gate();

        assert_eq!(waiter.response().unwrap().status, 200, "{http:?}");
        assert_eq!(late.response().unwrap().status, 200, "{http:?}");
        assert_eq!(auth.count(), asked, "{http:?}");
        let requests = gateway.backend.requests();
        assert_eq!(requests.len(), 2, "{http:?}");
        assert!(requests.iter().all(|request| request.path != "/leader" && request.arrived >= decided));
    }
    assert_eq!(gateway.count("admitted"), 4);
    assert_eq!((gateway.count("auth_calls"), gateway.count("auth_admitted")), (2, 2));
    assert_eq!(gateway.count("coalesced"), 4);
}

#[test]
fn a_leader_is_admitted_when_its_waiter_left() {
    let (auth, gateway) = setup();
    for http in Http::BOTH {
        gateway.backend.clear();
        let (leader, waiter) = leader_and_waiter(&gateway, &auth, http);
        waiter.abort();
        gateway.wait_for_active(1);
        auth.open_gate();

        assert_eq!(leader.response().unwrap().status, 200, "{http:?}");
        let paths: Vec<_> = gateway.backend.requests().into_iter().map(|request| request.path).collect();
        assert_eq!(paths, ["/leader"], "{http:?}");
    }
    assert_eq!((gateway.count("admitted"), gateway.count("auth_calls")), (2, 2));
}

#[test]
fn an_answer_for_nobody_is_remembered() {
    let auth = HostileServer::start(Behaviour::Hang);
    let gateway = Gateway::start(&per_request(json!({})), auth.addr());
    for (http, secret) in [(Http::One, &b"one"[..]), (Http::Two, b"two")] {
        let headers: Fields = &[("client_id", b"acme"), ("client_secret", secret)];
        auth.behave(Behaviour::Gate(admission()));
        let admitted = gateway.count("auth_admitted");
        let (asked, hits) = (auth.count(), gateway.count("cache_hit"));
        let request = http.begin(gateway.addr(), "GET", "/", headers, Body::Nothing);
        auth.wait_for_held(1, PATIENCE);
        request.abort();
        gateway.wait_for_active(0);
        auth.open_gate();
        gateway.wait_for_count("auth_admitted", admitted.saturating_add(1));

        assert_eq!(http.get(gateway.addr(), "/", headers).status, 200);
        assert_eq!(gateway.count("cache_hit").checked_sub(hits), Some(1));
        assert_eq!(auth.count().checked_sub(asked), Some(1), "{http:?}");
    }
}

#[test]
fn a_body_with_trailers_that_is_reset_while_pending_leaves_nothing_behind() {
    let (auth, gateway) = setup();
    let before = gateway.mark();
    for http in Http::BOTH {
        auth.behave(Behaviour::Gate(admission()));
        let mut request = http.begin(gateway.addr(), "POST", "/", CREDENTIALS, Body::Chunked);
        auth.wait_for_held(1, PATIENCE);
        let received = gateway.received();
        request.send(b"body").unwrap();
        request.end(&[("x-check", b"1")]).unwrap();
        gateway.wait_for_received(received.saturating_add(1));
        request.abort();
        gateway.wait_for_active(0);
        let answered = gateway.count("auth_admitted");
        auth.open_gate();
        gateway.wait_for_count("auth_admitted", answered.saturating_add(1));
    }
    gateway.assert_backend_untouched_since(&before);
    assert_eq!(gateway.count("admitted"), 0);
}

#[test]
fn a_stream_may_be_reset_while_others_of_its_connection_wait() {
    let (auth, gateway) = setup();
    auth.behave(Behaviour::Gate(admission()));
    let connection = h2::Connection::open(gateway.addr());
    let streams: Vec<_> =
        (0..10).map(|_| connection.begin("GET", "/", CREDENTIALS, h2::Rest::Nothing).unwrap()).collect();
    gateway.wait_for_active(10);
    let mut kept = Vec::new();
    for (at, stream) in streams.into_iter().enumerate() {
        if at % 2 == 0 { stream.reset() } else { kept.push(stream) }
    }
    gateway.wait_for_active(5);
    auth.open_gate();

    for stream in kept {
        assert_eq!(stream.response().unwrap().status, 200);
    }
    assert_eq!(gateway.backend.count(), 5);
    assert_eq!(auth.count(), 1);
}

#[test]
fn a_client_that_closes_its_sending_half_while_pending_does_no_harm() {
    let (auth, gateway) = setup();
    auth.behave(Behaviour::Gate(admission()));
    let mut connection = h1::Connection::open(gateway.addr());
    connection.send("GET", "/", CREDENTIALS, b"").unwrap();
    auth.wait_for_held(1, PATIENCE);
    connection.finish_sending();
    // Envoy takes a half-closed HTTP/1.1 connection for a closed one.
    gateway.wait_for_active(0);
    auth.open_gate();

    gateway.wait_for_count("auth_admitted", 1);
    assert_eq!(gateway.backend.count(), 0);
    assert_eq!(Http::One.get(gateway.addr(), "/", CREDENTIALS).status, 200);
}
