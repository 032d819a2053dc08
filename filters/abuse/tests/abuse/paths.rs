//! Paths that say one thing and mean another.

use portcullis_abuse::Gateway;
use portcullis_abuse::policies::{GOOD, client_id_with, everything};
use portcullis_testkit::envoy::{EnvoyConfig, Http, h1};
use serde_json::json;

/// Spellings of `/private`, and of what lies below it, that begin like `/public`, which is exempt.
fn pretending() -> Vec<String> {
    let ups = [
        "..",
        "%2e%2e",
        "%2E%2E",
        ".%2e",
        "%2e.",
        "%252e%252e",
        "..;",
        "..;a=b",
        "..%00",
        "..%20",
        "..%09",
        ".. ",
        "...",
        "..%c0%af",
        "%c0%ae%c0%ae",
        "%u002e%u002e",
        "．．",
        "%ef%bc%8e%ef%bc%8e",
        "..%0d%0a",
        ";/..",
        "%3b/..",
    ];
    let slashes =
        ["/", "//", "%2f", "%2F", "%5c", "\\", "%252f", "%c0%af", ";/", "/./", "/%2e/", "/;/", "%u2215", "∕"];
    let mut paths = Vec::new();
    for up in ups {
        for slash in slashes {
            paths.push(format!("/public{slash}{up}{slash}private"));
            paths.push(format!("/public{slash}a{slash}{up}{slash}{up}{slash}private"));
        }
    }
    for slash in slashes.iter().filter(|slash| **slash != "/") {
        paths.push(format!("/public{slash}private"));
        paths.push(format!("{slash}public/private"));
    }
    paths.extend(
        [
            "/public;/private",
            "/public%3b/private",
            "/public.",
            "/public%2e",
            "/public%20",
            "/public.json/",
            "/./public",
            "/%2e/public",
            "//public",
            "/private/../public",
            "/private/%2e%2e/public",
            "/public%00",
            "/public%0a/x",
            "/public#/../private",
            "/public%23/../private",
            "/public%3f/../private",
            "/public/%",
            "/public/%4",
            "/public/%zz",
            "/public/\u{e9}",
            "/PUBLIC",
            "/Public/",
            "/publi\u{212a}",
            "/%50UBLIC",
            "*",
            "public",
            "/",
            "",
            "/publicprivate",
            "/public-private",
            "/public=private",
            "/public&/private",
        ]
        .map(str::to_owned),
    );
    paths
}

/// A target is what it is; nothing is added to it.
fn status(gateway: &Gateway, target: &str, credentials: bool) -> u16 {
    let fields = if credentials { &GOOD[..] } else { &[] };
    let mut connection = h1::Connection::open(gateway.addr());
    let _ = connection.send("GET", target, fields, b"");
    connection.read_response().map_or(0, |response| response.status)
}

/// docs/client-id.md: a path that could mean two things is concerned, whatever the rules say. Where Envoy normalizes
/// paths it may redirect, or refuse them, before the policy looks; nothing else may come of it.
#[test]
fn no_path_passes_for_an_exempt_one() {
    let hardened = |config: EnvoyConfig| {
        config.merge_connection_manager(json!({
            "normalize_path": true,
            "merge_slashes": true,
            "path_with_escaped_slashes_action": "UNESCAPE_AND_REDIRECT",
        }))
    };
    let asis: fn(EnvoyConfig) -> EnvoyConfig = |config| config;
    for (change, is_hardened) in [(asis, false), (hardened, true)] {
        let gateway = Gateway::start_with(&everything(), change);
        assert_eq!(status(&gateway, "/public/a", false), 200, "exempt paths are exempt");
        gateway.upstream.take();
        for path in pretending() {
            let status = status(&gateway, &path, false);
            let passed = gateway.upstream.take();
            if is_hardened && status == 200 {
                // Envoy has made a plain path of it, which is below the exempt one, for all that follow.
                let path = passed[0].path();
                assert!(path == "/public" || path.starts_with("/public/"), "{path:?}");
                assert!(["..", "%2f", "//", "\\"].iter().all(|trick| !path.contains(trick)), "{path:?}");
                continue;
            }
            assert!([0, 400, 401, 307].contains(&status), "{path:?} {status}");
            assert_eq!(passed, [], "{path:?}");
        }
        gateway.assert_sound();
    }
}

/// The other way round: an upstream that reads paths generously must not get what looks as if it were not concerned.
#[test]
fn no_path_hides_from_only() {
    let gateway = Gateway::start(&[client_id_with(json!({"scope": {"only": [{"path_prefix": "/api"}]}}))]);
    assert_eq!(status(&gateway, "/other", false), 200, "other paths are not concerned");
    gateway.upstream.take();
    for path in [
        "/api",
        "/api/",
        "/API",
        "/Api/x",
        "/%61pi",
        "/%41PI/x",
        "//api",
        "///api",
        "/./api",
        "/x/../api",
        "/x/..%2fapi",
        "/x/%2e%2e/api",
        "/api;x",
        "/api;/x",
        "/api%3b",
        "/api.",
        "/api%20",
        "/api%00",
        "/api%2f",
        "/%2fapi",
        "\\api",
        "/x\\..\\api",
        "/;x/api",
        "/%2e/api",
        "/api%09",
        "/ap\u{131}",
        "/a%70i?x",
        "/api?x",
        "/api%3fx",
        "/%61%70%69",
        "/api%23",
        "/%2561pi",
        "/a/%252e%252e/api",
        "/api/%ff",
    ] {
        let status = status(&gateway, path, false);
        assert!(status == 401 || status == 400, "{path:?} {status}");
        assert_eq!(gateway.upstream.take(), [], "{path:?}");
    }
    gateway.assert_sound();
}

/// With credentials, what bare Envoy sends on is what the upstream gets.
#[test]
fn paths_reach_the_upstream_as_they_came() {
    let (bare, gateway) = (Gateway::bare(), Gateway::start(&everything()));
    for path in pretending() {
        let (expected, got) = (status(&bare, &path, false), status(&gateway, &path, true));
        assert_eq!(got, expected, "{path:?}");
        let paths = |gateway: &Gateway| {
            gateway.upstream.take().iter().map(|one| one.target.clone()).collect::<Vec<_>>()
        };
        assert_eq!(paths(&gateway), paths(&bare), "{path:?}");
    }
    gateway.assert_sound();
}

/// RFC 9112, section 3.2.2: the authority of a target in absolute form counts, and `Host` does not.
#[test]
fn targets_in_absolute_form_are_what_their_paths_are() {
    let gateway = Gateway::start(&everything());
    for (target, expected) in [
        ("http://gateway.test/public", 200),
        ("http://gateway.test/public?x", 200),
        ("HTTP://GATEWAY.TEST/public", 200),
        ("http://gateway.test/private", 401),
        ("http://gateway.test", 401),
        ("http://gateway.test?/public", 401),
        ("http://gateway.test/public/../private", 401),
        ("http://gateway.test//public", 401),
        ("http://gateway.test/x/http://gateway.test/public", 401),
        ("http://a@gateway.test/private", 401),
        ("http://gateway.test/private#/public", 401),
        ("http://public/private", 401),
        ("http:///public", 400),
        ("https://gateway.test/private", 401),
        ("ftp://gateway.test/public", 400),
        ("gateway.test:80", 400),
    ] {
        let status = status(&gateway, target, false);
        let passed = gateway.upstream.take();
        if expected == 200 {
            assert_eq!((status, passed.len()), (200, 1), "{target}");
            assert!(passed[0].path().starts_with("/public"), "{passed:?}");
        } else {
            // Envoy itself has no route for a target without a path.
            assert!([expected, 400, 404, 0].contains(&status), "{target} {status}");
            assert_eq!(passed, [], "{target}");
        }
    }
    gateway.assert_sound();
}

/// A path with an escaped slash is one key, and one with a slash another: nobody gets two quotas for what Envoy takes
/// for one path, where it normalizes.
#[test]
fn normalized_paths_share_a_quota() {
    let limits = json!({"rate-limit": {"key": ["path"], "limits": [{"max": 2, "period_ms": 3_600_000}]}});
    let gateway = Gateway::start_with(&[limits], |config| {
        config.merge_connection_manager(json!({
            "normalize_path": true, "merge_slashes": true,
            "path_with_escaped_slashes_action": "UNESCAPE_AND_FORWARD",
        }))
    });
    let spellings = ["/a/b", "/a//b", "/a/./b", "/a/x/../b", "/a%2fb", "/a/%62", "//a/b", "/a%5cb", "/a\\b"];
    let statuses: Vec<u16> = spellings.iter().map(|path| h1::get(gateway.addr(), path).status).collect();
    assert_eq!(statuses.iter().filter(|status| **status == 200).count(), 2, "{statuses:?}");
    assert!(statuses.iter().skip(2).all(|status| *status == 429), "{statuses:?}");
    let status = Http::Two.get(gateway.addr(), "/a/c", &[]).status;
    assert_eq!(status, 200, "another path has a quota of its own");
}
