//! Configuration that is pushed while requests come.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use portcullis_testkit::envoy::{Backend, Delivery, Envoy, EnvoyConfig, Response};
use serde_json::{Value, json};

use crate::support::{Fields, Http, auth_service, config, per_request, plugin};

const GOOD: Fields = &[("client_id", b"acme"), ("client_secret", b"s3cret")];

fn with_realm(realm: &str) -> Value {
    per_request(json!({"rejection": {"realm": realm}}))
}

fn realm(response: &Response) -> String {
    response.headers.text("www-authenticate").expect("a challenge")
}

#[test]
fn a_bad_document_is_refused_and_a_good_one_taken_and_no_request_suffers() {
    let (auth, backend) = (auth_service(), Backend::start());
    let with_policy = |policy: &Value| -> EnvoyConfig {
        config(backend.addr(), auth.addr()).delivery(Delivery::Files).workers(2).filter(plugin(policy))
    };
    let envoy = Envoy::start(&with_policy(&with_realm("first")));
    let bad = [
        (
            per_request(json!({"auth": {"per-request": {"cluster": "auth", "timeout_ms": "hunter2"}}})),
            "auth.per-request.timeout_ms",
        ),
        (
            per_request(json!({"auth": {"per-request": {"cluster": "auth", "secret": "hunter2"}}})),
            "auth.per-request.secret",
        ),
        (per_request(json!({"cache": {"entries": 2_000_000}})), "cache.entries: must be from 0 to 1000000"),
        (
            per_request(json!({"scope": {"exempt": [{"path_prefix": "hunter2"}]}})),
            "scope.exempt[0].path_prefix",
        ),
        (json!({"on_outage": "open"}), "missing field `auth`"),
        (json!("hunter2"), "configuration refused"),
    ];

    let stop = AtomicBool::new(false);
    let statuses = thread::scope(|scope| {
        let clients = Http::BOTH.map(|http| {
            let (envoy, stop) = (&envoy, &stop);
            scope.spawn(move || {
                let mut statuses = Vec::new();
                while !stop.load(Ordering::SeqCst) {
                    statuses.push(http.get(envoy.addr(), "/", GOOD).status);
                    statuses.push(http.get(envoy.addr(), "/", &[]).status);
                }
                statuses
            })
        });
        for (policy, expected) in &bad {
            let refusal = envoy.push(&with_policy(policy)).expect_err("Envoy refuses");
            assert!(refusal.details.contains("portcullis client-id: configuration refused"), "{refusal}");
            assert!(refusal.details.contains(expected), "{expected}: {refusal}");
            assert!(!refusal.details.contains("hunter2"), "{refusal}");
            assert!(realm(&Http::One.get(envoy.addr(), "/", &[])).contains("\"first\""));
        }
        envoy.push(&with_policy(&with_realm("second"))).unwrap();
        for http in Http::BOTH {
            assert!(realm(&http.get(envoy.addr(), "/", &[])).contains("\"second\""));
        }
        stop.store(true, Ordering::SeqCst);
        clients.map(|client| client.join().unwrap())
    });

    for statuses in statuses {
        assert!(statuses.len() >= 2);
        assert!(statuses.chunks(2).all(|pair| pair == [200, 401]), "{statuses:?}");
    }
    assert!(backend.requests().iter().all(|request| request.headers.contains("x-portcullis-client-id")));
}

#[test]
fn a_bad_document_at_the_start_keeps_envoy_from_starting() {
    let (auth, backend) = (auth_service(), Backend::start());
    let policy = per_request(json!({"no_such_field": "hunter2"}));

    let error = Envoy::try_start(&config(backend.addr(), auth.addr()).filter(plugin(&policy)))
        .err()
        .expect("Envoy refuses");

    assert!(error.log.contains("configuration refused: no_such_field: unknown field"), "{error}");
    assert!(!error.log.contains("hunter2"), "{error}");
}

/// A `Struct`, in which operators write YAML in place, reaches the module as a serialized message.
#[test]
fn takes_a_struct_for_json() {
    let (auth, backend) = (auth_service(), Backend::start());
    let plugin = plugin(&json!({})).struct_configuration(with_realm("of a struct"));
    let envoy = Envoy::start(&config(backend.addr(), auth.addr()).filter(plugin));
    for http in Http::BOTH {
        assert!(realm(&http.get(envoy.addr(), "/", &[])).contains("\"of a struct\""));
        assert_eq!(http.get(envoy.addr(), "/", GOOD).status, 200);
    }
}
