//! What responses tell of the quota, byte for byte.

use portcullis_testkit::envoy::{Backend, Cluster, Envoy, RateLimitService, Reply, Response};
use serde_json::{Value, json};

use crate::support::*;

/// A window of an hour and a minute's, two requests in the first.
fn announcing(dialect: &str) -> Value {
    json!({
        "headers": dialect,
        "limits": [{"max": 2, "period_ms": 3_600_000}, {"max": 500, "period_ms": 86_400_000}],
    })
}

const MULE: &[&str] = &["x-ratelimit-limit: 2", "x-ratelimit-remaining: 1", "x-ratelimit-reset: 3600000"];
const ENVOY: &[&str] =
    &["x-ratelimit-limit: 2, 2;w=3600, 500;w=86400", "x-ratelimit-remaining: 1", "x-ratelimit-reset: 3600"];
const KONG: &[&str] = &[
    "ratelimit-limit: 2",
    "ratelimit-remaining: 1",
    "ratelimit-reset: 3600",
    "x-ratelimit-limit-hour: 2",
    "x-ratelimit-remaining-hour: 1",
    "x-ratelimit-limit-day: 500",
    "x-ratelimit-remaining-day: 499",
];
const IETF: &[&str] = &[
    "ratelimit-policy: \"default-3600s\";q=2;w=3600, \"default-86400s\";q=500;w=86400",
    "ratelimit: \"default-3600s\";r=1;t=3600, \"default-86400s\";r=499;t=86400",
];
const ALL: [(&str, &[&str]); 5] =
    [("off", &[]), ("mule", MULE), ("envoy", ENVOY), ("kong", KONG), ("ietf", IETF)];

/// The first request of a key begins its window, so that its response is the same however slow the machine is.
#[test]
fn tells_the_first_client_how_much_is_left() {
    for (dialect, expected) in ALL {
        for http in Http::BOTH {
            let gateway = Gateway::start(&announcing(dialect));
            let response = http.get(gateway.addr(), &[]);
            assert_eq!(response.status, 200);
            assert_eq!(limit_fields(&response), expected, "{dialect} {http:?}");
        }
    }
}

#[test]
fn takes_the_place_of_what_the_upstream_says_in_the_same_dialect() {
    for (dialect, expected) in ALL {
        let gateway = Gateway::start(&announcing(dialect));
        let fields: Vec<&str> = [MULE, KONG, IETF].concat();
        let names = fields.iter().map(|field| field.split_once(':').unwrap().0);
        let reply =
            names.fold(Reply::ok("body"), |reply, name| reply.header(name, "up").header(name, "stream"));
        gateway.backend.reply(reply.header("x-ratelimit-limit-year", "up"));
        let response = Http::One.get(gateway.addr(), &[]);
        assert_eq!(response.text(), "body");
        let mut found = limit_fields(&response);
        let own: Vec<_> = found
            .iter()
            .filter(|field| !field.ends_with(": up") && !field.ends_with("stream"))
            .cloned()
            .collect();
        assert_eq!(
            sorted(own),
            sorted(expected.iter().map(|field| (*field).to_owned()).collect()),
            "{dialect}"
        );
        // None of the dialect's names is there twice.
        found.retain(|field| expected.iter().any(|own| own.split(':').next() == field.split(':').next()));
        assert_eq!(found.len(), expected.len(), "{dialect}: {found:?}");
        let kept = response.headers.all("x-ratelimit-limit-year").len();
        assert_eq!(kept, usize::from(dialect != "kong"), "{dialect}");
    }
}

fn sorted(mut fields: Vec<String>) -> Vec<String> {
    fields.sort();
    fields
}

/// Envoy's own local filter counts in a bucket that is filled once an hour.
fn local() -> Value {
    let always = json!({"default_value": {"numerator": 100, "denominator": "HUNDRED"}});
    json!({
        "name": "local_ratelimit",
        "typed_config": {
            "@type": "type.googleapis.com/envoy.extensions.filters.http.local_ratelimit.v3.LocalRateLimit",
            "stat_prefix": "native",
            "token_bucket": {"max_tokens": 2, "tokens_per_fill": 2, "fill_interval": "3600s"},
            "filter_enabled": always,
            "filter_enforced": always,
            "enable_x_ratelimit_headers": "DRAFT_VERSION_03",
        },
    })
}

/// The same names in the same order, the same limit and the same rest. Envoy's local filter leaves out the list of
/// limits and the mark of a refusal, which its global filter has; and its reset is the time until the next request would
/// be admitted, where that of the global filter is the time until the quota is whole.
#[test]
fn speaks_as_envoy_s_own_local_filter_does() {
    let backend = Backend::start();
    let policy = two_an_hour(json!({"headers": "envoy", "algorithm": "token-bucket"}));
    let own = Envoy::start(&config(&backend).filter(plugin(&policy)));
    let native = Envoy::start(&config(&backend).native_filter(local()));
    for (http, status, remaining) in [(Http::One, 200, "1"), (Http::Two, 200, "0"), (Http::One, 429, "0")] {
        let (own, native) = (http.get(own.addr(), &[]), http.get(native.addr(), &[]));
        assert_eq!((own.status, native.status), (status, status));
        let names = |response: &Response| -> Vec<String> {
            let names = response.headers.iter().map(|(name, _)| name.to_owned());
            names.filter(|name| name.starts_with("x-ratelimit-")).collect()
        };
        assert_eq!(names(&own), names(&native));
        assert_eq!(text(&native, "x-ratelimit-limit"), "2");
        assert_eq!(text(&own, "x-ratelimit-limit"), "2, 2;w=3600");
        for response in [&own, &native] {
            assert_eq!(text(response, "x-ratelimit-remaining"), remaining);
        }
        let is_marked = |response: &Response| response.headers.contains("x-envoy-ratelimited");
        assert_eq!((is_marked(&own), is_marked(&native)), (status == 429, false));
        if status == 429 {
            // Two requests in an hour are one in half an hour.
            for seconds in [text(&native, "x-ratelimit-reset"), text(&own, "retry-after")] {
                assert!((1_000..=1_800).contains(&seconds.parse().unwrap()), "{seconds}");
            }
        }
    }
}

/// Envoy's own global filter, which asks a service.
fn global() -> Value {
    json!({
        "name": "ratelimit",
        "typed_config": {
            "@type": "type.googleapis.com/envoy.extensions.filters.http.ratelimit.v3.RateLimit",
            "domain": "test",
            "timeout": "30s",
            "failure_mode_deny": true,
            "rate_limit_service": {
                "grpc_service": {"envoy_grpc": {"cluster_name": "limits"}},
                "transport_api_version": "V3",
            },
            "enable_x_ratelimit_headers": "DRAFT_VERSION_03",
        },
    })
}

/// Both ask one service, about two tenants with the same limits; nothing differs but the moment.
#[test]
fn speaks_as_envoy_s_own_global_filter_does() {
    const LIMITS: &str = "
domain: test
descriptors:
- key: header_x-tenant
  rate_limit: { unit: year, requests_per_unit: 2 }
";
    let Some(service) = RateLimitService::start(LIMITS) else { return };
    let backend = Backend::start();
    let base = || config(&backend).cluster(Cluster::http2("limits", service.addr()));
    let policy = two_an_hour(json!({
        "headers": "envoy",
        "key": [{"header": {"name": "x-tenant"}}],
        "service": {"cluster": "limits", "domain": "test", "timeout_ms": 30_000, "on_outage": "closed"},
    }));
    let action = json!({"request_headers": {"header_name": "x-tenant", "descriptor_key": "header_x-tenant"}});
    let route = json!({
        "match": {"prefix": "/"},
        "route": {"cluster": "backend", "rate_limits": [{"actions": [action]}]},
    });
    let own = Envoy::start(&base().filter(plugin(&policy)));
    let native = Envoy::start(&base().native_filter(global()).route(route));
    for (status, remaining) in [(200, "1"), (200, "0"), (429, "0")] {
        let own = Http::One.get(own.addr(), &[("x-tenant", b"one")]);
        let native = Http::One.get(native.addr(), &[("x-tenant", b"another")]);
        assert_eq!((own.status, native.status), (status, status));
        assert_eq!(text(&own, "x-ratelimit-remaining"), remaining);
        let fields = |response: &Response| -> Vec<String> {
            let fields = limit_fields(response).into_iter();
            let is_compared = |field: &String| field.starts_with("x-") && !field.contains("-reset: ");
            fields.filter(is_compared).collect()
        };
        assert_eq!(fields(&own), fields(&native));
        let [own, native] =
            [&own, &native].map(|response| text(response, "x-ratelimit-reset").parse::<u64>().unwrap());
        assert!(own.abs_diff(native) < 60, "{own} {native}");
    }
}

#[track_caller]
fn text(response: &Response, name: &str) -> String {
    let values = response.headers.all(name);
    assert_eq!(values.len(), 1, "{name}");
    String::from_utf8_lossy(values[0]).into_owned()
}
