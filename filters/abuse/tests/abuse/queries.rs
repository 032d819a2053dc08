//! Query strings that two readers read in two ways.

use portcullis_abuse::Gateway;
use portcullis_abuse::policies::{GOOD, client_id, client_id_with, everything};
use portcullis_testkit::envoy::{EnvoyConfig, Http};
use serde_json::json;

/// docs/client-id.md, Percent-encoding: what a query with these parameters leads to, and what of it reaches the
/// upstream.
#[test]
fn credentials_are_found_in_every_spelling_and_nothing_else_is_taken_for_them() {
    let gateway = Gateway::start(&[client_id()]);
    for (query, expected) in [
        ("client_id=acme&client_secret=s", Some("/")),
        ("client_secret=s&client_id=acme", Some("/")),
        ("a&client_id=acme&&client_secret=s&b=%zz&=&c", Some("/?a&&b=%zz&=&c")),
        ("%63lient_id=acme&client%5Fsecret=%73", Some("/")),
        ("%63%6c%69%65%6e%74%5f%69%64=acme&client_secret=s", Some("/")),
        ("client_id=ac%6de&client_secret=a+b", Some("/")),
        // The same name in another way is the same name.
        ("client_id=acme&client%5fid=acme&client_secret=s", None),
        ("client_id=acme&client_secret=s&client_secret=s", None),
        ("client_id=acme&client_secret=s&client_id", None),
        ("client_id=acme&client_secret=s&+client.id=acme", None),
        ("client_id=&client_id=acme&client_secret=s", None),
        ("client_id=acme&client_secret=s%", None),
        ("client_id=acme&client_secret=%0a", None),
        // Some upstream takes these for them.
        ("CLIENT_ID=acme&client_secret=s", Some("/")),
        ("client_id[]=acme&client_secret[]=s", Some("/")),
        ("client_id=acme;client_secret=s", Some("/")),
        ("client_id%00=acme&client_secret=s", Some("/")),
        ("client-id=acme&client-secret=s", Some("/")),
        ("client.id=acme&client.secret=s", Some("/")),
        // Not theirs: encoded twice, or with something more in the name.
        ("client%255fid=acme&client_secret=s", None),
        ("client_id =acme&client_secret=s", None),
        ("client_id%3dacme&client_secret=s", None),
        ("x?client_id=acme&client_secret=s", None),
        ("", None),
        ("?", None),
        ("&&&&", None),
    ] {
        for http in Http::BOTH {
            // A space cannot stand in a target.
            let path = format!("/?{}", query.replace(' ', "%20"));
            let status = http.get(gateway.addr(), &path, &[]).status;
            let passed: Vec<_> =
                gateway.upstream.take().iter().map(portcullis_abuse::Message::path).collect();
            match expected {
                Some(path) => {
                    assert_eq!((status, &passed[..]), (200, &[path.to_owned()][..]), "{http:?} {query}")
                }
                None => {
                    assert!(status == 400 || status == 401, "{http:?} {query} {status}");
                    assert_eq!(passed, Vec::<String>::new(), "{http:?} {query}");
                }
            }
        }
    }
    gateway.assert_sound();
}

/// Headers decide, and what stands in the query is taken out all the same; everything else stays byte for byte.
#[test]
fn credentials_leave_the_query_wherever_others_decide() {
    let gateway = Gateway::start(&everything());
    for http in Http::BOTH {
        for (query, left) in [
            ("?client_id=x&client_secret=y", ""),
            ("?client_id&client_secret", ""),
            ("?client_id=x&client_id=y&client_id=z&a=1", "?a=1"),
            ("?a=1&client%5fsecret=hunter2&b=2", "?a=1&b=2"),
            ("?a=%2526client_secret=hunter2", "?a=%2526client_secret=hunter2"),
            ("?%zz=1&client_secret=%zz", "?%zz=1"),
            ("?client.id=x&b=2&+client_secret[]=y", "?b=2"),
            ("?a=1;Client_Secret=y;b=2&c=3", "?a=1&c=3"),
        ] {
            assert_eq!(
                http.get(gateway.addr(), &format!("/q{query}"), &GOOD).status,
                200,
                "{http:?} {query}"
            );
            assert_eq!(gateway.upstream.take_one().path(), format!("/q{left}"), "{http:?} {query}");
        }
    }
    gateway.assert_sound();
}

/// docs/rate-limit.md, Keys: who varies how a parameter is written has no quota of its own for each way.
#[test]
fn other_spellings_of_a_parameter_are_no_other_quota() {
    let limits = json!({"rate-limit": {"key": [{"query": {"name": "k"}}], "limits": [{"max": 3, "period_ms": 3_600_000}]}});
    let gateway = Gateway::start(&[limits]);
    let status = |path: &str| Http::One.get(gateway.addr(), path, &[]).status;
    let statuses = |paths: &[&str]| paths.iter().map(|path| status(path)).collect::<Vec<_>>();
    assert_eq!(
        statuses(&["/?k=1", "/?%6b=1", "/?k=%31", "/?k=1&k=1", "/?x=2&k=1"]),
        [200, 200, 200, 429, 429]
    );
    // Ambiguous ones are all counted together, whatever they say.
    assert_eq!(
        statuses(&["/?k=1&k=2", "/?k=3&k=4", "/?k=%", "/?k%=5", "/?k=%zz&x"]),
        [200, 200, 200, 429, 429]
    );
    gateway.assert_sound();
}

/// Queries with a parameter for every few bytes of up to a megabyte.
#[test]
fn long_queries_are_read_to_their_end() {
    let gateway = Gateway::start_with(&[client_id_with(json!({}))], |config: EnvoyConfig| {
        config.merge_connection_manager(json!({"max_request_headers_kb": 2048}))
    });
    // The client of HTTP/2 has its own limit.
    for (http, pairs) in [(Http::One, 200_000), (Http::Two, 16_000)] {
        let many = "a=1&".repeat(pairs);
        let path = format!("/?{many}client_id=acme&client_secret=s");
        assert_eq!(http.get(gateway.addr(), &path, &[]).status, 200, "{http:?}");
        assert_eq!(gateway.upstream.take_one().target.len(), many.len() + 1, "{http:?}");
        let path = format!("/?client_id=acme&client_secret=s&{many}client_id=acme");
        assert_eq!(http.get(gateway.addr(), &path, &[]).status, 400, "{http:?}");
    }
    gateway.assert_sound();
}
