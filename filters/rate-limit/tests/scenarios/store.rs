//! A full table, and quota that is taken in advance.

use portcullis_policy::host::{SharedStore, Write};
use portcullis_testkit::inprocess::{SharedData, Worker};
use serde_json::{Value, json};

use crate::support::*;

/// The smallest table, and more keys than it has room for.
fn full(when_full: &str, members: Value) -> Worker {
    let mut config = two_a_minute(members);
    config["key"] = json!([{"header": {"name": "t"}}]);
    config["store"] = json!({"slots": 16, "when_full": when_full});
    let mut worker = worker(&config);
    for key in 0..100 {
        get(&mut worker, &[("t", &key.to_string())]);
    }
    worker
}

#[test]
fn counts_keys_that_find_no_room_together() {
    let mut worker = full("share", json!({}));
    let shared = metric(&worker, "table_full_shared");
    assert!((84..=85).contains(&shared), "{shared}");
    assert!(!passes(&mut worker, &[("t", "new")]));
    // Those that have room have their own quota.
    assert!(passes(&mut worker, &[("t", "0")]));
    assert!(!passes(&mut worker, &[("t", "0")]));
}

#[test]
fn lets_keys_that_find_no_room_pass_if_told_to() {
    let mut worker = full("admit", json!({"headers": "mule"}));
    for _ in 0..5 {
        let id = get(&mut worker, &[("t", "new")]);
        assert!(is_admitted(&worker, id));
        assert_eq!(outcome(&worker, id), "rate-limit:passed:table-full");
        worker.response_headers(id, [(":status", "200"), ("x-ratelimit-limit", "theirs")], true);
        assert_eq!(worker.host.downstream_headers(id).first("x-ratelimit-limit"), Some(&b"theirs"[..]));
    }
    assert_eq!(metric(&worker, "table_full_admitted"), 84 + 5);
    assert_eq!(metric(&worker, "admitted"), 16);
}

#[test]
fn refuses_keys_that_find_no_room_if_told_to_until_there_is_some() {
    let mut worker = full("refuse", json!({}));
    worker.advance(std::time::Duration::from_secs(20));
    let id = get(&mut worker, &[("t", "new")]);
    assert_eq!(status(&worker, id), 503);
    assert_eq!(worker.reply(id).code_details, "rate_limit_table_full");
    assert_eq!(outcome(&worker, id), "rate-limit:rejected:table-full");
    assert_eq!(reply_header(&worker, id, "retry-after").as_deref(), Some("40"));
    assert_eq!(metric(&worker, "table_full_refused"), 85);
    worker.advance(std::time::Duration::from_secs(40));
    assert!(passes(&mut worker, &[("t", "new")]));
}

#[test]
fn refuses_nobody_for_want_of_room_in_shadow_mode() {
    let mut worker = full("refuse", json!({"mode": "shadow"}));
    let id = get(&mut worker, &[("t", "new")]);
    assert!(is_admitted(&worker, id));
    assert_eq!(outcome(&worker, id), "rate-limit:passed:shadow-table-full");
}

#[test]
fn needs_no_more_memory_than_its_slots_say() {
    let data = SharedData::default();
    let mut config = two_a_minute(json!({"store": {"slots": 16}}));
    config["key"] = json!([{"header": {"name": "t"}}]);
    let mut worker = worker_sharing(&config, &data);
    for key in 0..1_000 {
        get(&mut worker, &[("t", &key.to_string())]);
    }
    // The secret and one bucket.
    assert_eq!(data.len(), 2);
    assert!(data.dump().len() < 2_048, "{}", data.dump().len());
}

#[test]
fn says_that_somebody_else_has_written_into_the_table_and_counts_on() {
    let data = SharedData::default();
    let mut worker = worker_sharing(&two_a_minute(json!({"store": {"slots": 16}})), &data);
    assert!(passes(&mut worker, &[]));
    assert_eq!(metric(&worker, "store_corrupt"), 0);
    worker.host.set_shared(&only_bucket(&data), b"no bucket", Write::Always).unwrap();
    assert_eq!([(); 3].map(|()| passes(&mut worker, &[])), [true, true, false]);
    assert_eq!(metric(&worker, "store_corrupt"), 1);
}

/// The name of the one bucket of a table that has no other: the table's hash, how many buckets it has, and which it is.
fn only_bucket(data: &SharedData) -> String {
    let (dump, example) = (data.dump(), b"portcullis.rate-limit.v1.0123456789abcdef.1.0");
    let mut names = dump.windows(example.len()).filter(|window| window.starts_with(&example[..25]));
    let name = names.find(|name| name.ends_with(b".1.0")).unwrap();
    String::from_utf8(name.to_vec()).unwrap()
}

#[test]
fn serves_from_quota_taken_in_advance_and_admits_no_more_for_that() {
    let data = SharedData::default();
    let config = json!({
        "limits": [{"max": 100, "period_ms": 60_000}],
        "store": {"precision": {"leased": {"batch": 10}}},
    });
    let mut workers = [(); 2].map(|()| worker_sharing(&config, &data));
    let mut admitted = 0;
    for _ in 0..200 {
        admitted += workers.iter_mut().filter_map(|worker| passes(worker, &[]).then_some(())).count();
    }
    // At most (workers - 1) x batch are refused that had quota.
    assert!((90..=100).contains(&admitted), "{admitted}");
    let leased: i64 = workers.iter().map(|worker| metric(worker, "lease_served")).sum();
    assert!(leased > 50, "{leased}");
}
