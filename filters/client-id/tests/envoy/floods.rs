//! Floods that fill the auth cluster's circuit breaker, which open no gate.

use std::time::Duration;

use portcullis_testkit::envoy::{
    Backend, Cluster, Envoy, EnvoyConfig, Fields, Gate, PATIENCE, Reply, h1, h2, wait_until,
};
use serde_json::{Value, json};

use crate::support::{Gateway, per_request, plugin};

/// Envoy with this policy and an auth cluster with this circuit breaker.
fn gateway(policy: Value, auth: &Backend, thresholds: Value) -> Gateway {
    let backend = Backend::start();
    let breaker = json!({"circuit_breakers": {"thresholds": [thresholds]}});
    let config = EnvoyConfig::new()
        .cluster(Cluster::http1("backend", backend.addr()))
        .cluster(Cluster::http1("auth", auth.addr()).merge(breaker))
        .route(json!({"match": {"prefix": "/"}, "route": {"cluster": "backend", "timeout": "0s"}}))
        .filter(plugin(&per_request(policy)));
    Gateway { envoy: Envoy::start(&config), backend }
}

fn begin(connection: &h2::Connection, secret: &str) -> h2::Stream {
    let fields: Fields = &[("client_id", b"acme"), ("client_secret", secret.as_bytes())];
    connection.begin("GET", "/", fields, h2::Rest::Nothing).unwrap()
}

fn statuses(streams: Vec<h2::Stream>) -> Vec<u16> {
    streams.into_iter().map(|stream| stream.response().unwrap().status).collect()
}

fn count(statuses: &[u16], status: u16) -> usize {
    statuses.iter().filter(|found| **found == status).count()
}

/// Four calls are with the service and at most four wait for a connection; Envoy refuses the others at once.
#[test]
fn wrong_secrets_that_fill_the_circuit_breaker_open_nothing() {
    let auth = Backend::start();
    let gate = Gate::closed();
    let denial = Reply::status(401).behind(&gate);
    auth.reply_with(move |_| denial.clone());
    let thresholds = json!({"max_connections": 4, "max_pending_requests": 4});
    let gateway = gateway(json!({"on_outage": "open"}), &auth, thresholds);
    let connection = h2::Connection::open(gateway.addr());
    let streams: Vec<_> = (0..40).map(|at| begin(&connection, &format!("guess {at}"))).collect();
    gateway.wait_for_count("overload", 32);
    gate.open();
    let statuses = statuses(streams);
    // A call also waits while its connection is being made, so between four and eight are sent.
    let (sent, refused) = (count(&statuses, 401), count(&statuses, 503));
    assert!(sent.saturating_add(refused) == 40 && refused >= 32, "{statuses:?}");
    assert_eq!((gateway.backend.count(), gateway.count("outage_open")), (0, 0));
}

/// Connections are plenty, so that calls wait for one and find the breaker full only then: the refusal is a reply.
#[test]
fn wrong_secrets_that_are_refused_late_open_nothing() {
    let auth = Backend::start();
    let gate = Gate::closed();
    let denial = Reply::status(401).behind(&gate);
    auth.reply_with(move |_| denial.clone());
    let gateway = gateway(json!({"on_outage": "open"}), &auth, json!({"max_requests": 4}));
    let connection = h2::Connection::open(gateway.addr());
    let streams: Vec<_> = (0..40).map(|at| begin(&connection, &format!("guess {at}"))).collect();
    gateway.wait_for_count("overload", 36);
    gate.open();
    let statuses = statuses(streams);
    assert_eq!((count(&statuses, 401), count(&statuses, 503)), (4, 36), "{statuses:?}");
    assert_eq!((gateway.backend.count(), gateway.count("outage_open")), (0, 0));
}

#[test]
fn hundreds_of_wrong_secrets_at_a_time_do_not_reach_the_upstream() {
    let auth = Backend::replying(Reply::status(401).delay(Duration::from_millis(20)));
    let thresholds = json!({"max_pending_requests": 128, "max_connections": 128, "max_requests": 1024});
    let policy = json!({
        "auth": {"per-request": {"cluster": "auth"}}, "on_outage": "open", "max_waiting": 10_000,
        "cache": {"entries": 0},
    });
    let gateway = gateway(policy, &auth, thresholds);
    for round in 0..3 {
        let connections: Vec<_> = (0..6).map(|_| h2::Connection::open(gateway.addr())).collect();
        let streams: Vec<_> = connections
            .iter()
            .enumerate()
            .flat_map(|(at, connection)| {
                (0..100).map(move |nth| begin(connection, &format!("{round} {at} {nth}")))
            })
            .collect();
        let statuses = statuses(streams);
        assert_eq!(count(&statuses, 401).saturating_add(count(&statuses, 503)), 600, "{statuses:?}");
    }
    assert_eq!((gateway.backend.count(), gateway.count("outage_open")), (0, 0));
    assert!(gateway.count("overload") > 0, "the breaker has been full");
}

#[test]
fn a_client_that_is_locked_out_fills_the_circuit_breaker_in_vain() {
    let auth = Backend::start();
    let gate = Gate::closed();
    auth.reply_with(|_| Reply::status(200));
    let cache = json!({"admit_ttl_ms": 1, "jitter_percent": 0, "stale_if_error_ms": 86_400_000});
    let thresholds = json!({"max_connections": 1, "max_pending_requests": 1});
    let gateway = gateway(json!({"cache": cache}), &auth, thresholds);
    let own: Fields = &[("client_id", b"acme"), ("client_secret", b"s3cret")];
    assert_eq!(h1::request(gateway.addr(), "GET", "/", own, b"").status, 200);
    gateway.backend.clear();
    let denial = Reply::status(401).behind(&gate);
    auth.reply_with(move |_| denial.clone());

    let connection = h2::Connection::open(gateway.addr());
    let flood: Vec<_> = (0..2).map(|at| begin(&connection, &format!("guess {at}"))).collect();
    wait_until("the breaker is full", PATIENCE, || {
        gateway.envoy.counter("cluster.auth.upstream_rq_pending_active") == 1
    });
    assert_eq!(h1::request(gateway.addr(), "GET", "/", own, b"").status, 503);
    gate.open();
    assert_eq!(statuses(flood), [401, 401]);
    assert_eq!(gateway.count("cache_stale"), 0);
    assert_eq!(gateway.backend.count(), 0);
}

/// The service fails on some credentials only, in every way that it can.
#[test]
fn credentials_on_which_the_service_fails_open_nothing() {
    let auth = Backend::start();
    auth.reply_with(|request| {
        let odd = crate::support::basic("acme", "odd");
        if request.headers.get("authorization") == Some(&odd[..]) {
            Reply::status(500)
        } else {
            Reply::status(401)
        }
    });
    let gateway = gateway(json!({"on_outage": "open"}), &auth, json!({}));
    let odd: Fields = &[("client_id", b"acme"), ("client_secret", b"odd")];
    assert_eq!(h1::request(gateway.addr(), "GET", "/", odd, b"").status, 503);
    assert_eq!((gateway.backend.count(), gateway.count("auth_up")), (0, 1));
}
