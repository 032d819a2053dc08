//! The module with no more rights than it needs, and with fewer.

use portcullis_testkit::envoy::{Backend, PATIENCE};
use portcullis_testkit::envoy::{Envoy, EnvoyConfig, h1, module_path};
use serde_json::json;

use crate::support::wasm::capabilities;
use crate::support::{Fields, Gateway, Http, auth_service, config, per_request, plugin};

const GOOD: Fields = &[("client_id", b"acme"), ("client_secret", b"s3cret")];

/// What the module imports and exports, less these.
fn all_but(left_out: &[&str]) -> Vec<String> {
    let mut all = capabilities(&module_path("client-id"));
    for name in left_out {
        let at = all.iter().position(|candidate| candidate == name);
        all.remove(at.unwrap_or_else(|| panic!("the module knows no {name}")));
    }
    all
}

fn restricted(config: EnvoyConfig, left_out: &[&str]) -> EnvoyConfig {
    let allowed = all_but(left_out);
    config.filter(plugin(&per_request(json!({}))).capabilities(allowed.iter().map(String::as_str)))
}

#[test]
fn needs_no_more_than_it_imports_and_exports() {
    let auth = auth_service();
    // Envoy looks these up whatever the list says.
    let unrestricted = ["_initialize", "proxy_abi_version_0_2_1", "proxy_on_memory_allocate"];
    let gateway = Gateway::start_with(auth.addr(), |config| restricted(config, &unrestricted));
    for http in Http::BOTH {
        assert_eq!(http.get(gateway.addr(), "/", &[]).status, 401);
        assert_eq!(http.get(gateway.addr(), "/", GOOD).status, 200);
        assert_eq!(http.request(gateway.addr(), "POST", "/", GOOD, b"body").status, 200);
    }
    let requests = gateway.backend.requests();
    assert_eq!(requests.len(), 4);
    assert!(requests.iter().all(|request| request.headers.contains("x-portcullis-client-id")));
    assert_eq!(gateway.count("auth_calls"), 1);
}

/// Keys of the cache are secret, and so are random; without a clock nothing would ever expire.
#[test]
fn refuses_its_configuration_without_random_numbers_or_a_clock() {
    let (auth, backend) = (auth_service(), Backend::start());
    for (missing, reason) in [
        ("random_get", "the host gives no random numbers"),
        ("proxy_get_current_time_nanoseconds", "the host does not tell the time"),
    ] {
        let config = restricted(config(backend.addr(), auth.addr()), &[missing]);

        let error = Envoy::try_start(&config).err().expect("Envoy refuses");

        assert!(error.log.contains(&format!("configuration refused: {reason}")), "{missing}: {error}");
    }
}

#[test]
fn lets_nothing_through_for_want_of_a_right() {
    let auth = auth_service();
    for (missing, refused) in [
        ("proxy_get_header_map_pairs", 503),
        ("proxy_remove_header_map_value", 503),
        ("proxy_replace_header_map_value", 503),
        ("proxy_http_call", 503),
        ("proxy_set_effective_context", 503),
    ] {
        let gateway = Gateway::start_with(auth.addr(), |config| restricted(config, &[missing]));
        let before = gateway.mark();
        for http in Http::BOTH {
            assert_ne!(http.get(gateway.addr(), "/", &[]).status, 200, "{missing}");
            assert_eq!(http.get(gateway.addr(), "/", GOOD).status, refused, "{missing}");
        }
        gateway.assert_backend_untouched_since(&before);
    }
}

/// A filter that may not reply can only hold the request.
#[test]
fn holds_what_it_may_not_answer() {
    let auth = auth_service();
    let gateway =
        Gateway::start_with(auth.addr(), |config| restricted(config, &["proxy_send_local_response"]));
    let before = gateway.mark();
    let mut connection = h1::Connection::open(gateway.addr());
    connection.send("GET", "/", &[], b"").unwrap();
    gateway.envoy.wait_for_log(PATIENCE, |line| line.contains("the host did not send a reply"));
    gateway.assert_backend_untouched_since(&before);
    assert_eq!(gateway.envoy.counter("http.ingress.downstream_rq_active"), 1);
}
