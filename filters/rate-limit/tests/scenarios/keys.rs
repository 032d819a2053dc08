//! What requests are counted by.

use std::collections::BTreeMap;

use portcullis_policy::ExchangeId;
use portcullis_policy::HeaderList;
use portcullis_rate_limit::config::KeyPart;
use portcullis_rate_limit::key::{Completeness, KeyReader, Request};
use portcullis_testkit::inprocess::Worker;
use serde_json::{Value, json};

use crate::support::*;

/// One request for each key, ever.
fn once_per(key: Value, members: Value) -> Worker {
    let mut config = two_a_minute(members);
    config["limits"] = json!([{"max": 1, "period_ms": 3_600_000}]);
    config["key"] = key;
    worker(&config)
}

/// Asserts which of these requests, one after the other, have a key that has not been seen before.
#[track_caller]
fn assert_new(worker: &mut Worker, requests: &[(&[(&str, &str)], bool)]) {
    for (at, (headers, expected)) in requests.iter().enumerate() {
        assert_eq!(passes(worker, headers), *expected, "request {at}: {headers:?}");
    }
}

#[test]
fn counts_all_requests_together_without_a_key() {
    let mut worker = once_per(json!([]), json!({}));
    assert_new(&mut worker, &[(&[], true), (&[(":method", "PUT"), (":path", "/b")], false)]);
}

#[test]
fn counts_by_a_header() {
    let mut worker = once_per(json!([{"header": {"name": "X-Tenant"}}]), json!({}));
    assert_new(
        &mut worker,
        &[
            (&[("x-tenant", "a")], true),
            (&[("x-tenant", "b")], true),
            (&[("x-tenant", "a"), ("other", "1")], false),
            (&[("x-tenant", "a"), ("x-tenant", "a")], false),
            (&[("x-tenant", "A")], true),
        ],
    );
}

#[test]
fn counts_by_a_query_parameter() {
    let mut worker = once_per(json!([{"query": {"name": "k"}}]), json!({}));
    assert_new(
        &mut worker,
        &[
            (&[(":path", "/?k=a")], true),
            (&[(":path", "/?k=b")], true),
            (&[(":path", "/other?x=1&k=a")], false),
            (&[(":path", "/?k=%61")], false),
            (&[(":path", "/?%6B=a&k=a")], false),
            // To some upstreams these are the same parameter.
            (&[(":path", "/?K=a")], false),
            (&[(":path", "/?+k[]=a")], false),
            (&[(":path", "/?kk=a")], true),
        ],
    );
}

#[test]
fn counts_by_path_method_and_host() {
    for (part, requests) in [
        (
            "path",
            &[
                (&[(":path", "/a?x")][..], true),
                (&[(":path", "/a?y")], false),
                (&[(":path", "/a/b")], true),
                (&[(":path", "/b")], true),
            ][..],
        ),
        (
            "method",
            &[(&[(":method", "GET")], true), (&[(":method", "PUT")], true), (&[(":method", "GET")], false)],
        ),
        (
            "host",
            &[
                (&[(":authority", "a.test")], true),
                (&[(":authority", "A.test:8080")], false),
                (&[(":authority", "a.test.")], false),
                (&[(":authority", "b.test")], true),
            ],
        ),
    ] {
        assert_new(&mut once_per(json!([part]), json!({})), requests);
    }
}

#[test]
fn counts_by_all_parts_together() {
    let mut worker = once_per(json!(["method", {"header": {"name": "t"}}]), json!({}));
    assert_new(
        &mut worker,
        &[
            (&[(":method", "GET"), ("t", "a")], true),
            (&[(":method", "PUT"), ("t", "a")], true),
            (&[(":method", "GET"), ("t", "b")], true),
            (&[(":method", "PUT"), ("t", "a")], false),
        ],
    );
}

/// A request over a connection from `address`.
fn from(worker: &mut Worker, address: &str, forwarded_for: &str) -> ExchangeId {
    let id = worker.open();
    worker.host.give_property(id, &["source", "address"], address.as_bytes());
    worker.request_headers(id, [(":path", "/"), ("x-forwarded-for", forwarded_for)], true);
    id
}

#[test]
fn counts_by_the_address_of_the_connection_or_of_a_trusted_hop() {
    for (options, requests) in [
        (
            json!({}),
            &[
                ("192.0.2.1:1", "6.6.6.6", true),
                ("192.0.2.1:2", "7.7.7.7", false),
                ("192.0.2.2:1", "", true),
                ("[2001:db8::1]:1", "", true),
                ("[2001:db8::2:0:0:1]:1", "", false),
                ("[2001:db8:0:1::1]:1", "", true),
            ][..],
        ),
        (
            json!({"trusted_hops": 1}),
            &[
                ("10.0.0.1:1", "192.0.2.1, 10.0.0.1", true),
                ("10.0.0.1:2", "6.6.6.6, 192.0.2.1, 10.0.0.1", false),
                ("10.0.0.1:1", "192.0.2.2, 10.0.0.1", true),
                // Nobody but the connection itself.
                ("10.0.0.1:1", "10.0.0.1", true),
                ("10.0.0.1:1", "nonsense, 10.0.0.1", false),
            ],
        ),
        (
            json!({"prefix_v4": 24, "prefix_v6": 128}),
            &[
                ("192.0.2.1:1", "", true),
                ("192.0.2.200:1", "", false),
                ("[2001:db8::1]:1", "", true),
                ("[2001:db8::2]:1", "", true),
            ],
        ),
    ] {
        let mut worker = once_per(json!([{"source-address": options}]), json!({}));
        for (address, forwarded_for, expected) in requests {
            let id = from(&mut worker, address, forwarded_for);
            assert_eq!(is_admitted(&worker, id), *expected, "{options}: {address} {forwarded_for}");
        }
    }
}

#[test]
fn counts_requests_that_lack_a_part_together_by_default() {
    let mut worker = once_per(json!([{"header": {"name": "t"}}, "method"]), json!({}));
    assert_new(
        &mut worker,
        &[
            (&[(":method", "GET")], true),
            (&[(":method", "GET"), (":path", "/b")], false),
            // They agree in the rest, or not.
            (&[(":method", "PUT")], true),
            (&[(":method", "GET"), ("t", "")], true),
        ],
    );
    assert_eq!(metric(&worker, "missing_key"), 3);
}

#[test]
fn refuses_requests_that_lack_a_part_if_told_to() {
    let mut worker = once_per(json!([{"header": {"name": "t"}}]), json!({"missing_key": "refuse"}));
    for headers in [&[][..], &[("t", "a"), ("t", "b")]] {
        let id = get(&mut worker, headers);
        assert_eq!(status(&worker, id), 400);
        assert_eq!(worker.reply(id).code_details, "rate_limit_missing_key");
        assert_eq!(outcome(&worker, id), "rate-limit:rejected:missing-key");
        assert_eq!(reply_header(&worker, id, "retry-after"), None);
    }
    assert!(passes(&mut worker, &[("t", "a")]));
    assert_eq!([metric(&worker, "missing_key"), metric(&worker, "missing_key_refused")], [2, 2]);
}

#[test]
fn lets_requests_pass_that_lack_a_part_if_told_to_but_none_that_have_it_twice() {
    let mut worker = once_per(json!([{"header": {"name": "t"}}]), json!({"missing_key": "skip"}));
    for _ in 0..3 {
        let id = get(&mut worker, &[]);
        assert!(is_admitted(&worker, id));
        assert_eq!(outcome(&worker, id), "rate-limit:skipped:missing-key");
    }
    assert_eq!(metric(&worker, "skipped"), 3);
    assert_new(
        &mut worker,
        &[
            (&[("t", "a"), ("t", "b")], true),
            (&[("t", "a"), ("t", "c")], false),
            (&[("t", "d"), ("t", "a")], false),
        ],
    );
}

#[test]
fn lets_a_request_without_a_key_pass_in_shadow_mode() {
    let mut worker =
        once_per(json!([{"header": {"name": "t"}}]), json!({"missing_key": "refuse", "mode": "shadow"}));
    let id = get(&mut worker, &[]);
    assert!(is_admitted(&worker, id));
    assert_eq!(outcome(&worker, id), "rate-limit:passed:shadow-missing-key");
    assert_eq!([metric(&worker, "shadow_rejected"), metric(&worker, "missing_key_refused")], [1, 0]);
}

/// Whoever may choose one part of a key freely must not get at the quota of another: neither by repeating it, nor by
/// moving bytes from one part to the next.
#[test]
fn is_not_evaded_by_repeated_parameters() {
    let mut worker = once_per(json!([{"query": {"name": "api_key"}}]), json!({}));
    assert!(passes(&mut worker, &[(":path", "/?api_key=good")]));
    let passed = (0..50)
        .filter(|n| {
            let (first, last) =
                (format!("/?api_key=good&api_key={n}"), format!("/?api_key={n}&api_key=good"));
            [first, last].iter().any(|path| passes(&mut worker, &[(":path", path)]))
        })
        .count();
    // All such requests together have one quota.
    assert_eq!(passed, 1);
}

/// Absent, empty and several values, and values that run together, of two headers and a parameter.
#[test]
fn no_two_lists_of_values_have_one_key() {
    const VALUES: [&[&str]; 8] = [&[], &[""], &["-"], &["x"], &["xx"], &["\0"], &["\u{1}x"], &["x", "y"]];
    let name = |name: &str| name.to_owned();
    let parts = [
        KeyPart::Header { name: name("a") },
        KeyPart::Header { name: name("b") },
        KeyPart::Query { name: name("c") },
    ];
    let reader = KeyReader::compile(&parts);
    let mut keys = BTreeMap::new();
    for (a, b, c) in (0..512).map(|n| (VALUES[n / 64], VALUES[n / 8 % 8], VALUES[n % 8])) {
        let query: Vec<String> = c.iter().map(|value| format!("c={value}")).collect();
        let mut headers = HeaderList::new();
        headers.add(":path", format!("/?{}", query.join("&")).as_bytes());
        a.iter().for_each(|value| headers.add("a", value.as_bytes()));
        b.iter().for_each(|value| headers.add("b", value.as_bytes()));
        let request = Request { headers: &headers, client_id: None, source_address: None };
        let mut key = Vec::new();
        let completeness = reader.read(&request, &mut key);
        assert_eq!(completeness == Completeness::Whole, [a, b, c].iter().all(|values| values.len() == 1));
        if let Some(other) = keys.insert(key, (a, b, c)) {
            panic!("{other:?} and {:?}", (a, b, c));
        }
    }
}

#[test]
fn no_spelling_of_a_path_has_a_quota_of_its_own() {
    let mut worker = once_per(json!(["path"]), json!({}));
    assert_new(
        &mut worker,
        &[
            (&[(":path", "/orders/7")], true),
            (&[(":path", "/Orders/7")], false),
            (&[(":path", "/orders/7/")], false),
            (&[(":path", "/orders//7?x=1")], false),
            (&[(":path", "/orders;x/7;y=1")], false),
            (&[(":path", "/%6frders/7")], false),
            (&[(":path", "/x/../orders/./7")], false),
            (&[(":path", "/orders/8")], true),
            // What could be anything is counted together.
            (&[(":path", "/x%2f..%2forders/7")], true),
            (&[(":path", "/y%2f..%2forders/7")], false),
            (&[(":path", "/a\\b")], false),
        ],
    );
}

#[test]
fn every_combination_of_spellings_of_a_path_shares_one_quota() {
    let mut worker = once_per(json!(["path"]), json!({}));
    let mut passed = 0;
    for bits in 0..128u32 {
        let path: String = "/pay/me"
            .chars()
            .enumerate()
            .map(|(at, letter)| if bits >> at & 1 == 1 { letter.to_ascii_uppercase() } else { letter })
            .collect();
        for end in ["", "/", ";a=1", "/;b"] {
            passed += u32::from(passes(&mut worker, &[(":path", &format!("{path}{end}"))]));
        }
    }
    assert_eq!(passed, 1);
}
