//! Several policies of the kind in one chain.

use portcullis_policy::host::Level;
use portcullis_policy::{Chain, ExchangeId};
use portcullis_rate_limit::RateLimit;
use portcullis_testkit::inprocess::{SharedData, TestHost, Worker};
use serde_json::{Value, json};

use crate::support::*;

/// The outer policy stands first.
fn both(outer: &Value, inner: &Value) -> Worker {
    let chain = [outer, inner].into_iter().fold(Chain::new(), |chain, config| {
        chain.then_configured::<RateLimit>(config.to_string().as_bytes()).unwrap()
    });
    Worker::start(chain).unwrap()
}

fn limit(max: u64, dialect: &str) -> Value {
    json!({"limits": [{"max": max, "period_ms": 60_000}], "headers": dialect})
}

/// Passes a response by and gives its fields about rate limits.
fn told(worker: &mut Worker, id: ExchangeId, headers: &[(&str, &str)]) -> Vec<String> {
    worker.response_headers(id, headers.iter().copied(), true);
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let mut told: Vec<String> = worker
        .host
        .downstream_headers(id)
        .iter()
        .map(|(name, value)| format!("{}: {}", text(name), text(value)))
        .filter(|field| field.contains("ratelimit") || field.contains("retry"))
        .collect();
    told.sort();
    told
}

fn told_on_success(worker: &mut Worker) -> Vec<String> {
    let id = get(worker, &[]);
    assert!(is_admitted(worker, id));
    told(worker, id, &[(":status", "200"), ("x-ratelimit-limit", "theirs"), ("ratelimit", "theirs")])
}

#[test]
fn the_tighter_quota_is_told_wherever_it_stands() {
    for (outer, inner) in [(2, 100), (100, 2)] {
        let mut worker = both(&limit(outer, "mule"), &limit(inner, "mule"));
        assert_eq!(
            told_on_success(&mut worker),
            [
                "ratelimit: theirs",
                "x-ratelimit-limit: 2",
                "x-ratelimit-remaining: 1",
                "x-ratelimit-reset: 60000"
            ]
        );
        let mut worker = both(&limit(outer, "kong"), &limit(inner, "kong"));
        assert_eq!(
            told_on_success(&mut worker),
            [
                "ratelimit-limit: 2",
                "ratelimit-remaining: 1",
                "ratelimit-reset: 60",
                "ratelimit: theirs",
                "x-ratelimit-limit-minute: 2",
                "x-ratelimit-limit: theirs",
                "x-ratelimit-remaining-minute: 1",
            ]
        );
    }
}

#[test]
fn dialects_that_share_no_field_are_told_side_by_side() {
    for (outer, inner) in [(2, 100), (100, 2)] {
        let mut worker = both(&limit(outer, "mule"), &limit(inner, "kong"));
        let told = told_on_success(&mut worker);
        assert!(told.contains(&format!("x-ratelimit-limit: {outer}")), "{told:?}");
        assert!(told.contains(&format!("ratelimit-limit: {inner}")), "{told:?}");
        // These two do.
        let mut worker = both(&limit(outer, "mule"), &limit(inner, "envoy"));
        let told = told_on_success(&mut worker);
        assert_eq!(
            told.iter().filter(|field| field.starts_with("x-ratelimit-limit: 2")).count(),
            1,
            "{told:?}"
        );
    }
}

#[test]
fn lists_have_the_items_of_both() {
    let mut inner = limit(100, "ietf");
    inner["name"] = json!("in");
    let mut worker = both(&limit(2, "ietf"), &inner);
    assert_eq!(
        told_on_success(&mut worker),
        [
            "ratelimit-policy: \"default\";q=2;w=60",
            "ratelimit-policy: \"in\";q=100;w=60",
            "ratelimit: \"default\";r=1;t=60",
            "ratelimit: \"in\";r=99;t=60",
            "x-ratelimit-limit: theirs",
        ]
    );
    // Names must not be the same.
    let mut worker = both(&limit(2, "ietf"), &limit(3, "ietf"));
    assert_eq!(
        told_on_success(&mut worker)[..2],
        ["ratelimit-policy: \"default\";q=2;w=60", "ratelimit-policy: \"default-2\";q=3;w=60"]
    );
}

/// Otherwise Retry-After would be of the one, and what is left of the other.
#[test]
fn a_refusal_tells_of_the_policy_that_refuses_and_of_no_other() {
    for dialect in ["mule", "envoy", "kong", "ietf"] {
        for inner in ["off", dialect] {
            let mut worker = both(&limit(100, dialect), &limit(1, inner));
            assert!(passes(&mut worker, &[]));
            let id = get(&mut worker, &[]);
            assert_eq!(status(&worker, id), 429);
            let reply = worker.reply(id);
            let own: Vec<(&str, &str)> = std::iter::once((":status", "429"))
                .chain(reply.headers.iter().map(|(name, value)| (*name, std::str::from_utf8(value).unwrap())))
                .collect();
            let told = told(&mut worker, id, &own);
            assert_eq!(told.len() + 2, own.len(), "{dialect} {inner}: {told:?}");
            assert!(told.contains(&"retry-after: 60".to_owned()), "{told:?}");
            assert!(!told.iter().any(|field| field.contains("98")), "{dialect} {inner}: {told:?}");
        }
    }
}

#[test]
fn a_refusal_in_shadow_mode_does_not_hide_what_another_policy_tells() {
    let mut outer = limit(1, "mule");
    outer["mode"] = json!("shadow");
    let mut worker = both(&outer, &limit(100, "mule"));
    assert!(passes(&mut worker, &[]));
    let told = told_on_success(&mut worker);
    assert!(told.contains(&"x-ratelimit-remaining: 0".to_owned()), "{told:?}");
    assert!(told.contains(&"x-ratelimit-limit: 1".to_owned()), "{told:?}");
}

#[test]
fn policies_without_names_count_apart_within_a_chain() {
    let mut worker = both(&limit(3, "off"), &limit(2, "off"));
    assert_eq!([(); 4].map(|()| passes(&mut worker, &[])), [true, true, false, false]);
}

#[test]
fn warns_of_a_policy_that_nothing_tells_from_those_of_other_plugins() {
    let start =
        |config: &Value| Worker::start_with(chain(config).unwrap(), TestHost::new(SharedData::default()));
    let warnings = |config| start(&config).unwrap().log_lines(Level::Warn);
    // This host gives plugins no names.
    let unnamed = warnings(limit(1, "off"));
    assert_eq!(unnamed.len(), 1, "{unnamed:?}");
    assert!(
        unnamed[0].contains("cannot be read: bad argument") && unnamed[0].contains("`name`"),
        "{unnamed:?}"
    );
    let mut named = limit(1, "off");
    named["name"] = json!("n");
    assert_eq!(warnings(named), [""; 0]);
}
