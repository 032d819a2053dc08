//! Good and bad configuration documents.

use portcullis_testkit::vm::{LogLevel, Vm};
use serde_json::json;

use crate::support::{per_request, start, subjects};

fn log_of(vm: &Vm, level: LogLevel) -> String {
    let lines: Vec<&str> =
        vm.record().log.iter().filter(|line| line.level == level).map(|line| line.text.as_str()).collect();
    lines.join("\n")
}

#[test]
fn every_module_says_which_code_it_is_and_takes_a_good_document() {
    for (name, config) in subjects() {
        let vm = start(name, &config, |_| {}).unwrap();
        assert!(vm.configured(), "{name}: {}", log_of(&vm, LogLevel::Error));
        let expected = format!("portcullis {name} {} (revision ", env!("CARGO_PKG_VERSION"));
        assert!(vm.record().log.iter().any(|line| line.text.starts_with(&expected)), "{name}");
    }
}

#[test]
fn a_bad_document_is_refused_with_its_reason_and_without_its_values() {
    let gateway = |client_id| json!({"policies": [{"client-id": client_id}]});
    let mut bad = per_request();
    bad["auth"]["per-request"]["timeout_ms"] = json!("hunter2");
    for (name, config, reason) in [
        ("no-op", json!({"a": 1}), "a: unknown field `a`"),
        ("client-id", json!({}), "missing field `auth`"),
        ("client-id", bad.clone(), "auth.per-request.timeout_ms: expected u32, found string"),
        (
            "gateway",
            gateway(bad),
            "policies[0].client-id.auth.per-request.timeout_ms: expected u32, found string",
        ),
        ("gateway", json!({}), "missing field `policies`"),
        ("gateway", json!({"policies": [{"clientid": {}}]}), "policies[0]: must be one of `client-id`"),
        ("access-log", json!({"max_field_bytes": 1}), "max_field_bytes: "),
    ] {
        let vm = start(name, &config, |_| {}).unwrap();
        let log = log_of(&vm, LogLevel::Error);
        assert!(!vm.configured(), "{name} took {config}");
        assert!(log.contains(&format!("portcullis {name}: configuration refused: {reason}")), "{log}");
        assert!(!log.contains("hunter2"), "{log}");
    }
}

#[test]
fn what_is_neither_json_nor_a_struct_is_refused() {
    for (name, _) in subjects() {
        for document in [&b"nonsense"[..], b"{", b"\x0a\xff\xff\xff\xff\x0f", b"\0", b"[]", b"\xff\xfe"] {
            let vm =
                start(name, &json!({}), |script| script.plugin_configuration = document.to_vec()).unwrap();
            assert!(!vm.configured(), "{name} took {document:?}");
        }
    }
}
