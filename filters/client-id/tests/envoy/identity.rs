//! Headers that say who the client is: nobody but the policy writes them.

use portcullis_testkit::envoy::{Behaviour, EnvoyConfig, Headers, HostileServer};
use serde_json::json;

use crate::support::{Body, Fields, Gateway, Http, auth_service, per_request, plugin};

const SPOOFED: Fields = &[
    ("x-portcullis-client-id", b"admin"),
    ("x-portcullis-client-id", b"root"),
    ("X-Portcullis-Client-Name", b"Admin"),
    ("X_Portcullis_Client_Id", b"admin"),
    ("x-portcullis_client-tier", b"platinum"),
    ("x_portcullis-CLIENT-tier", b"platinum"),
    ("x-portcullis-unverified", b"no"),
    ("x-portcullis-anything", b"\xff"),
    ("x-portcullisx", b"not ours"),
];

/// The fields that an upstream could take for the suite's, if it takes `_` for `-`.
fn of_the_suite(fields: &Headers) -> Vec<(String, String)> {
    fields
        .iter()
        .map(|(name, value)| {
            (name.to_lowercase().replace('_', "-"), String::from_utf8_lossy(value).into_owned())
        })
        .filter(|(name, _)| name.starts_with("x-portcullis-"))
        .collect()
}

#[test]
fn spoofed_headers_never_reach_the_backend() {
    let auth = auth_service();
    let policy = per_request(json!({"scope": {"exempt": [{"path_prefix": "/public"}]}}));
    let gateway = Gateway::start(&policy, auth.addr());
    let good: Fields = &[("client_id", b"acme"), ("client_secret", b"s3cret")];
    for http in Http::BOTH {
        gateway.backend.clear();
        assert_eq!(http.get(gateway.addr(), "/", &[SPOOFED, good].concat()).status, 200);
        assert_eq!(http.get(gateway.addr(), "/public/a", SPOOFED).status, 200);

        let requests = gateway.backend.requests();
        let mut admitted = of_the_suite(&requests[0].headers);
        admitted.sort();
        let expected = [
            ("x-portcullis-client-id", "acme"),
            ("x-portcullis-client-name", "Acme"),
            ("x-portcullis-client-tier", "gold"),
        ];
        assert_eq!(admitted, expected.map(|(name, value)| (name.to_owned(), value.to_owned())), "{http:?}");
        assert_eq!(of_the_suite(&requests[1].headers), [], "{http:?}");
        assert_eq!(requests[1].headers.all("x-portcullisx"), [b"not ours"], "{http:?}");
    }
    assert_eq!(gateway.count("exempt"), 2);
}

#[test]
fn spoofed_trailers_never_reach_the_backend() {
    let auth = auth_service();
    let policy = per_request(json!({"scope": {"exempt": [{"path_prefix": "/public"}]}}));
    for allow in [false, true] {
        let plugin = plugin(&policy).allow_on_headers_stop_iteration(allow);
        let gateway =
            Gateway::start_with(auth.addr(), |config: EnvoyConfig| config.http1_trailers().filter(plugin));
        let good: Fields = &[("client_id", b"acme"), ("client_secret", b"s3cret")];
        for http in Http::BOTH {
            for (path, headers) in [("/", good), ("/public", &[])] {
                gateway.backend.clear();
                let mut request = http.begin(gateway.addr(), "POST", path, headers, Body::Chunked);
                request.send(b"body").unwrap();
                request.end(&[SPOOFED, &[("x-check", b"7")]].concat()).unwrap();
                assert_eq!(request.response().unwrap().status, 200, "{http:?} {path}");

                let trailers = &gateway.backend.requests()[0].trailers;
                assert_eq!(of_the_suite(trailers), [], "{http:?} {path}");
                assert_eq!(trailers.all("x-check"), [b"7"], "{http:?} {path}");
                assert_eq!(trailers.all("x-portcullisx"), [b"not ours"], "{http:?} {path}");
            }
        }
    }
}

#[test]
fn spoofed_headers_do_not_survive_an_outage_that_lets_requests_through() {
    let auth = HostileServer::start(Behaviour::Reset);
    let gateway = Gateway::start(&per_request(json!({"on_outage": "open"})), auth.addr());
    let good: Fields = &[("client_id", b"acme"), ("client_secret", b"s3cret")];
    for http in Http::BOTH {
        gateway.backend.clear();
        assert_eq!(http.get(gateway.addr(), "/", &[SPOOFED, good].concat()).status, 200);
        let seen = of_the_suite(&gateway.backend.requests()[0].headers);
        assert_eq!(seen.len(), 1, "{http:?}: {seen:?}");
        assert_eq!(seen[0].0, "x-portcullis-unverified");
        assert_ne!(seen[0].1, "no");
    }
}

#[test]
fn a_path_that_only_pretends_to_be_exempt_is_enforced() {
    let auth = auth_service();
    let policy = per_request(json!({"scope": {"exempt": [{"path_prefix": "/public"}]}}));
    let gateway = Gateway::start(&policy, auth.addr());
    let before = gateway.mark();
    for http in Http::BOTH {
        for path in [
            "/publicity",
            "/public/../private",
            "/public/%2e%2e/private",
            "/public/..%2fprivate",
            "/public/..;/private",
            "/public//private",
            "/PUBLIC",
        ] {
            assert_eq!(http.get(gateway.addr(), path, &[]).status, 401, "{http:?} {path}");
        }
    }
    gateway.assert_backend_untouched_since(&before);
}
