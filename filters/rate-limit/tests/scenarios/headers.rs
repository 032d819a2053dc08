//! What responses and refusals tell of the quota.

use std::time::Duration;

use portcullis_testkit::inprocess::{Fault, Worker};
use serde_json::{Value, json};

use crate::support::*;

fn announcing(dialect: &str, name: Option<&str>) -> Worker {
    let limits = json!([{"max": 2, "period_ms": 60_000}, {"max": 100, "period_ms": 3_600_000}]);
    worker(&json!({"name": name, "headers": dialect, "limits": limits}))
}

/// The response to a request that passes, after the policy. The upstream has fields of its own.
fn response(worker: &mut Worker, upstream: &[(&str, &str)]) -> Vec<(String, String)> {
    let id = get(worker, &[]);
    assert!(is_admitted(worker, id));
    let mut headers = vec![(":status", "200")];
    headers.extend(upstream);
    worker.response_headers(id, headers, true);
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let headers = worker.host.downstream_headers(id);
    headers
        .iter()
        .map(|(name, value)| (text(name), text(value)))
        .filter(|(name, _)| name != ":status")
        .collect()
}

fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
    expected.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

const MULE: &[(&str, &str)] =
    &[("x-ratelimit-limit", "2"), ("x-ratelimit-remaining", "1"), ("x-ratelimit-reset", "60000")];
const ENVOY: &[(&str, &str)] = &[
    ("x-ratelimit-limit", "2, 2;w=60, 100;w=3600"),
    ("x-ratelimit-remaining", "1"),
    ("x-ratelimit-reset", "60"),
];
const KONG: &[(&str, &str)] = &[
    ("ratelimit-limit", "2"),
    ("ratelimit-remaining", "1"),
    ("ratelimit-reset", "60"),
    ("x-ratelimit-limit-minute", "2"),
    ("x-ratelimit-remaining-minute", "1"),
    ("x-ratelimit-limit-hour", "100"),
    ("x-ratelimit-remaining-hour", "99"),
];
const IETF: &[(&str, &str)] = &[
    ("ratelimit-policy", "\"default-60s\";q=2;w=60, \"default-3600s\";q=100;w=3600"),
    ("ratelimit", "\"default-60s\";r=1;t=60, \"default-3600s\";r=99;t=3600"),
];

#[test]
fn tells_an_admitted_client_how_much_is_left() {
    for (dialect, expected) in
        [("off", &[][..]), ("mule", MULE), ("envoy", ENVOY), ("kong", KONG), ("ietf", IETF)]
    {
        assert_eq!(response(&mut announcing(dialect, None), &[]), pairs(expected), "{dialect}");
    }
}

#[test]
fn replaces_what_the_upstream_says_in_the_same_dialect_and_nothing_else() {
    let kept = [("content-type", "text/plain"), ("retry-after", "7")];
    for (dialect, expected) in [("mule", MULE), ("envoy", ENVOY), ("kong", KONG), ("ietf", IETF)] {
        let mut upstream = kept.to_vec();
        for (name, _) in expected {
            upstream.extend([(*name, "theirs"), (*name, "twice")]);
        }
        if dialect == "kong" {
            upstream
                .extend([("x-ratelimit-limit-year", "theirs"), ("x-ratelimit-remaining-second", "theirs")]);
        }
        let mut found = response(&mut announcing(dialect, None), &upstream);
        let mut expected = pairs(&[&kept[..], expected].concat());
        found.sort();
        expected.sort();
        assert_eq!(found, expected, "{dialect}");
    }
}

#[test]
fn leaves_the_upstream_s_headers_alone_when_it_has_none() {
    let upstream: Vec<(&str, &str)> = [MULE, KONG, IETF].concat();
    assert_eq!(response(&mut announcing("off", None), &upstream), pairs(&upstream));
    assert_eq!(response(&mut announcing("mule", None), IETF)[..IETF.len()], pairs(IETF));
}

#[test]
fn tells_a_refused_client_the_same_and_when_to_come_again() {
    for (dialect, expected) in [
        ("off", &[][..]),
        (
            "mule",
            &[("x-ratelimit-limit", "2"), ("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", "29500")],
        ),
        (
            "envoy",
            &[
                ("x-envoy-ratelimited", "true"),
                ("x-ratelimit-limit", "2, 2;w=60, 100;w=3600"),
                ("x-ratelimit-remaining", "0"),
                ("x-ratelimit-reset", "30"),
            ],
        ),
        (
            "kong",
            &[
                ("ratelimit-limit", "2"),
                ("ratelimit-remaining", "0"),
                ("ratelimit-reset", "30"),
                ("x-ratelimit-limit-minute", "2"),
                ("x-ratelimit-remaining-minute", "0"),
                ("x-ratelimit-limit-hour", "100"),
                ("x-ratelimit-remaining-hour", "98"),
            ],
        ),
        (
            "ietf",
            &[
                ("ratelimit-policy", "\"n-60s\";q=2;w=60, \"n-3600s\";q=100;w=3600"),
                ("ratelimit", "\"n-60s\";r=0;t=30, \"n-3600s\";r=98;t=3570"),
            ],
        ),
    ] {
        let mut worker = announcing(dialect, Some("n"));
        assert!(passes(&mut worker, &[]) && passes(&mut worker, &[]));
        worker.advance(Duration::from_millis(30_500));
        let id = get(&mut worker, &[]);
        let reply = worker.reply(id);
        let headers: Vec<_> =
            reply.headers.iter().map(|(name, value)| (*name, std::str::from_utf8(value).unwrap())).collect();
        assert_eq!(headers[..2], [("content-type", "application/problem+json"), ("retry-after", "30")]);
        assert_eq!(headers[2..], *expected, "{dialect}");
        // Hosts lead a reply past the policy as a response: it must not tell everything again.
        worker.response_headers(id, headers, true);
        assert_eq!(worker.host.downstream_headers(id).len(), expected.len() + 2, "{dialect}");
    }
}

#[test]
fn counts_on_when_the_host_does_not_let_it_tell() {
    let mut worker = announcing("kong", None);
    let id = get(&mut worker, &[]);
    worker.host.fail(Fault::WriteHeaders);
    worker.host.fail(Fault::ReadHeaders);
    let next = worker.response_headers(id, [(":status", "200")], true);
    assert_eq!(next, portcullis_policy::Next::Continue);
    assert_eq!(worker.host.downstream_headers(id).len(), 1);
}

#[test]
fn has_a_response_callback_only_if_it_has_something_to_tell() {
    use portcullis_policy::{Callbacks, Policy};
    let callbacks = |config: Value| {
        let config = serde_json::from_value(config).unwrap();
        portcullis_rate_limit::RateLimit::from_config(config).unwrap().callbacks()
    };
    let quiet = callbacks(two_a_minute(json!({})));
    assert!(quiet.same_as(Callbacks::REQUEST_HEADERS));
    let telling = callbacks(two_a_minute(json!({"headers": "mule"})));
    assert!(telling.same_as(Callbacks::REQUEST_HEADERS.and(Callbacks::RESPONSE_HEADERS)));
    let asking = callbacks(two_a_minute(json!({"service": {"cluster": "limits", "domain": "shop"}})));
    assert!(asking.same_as(portcullis_rate_limit::RateLimit::CALLBACKS));
}
