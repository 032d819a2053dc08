//! What one worker has learnt serves the others.

use portcullis_testkit::envoy::{EnvoyConfig, PATIENCE, wait_until};
use serde_json::json;

use crate::support::{Fields, Gateway, Http, auth_service, per_request, plugin};

/// Sends requests until both workers have served some. The kernel spreads connections by a hash of their ports.
#[track_caller]
fn use_both_workers(gateway: &Gateway, http: Http, headers: Fields, expected: u16) {
    let before = gateway.envoy.connections_by_worker();
    wait_until("both workers have served requests", PATIENCE, || {
        assert_eq!(http.get(gateway.addr(), "/", headers).status, expected, "{http:?}");
        let now = gateway.envoy.connections_by_worker();
        now.len() == 2 && now.iter().zip(&before).all(|(now, before)| now > before)
    });
}

fn on_two_workers(cache: serde_json::Value, auth: std::net::SocketAddr) -> Gateway {
    let plugin = plugin(&per_request(json!({"cache": cache})));
    Gateway::start_with(auth, |config: EnvoyConfig| config.workers(2).filter(plugin))
}

#[test]
fn one_call_out_serves_both_workers() {
    let auth = auth_service();
    let gateway = on_two_workers(json!({"shared_slots": 1000}), auth.addr());
    let good: Fields = &[("client_id", b"acme"), ("client_secret", b"s3cret")];
    let bad: Fields = &[("client_id", b"acme"), ("client_secret", b"wrong")];
    for http in Http::BOTH {
        use_both_workers(&gateway, http, good, 200);
        use_both_workers(&gateway, http, bad, 401);
    }
    assert_eq!(auth.count(), 2);
    assert_eq!(gateway.count("cache_shared_hit"), 2);
    let identity = |request: &portcullis_testkit::envoy::Recorded| {
        ["id", "name", "tier"].map(|part| request.headers.text(&format!("x-portcullis-client-{part}")))
    };
    let expected = ["acme", "Acme", "gold"].map(|text| Some(text.to_owned()));
    assert!(gateway.backend.requests().iter().all(|request| identity(request) == expected));
}

#[test]
fn without_a_shared_cache_each_worker_asks_once() {
    let auth = auth_service();
    let gateway = on_two_workers(json!({}), auth.addr());
    let good: Fields = &[("client_id", b"acme"), ("client_secret", b"s3cret")];
    for http in Http::BOTH {
        use_both_workers(&gateway, http, good, 200);
    }
    assert_eq!(auth.count(), 2);
}
