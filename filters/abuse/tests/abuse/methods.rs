//! Methods, and headers that ask for another one.

use portcullis_abuse::Gateway;
use portcullis_abuse::policies::{GOOD, client_id_with, everything};
use portcullis_testkit::envoy::{Fields, Http};
use serde_json::json;

/// By which servers let a client ask for another method than it sends.
const OVERRIDES: &[&str] = &["x-http-method-override", "x-http-method", "x-method-override", "_method"];

/// The policies go by the method of the request line, and by nothing else; what asks for another is the upstream's to
/// heed or not, so it comes there as it is.
#[test]
fn a_request_for_another_method_changes_nothing_here() {
    let scope = json!({"exempt": [{"path_prefix": "/health", "methods": ["GET", "HEAD"]}]});
    let gateway = Gateway::start(&[client_id_with(json!({"scope": scope}))]);
    for http in Http::BOTH {
        for name in OVERRIDES {
            let fields: Fields = &[(name, b"GET")];
            for method in ["POST", "DELETE", "get", "GETS", "PROPFIND"] {
                let status = http.request(gateway.addr(), method, "/health", fields, b"").status;
                // Over HTTP/1.1 Envoy itself takes no other words than those it knows.
                assert!(status == 401 || status == 400, "{http:?} {method} {name} {status}");
            }
            assert_eq!(gateway.upstream.take(), [], "{http:?} {name}");
            assert_eq!(
                http.request(gateway.addr(), "POST", "/health?_method=GET", &[], b"").status,
                401,
                "{http:?}"
            );

            let fields = [&GOOD[..], &[(name, b"DELETE")]].concat();
            assert_eq!(http.get(gateway.addr(), "/", &fields).status, 200, "{http:?} {name}");
            let message = gateway.upstream.take_one();
            assert_eq!(
                (&message.method[..], message.all(name)),
                (&b"GET"[..], vec![&b"DELETE"[..]]),
                "{http:?}"
            );
        }
    }
    gateway.assert_sound();
}

/// Only what the Fetch standard calls a preflight request is one.
#[test]
fn what_only_resembles_a_preflight_request_is_asked_for_credentials() {
    let gateway = Gateway::start(&everything());
    let (origin, wanted) =
        (("origin", &b"https://a.test"[..]), ("access-control-request-method", &b"PUT"[..]));
    for http in Http::BOTH {
        assert_eq!(
            http.request(gateway.addr(), "OPTIONS", "/", &[origin, wanted], b"").status,
            200,
            "{http:?}"
        );
        let message = gateway.upstream.take_one();
        assert_eq!(
            message.of_the_suite(),
            [("x-portcullis-route".to_owned(), "other".to_owned())],
            "{http:?}"
        );
        for (method, fields) in [
            ("OPTIONS", &[][..]),
            ("OPTIONS", &[origin]),
            ("OPTIONS", &[wanted]),
            ("options", &[origin, wanted]),
            ("Options", &[origin, wanted]),
            ("GET", &[origin, wanted]),
            ("POST", &[origin, wanted, ("x-http-method-override", b"OPTIONS")]),
        ] {
            let status = http.request(gateway.addr(), method, "/", fields, b"").status;
            assert!(status == 401 || status == 400, "{http:?} {method} {fields:?} {status}");
        }
        assert_eq!(gateway.upstream.take(), [], "{http:?}");
    }
    gateway.assert_sound();
}

/// Methods are any word; each is enforced, counted and logged.
#[test]
fn methods_that_nobody_has_heard_of_are_enforced() {
    let gateway = Gateway::start(&everything());
    let long = "M".repeat(5000);
    for method in ["A", "get", "GET!", "#$%&'*+-.^_`|~", "M-SEARCH", "PRI", &long] {
        let status = Http::Two.request(gateway.addr(), method, "/", &[], b"").status;
        assert!(status == 401 || status == 400, "{method} {status}");
        let status = Http::Two.request(gateway.addr(), method, "/", &GOOD, b"").status;
        for message in gateway.upstream.take() {
            assert_eq!((status, &message.method[..]), (200, method.as_bytes()));
        }
    }
    gateway.assert_sound();
}
