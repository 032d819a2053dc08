//! Headers that are many, long, or there again and again.

use portcullis_abuse::Gateway;
use portcullis_abuse::policies::{GOOD, client_id, everything};
use portcullis_testkit::envoy::{EnvoyConfig, Fields, Http, h1, http_reply};
use serde_json::json;

/// Room for what Envoy's defaults would refuse.
fn generous(config: EnvoyConfig) -> EnvoyConfig {
    config.merge_connection_manager(json!({
        "max_request_headers_kb": 1024,
        "common_http_protocol_options": {"max_headers_count": 10_000},
    }))
}

#[test]
fn thousands_of_headers_reach_the_upstream_as_they_came() {
    let gateway = Gateway::start_with(&everything(), generous);
    let names: Vec<String> = (0..4000).map(|at| format!("x-{}", at % 1500)).collect();
    let values: Vec<String> = (0..4000).map(|at| at.to_string()).collect();
    let many: Vec<(&str, &[u8])> =
        names.iter().zip(&values).map(|(name, value)| (name.as_str(), value.as_bytes())).collect();
    for http in Http::BOTH {
        let response = http.get(gateway.addr(), "/", &[&GOOD[..], &many].concat());
        assert_eq!(response.status, 200, "{http:?}");
        let message = gateway.upstream.take_one();
        for at in 0..1500 {
            let expected: Vec<_> = values.iter().skip(at).step_by(1500).map(String::as_bytes).collect();
            assert_eq!(message.all(&format!("x-{at}")), expected, "{http:?} {at}");
        }
    }
    gateway.assert_sound();
}

/// docs/client-id.md: what the suite emits is removed from what clients send, however often it is there.
#[test]
fn thousands_of_forged_headers_are_all_removed() {
    let gateway = Gateway::start_with(&everything(), generous);
    let forged: Vec<String> = (0..3000)
        .map(|at| {
            let name = ["x-portcullis-client-id", "x-portcullis-route", "x-portcullis-"][at % 3];
            let number = if at % 3 == 2 { at.to_string() } else { String::new() };
            // Every hyphen may be an underscore.
            let hyphens = name.matches('-').count();
            let mut name = name.to_owned();
            for bit in 0..hyphens {
                if at >> bit & 1 == 1 {
                    name = replace_nth(&name, bit);
                }
            }
            name + &number
        })
        .collect();
    let forged: Vec<(&str, &[u8])> = forged.iter().map(|name| (name.as_str(), &b"root"[..])).collect();
    for http in Http::BOTH {
        for (path, credentials, told) in
            [("/", &GOOD[..], &["client-id", "client-tier", "route"][..]), ("/public", &[], &["route"])]
        {
            assert_eq!(
                http.get(gateway.addr(), path, &[credentials, &forged].concat()).status,
                200,
                "{http:?}"
            );
            let message = gateway.upstream.take_one();
            let names: Vec<_> = message.of_the_suite().into_iter().map(|(name, _)| name).collect();
            let told: Vec<_> = told.iter().map(|name| format!("x-portcullis-{name}")).collect();
            assert_eq!(names, told, "{http:?} {path}");
            assert!(!format!("{message:?}").contains("root"), "{http:?} {message:?}");
        }
    }
    gateway.assert_sound();
}

/// The name with the hyphen at this place, counted from 0, or the first if there are fewer by now, as an underscore.
fn replace_nth(name: &str, at: usize) -> String {
    let place = name.match_indices('-').map(|(place, _)| place).nth(at).or_else(|| name.find('-'));
    let Some(place) = place else { return name.to_owned() };
    format!("{}_{}", &name[..place], &name[place + 1..])
}

#[test]
fn a_credential_that_is_there_a_thousand_times_is_refused() {
    let gateway = Gateway::start_with(&[client_id()], generous);
    for http in Http::BOTH {
        for name in ["client_id", "client_secret", "authorization"] {
            let value: &[u8] = if name == "authorization" { b"Basic YWNtZTpz" } else { b"acme" };
            let fields = vec![(name, value); 1000];
            assert_eq!(http.get(gateway.addr(), "/", &fields).status, 400, "{http:?} {name}");
        }
        let query = format!("/?{}client_secret=s", "client_id=acme&".repeat(1000));
        assert_eq!(http.get(gateway.addr(), &query, &[]).status, 400, "{http:?}");
    }
    assert_eq!(gateway.sent(), 0);
    assert_eq!(gateway.auth.count(), 0);
    gateway.assert_sound();
}

#[test]
fn long_values_pass_and_long_credentials_do_not() {
    let gateway = Gateway::start_with(&everything(), generous);
    let long = vec![b'v'; 60_000];
    let repeated = |length: usize| vec![b'a'; length];
    for http in Http::BOTH {
        let fields =
            [&GOOD[..], &[("x-plain", &long), ("x-to", &long), ("cookie", &long), ("x-api-key", &long)]];
        // HTTP/2 sends it as a frame and some that continue it.
        let response = http.get(gateway.addr(), "/", &fields.concat()[..3]);
        assert_eq!(response.status, 200, "{http:?}");
        assert_eq!(gateway.upstream.take_one().all("x-plain"), [&long[..]], "{http:?}");

        let response = http.get(gateway.addr(), "/", &fields.concat()[..4]);
        assert_eq!(response.status, 200, "{http:?}");
        assert_eq!(
            gateway.upstream.take_one().of_the_suite().last().map(|(_, route)| route.as_str()),
            Some("named")
        );

        for (id, secret, status) in
            [(256, 1, 200), (257, 1, 400), (1, 1024, 200), (1, 1025, 400), (100_000, 100_000, 400)]
        {
            let (id, secret) = (repeated(id), repeated(secret));
            let fields: Fields = &[("client_id", &id), ("client_secret", &secret)];
            assert_eq!(
                http.get(gateway.addr(), "/", fields).status,
                status,
                "{http:?} {} {}",
                id.len(),
                secret.len()
            );
        }
        gateway.upstream.take();
    }
    gateway.assert_sound();
}

/// What Envoy refuses for its size never comes to the policies, but it has its line.
#[test]
fn what_is_more_than_envoy_takes_is_refused_and_logged() {
    let gateway = Gateway::start(&everything());
    let long = vec![b'v'; 100_000];
    let names: Vec<String> = (0..200).map(|at| format!("x-{at}")).collect();
    let many: Vec<(&str, &[u8])> = names.iter().map(|name| (name.as_str(), &b"1"[..])).collect();
    for (at, fields) in [&[("x-plain", &long[..])][..], &many].into_iter().enumerate() {
        let mut connection = h1::Connection::open(gateway.addr());
        let _ = connection.send("GET", "/", &[&GOOD[..], fields].concat(), b"");
        assert_eq!(connection.read_response().unwrap().status, 431);
        assert_eq!(gateway.line(at)["status"], 431);
    }
    assert_eq!(gateway.sent(), 0);
    gateway.assert_sound();
}

/// A hostile upstream.
#[test]
fn responses_with_many_and_long_headers_reach_the_client_as_they_came() {
    let policies = everything();
    let gateway = Gateway::start(&policies);
    let names: Vec<String> = (0..80).map(|at| format!("x-{}", at % 40)).collect();
    let long = vec![b'v'; 500];
    let mut fields: Vec<(&str, &[u8])> = names.iter().map(|name| (name.as_str(), &long[..])).collect();
    // Its own idea of how much is left is not the client's to see.
    fields.extend([
        ("x-ratelimit-limit", &b"1"[..]),
        ("X-RateLimit-Remaining", b"0"),
        ("x-ratelimit-reset", b"9"),
    ]);
    let reply = http_reply(200, &fields, b"hello");
    gateway.upstream.reply_with(move |_| reply.clone());
    for http in Http::BOTH {
        let response = http.get(gateway.addr(), "/", &GOOD);
        assert_eq!((response.status, &response.body[..]), (200, &b"hello"[..]), "{http:?}");
        for at in 0..40 {
            assert_eq!(response.headers.all(&format!("x-{at}")), [&long[..], &long], "{http:?} {at}");
        }
        assert_eq!(response.headers.all("x-ratelimit-limit"), [b"1000000"], "{http:?}");
        assert_eq!(response.headers.all("x-ratelimit-remaining").len(), 1, "{http:?}");
        assert_ne!(response.headers.all("x-ratelimit-remaining"), [b"0"], "{http:?}");
    }
    gateway.assert_sound();
}
