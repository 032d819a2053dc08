//! What gateways that ask the same service allow together.

use portcullis_testkit::envoy::{Cluster, EnvoyConfig, RateLimitService, concurrently, h1, h2};
use serde_json::json;

use crate::support::{Gateway, Http, SERVICE, number, policy};

const YEAR: u64 = 365 * 86_400;

#[test]
fn gateways_together_admit_exactly_what_the_limit_allows() {
    let Some(service) = RateLimitService::start(SERVICE) else { return };
    let config = || EnvoyConfig::new().workers(2).cluster(Cluster::http2("limits", service.addr()));
    let gateways = [(); 2].map(|()| Gateway::start_with(&policy(json!({})), config()));
    for http in Http::BOTH {
        let tenant = format!("tenant {http:?}");
        let statuses = concurrently(100, |n| gateways[n % 2].get(http, &tenant).status);

        let count = |status| statuses.iter().filter(|each| **each == status).count();
        assert_eq!((count(200), count(429)), (40, 60), "{http:?}");
    }
    let sum = |name| gateways.iter().map(|gateway| gateway.count(name)).sum::<u64>();
    assert_eq!((sum("service_ok"), sum("service_over_limit"), sum("service_calls")), (80, 120, 200));
    assert_eq!((sum("admitted"), sum("rejected")), (80, 120));
    assert_eq!(gateways.iter().map(|gateway| gateway.backend.count()).sum::<usize>(), 80);
}

#[test]
fn clients_are_told_how_the_service_s_limit_stands() {
    let Some(service) = RateLimitService::start(SERVICE) else { return };
    let gateways = [(); 2].map(|()| Gateway::start(&policy(json!({})), service.addr()));

    let responses: Vec<_> = (0..5).map(|n| gateways[n % 2].get(Http::BOTH[n % 2], "small")).collect();

    let seen: Vec<_> = responses
        .iter()
        .map(|response| (response.status, number(response, "x-ratelimit-remaining")))
        .collect();
    assert_eq!(seen, [(200, 2), (200, 1), (200, 0), (429, 0), (429, 0)]);
    for response in &responses {
        assert_eq!(response.headers.text("x-ratelimit-limit").as_deref(), Some("3, 3;w=31536000"));
        assert!((1..=YEAR).contains(&number(response, "x-ratelimit-reset")), "{response:?}");
    }
    let refusal = &responses[3];
    assert_eq!(refusal.headers.text("content-type").as_deref(), Some("application/problem+json"));
    assert!((1..=YEAR).contains(&number(refusal, "retry-after")), "{refusal:?}");
}

#[test]
fn a_request_counts_under_each_descriptor_and_must_be_within_all_of_their_limits() {
    let Some(service) = RateLimitService::start(SERVICE) else { return };
    let plan = |name: &str| json!({"entries": [{"key": "plan", "value": name}]});
    let gateway =
        Gateway::start(&policy(json!({"descriptors": [plan("yearly"), plan("monthly")]})), service.addr());
    for http in Http::BOTH {
        let tenant = format!("tenant {http:?}");
        assert_eq!(gateway.statuses(http, &tenant, 4), [200, 200, 429, 429], "{http:?}");
        let limits = gateway.get(http, &tenant).headers.text("x-ratelimit-limit");
        assert_eq!(limits.as_deref(), Some("2, 5;w=31536000, 2;w=31536000"), "{http:?}");
    }
}

#[test]
fn clients_without_the_key_share_a_limit_and_are_not_let_off() {
    let Some(service) = RateLimitService::start(SERVICE) else { return };
    let gateway = Gateway::start(&policy(json!({})), service.addr());
    let statuses: Vec<_> = (0..42)
        .map(|n| match n % 2 {
            0 => h1::get(gateway.envoy.addr(), "/").status,
            _ => h2::get(gateway.envoy.addr(), "/").status,
        })
        .collect();
    assert_eq!(statuses.iter().filter(|status| **status == 200).count(), 40);
    assert_eq!(statuses[40..], [429, 429]);
}

#[test]
fn a_descriptor_for_which_the_service_has_no_limit_passes_and_is_counted_as_such() {
    let Some(service) = RateLimitService::start(SERVICE) else { return };
    let unknown = policy(json!({"descriptors": [{"entries": [{"key": "unheard-of", "value": "1"}]}]}));
    let gateway = Gateway::start(&unknown, service.addr());
    for http in Http::BOTH {
        let response = gateway.get(http, "tenant");
        assert_eq!(response.status, 200);
        assert!(!response.headers.contains("x-ratelimit-limit"), "{response:?}");
    }
    assert_eq!(gateway.count("service_no_limit"), 2);
}
