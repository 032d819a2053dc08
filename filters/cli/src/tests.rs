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

#[track_caller]
fn problem(document: &str) -> String {
    check::check("gateway", document.as_bytes()).err().unwrap_or_default()
}

/// One policy after the other, in JSON.
fn chain(policies: &[&str]) -> String {
    format!(r#"{{"policies":[{}]}}"#, policies.join(","))
}

const CLIENT_ID: &str = r#"{"client-id":{"auth":{"per-request":{"cluster":"auth"}}}}"#;
const BY_CLIENT: &str = r#"{"rate-limit":{"key":["client-id"],"limits":[{"max":1,"period_ms":1000}]}}"#;

#[test]
fn a_chain_in_which_a_policy_reads_what_only_a_later_one_sets_is_refused() {
    let limits = r#""limits":[{"max":1,"period_ms":1000}]"#;
    let tiers = format!(r#"{{"rate-limit":{{{limits},"tiers":{{"gold":{{{limits}}}}}}}}}"#);
    let by_route = format!(
        r#"{{"rate-limit":{{{limits},"key":["path",{{"header":{{"name":"X-Portcullis-Route"}}}}]}}}}"#
    );
    let by_tier = r#"{"content-router":{"rules":[{"when":{"all":[{"not":{"header":{"name":"x-portcullis-client-tier"}}}]},"then":"pass"}]}}"#;
    let router = r#"{"content-router":{"rules":[{"when":{"method":["GET"]},"then":{"route":"a"}}]}}"#;
    let stylesheet = r#""stylesheet":{"inline":"<xsl:stylesheet version='1.0' xmlns:xsl='http://www.w3.org/1999/XSL/Transform'><xsl:param name='who'/></xsl:stylesheet>"}"#;
    let transform = |side: &str| {
        format!(r#"{{"xslt-transform":{{"{side}":{{{stylesheet},"parameters":{{"who":"client-id"}}}}}}}}"#)
    };
    for (reader, setter, expected) in [
        (
            BY_CLIENT,
            CLIENT_ID,
            "policies[0].rate-limit.key[0]: reads the client's identity, which only policies[1] sets: client-id must stand before rate-limit",
        ),
        (
            &tiers,
            CLIENT_ID,
            "policies[0].rate-limit.tiers: reads the client's identity, which only policies[1] sets",
        ),
        (
            &by_route,
            router,
            "policies[0].rate-limit.key[1]: reads the header X-Portcullis-Route, which only policies[1] sets",
        ),
        (
            by_tier,
            CLIENT_ID,
            "policies[0].content-router.rules[0].when: reads the header x-portcullis-client-tier, which only policies[1] sets",
        ),
        (
            &transform("request"),
            CLIENT_ID,
            "policies[0].xslt-transform.request.parameters.who: reads the client's identity, which only",
        ),
    ] {
        let said = problem(&chain(&[reader, setter]));
        assert!(said.starts_with(expected), "{said}");
        assert_eq!(problem(&chain(&[setter, reader])), "");
        assert_eq!(problem(&chain(&[reader])), "", "the setter may be a filter of its own");
    }
    assert_eq!(problem(&chain(&[&transform("response"), CLIENT_ID])), "");
    assert_eq!(problem(&chain(&[r#"{"access-log":{}}"#, CLIENT_ID, BY_CLIENT, BY_CLIENT])), "");
}

#[test]
fn a_chain_in_which_two_policies_set_one_thing_is_refused() {
    let router = |header: &str| {
        format!(
            r#"{{"content-router":{{"header":"{header}","rules":[{{"when":{{"method":["GET"]}},"then":{{"route":"a"}}}}]}}}}"#
        )
    };
    for (policies, expected) in [
        (
            vec![CLIENT_ID, CLIENT_ID],
            "policies[1].client-id: sets the client's identity, as policies[0] does already",
        ),
        (
            vec![&router("x-portcullis-route"), &router("x-portcullis-route")],
            "policies[1].content-router: sets the header x-portcullis-route, as policies[0] does already",
        ),
        (
            vec![&router("x-a"), &router("x.a")],
            "policies[1].content-router: sets the header x.a, as policies[0] does",
        ),
        (
            vec![CLIENT_ID, &router("client-id")],
            "policies[1].content-router: sets the header client-id, in which policies[0] looks for credentials",
        ),
        (
            vec![&router("client.secret"), CLIENT_ID],
            "policies[0].content-router: sets the header client.secret, in which policies[1] looks for credentials",
        ),
        (vec![&router("x.portcullis.client.id")], "policies[0].content-router.header: is reserved"),
        (vec![&router("x.portcullis.route")], "policies[0].content-router.header: is reserved"),
        (
            vec![&router("transfer_encoding")],
            "policies[0].content-router.header: must be a header that has no meaning",
        ),
        (vec![&router("x-a"), &router("x-b"), CLIENT_ID], ""),
    ] {
        let said = problem(&chain(&policies));
        assert!(said.starts_with(expected) && said.is_empty() == expected.is_empty(), "{said}");
    }
}

/// JSON does not say which of two members of one name counts.
#[test]
fn maps_have_no_member_twice() {
    let limits = r#""limits":[{"max":1,"period_ms":1000}]"#;
    let gold = format!(r#""gold":{{{limits}}}"#);
    for (document, text, expected) in [
        (
            "rate-limit",
            format!(r#"{{{limits},"tiers":{{{gold},{gold}}}}}"#),
            "tiers.gold: duplicate field `gold`",
        ),
        (
            "rate-limit",
            format!(
                r#"{{{limits},"key":["path"],"service":{{"cluster":"a","domain":"d","entry_keys":{{"path":"a","p\u0061th":"b"}}}}}}"#
            ),
            "service.entry_keys.path: duplicate field `path`",
        ),
        (
            "content-router",
            r#"{"namespaces":{"a":"urn:a","a":"urn:b"},"rules":[{"when":{"method":["GET"]},"then":"pass"}]}"#
                .to_owned(),
            "namespaces.a: duplicate field `a`",
        ),
        (
            "xslt-transform",
            r#"{"stylesheets":{"a":"","a":""}}"#.to_owned(),
            "stylesheets.a: duplicate field `a`",
        ),
        (
            "access-log",
            r#"{"otlp_attributes":{"a":"","a":""}}"#.to_owned(),
            "otlp_attributes.a: duplicate field `a`",
        ),
        (
            "access-log",
            r#"{"format":{"json":{"a":{"b":"1","b":"2"}}}}"#.to_owned(),
            "format.json.a.b: duplicate field `b`",
        ),
        (
            "client-registry",
            r#"{"version":1,"clients":[{"id":"a","id":"b"}]}"#.to_owned(),
            "clients[0].id: duplicate field `id`",
        ),
        (
            "gateway",
            format!(r#"{{"policies":[{{"rate-limit":{{{limits},"tiers":{{{gold},{gold}}}}}}}]}}"#),
            "policies[0].rate-limit.tiers.gold: duplicate field `gold`",
        ),
    ] {
        assert_eq!(check::check(document, text.as_bytes()).unwrap_err(), expected);
    }
}

/// An access-log with this many OTLP sinks that have these members.
fn sinks(count: usize, members: &Value) -> Value {
    let sink = |at: usize| {
        let mut sink = members.clone();
        sink["cluster"] = json!(format!("collector-{at}"));
        json!({"otlp": sink})
    };
    json!({"sinks": (0..count).map(sink).collect::<Vec<_>>()})
}

#[test]
fn a_configuration_that_could_take_more_memory_than_a_vm_has_is_refused() {
    let most = json!({"max_queue_bytes": 256 << 20, "max_batch_bytes": 16 << 20, "max_in_flight": 16, "max_queue": 1_000_000});
    let list = |bytes: usize| json!({"client-id": {"auth": {"registry": {"cluster": "auth", "max_memory_bytes": bytes}}}});
    let router = json!({"content-router": {
        "rules": [{"when": {"json": {"pointer": "/a"}}, "then": {"route": "a"}}], "default": {"route": "b"}, "body": {"max_held_bytes": 256 << 20},
    }});
    let two = json!({"max_queue_bytes": 128 << 20});
    for (document, config, expected) in [
        ("access-log", sinks(1, &most), None),
        ("access-log", sinks(2, &most), Some("access-log ")),
        ("access-log", sinks(4, &most), Some("access-log ")),
        ("access-log", sinks(8, &json!({})), None),
        ("gateway", json!({"policies": [{"access-log": sinks(4, &most)}]}), Some("access-log ")),
        // Each for itself would do.
        ("gateway", json!({"policies": [{"access-log": sinks(2, &two)}]}), None),
        ("gateway", json!({"policies": [list(256 << 20)]}), None),
        (
            "gateway",
            json!({"policies": [list(256 << 20), {"access-log": sinks(2, &two)}]}),
            Some("client-id 513, access-log "),
        ),
        ("gateway", json!({"policies": [list(256 << 20), router]}), None),
        (
            "gateway",
            json!({"policies": [list(300 << 20), router], "max_exchange_bytes": 128 << 20}),
            Some("client-id 601, open exchanges 128, messages being read 256, a message at work 2)"),
        ),
        (
            "gateway",
            json!({"policies": [list(64 << 20), router, {"access-log": sinks(4, &json!({}))}]}),
            None,
        ),
    ] {
        let refused = check::check(document, config.to_string().as_bytes()).err();
        match expected {
            None => assert_eq!(refused, None, "{config}"),
            Some(expected) => {
                let said = refused.unwrap_or_else(|| panic!("accepted: {config}"));
                assert!(said.starts_with("could take ") && said.contains(expected), "{said}");
            }
        }
    }
}
