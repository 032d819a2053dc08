//! Two filters of the module in one VM.

use portcullis_testkit::envoy::{Backend, Cluster, EnvoyConfig, PATIENCE, Reply};
use serde_json::json;

use crate::support::{Fields, Gateway, Http, auth_service, basic, per_request, plugin};

/// The same `vm_id`, module and `root_id`; only the configurations differ.
#[test]
fn filters_with_different_configurations_do_not_get_in_each_others_way() {
    let (first, second) = (auth_service(), Backend::start());
    let partner = basic("partner", "p");
    second.reply_with(move |request| {
        Reply::status(if request.headers.get("authorization") == Some(&partner) { 200 } else { 401 })
    });
    let outer = per_request(json!({
        "credentials": [{"headers": {}}],
        "rejection": {"realm": "outer"},
        "cache": {"shared_slots": 8},
    }));
    let inner = per_request(json!({
        "credentials": [{"query": {}}],
        "auth": {"per-request": {"cluster": "second", "timeout_ms": 60_000, "retries": 0}},
        "rejection": {"realm": "inner"},
        "cache": {"shared_slots": 8},
    }));
    let gateway = Gateway::start_with(first.addr(), |config: EnvoyConfig| {
        config
            .cluster(Cluster::http1("second", second.addr()))
            .filter(plugin(&outer).vm_id("portcullis"))
            .filter(plugin(&inner).vm_id("portcullis"))
    });
    let acme: Fields = &[("client_id", b"acme"), ("client_secret", b"s3cret")];
    let wrong: Fields = &[("client_id", b"acme"), ("client_secret", b"wrong")];
    // Good for the outer one only.
    let swapped: Fields = &[("client_id", b"partner"), ("client_secret", b"p")];
    for http in Http::BOTH {
        gateway.backend.clear();
        for (path, headers, expected) in [
            ("/?client_id=partner&client_secret=p", acme, None),
            ("/?client_id=partner&client_secret=p", wrong, Some("outer")),
            ("/?client_id=partner&client_secret=p", swapped, Some("outer")),
            ("/?client_id=partner&client_secret=x", acme, Some("inner")),
            ("/?client_id=acme&client_secret=s3cret", acme, Some("inner")),
            ("/", acme, Some("inner")),
        ] {
            let response = http.get(gateway.addr(), path, headers);
            let challenge = response.headers.text("www-authenticate");
            let realm = challenge.as_deref().and_then(|challenge| challenge.split('"').nth(1));
            assert_eq!(realm, expected, "{http:?} {path} {headers:?}");
            assert_eq!(response.status, if expected.is_some() { 401 } else { 200 });
        }
        let requests = gateway.backend.wait_for(1, PATIENCE);
        assert_eq!(requests.len(), 1);
        assert_eq!(requests[0].path, "/");
        assert_eq!(requests[0].headers.text("x-portcullis-client-id").as_deref(), Some("partner"));
    }
    // acme, wrong and swapped of the one; p, x and acme's of the other.
    assert_eq!((first.count(), second.count()), (3, 3));
}
