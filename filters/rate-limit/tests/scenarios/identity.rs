//! Counting by who the client is, and limits by its tier.

use std::time::Duration;

use portcullis_client_id::ClientId;
use portcullis_policy::{Chain, ExchangeId};
use portcullis_rate_limit::RateLimit;
use portcullis_testkit::inprocess::{Fate, Worker};
use serde_json::{Value, json};

use crate::support::*;

/// client-id, and rate-limit behind it.
fn with_client_id(rate_limit: &Value) -> Worker {
    let client_id = json!({
        "auth": {"per-request": {"cluster": "auth", "retries": 0, "identity": {"tier": "x-tier"}}},
        "secret": "optional",
        "on_outage": "open",
    });
    let chain = Chain::new().then_configured::<ClientId>(client_id.to_string().as_bytes()).unwrap();
    Worker::start(chain.then_configured::<RateLimit>(rate_limit.to_string().as_bytes()).unwrap()).unwrap()
}

/// A request of this client, who is of this tier.
fn call(worker: &mut Worker, client: &str, tier: &str) -> ExchangeId {
    let id = get(worker, &[("client_id", client)]);
    if worker.fate(id) == Fate::Held {
        let token = worker.pending_call().token;
        worker.answer(token, 200, &[("x-tier", tier)], b"");
    }
    id
}

#[track_caller]
fn passing(worker: &mut Worker, client: &str, tier: &str, of: usize) -> usize {
    (0..of)
        .filter(|_| {
            let id = call(worker, client, tier);
            is_admitted(worker, id)
        })
        .count()
}

#[test]
fn counts_by_the_client_that_client_id_has_established() {
    let mut worker = with_client_id(&two_a_minute(json!({"key": ["client-id"]})));
    assert_eq!(passing(&mut worker, "acme", "", 5), 2);
    assert_eq!(passing(&mut worker, "bolt", "", 5), 2);
    assert_eq!(passing(&mut worker, "acme", "", 1), 0);
}

#[test]
fn has_other_limits_for_other_tiers() {
    let mut worker = with_client_id(&two_a_minute(json!({
        "key": ["client-id"],
        "tiers": {"gold": {"limits": [{"max": 4, "period_ms": 60_000}, {"max": 5, "period_ms": 3_600_000}]}},
    })));
    assert_eq!(passing(&mut worker, "acme", "gold", 9), 4);
    assert_eq!(passing(&mut worker, "bolt", "silver", 9), 2);
    worker.advance(std::time::Duration::from_secs(60));
    assert_eq!(passing(&mut worker, "acme", "gold", 9), 1);
}

#[test]
fn counts_each_tier_with_limits_of_its_own_apart() {
    let mut worker = with_client_id(&two_a_minute(json!({
        "key": [],
        "tiers": {"gold": {"limits": [{"max": 3, "period_ms": 60_000}]}},
    })));
    // All others are counted together, whatever their tier.
    assert_eq!(passing(&mut worker, "acme", "silver", 1), 1);
    assert_eq!(passing(&mut worker, "bolt", "bronze", 9), 1);
    assert_eq!(passing(&mut worker, "corp", "gold", 9), 3);
    assert_eq!(passing(&mut worker, "dove", "gold", 9), 0);
}

#[test]
fn counts_unverified_callers_together() {
    let mut worker = with_client_id(&two_a_minute(json!({"key": ["client-id"]})));
    let unverified = |client: &str| {
        let id = get(&mut worker, &[("client_id", client)]);
        // The question about the client, and those by which client-id finds out whether the service is out.
        for _ in 0..3 {
            while let Some(call) = worker.pending_calls().first() {
                worker.answer(call.token, 500, &[], b"");
            }
            worker.advance(Duration::from_millis(500));
        }
        is_admitted(&worker, id)
    };
    assert_eq!(["a", "b", "c"].map(unverified), [true, true, false]);
}

/// How many of nine requests pass of this client, as client-id knows it in a filter of its own, in a module of its own.
#[track_caller]
fn passing_behind_a_filter(worker: &mut Worker, client: Option<&str>, tier: &str) -> usize {
    (0..9)
        .filter(|_| {
            let id = worker.open();
            if let Some(client) = client {
                worker.host.give_property(id, &["portcullis.client_id"], client.as_bytes());
            }
            worker.request_headers(id, [(":path", "/"), ("x-portcullis-client-tier", tier)], true);
            is_admitted(worker, id)
        })
        .count()
}

#[test]
fn learns_the_client_and_its_tier_from_a_filter_before_this_one() {
    let mut worker = worker(&two_a_minute(json!({
        "key": ["client-id"],
        "tiers": {"gold": {"limits": [{"max": 3, "period_ms": 60_000}]}},
    })));
    let mut passing = |client, tier| passing_behind_a_filter(&mut worker, client, tier);
    assert_eq!(passing(Some("acme"), "gold"), 3);
    assert_eq!(passing(Some("bolt"), "gold"), 3);
    assert_eq!(passing(Some("corp"), "none"), 2);
    // Where client-id has not been, nobody has removed what a client makes up.
    assert_eq!(passing(None, "gold"), 2);
}

#[test]
fn learns_the_client_from_a_filter_before_this_one_without_tiers() {
    let mut worker = worker(&two_a_minute(json!({"key": ["client-id"]})));
    let mut passing = |client| passing_behind_a_filter(&mut worker, client, "gold");
    assert_eq!(["acme", "bolt", "acme"].map(|client| passing(Some(client))), [2, 2, 0]);
}

#[test]
fn learns_the_tier_from_a_filter_before_this_one_whatever_the_key() {
    let mut worker = worker(&two_a_minute(json!({
        "key": ["path"],
        "tiers": {"gold": {"limits": [{"max": 3, "period_ms": 60_000}]}},
    })));
    let mut passing = |tier| passing_behind_a_filter(&mut worker, Some("acme"), tier);
    assert_eq!(["gold", "none"].map(&mut passing), [3, 2]);
}

#[test]
fn no_client_makes_up_the_identifier_that_it_is_counted_by() {
    let key = json!([{"header": {"name": "x-portcullis-client-id"}}]);
    let mut worker = worker(&two_a_minute(json!({"key": key})));
    let passing = (0..20).filter(|number| {
        let forged = number.to_string();
        passes(&mut worker, &[("x-portcullis-client-id", &forged)])
    });
    assert_eq!(passing.count(), 2);
    // Of what a filter before this one vouches for, each is counted by itself.
    let vouched = (0..20).filter(|number| {
        let id = worker.open();
        worker.host.give_property(id, &["portcullis.client-id.outcome"], b"admitted");
        let client = format!("client-{number}");
        worker.request_headers(id, [(":path", "/"), ("x-portcullis-client-id", client.as_str())], true);
        is_admitted(&worker, id)
    });
    assert_eq!(vouched.count(), 20);
}
