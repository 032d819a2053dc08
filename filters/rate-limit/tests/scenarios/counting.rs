//! How many requests pass, and when again.

use std::time::Duration;

use portcullis_policy::Chain;
use portcullis_policy::time::{MonotonicTime, Timestamp};
use portcullis_rate_limit::RateLimit;
use portcullis_testkit::inprocess::{SharedData, Worker};
use serde_json::{Value, json};

use crate::support::*;

const SECOND: Duration = Duration::from_secs(1);

/// How many of `n` requests pass now.
#[track_caller]
fn passing(worker: &mut Worker, n: usize) -> usize {
    (0..n).filter(|_| passes(worker, &[])).count()
}

#[test]
fn admits_max_requests_in_a_window_that_begins_with_the_first() {
    let mut worker = worker(&two_a_minute(json!({})));
    worker.advance(30 * SECOND);
    assert_eq!(passing(&mut worker, 5), 2);
    worker.advance(60 * SECOND - Duration::from_millis(1));
    assert_eq!(passing(&mut worker, 1), 0);
    worker.advance(Duration::from_millis(1));
    assert_eq!(passing(&mut worker, 5), 2);
    assert_eq!((metric(&worker, "admitted"), metric(&worker, "rejected")), (4, 7));
}

#[test]
fn records_what_it_decides() {
    let mut worker = worker(&two_a_minute(json!({"limits": [{"max": 1, "period_ms": 1}]})));
    let [first, second] = [(); 2].map(|()| get(&mut worker, &[]));
    assert_eq!(outcome(&worker, first), "rate-limit:passed:admitted");
    assert_eq!(outcome(&worker, second), "rate-limit:rejected:quota-exceeded");
    assert_eq!(worker.reply(second).code_details, "rate_limit_quota_exceeded");
}

#[test]
fn needs_quota_in_every_limit_and_takes_it_from_none_when_one_refuses() {
    let limits = json!([{"max": 2, "period_ms": 1_000}, {"max": 5, "period_ms": 60_000}]);
    let mut worker = worker(&json!({"limits": limits}));
    for expected in [2, 2, 1, 0] {
        // Refused requests must not eat up the minute's quota.
        assert_eq!(passing(&mut worker, 10), expected);
        worker.advance(SECOND);
    }
}

#[test]
fn slides_its_window_if_told_to() {
    let mut worker = worker(&json!({
        "algorithm": "sliding-window",
        "limits": [{"max": 4, "period_ms": 10_000}],
    }));
    worker.advance(9 * SECOND);
    assert_eq!(passing(&mut worker, 9), 4);
    worker.advance(9 * SECOND);
    assert_eq!(passing(&mut worker, 9), 0);
    worker.advance(2 * SECOND);
    assert_eq!(passing(&mut worker, 9), 4);
}

#[test]
fn refills_a_bucket_evenly_if_told_to() {
    let mut worker = worker(&json!({
        "algorithm": "token-bucket",
        "limits": [{"max": 10, "period_ms": 10_000, "burst": 3}],
    }));
    assert_eq!(passing(&mut worker, 9), 3);
    worker.advance(SECOND);
    assert_eq!(passing(&mut worker, 9), 1);
    worker.advance(60 * SECOND);
    assert_eq!(passing(&mut worker, 9), 3);
}

#[test]
fn saves_up_a_whole_period_s_worth_by_default() {
    let mut worker = worker(&json!({
        "algorithm": "token-bucket",
        "limits": [{"max": 10, "period_ms": 10_000}],
    }));
    assert_eq!(passing(&mut worker, 99), 10);
}

#[test]
fn does_not_care_for_steps_of_the_wall_clock() {
    let mut worker = worker(&two_a_minute(json!({})));
    assert_eq!(passing(&mut worker, 2), 2);
    for time in [0, u64::MAX] {
        worker.host.set_time(Timestamp::from_nanos(time));
        assert_eq!(passing(&mut worker, 1), 0);
    }
    worker.host.set_monotonic(MonotonicTime::from_nanos(u64::MAX / 2));
    assert_eq!(passing(&mut worker, 5), 2);
}

#[test]
fn counts_across_workers() {
    let data = SharedData::default();
    let config = two_a_minute(json!({"key": ["method"]}));
    let [mut one, mut other] = [(); 2].map(|()| worker_sharing(&config, &data));
    assert!(passes(&mut one, &[]) && passes(&mut other, &[]));
    assert!(!passes(&mut one, &[]) && !passes(&mut other, &[]));
    assert!(passes(&mut other, &[(":method", "PUT")]));
}

fn chain_of(policies: &[Value]) -> Worker {
    let then = |chain: Chain, config: &Value| {
        chain.then_configured::<RateLimit>(config.to_string().as_bytes()).unwrap()
    };
    Worker::start(policies.iter().fold(Chain::new(), then)).unwrap()
}

#[test]
fn counts_for_each_policy_of_a_chain_by_itself_unless_they_share_a_name() {
    let three = json!({"limits": [{"max": 3, "period_ms": 60_000}]});
    let mut apart = chain_of(&[three.clone(), three.clone()]);
    assert_eq!(passing(&mut apart, 9), 3);
    let mut named = three.clone();
    named["name"] = json!("both");
    // Each request counts twice.
    let mut together = chain_of(&[named.clone(), named]);
    assert_eq!(passing(&mut together, 9), 1);
}

#[test]
fn counts_apart_under_different_names() {
    let data = SharedData::default();
    let mut workers = ["a", "b"].map(|name| worker_sharing(&two_a_minute(json!({"name": name})), &data));
    for worker in &mut workers {
        assert_eq!(passing(worker, 9), 2, "{}", metric(worker, "admitted"));
    }
    let mut same = worker_sharing(&two_a_minute(json!({"name": "a"})), &data);
    assert_eq!(passing(&mut same, 9), 0);
}

#[test]
fn keeps_its_windows_when_only_the_maximum_changes() {
    let data = SharedData::default();
    let start = |limits: Value| worker_sharing(&json!({"limits": limits}), &data);
    let mut worker = start(json!([{"max": 2, "period_ms": 60_000}]));
    assert_eq!(passing(&mut worker, 9), 2);
    worker = start(json!([{"max": 5, "period_ms": 60_000}]));
    assert_eq!(passing(&mut worker, 9), 3);
    worker = start(json!([{"max": 1, "period_ms": 60_000}]));
    assert_eq!(passing(&mut worker, 9), 0);
    worker = start(json!([{"max": 1, "period_ms": 59_000}]));
    assert_eq!(passing(&mut worker, 9), 1);
}

#[test]
fn counts_under_the_policy_s_name_too_if_it_has_one() {
    let mut worker = worker(&two_a_minute(json!({"name": "per-client_1"})));
    passing(&mut worker, 3);
    for (name, expected) in [("admitted", 2), ("rejected", 1)] {
        assert_eq!(metric(&worker, name), expected);
        assert_eq!(metric(&worker, &format!("per-client_1.{name}")), expected);
    }
}

#[test]
fn leaves_out_what_is_out_of_scope() {
    let scope = json!({"exempt": [{"path_prefix": "/health"}]});
    let mut worker = worker(&two_a_minute(json!({"scope": scope, "headers": "mule"})));
    assert_eq!(passing(&mut worker, 3), 2);
    let id = get(&mut worker, &[(":path", "/health/live")]);
    assert!(is_admitted(&worker, id));
    assert_eq!(outcome(&worker, id), "rate-limit:skipped:exempt");
    assert_eq!(metric(&worker, "exempt"), 1);
    worker.response_headers(id, [(":status", "200"), ("x-ratelimit-limit", "theirs")], true);
    assert_eq!(worker.host.downstream_headers(id).first("x-ratelimit-limit"), Some(&b"theirs"[..]));
}

#[test]
fn refuses_nothing_in_shadow_mode_but_tells_what_it_would_have() {
    let mut worker = worker(&two_a_minute(json!({"mode": "shadow", "headers": "mule"})));
    assert_eq!(passing(&mut worker, 2), 2);
    let id = get(&mut worker, &[]);
    assert!(is_admitted(&worker, id));
    assert_eq!(outcome(&worker, id), "rate-limit:passed:shadow-exceeded");
    worker.response_headers(id, [(":status", "200")], true);
    let headers = worker.host.downstream_headers(id);
    assert_eq!(headers.first("x-ratelimit-remaining"), Some(&b"0"[..]));
    assert!(!headers.contains("retry-after"));
    assert_eq!(["admitted", "shadow_rejected", "rejected"].map(|name| metric(&worker, name)), [2, 1, 0],);
}
