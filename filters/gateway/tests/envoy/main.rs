//! The chain in real Envoy: client-id, rate-limit and access-log in one module.
#![cfg(test)]

mod metrics;
mod support;
mod transformation;

use portcullis_testkit::envoy::{h1, h2};
use serde_json::json;

use crate::support::{Chain, credentials};

fn per_client(max: u64) -> serde_json::Value {
    json!({"rate-limit": {
        "name": "per-client",
        "key": ["client-id"],
        "limits": [{"max": max, "period_ms": 3_600_000}],
        "headers": "mule",
    }})
}

fn overall(max: u64) -> serde_json::Value {
    json!({"rate-limit": {
        "name": "overall",
        "limits": [{"max": max, "period_ms": 3_600_000}],
        "headers": "ietf",
    }})
}

fn client_id() -> serde_json::Value {
    json!({"client-id": {"auth": {"per-request": {"cluster": "auth"}}}})
}

fn access_log() -> serde_json::Value {
    json!({"access-log": {}})
}

#[test]
fn clients_that_were_identified_have_a_quota_each() {
    let chain = Chain::start(&[client_id(), per_client(2), access_log()]);
    for (client, statuses) in [("acme", [200, 200, 429]), ("globex", [200, 200, 429])] {
        for (at, (status, remaining)) in statuses.into_iter().zip(["1", "0", "0"]).enumerate() {
            let reply = if at % 2 == 0 {
                h1::request(chain.addr(), "GET", "/a", &credentials(client), b"")
            } else {
                h2::request(chain.addr(), "GET", "/a", &credentials(client), &[], &[])
            };
            assert_eq!(reply.status, status, "{client} {at}");
            assert_eq!(reply.headers.text("x-ratelimit-limit").as_deref(), Some("2"));
            assert_eq!(reply.headers.text("x-ratelimit-remaining").as_deref(), Some(remaining));
            assert_eq!(reply.headers.text("retry-after").as_deref().is_some(), status == 429);
        }
    }
    assert_eq!(chain.backend.count(), 4);
    assert!(chain.backend.requests().iter().all(|request| {
        matches!(request.headers.text("x-portcullis-client-id").as_deref(), Some("acme" | "globex"))
    }));
    assert_eq!(chain.auth.count(), 2, "one question for each client: nobody asks or parses twice");
}

#[test]
fn a_refused_request_has_its_log_line() {
    let chain = Chain::start(&[client_id(), per_client(1), access_log()]);
    let missing = h1::get(chain.addr(), "/");
    assert_eq!((missing.status, missing.headers.text("x-ratelimit-limit").as_deref()), (401, None));
    for _ in 0..2 {
        h1::request(chain.addr(), "GET", "/", &credentials("acme"), b"");
    }
    let outcomes: Vec<_> = (0..3).map(|at| chain.line(at)["outcomes"].clone()).collect();
    assert_eq!(outcomes[0], json!(["client-id:rejected:missing"]));
    assert_eq!(outcomes[1], json!(["client-id:passed:admitted", "rate-limit:passed:admitted"]));
    assert_eq!(outcomes[2], json!(["client-id:passed:admitted", "rate-limit:rejected:quota-exceeded"]));
    let line = chain.line(2);
    assert_eq!((&line["status"], &line["client_id"]), (&json!(429), &json!("acme")));
}

#[test]
fn policies_work_in_any_order_and_number() {
    // What everybody together may do is counted before anybody is asked for credentials.
    let chain = Chain::start(&[access_log(), overall(3), client_id(), per_client(1), access_log()]);
    let good = || h1::request(chain.addr(), "GET", "/", &credentials("acme"), b"");
    let first = good();
    assert_eq!(first.status, 200);
    assert_eq!(first.headers.text("x-ratelimit-remaining").as_deref(), Some("0"));
    assert!(first.headers.text("ratelimit").as_deref().is_some_and(|value| value.contains("r=2")));
    let unknown = h1::get(chain.addr(), "/");
    assert_eq!(unknown.status, 401);
    assert!(
        unknown.headers.text("ratelimit").as_deref().is_some_and(|value| value.contains("r=1")),
        "{unknown:?}"
    );
    assert_eq!(unknown.headers.text("x-ratelimit-remaining").as_deref(), None);
    let second = good();
    assert_eq!((second.status, second.headers.text("x-ratelimit-remaining").as_deref()), (429, Some("0")));
    // A refusal is told by the policy that refuses.
    assert_eq!(second.headers.text("ratelimit"), None);
    let last = good();
    assert_eq!((last.status, last.headers.text("x-ratelimit-remaining").as_deref()), (429, None));
    // Each exchange is logged by both access logs, and both know everything.
    for at in 0..8 {
        let line = chain.line(at);
        let expected = match at / 2 {
            0 => ["rate-limit:passed:admitted", "client-id:passed:admitted", "rate-limit:passed:admitted"]
                .as_slice(),
            1 => &["rate-limit:passed:admitted", "client-id:rejected:missing"],
            2 => &[
                "rate-limit:passed:admitted",
                "client-id:passed:admitted",
                "rate-limit:rejected:quota-exceeded",
            ],
            _ => &["rate-limit:rejected:quota-exceeded"],
        };
        assert_eq!(line["outcomes"], json!(expected), "{at}: {line}");
    }
}

#[test]
fn without_an_identity_clients_share_what_is_left_for_strangers() {
    let exempting = json!({"client-id": {
        "auth": {"per-request": {"cluster": "auth"}},
        "scope": {"exempt": [{"path_prefix": "/public"}]},
    }});
    let chain = Chain::start(&[exempting, per_client(1)]);
    assert_eq!(h1::get(chain.addr(), "/public").status, 200);
    assert_eq!(h1::get(chain.addr(), "/public").status, 429);
    // The header that client-id sets is not what counts.
    let forged: [(&str, &[u8]); 1] = [("x-portcullis-client-id", b"acme")];
    assert_eq!(h1::request(chain.addr(), "GET", "/public", &forged, b"").status, 429);
    assert_eq!(h1::request(chain.addr(), "GET", "/", &credentials("acme"), b"").status, 200);
}
