//! Floods of what is remembered by key: clients, secrets, quotas, paths. Memory and statistics stay what the
//! configuration says, and nobody gains by a flood what they would not have without.

use std::collections::BTreeSet;

use portcullis_abuse::Gateway;
use portcullis_abuse::policies::{WRONG, access_log, client_id_with, everything};
use portcullis_testkit::envoy::{
    Behaviour, Cluster, Fields, HostileServer, Http, PATIENCE, concurrently, h1, h2, http_reply, wait_until,
};
use serde_json::{Value, json};

fn get(gateway: &Gateway, client: &str, secret: &str) -> u16 {
    let fields: Fields = &[("client_id", client.as_bytes()), ("client_secret", secret.as_bytes())];
    h1::request(gateway.addr(), "GET", "/", fields, b"").status
}

/// docs/client-id.md: guesses can push out other refusals only.
#[test]
fn guesses_do_not_push_a_client_out_of_the_cache() {
    for shared in [0, 64] {
        let gateway = Gateway::start(&[client_id_with(
            json!({"cache": {"entries": 4, "shared_slots": shared, "admit_ttl_ms": 3_600_000}}),
        )]);
        assert_eq!(get(&gateway, "acme", "s3cret"), 200);
        for at in 0..300 {
            assert_eq!(get(&gateway, &format!("guess-{at}"), WRONG), 401, "{at}");
            assert_eq!(get(&gateway, "acme", &format!("{at}:{WRONG}")), 401, "{at}");
        }
        let asked = gateway.auth.count();
        assert!(asked > 600, "each guess is a question: {asked}");
        assert_eq!(get(&gateway, "acme", "s3cret"), 200);
        assert_eq!(gateway.auth.count(), asked, "acme is remembered still");
        gateway.assert_sound();
    }
}

/// Admissions push out each other, least recently used first; who is pushed out is asked about again, and no answer is
/// another's.
#[test]
fn a_flood_of_clients_costs_questions_and_nothing_else() {
    let gateway = Gateway::start(&[client_id_with(json!({"cache": {"entries": 16, "shared_slots": 16}}))]);
    for round in 0..2 {
        for at in 0..200 {
            let client = format!("client-{at}");
            assert_eq!(get(&gateway, &client, "s"), 200, "{round} {at}");
            let told = gateway.upstream.take_one().text("x-portcullis-client-id");
            assert_eq!(told, Some(client), "{round}");
        }
    }
    let asked = gateway.auth.count();
    assert!((201..=400).contains(&asked), "{asked} questions for 200 clients who fit neither level twice");
    gateway.assert_sound();
}

/// docs/client-id.md: one more than `max_waiting` is refused, even with `on_outage: open`.
#[test]
fn a_flood_of_requests_that_wait_opens_no_gate() {
    let slow = HostileServer::start(Behaviour::Gate(http_reply(200, &[], b"")));
    let policy = client_id_with(json!({
        "auth": {"per-request": {"cluster": "slow", "timeout_ms": 60_000, "retries": 0}},
        "max_waiting": 3, "on_outage": "open", "cache": {"entries": 0},
    }));
    let gateway =
        Gateway::start_with(&[policy], |config| config.cluster(Cluster::http1("slow", slow.addr())));
    let connection = h2::Connection::open(gateway.addr());
    let streams: Vec<_> = (0..40)
        .map(|at| {
            let client = format!("client-{at}");
            let fields: Fields = &[("client_id", client.as_bytes()), ("client_secret", b"s")];
            connection.begin("GET", "/", fields, h2::Rest::Nothing).unwrap()
        })
        .collect();
    let overload = || gateway.envoy.stat("wasmcustom.portcullis.client_id.overload").unwrap_or(0);
    wait_until("37 refusals", PATIENCE, || overload() == 37);
    slow.open_gate();
    let statuses: Vec<u16> = streams.into_iter().map(|stream| stream.response().unwrap().status).collect();
    assert_eq!(statuses.iter().filter(|status| **status == 200).count(), 3, "{statuses:?}");
    assert_eq!(statuses.iter().filter(|status| **status == 503).count(), 37, "{statuses:?}");
    assert!(gateway.upstream.take().iter().all(|message| message.text("x-portcullis-client-id").is_some()));
    gateway.assert_sound();
}

fn by_key(when_full: &str) -> Value {
    json!({"rate-limit": {
        "key": [{"header": {"name": "x-key"}}],
        "limits": [{"max": 2, "period_ms": 3_600_000}],
        "store": {"slots": 16, "when_full": when_full},
        "headers": "mule",
    }})
}

/// docs/rate-limit.md: no key that is in use is forgotten for another, and what finds no room has what was configured
/// for it.
#[test]
fn a_flood_of_keys_gives_nobody_fresh_quota() {
    for (when_full, statuses) in [("share", &[200, 429, 503][..]), ("admit", &[200]), ("refuse", &[200, 503])]
    {
        let gateway = Gateway::start(&[by_key(when_full)]);
        let status =
            |key: &str| h1::request(gateway.addr(), "GET", "/", &[("x-key", key.as_bytes())], b"").status;
        assert_eq!([status("mine"), status("mine"), status("mine")], [200, 200, 429], "{when_full}");
        let mut seen = BTreeSet::new();
        for at in 0..400 {
            seen.insert(status(&format!("key-{at}")));
        }
        assert!(seen.iter().all(|status| statuses.contains(status)), "{when_full} {seen:?}");
        let full = ["shared", "admitted", "refused"].iter().any(|what| {
            gateway
                .envoy
                .stats()
                .iter()
                .any(|(name, value)| name.ends_with(&format!("table_full_{what}")) && *value > 300)
        });
        assert!(full, "{when_full}: the table has been full");
        assert_eq!(status("mine"), 429, "{when_full}: who had used up the quota still has");
        gateway.assert_no_failures();
    }
}

/// Nothing that a client sends becomes part of a statistic's name (docs/operations.md).
#[test]
fn a_flood_of_names_makes_no_statistics() {
    let gateway = Gateway::start(&everything());
    let names = || -> BTreeSet<String> {
        gateway
            .envoy
            .stats()
            .into_keys()
            .filter(|name| name.contains("portcullis") || name.starts_with("wasm"))
            .collect()
    };
    let all_kinds = |at: usize| {
        let (path, key) = (format!("/{at}?k={at}&to=a"), format!("key-{at}"));
        let client = format!("client-{at}");
        let fields: Fields = &[
            ("client_id", client.as_bytes()),
            ("client_secret", b"s"),
            ("x-api-key", key.as_bytes()),
            ("x-to", key.as_bytes()),
            ("user-agent", key.as_bytes()),
        ];
        let method = ["GET", "POST", "PUT", "DELETE"][at % 4];
        let status = h1::request(gateway.addr(), method, &path, fields, b"").status;
        let refused = h1::get(gateway.addr(), &path).status;
        (status, refused)
    };
    for at in 0..4 {
        all_kinds(at);
    }
    let before = names();
    for at in 4..400 {
        assert_eq!(all_kinds(at), (200, 401), "{at}");
    }
    assert_eq!(names(), before);
    gateway.assert_sound();
}

/// Connections that come and go in the middle of everything: nothing is left waiting, and the next one is served.
#[test]
fn a_flood_of_broken_requests_leaves_nothing_behind() {
    let gateway = Gateway::start(&everything());
    let outcomes = concurrently(40, |at| {
        for round in 0..10 {
            let client = format!("client-{at}-{round}");
            let mut connection = h1::Connection::open(gateway.addr());
            let fields: Fields = &[
                ("client_id", client.as_bytes()),
                ("client_secret", b"s"),
                ("content-type", b"text/xml"),
                ("content-length", b"100"),
            ];
            let mut bytes = h1::head("POST", "/", fields, 0);
            bytes.extend_from_slice(b"<order");
            // Cut anywhere, in the head or in the body.
            bytes.truncate(bytes.len() * (round + 1) / 10);
            let _ = connection.send_raw(&bytes);
            connection.abort();
        }
    });
    assert_eq!(outcomes.len(), 40);
    wait_until("no request to be left", PATIENCE, || {
        gateway.envoy.counter("http.ingress.downstream_rq_active") == 0
    });
    assert_eq!(gateway.upstream.take(), []);
    gateway.assert_sound();
}

/// A line for each of a flood of requests, and each one line.
#[test]
fn a_flood_of_lines_is_a_line_for_each_request() {
    let gateway = Gateway::start(&[access_log()]);
    concurrently(8, |at| {
        for round in 0..50 {
            Http::One.get(gateway.addr(), &format!("/{at}/{round}"), &[("x-plain", &vec![b'"'; 5000])]);
        }
    });
    wait_until("a line for each request", PATIENCE, || gateway.lines().len() >= 400);
    let paths: BTreeSet<String> = gateway.lines().iter().map(|line| line["path"].to_string()).collect();
    assert_eq!((paths.len(), gateway.lines().len()), (400, 400));
}
