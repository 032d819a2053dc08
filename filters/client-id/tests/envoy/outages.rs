//! The auth service down, slow, broken and talking nonsense.

use std::net::SocketAddr;

use portcullis_testkit::envoy::{
    Behaviour, ClosedPort, HostileServer, PATIENCE, Response, http_reply, wait_until,
};
use serde_json::{Value, json};

use crate::support::{Gateway, Http, admission, per_request};

fn policy(cluster: &str, on_outage: &str) -> Value {
    per_request(json!({
        "auth": {"per-request": {"cluster": cluster, "timeout_ms": 500, "retries": 0}},
        "on_outage": on_outage,
    }))
}

/// A request with credentials that nobody has used before.
#[track_caller]
fn call(gateway: &Gateway, http: Http, secret: &str) -> Response {
    let headers: [(&str, &[u8]); 2] = [("client_id", b"acme"), ("client_secret", secret.as_bytes())];
    http.get(gateway.addr(), "/", &headers)
}

/// Asserts that both gateways treat one request as an outage, counted as `counter`.
#[track_caller]
fn assert_outage(closed: &Gateway, open: &Gateway, http: Http, secret: &str, counter: &str) {
    let case = format!("{http:?} {secret}");
    let (before_closed, before_open) = (closed.mark(), (open.count("outage_open"), open.count(counter)));
    let refused_before = (closed.count("outage_closed"), closed.count(counter));

    let refused = call(closed, http, secret);
    assert_eq!((refused.status, refused.headers.text("retry-after").as_deref()), (503, Some("1")), "{case}");
    closed.assert_backend_untouched_since(&before_closed);
    assert_grown_by_one(closed, "outage_closed", refused_before.0, &case);
    assert_grown_by_one(closed, counter, refused_before.1, &case);

    open.backend.clear();
    assert_eq!(call(open, http, secret).status, 200, "{case}");
    let request = &open.backend.requests()[0];
    let reason = counter.replace('_', "-");
    assert_eq!(request.headers.text("x-portcullis-unverified"), Some(reason), "{case}");
    for absent in ["x-portcullis-client-id", "client_id", "client_secret"] {
        assert!(!request.headers.contains(absent), "{case} {absent}");
    }
    assert_grown_by_one(open, "outage_open", before_open.0, &case);
    assert_grown_by_one(open, counter, before_open.1, &case);
}

/// Asserts that the service is asked again, and its answer believed.
#[track_caller]
fn assert_admits_again(gateway: &Gateway, http: Http, outage: &str) {
    gateway.backend.clear();
    wait_until("requests are admitted again", PATIENCE, || {
        let response = call(gateway, http, &format!("{outage} is over {http:?}"));
        let requests = gateway.backend.requests();
        response.status == 200
            && requests.iter().any(|request| request.headers.contains("x-portcullis-client-id"))
    });
}

#[track_caller]
fn assert_grown_by_one(gateway: &Gateway, counter: &str, before: u64, case: &str) {
    assert_eq!(gateway.count(counter).checked_sub(before), Some(1), "{case} {counter}");
}

fn both(cluster: &str, auth: SocketAddr) -> (Gateway, Gateway) {
    (Gateway::start(&policy(cluster, "closed"), auth), Gateway::start(&policy(cluster, "open"), auth))
}

#[test]
fn a_service_that_misbehaves_is_an_outage_until_it_recovers() {
    let auth = HostileServer::start(Behaviour::Hang);
    let (closed, open) = both("auth", auth.addr());
    let many_headers: Vec<String> = (0..2000).map(|n| format!("x-{n}")).collect();
    let many_headers: Vec<(&str, &[u8])> =
        many_headers.iter().map(|name| (name.as_str(), [b'a'; 100].as_slice())).collect();
    let cases = [
        ("hang", Behaviour::Hang, "auth_status"),
        ("reset", Behaviour::Reset, "auth_status"),
        ("close", Behaviour::CloseAtOnce, "auth_status"),
        ("500", Behaviour::Reply(http_reply(500, &[], b"")), "auth_status"),
        ("garbage", Behaviour::Garbage, "auth_status"),
        ("half", Behaviour::HalfReply, "auth_reset"),
        ("huge headers", Behaviour::Reply(http_reply(200, &many_headers, b"")), "auth_status"),
        ("huge body", Behaviour::Reply(http_reply(200, &[], &vec![b'x'; 40 << 20])), "auth_reset"),
    ];
    for http in Http::BOTH {
        for (name, behaviour, counter) in &cases {
            auth.behave(behaviour.clone());
            assert_outage(&closed, &open, http, &format!("{name} {http:?}"), counter);

            auth.behave(Behaviour::Reply(admission()));
            assert_admits_again(&closed, http, name);
            assert_admits_again(&open, http, name);
        }
    }
}

#[test]
fn a_service_that_answers_without_a_decision_is_no_outage() {
    let auth = HostileServer::start(Behaviour::Hang);
    let open = Gateway::start(&policy("auth", "open"), auth.addr());
    let before = open.mark();
    for http in Http::BOTH {
        for status in [302, 400, 404, 429, 600] {
            auth.behave(Behaviour::Reply(http_reply(status, &[("location", b"/login")], b"")));
            assert_eq!(call(&open, http, &format!("{status} {http:?}")).status, 503, "{http:?} {status}");
        }
    }
    open.assert_backend_untouched_since(&before);
    assert_eq!((open.count("outage_open"), open.count("outage_closed")), (0, 10));
}

#[test]
fn a_service_that_is_down_is_an_outage_until_it_comes_up() {
    let port = ClosedPort::reserve();
    let (closed, open) = both("auth", port.addr());
    for http in Http::BOTH {
        assert_outage(&closed, &open, http, &format!("down {http:?}"), "auth_status");
    }

    let _auth = HostileServer::start_at(port.addr(), Behaviour::Reply(admission()));

    for http in Http::BOTH {
        assert_admits_again(&closed, http, "up");
        assert_admits_again(&open, http, "up");
    }
}

#[test]
fn a_cluster_that_envoy_does_not_know_is_an_outage() {
    let (closed, open) = both("no-such-cluster", ClosedPort::reserve().addr());
    for http in Http::BOTH {
        assert_outage(&closed, &open, http, "unknown cluster", "auth_unreachable");
        assert_eq!(closed.count("auth_calls"), 0);
    }
}

#[test]
fn asks_again_when_the_connection_breaks_and_not_when_the_service_has_answered() {
    let auth = HostileServer::start(Behaviour::Hang);
    let policy = per_request(json!({"auth": {"per-request": {"cluster": "auth", "retries": 2}}}));
    let gateway = Gateway::start(&policy, auth.addr());
    let cases = [
        ("reset", Behaviour::Reset, 3),
        ("close", Behaviour::CloseAtOnce, 3),
        ("garbage", Behaviour::Garbage, 3),
        ("half", Behaviour::HalfReply, 3),
        ("503", Behaviour::Reply(http_reply(503, &[], b"")), 3),
        ("500", Behaviour::Reply(http_reply(500, &[], b"")), 1),
    ];
    for http in Http::BOTH {
        for (name, behaviour, asked) in &cases {
            auth.behave(behaviour.clone());
            let before = gateway.count("auth_calls");
            assert_eq!(call(&gateway, http, &format!("{name} {http:?}")).status, 503, "{http:?} {name}");
            assert_eq!(gateway.count("auth_calls").checked_sub(before), Some(*asked), "{http:?} {name}");
        }
    }
}

#[test]
fn an_open_gateway_still_refuses_requests_without_credentials() {
    let port = ClosedPort::reserve();
    let open = Gateway::start(&policy("auth", "open"), port.addr());
    let before = open.mark();
    for http in Http::BOTH {
        assert_eq!(http.get(open.addr(), "/", &[]).status, 401);
        assert_eq!(http.get(open.addr(), "/", &[("authorization", b"Basic ?")]).status, 400);
    }
    open.assert_backend_untouched_since(&before);
}
