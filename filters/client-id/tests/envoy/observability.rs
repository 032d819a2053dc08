//! What operators see.

use portcullis_testkit::envoy::{AccessLog, EnvoyConfig, PATIENCE};
use serde_json::json;

use crate::support::{Fields, Gateway, Http, auth_service, per_request, plugin};

#[test]
fn names_module_version_and_revision_when_the_vm_starts() {
    let auth = auth_service();
    let gateway = Gateway::start(&per_request(json!({})), auth.addr());
    let line = gateway.envoy.wait_for_log(PATIENCE, |line| line.contains("portcullis client-id "));
    let (_, rest) = line.split_once("portcullis client-id ").unwrap();
    let (version, rest) = rest.split_once(' ').unwrap();
    assert_eq!(version, env!("CARGO_PKG_VERSION"));
    let revision = rest.strip_prefix("(revision ").and_then(|rest| rest.strip_suffix(')'));
    assert!(revision.is_some_and(|revision| !revision.is_empty()), "{line}");
}

#[test]
fn tells_native_logs_who_called_and_why_not() {
    let auth = auth_service();
    let policy = per_request(json!({"scope": {"exempt": [{"path_prefix": "/public"}]}}));
    let gateway = Gateway::start_with(auth.addr(), |config: EnvoyConfig| {
        config.filter(plugin(&policy)).access_log(AccessLog::Stdout(
            "%REQ(X-CASE)% %PROTOCOL% %RESPONSE_CODE% %RESPONSE_CODE_DETAILS% \
             %FILTER_STATE(wasm.portcullis.client_id:PLAIN)% \
             %FILTER_STATE(wasm.portcullis.client-id.outcome:PLAIN)%"
                .into(),
        ))
    });
    let cases: [(&str, &str, Fields, &str); 6] = [
        (
            "good",
            "/",
            &[("client_id", b"acme"), ("client_secret", b"s3cret")],
            "200 via_upstream acme client-id:passed:admitted",
        ),
        ("none", "/", &[], "401 client_id_missing - client-id:rejected:missing"),
        (
            "wrong",
            "/",
            &[("client_id", b"acme"), ("client_secret", b"wrong")],
            "401 client_id_invalid - client-id:rejected:invalid",
        ),
        (
            "out",
            "/",
            &[("client_id", b"out"), ("client_secret", b"s3cret")],
            "401 client_id_disabled - client-id:rejected:disabled",
        ),
        (
            "odd",
            "/",
            &[("authorization", b"Basic ?")],
            "400 client_id_malformed - client-id:rejected:malformed",
        ),
        ("free", "/public", &[], "200 via_upstream - client-id:skipped:exempt"),
    ];
    for (http, protocol) in [(Http::One, "HTTP/1.1"), (Http::Two, "HTTP/2")] {
        for (case, path, headers, expected) in &cases {
            let name = format!("{case}-{http:?}");
            let headers = [*headers, &[("x-case", name.as_bytes())]].concat();
            http.get(gateway.addr(), path, &headers);
            let line = gateway.envoy.wait_for_stdout(PATIENCE, |line| line.starts_with(&name));
            assert_eq!(line, format!("{name} {protocol} {expected}"));
        }
    }
}

#[test]
fn never_writes_a_secret_to_the_log() {
    let auth = auth_service();
    let gateway = Gateway::start_with(auth.addr(), |config: EnvoyConfig| {
        config.filter(plugin(&per_request(json!({})))).component_log_level("wasm:trace")
    });
    for http in Http::BOTH {
        http.get(gateway.addr(), "/", &[("client_id", b"acme"), ("client_secret", b"hunter2")]);
        http.get(gateway.addr(), "/?client_id=acme&client_secret=hunter2&client_secret=hunter2", &[]);
    }
    let log = gateway.envoy.shut_down();
    assert!(log.iter().all(|line| !line.contains("hunter2")), "{}", log.join("\n"));
}
