//! Where credentials are found, what is refused, and what the backend sees of them.

use portcullis_testkit::envoy::{Behaviour, HostileServer};
use serde_json::json;

use crate::support::{Fields, Gateway, Http, admission, auth_service, basic, per_request};

#[test]
fn admits_credentials_from_every_origin_and_takes_them_away() {
    let auth = auth_service();
    let gateway = Gateway::start(&per_request(json!({"cache": {"entries": 0}})), auth.addr());
    let authorization = basic("acme", "s3cret");
    let cases: [(&str, Fields, &str); 5] = [
        ("/a?b=%7e&&c", &[("authorization", &authorization)], "/a?b=%7e&&c"),
        ("/a?b=%7e", &[("client_id", b"acme"), ("Client_Secret", b"s3cret")], "/a?b=%7e"),
        ("/a?client_id=acme&client_secret=s3cret", &[], "/a"),
        ("/a?x=+1&client_secret=s3cret&%zz&client_id=acme&&y=%7E", &[], "/a?x=+1&%zz&&y=%7E"),
        ("/a?client%5Fid=ac%6De&client_secret=%733cret&z", &[], "/a?z"),
    ];
    for http in Http::BOTH {
        for (path, credentials, path_at_backend) in cases {
            gateway.backend.clear();
            let headers = [credentials, &[("x-other", b"kept")]].concat();

            let response = http.get(gateway.addr(), path, &headers);

            assert_eq!(response.status, 200, "{http:?} {path}");
            let request = &gateway.backend.requests()[0];
            assert_eq!(request.path, path_at_backend, "{http:?}");
            for gone in ["authorization", "client_id", "client_secret", "Client_Secret"] {
                assert!(!request.headers.contains(gone), "{http:?} {path} {gone}");
            }
            for (name, value) in [
                ("x-portcullis-client-id", "acme"),
                ("x-portcullis-client-name", "Acme"),
                ("x-portcullis-client-tier", "gold"),
                ("x-other", "kept"),
            ] {
                assert_eq!(request.headers.all(name), [value.as_bytes()], "{http:?} {path}");
            }
        }
    }
    let asked = auth.requests();
    assert_eq!(asked.len(), 10);
    assert!(asked.iter().all(|question| question.headers.all("authorization") == [&authorization]));
    assert!(asked.iter().all(|question| question.method == "GET" && question.path == "/verify"));
    assert_eq!(gateway.count("admitted"), 10);
}

#[test]
fn takes_credentials_away_from_every_origin_and_not_only_from_the_deciding_one() {
    let auth = auth_service();
    let gateway = Gateway::start(&per_request(json!({})), auth.addr());
    let authorization = basic("acme", "s3cret");
    for http in Http::BOTH {
        let path = "/?client_id=other&kept=1&client_secret=other";
        let headers: Fields =
            &[("authorization", &authorization), ("client_id", b"third"), ("client_secret", b"third")];
        assert_eq!(http.get(gateway.addr(), path, headers).status, 200);
    }
    for request in gateway.backend.requests() {
        assert_eq!(request.path, "/?kept=1");
        for gone in ["authorization", "client_id", "client_secret"] {
            assert!(!request.headers.contains(gone), "{gone}");
        }
        assert_eq!(request.headers.text("x-portcullis-client-id").as_deref(), Some("acme"));
    }
}

#[test]
fn leaves_the_credentials_that_decide_in_place_if_told_to() {
    let auth = auth_service();
    let gateway = Gateway::start(&per_request(json!({"upstream_credentials": "keep"})), auth.addr());
    let authorization = basic("acme", "s3cret");
    for http in Http::BOTH {
        let headers: Fields = &[("authorization", &authorization), ("client_id", b"x")];
        assert_eq!(http.get(gateway.addr(), "/?client_secret=y", headers).status, 200);
    }
    for request in gateway.backend.requests() {
        assert_eq!(request.headers.all("authorization"), [&authorization]);
        assert!(!request.headers.contains("client_id"), "nobody has checked it");
        assert_eq!(request.path, "/");
    }
}

#[test]
fn refuses_missing_wrong_and_disabled_clients() {
    let auth = auth_service();
    let gateway = Gateway::start(&per_request(json!({"rejection": {"reason": "shown"}})), auth.addr());
    let before = gateway.mark();
    let (wrong, out) = (basic("acme", "wrong"), basic("out", "s3cret"));
    let cases: [(&str, Fields, &str); 6] = [
        ("/", &[], "missing"),
        ("/", &[("authorization", b"Bearer token")], "missing"),
        ("/?client_id=acme", &[], "missing"),
        ("/", &[("authorization", &wrong)], "invalid"),
        ("/?client_id=nobody&client_secret=s3cret", &[], "invalid"),
        ("/", &[("authorization", &out)], "disabled"),
    ];
    for http in Http::BOTH {
        for (path, headers, reason) in cases {
            let response = http.get(gateway.addr(), path, headers);
            assert_eq!(response.status, 401, "{http:?} {path} {headers:?}");
            assert!(
                response.text().contains(&format!("\"reason\":\"{reason}\"")),
                "{http:?}: {}",
                response.text()
            );
        }
    }
    gateway.assert_backend_untouched_since(&before);
    assert_eq!(gateway.count("rejected_missing"), 6);
    assert_eq!(gateway.count("rejected_invalid"), 4);
    assert_eq!(gateway.count("rejected_disabled"), 2);
    assert_eq!(gateway.count("cache_hit"), 3);
}

#[test]
fn refuses_credentials_that_can_be_read_in_more_than_one_way_or_in_none() {
    let auth = HostileServer::start(Behaviour::Reply(admission()));
    let gateway = Gateway::start(&per_request(json!({})), auth.addr());
    let before = gateway.mark();
    let cases: [(&str, Fields); 19] = [
        // Given twice.
        ("/", &[("client_id", b"acme"), ("client_id", b"acme"), ("client_secret", b"s")]),
        ("/", &[("client_id", b"acme"), ("client_secret", b"s"), ("Client_Secret", b"t")]),
        ("/", &[("authorization", b"Basic YWNtZTpz"), ("authorization", b"Basic YWNtZTpz")]),
        ("/", &[("authorization", b"Basic YWNtZTpz"), ("authorization", b"Bearer token")]),
        ("/?client_id=acme&client_id=acme&client_secret=s", &[]),
        ("/?client_id=acme&client_secret=s&client%5fsecret=s", &[]),
        // Not Basic as RFC 7617 has it.
        ("/", &[("authorization", b"Basic")]),
        ("/", &[("authorization", b"Basic !!!!")]),
        ("/", &[("authorization", b"Basic YWJj")]),
        ("/", &[("authorization", b"Basic YWNtZTpz YWNtZTpz")]),
        // An identifier and a secret with NUL: "a\0:s", "a:s\0".
        ("/", &[("authorization", b"Basic YQA6cw==")]),
        ("/", &[("authorization", b"Basic YTpzAA==")]),
        // Percent-encoding that is broken, or hides control characters.
        ("/?client_id=acme%&client_secret=s", &[]),
        ("/?client_id=acme&client_secret=%4", &[]),
        ("/?client_id=acme%00&client_secret=s", &[]),
        ("/?client_id=acme&client_secret=s%0d%0ax-evil:%201", &[]),
        // No UTF-8.
        ("/", &[("client_id", b"acme\xff"), ("client_secret", b"s")]),
        ("/?client_id=acme%ff&client_secret=s", &[]),
        ("/?client_id=a%3ab&client_secret=s", &[]),
    ];
    for http in Http::BOTH {
        for (path, headers) in cases {
            let response = http.get(gateway.addr(), path, headers);
            assert_eq!(response.status, 400, "{http:?} {path} {headers:?}");
            assert!(!response.headers.contains("www-authenticate"));
            assert!(!response.headers.contains("x-evil"));
        }
    }
    gateway.assert_backend_untouched_since(&before);
    assert_eq!(auth.count(), 0);
    assert_eq!(gateway.count("rejected_malformed"), 38);
}

#[test]
fn carries_a_secret_that_is_not_utf8_to_the_auth_service_as_it_is() {
    let auth = HostileServer::start(Behaviour::Reply(admission()));
    let gateway = Gateway::start(&per_request(json!({"cache": {"entries": 0}})), auth.addr());
    for http in Http::BOTH {
        let headers: Fields = &[("client_id", b"acme"), ("client_secret", b"\xff\xfe")];
        assert_eq!(http.get(gateway.addr(), "/", headers).status, 200, "{http:?}");
    }
    for head in auth.request_heads() {
        // base64("acme:\xff\xfe")
        assert!(String::from_utf8_lossy(&head).contains("authorization: Basic YWNtZTr//g==\r\n"));
    }
}

#[test]
fn passes_unrelated_bytes_that_are_not_utf8_and_lives_on() {
    let auth = auth_service();
    let gateway = Gateway::start(&per_request(json!({})), auth.addr());
    let good: Fields = &[("client_id", b"acme"), ("client_secret", b"s3cret")];
    for http in Http::BOTH {
        gateway.backend.clear();
        let odd: Fields = &[("x-raw", b"\xff\xe9\x80"), ("cookie", b"\xc3"), ("x-empty", b"")];

        assert_eq!(http.get(gateway.addr(), "/", &[good, odd].concat()).status, 200, "{http:?}");
        assert_eq!(http.get(gateway.addr(), "/", odd).status, 401, "{http:?}");
        assert_eq!(http.get(gateway.addr(), "/", good).status, 200, "{http:?}");

        let request = &gateway.backend.requests()[0];
        for (name, value) in odd {
            assert_eq!(request.headers.all(name), [*value], "{http:?}");
        }
    }
}
