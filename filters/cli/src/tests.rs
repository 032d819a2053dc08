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
#[test]
fn schemas_take_what_modules_take_and_refuse_unknown_and_mistyped_fields() {
    let good = json!({
        "credentials": ["basic", {"headers": {"id": "x-id"}}, {"query": {}}],
        "secret": "optional",
        "auth": {"per-request": {"cluster": "auth", "identity": {"name": "x-name"}}},
        "cache": {"entries": 5},
        "scope": {"exempt": [{"path_prefix": "/health", "methods": ["GET"]}], "cors_preflight": "exempt"},
    });
    let validator = jsonschema::validator_for(schema::of("client-id").unwrap().as_value()).unwrap();
    assert!(validator.is_valid(&good));
    check::check("client-id", good.to_string().as_bytes()).unwrap();
    for (pointer, value) in [
        ("/unknown", json!(1)),
        ("/auth/per-request/unknown", json!(1)),
        ("/auth/per-request/timeout_ms", json!("1")),
        ("/secret", json!("sometimes")),
        ("/credentials/0", json!("cookie")),
        ("/cache/entries", json!(-1)),
        ("/scope/exempt/0/path_prefix", json!(null)),
    ] {
        let bad = changed(&good, pointer, value);
        assert!(!validator.is_valid(&bad), "the schema takes {pointer}");
        assert!(check::check("client-id", bad.to_string().as_bytes()).is_err(), "the module takes {pointer}");
    }
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
