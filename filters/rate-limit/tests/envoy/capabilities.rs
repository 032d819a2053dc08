//! The module with fewer rights than it needs.

use portcullis_testkit::envoy::{Backend, Envoy, EnvoyConfig, module_path};
use serde_json::{Value, json};

use crate::support::*;

/// The capabilities in the configuration that stands in `envoy-config`, which the build checks against the module.
fn allowed() -> Vec<String> {
    let path = portcullis_testkit::envoy::workspace_root().join("envoy-config/rate-limit/envoy.yaml");
    let text = std::fs::read_to_string(path).expect("the configuration");
    let (_, list) = text.split_once("allowed_capabilities:").expect("a list of capabilities");
    list.lines()
        .map_while(|line| match line.trim().strip_suffix(": {}") {
            Some(name) => Some(Some(name.to_owned())),
            None if line.trim().is_empty() || line.trim().starts_with('#') => Some(None),
            None => None,
        })
        .flatten()
        .collect()
}

fn restricted(config: EnvoyConfig, policy: &Value, left_out: &[&str]) -> EnvoyConfig {
    let allowed = allowed();
    assert!(left_out.iter().all(|name| allowed.iter().any(|other| other == name)));
    let granted = allowed.iter().map(String::as_str).filter(|name| !left_out.contains(name));
    config.filter(plugin(policy).capabilities(granted))
}

#[test]
fn needs_no_more_than_the_configuration_that_stands_for_itself_grants() {
    assert!(module_path("rate-limit").is_file());
    let policy = two_an_hour(json!({"key": [{"source-address": {}}], "headers": "kong"}));
    let gateway = Gateway::start_with(|config| restricted(config, &policy, &[]));
    for expected in [200, 200, 429] {
        let response = Http::One.get(gateway.addr(), &[]);
        assert_eq!(response.status, expected);
        assert!(response.headers.contains("x-ratelimit-remaining-hour"));
    }
}

#[test]
fn refuses_its_configuration_without_shared_data_random_numbers_or_a_clock() {
    for missing in ["proxy_get_shared_data", "proxy_set_shared_data", "random_get", "clock_time_get"] {
        let backend = Backend::start();
        let config = restricted(config(&backend), &two_an_hour(json!({})), &[missing]);
        let error = Envoy::try_start(&config).err().expect("Envoy refuses");
        assert!(error.log.contains("configuration refused"), "{missing}: {error}");
        assert!(error.log.contains(missing), "{missing}: {error}");
    }
}

#[test]
fn lets_nothing_through_for_want_of_a_right_unless_told_to() {
    for missing in ["proxy_get_header_map_pairs", "proxy_get_property"] {
        for (on_failure, expected) in [("closed", 503), ("open", 200)] {
            let policy = two_an_hour(json!({"key": [{"source-address": {}}], "on_failure": on_failure}));
            let gateway = Gateway::start_with(|config| restricted(config, &policy, &[missing]));
            for http in Http::BOTH {
                assert_eq!(http.get(gateway.addr(), &[]).status, expected, "{missing} {on_failure}");
            }
            assert_eq!(gateway.count("host_failed"), 2);
        }
    }
}

/// The plugin's name tells its counts from those of others; the warning is about having none.
#[test]
fn warns_if_it_cannot_tell_its_counts_from_those_of_other_plugins() {
    for (name, left_out, expected) in [
        (None, &[][..], false),
        (None, &["proxy_get_property"], true),
        (Some("n"), &["proxy_get_property"], false),
    ] {
        let policy = two_an_hour(json!({"name": name}));
        let gateway = Gateway::start_with(|config| restricted(config, &policy, left_out));
        assert_eq!(warned(&gateway), expected, "{name:?} {left_out:?}");
    }
    for (name, expected) in [("", true), ("limits", false)] {
        let gateway = Gateway::start_with(|config| {
            config.native_filter(json!({
                "name": "rate-limit",
                "typed_config": {
                    "@type": "type.googleapis.com/envoy.extensions.filters.http.wasm.v3.Wasm",
                    "config": {
                        "name": name,
                        "configuration": {
                            "@type": "type.googleapis.com/google.protobuf.StringValue",
                            "value": two_an_hour(json!({})).to_string(),
                        },
                        "vm_config": {
                            "runtime": "envoy.wasm.runtime.v8",
                            "code": {"local": {"filename": module_path("rate-limit")}},
                        },
                    },
                },
            }))
        });
        assert_eq!(warned(&gateway), expected, "{name:?}");
        assert!(gateway.passes(Http::One, &[]));
    }
}

fn warned(gateway: &Gateway) -> bool {
    gateway.envoy.log_lines().iter().any(|line| line.contains("give the policy a `name`"))
}
