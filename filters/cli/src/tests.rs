//! The generated documentation is up to date, and schemas say what the modules do.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::{check, reference, schema};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[test]
fn the_generated_documentation_has_not_drifted() {
    for (path, expected) in reference::generated(&root()).unwrap() {
        let found = std::fs::read_to_string(root().join(&path)).unwrap_or_default();
        assert!(found == expected, "{} has drifted: run `make docs`", path.display());
    }
}

/// The tool and the schema must agree; the schema may be more lenient where a type cannot say what is meant.
#[track_caller]
fn assert_agreed(document: &str, good: &Value, bad: &[(&str, Value)]) {
    let validator = jsonschema::validator_for(schema::of(document).unwrap().as_value()).unwrap();
    assert!(validator.is_valid(good));
    check::check(document, good.to_string().as_bytes()).unwrap();
    for (pointer, value) in bad {
        let bad = changed(good, pointer, value.clone());
        assert!(!validator.is_valid(&bad), "the schema takes {pointer}");
        assert!(check::check(document, bad.to_string().as_bytes()).is_err(), "the module takes {pointer}");
    }
}

#[test]
fn schemas_take_what_modules_take_and_refuse_unknown_and_mistyped_fields() {
    let good = json!({
        "credentials": ["basic", {"headers": {"id": "x-id"}}, {"query": {}}],
        "secret": "optional",
        "auth": {"per-request": {"cluster": "auth", "identity": {"name": "x-name"}}},
        "cache": {"entries": 5},
        "scope": {"exempt": [{"path_prefix": "/health", "methods": ["GET"]}], "cors_preflight": "exempt"},
    });
    let bad = [
        ("/unknown", json!(1)),
        ("/auth/per-request/unknown", json!(1)),
        ("/auth/per-request/timeout_ms", json!("1")),
        ("/secret", json!("sometimes")),
        ("/credentials/0", json!("cookie")),
        ("/cache/entries", json!(-1)),
        ("/scope/exempt/0/path_prefix", json!(null)),
    ];
    assert_agreed("client-id", &good, &bad);
}

#[test]
fn the_schema_of_rate_limit_takes_and_refuses_what_the_module_does() {
    let good = json!({
        "name": "per-client",
        "key": ["client-id", {"header": {"name": "x"}}, {"query": {"name": "q"}}, {"source-address": {}}, "path"],
        "limits": [{"max": 10, "period_ms": 1000}, {"max": 1000, "period_ms": 86_400_000}],
        "tiers": {"gold": {"limits": [{"max": 100, "period_ms": 1000}]}},
        "headers": "ietf",
        "rejection": {"status": 429, "body": {"text": "no"}},
        "store": {"slots": 1024, "precision": {"leased": {"batch": 8}}},
        "service": {"cluster": "limits", "domain": "shop"},
    });
    let bad = [
        ("/unknown", json!(1)),
        ("/limits", json!(null)),
        ("/limits/0/max", json!(0)),
        ("/limits/0/max", json!("10")),
        ("/limits/1/period_ms", json!(31_622_400_001_u64)),
        ("/limits/0/unknown", json!(1)),
        ("/key/0", json!("cookie")),
        ("/key/1/header", json!({})),
        ("/key/3/source-address/prefix_v4", json!(33)),
        ("/tiers/gold/unknown", json!(1)),
        ("/headers", json!("x")),
        ("/rejection/status", json!(200)),
        ("/rejection/body", json!("no")),
        ("/store/slots", json!(15)),
        ("/store/precision/leased/batch", json!(0)),
        ("/service/timeout_ms", json!(0)),
    ];
    assert_agreed("rate-limit", &good, &bad);
}

#[test]
fn the_schema_of_content_router_takes_and_refuses_what_the_module_does() {
    let good = json!({
        "header": "x-portcullis-route",
        "namespaces": {"t": "http://someuri"},
        "rules": [
            {"name": "a", "then": {"route": "a"}, "when": {"all": [
                {"header": {"name": "x", "value": {"exact": "1"}, "values": "any"}},
                {"not": {"path": {"prefix": "/a"}}},
                {"any": [{"method": ["POST"]}, {"host": {"matches": ".*"}}, {"action": {"prefix": "urn:"}}]},
            ]}},
            {"then": "pass", "when": {"soap-header": {"namespace": "urn:a", "name": "to"}}},
            {"then": {"reply": {"status": 403}}, "when": {"xpath": {"expression": "/t:a", "value": {"exact": "1"}}}},
            {"then": "pass", "when": {"json": {"pointer": "/a"}}},
        ],
        "default": {"reply": {"status": 500, "detail": "Invalid routing header"}},
        "body": {"max_bytes": 65536, "xpath": "buffered"},
        "undecided": {"no_body": "refuse"},
    });
    let bad = [
        ("/unknown", json!(1)),
        ("/rules", json!(null)),
        ("/rules/0/unknown", json!(1)),
        ("/rules/0/then", json!("block")),
        ("/rules/0/then/route", json!(1)),
        ("/rules/0/when/all/0/header/values", json!("some")),
        ("/rules/0/when/all/0/header/unknown", json!(1)),
        ("/rules/0/when/all/2/any/0/method", json!("POST")),
        ("/rules/1/when/soap-header", json!({})),
        ("/rules/2/then/reply/status", json!(200)),
        ("/rules/3/when", json!({"jsn": {}})),
        ("/default", json!("route")),
        ("/body/max_bytes", json!(1023)),
        ("/body/xpath", json!("sometimes")),
        ("/undecided/no_body", json!("hold")),
    ];
    assert_agreed("content-router", &good, &bad);
}

#[test]
fn the_example_list_of_clients_fits_its_schema_and_its_reader() {
    let text = std::fs::read_to_string(root().join("k6/backends/clients.example.json")).unwrap();
    let example: Value = serde_json::from_str(&text).unwrap();
    let validator = jsonschema::validator_for(schema::of("client-registry").unwrap().as_value()).unwrap();
    assert!(validator.is_valid(&example));
    check::check("client-registry", text.as_bytes()).unwrap();
}

#[test]
fn unknown_documents_are_named() {
    assert!(check::check("nonsense", b"{}").unwrap_err().contains("`nonsense`"));
}

fn changed(document: &Value, pointer: &str, value: Value) -> Value {
    let mut document = document.clone();
    let (parent, member) = pointer.rsplit_once('/').unwrap();
    match document.pointer_mut(parent).unwrap() {
        Value::Array(items) => items[member.parse::<usize>().unwrap()] = value,
        parent => parent[member] = value,
    }
    document
}
