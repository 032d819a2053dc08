//! Documents that make no sense.

use serde_json::{Value, json};

use crate::support::*;

#[test]
fn takes_what_is_documented() {
    let limits = |n: u64| -> Value { (1..=n).map(|period| json!({"max": 1, "period_ms": period})).collect() };
    for members in [
        json!({}),
        json!({"limits": limits(8)}),
        json!({"limits": [{"max": u64::MAX, "period_ms": 31_622_400_000_u64}]}),
        json!({"name": "a-b_9"}),
        json!({"key": ["client-id", {"header": {"name": "x"}}, {"header": {"name": "y"}}, {"query": {"name": "x"}},
            {"source-address": {"trusted_hops": 32, "prefix_v4": 1, "prefix_v6": 128}}, "path", "method", "host"]}),
        json!({"algorithm": "token-bucket", "limits": [{"max": 5, "period_ms": 1, "burst": 50}]}),
        json!({"store": {"slots": 16_777_216, "precision": {"leased": {"batch": 1_000_000}}}}),
        json!({"tiers": {"gold": {"limits": limits(2)}}}),
        json!({"tiers": {"x".repeat(256): {"limits": limits(1)}}}),
        json!({"key": ["path", {"header": {"name": "X-Tenant"}}],
            "service": {"cluster": "c", "domain": "d", "entry_keys": {"path": "p", "header_x-tenant": "tenant"}}}),
        json!({"rejection": {"status": 599, "body": {"text": "", "content_type": "text/html"}}}),
    ] {
        let config = two_a_minute(members);
        assert!(chain(&config).is_ok(), "{config}: {}", chain(&config).err().unwrap());
    }
}

#[test]
fn refuses_what_makes_no_sense_and_names_the_field() {
    let limit = json!({"max": 1, "period_ms": 1});
    let nine: Value = (1..=9).map(|period| json!({"max": 1, "period_ms": period})).collect();
    let leased = |batch: u64| json!({"precision": {"leased": {"batch": batch}}});
    for (members, expected) in [
        (json!({"limits": []}), "limits: must be 1 to 8 limits"),
        (json!({"limits": nine}), "limits: must be 1 to 8 limits"),
        (json!({"limits": [limit, {"max": 0, "period_ms": 2}]}), "limits[1].max: must be from 1"),
        (json!({"limits": [{"max": 1, "period_ms": 0}]}), "limits[0].period_ms: must be from 1"),
        (json!({"limits": [{"max": 1, "period_ms": 31_622_400_001_u64}]}), "limits[0].period_ms"),
        (
            json!({"limits": [limit, {"max": 9, "period_ms": 1}]}),
            "limits[1].period_ms: must be another period",
        ),
        (json!({"limits": [{"max": -1, "period_ms": 1}]}), "limits[0].max: expected u64"),
        (json!({"limits": [{"max": 1}]}), "limits[0]: missing field `period_ms`"),
        (json!({"limits": [{"max": 1, "period_ms": 1, "burst": 1}]}), "limits[0].burst: is for"),
        (
            json!({"algorithm": "token-bucket", "limits": [{"max": 1, "period_ms": 1, "burst": 0}]}),
            "limits[0].burst: must be from 1",
        ),
        (json!({"tiers": {"gold": {"limits": []}}}), "tiers.gold.limits: must be 1 to 8 limits"),
        (json!({"tiers": {"gold": {"limits": [limit, limit]}}}), "tiers.gold.limits[1].period_ms"),
        (json!({"tiers": {"": {"limits": [limit]}}}), "tiers: name 0"),
        (json!({"tiers": {"x".repeat(257): {"limits": [limit]}}}), "tiers: name 0 must have 1 to 256 bytes"),
        (json!({"name": ""}), "name: must be"),
        (json!({"name": "A"}), "name: must be"),
        (json!({"name": "a.b"}), "name: must be"),
        (json!({"name": "a".repeat(33)}), "name: must be"),
        (json!({"key": ["cookie"]}), "key[0]: expected one of"),
        (json!({"key": [{"header": {"name": "a b"}}]}), "key[0].header.name: must be a header name"),
        (json!({"key": [{"header": {"name": ":path"}}]}), "key[0].header.name"),
        (json!({"key": ["path", {"query": {"name": ""}}]}), "key[1].query.name: must not be empty"),
        (json!({"key": ["path", "method", "path"]}), "key[2]: stands in the list already"),
        (json!({"key": [{"header": {"name": "A"}}, {"header": {"name": "a"}}]}), "key[1]: stands"),
        (json!({"key": [{"header": {"name": "x-a"}}, {"header": {"name": "x.a"}}]}), "key[1]: stands"),
        (json!({"key": [{"source-address": {"trusted_hops": 33}}]}), "key[0].source-address.trusted_hops"),
        (json!({"key": [{"source-address": {"prefix_v4": 0}}]}), "key[0].source-address.prefix_v4"),
        (json!({"key": [{"source-address": {"prefix_v6": 129}}]}), "key[0].source-address.prefix_v6"),
        (json!({"rejection": {"status": 399}}), "rejection.status: must be from 400 to 599"),
        (json!({"rejection": {"status": 600}}), "rejection.status"),
        (
            json!({"rejection": {"body": {"text": "", "content_type": "a\r\nb: c"}}}),
            "rejection.body.content_type",
        ),
        (json!({"store": {"slots": 15}}), "store.slots: must be from 16 to 16777216"),
        (json!({"store": {"slots": 16_777_217}}), "store.slots"),
        (json!({"store": leased(0)}), "store.precision.leased.batch: must be from 1 to 1000000"),
        (
            json!({"store": leased(5), "algorithm": "sliding-window"}),
            "store.precision: may be leased with the algorithm fixed-window only",
        ),
        (json!({"service": {"cluster": "", "domain": "d"}}), "service.cluster"),
        (
            json!({"key": ["path", "host"],
                "service": {"cluster": "c", "domain": "d", "entry_keys": {"method": "m"}}}),
            "service.entry_keys: may have these names only, which the key gives: path, host",
        ),
        (json!({"scope": {"only": [{"path_prefix": "api"}]}}), "scope.only[0].path_prefix"),
        (json!({"headers": "x"}), "headers: expected one of"),
        (json!({"limit": 1}), "limit: unknown field"),
    ] {
        let config = two_a_minute(members);
        let error = chain(&config).err().unwrap_or_else(|| panic!("{config} is taken")).to_string();
        assert!(
            error.starts_with(&format!("rate-limit.{expected}")) || error.starts_with(expected),
            "{config}: {error}"
        );
    }
}

#[test]
fn needs_limits() {
    assert!(chain(&json!({})).err().unwrap().to_string().contains("missing field `limits`"));
}
