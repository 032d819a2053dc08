//! Deciding from a list of clients that the auth service serves.

use portcullis_testkit::envoy::{
    Backend, Behaviour, EnvoyConfig, HostileServer, PATIENCE, Recorded, Reply, http_reply, wait_until,
};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::support::{Body, Fields, Gateway, Http, plugin};

/// How many VMs ask for the list: Envoy's main thread has one too, which serves nobody.
const fn vms(workers: u64) -> u64 {
    workers.saturating_add(1)
}

fn policy(source: Value) -> Value {
    let mut registry = json!({
        "cluster": "auth", "authority": "auth.internal", "interval_ms": 100, "hold_ms": 60_000,
    });
    if let (Some(registry), Value::Object(source)) = (registry.as_object_mut(), source) {
        registry.extend(source);
    }
    json!({"auth": {"registry": registry}})
}

/// A list of one client with this secret, and one that is locked out.
fn list(id: &str, secret: &str) -> Vec<u8> {
    let salt = *b"\x01\x02\x03\x04\x05\x06\x07\x08";
    let digest = hex::encode(Sha256::new().chain_update(salt).chain_update(secret).finalize());
    let secrets = json!([{"salt": hex::encode(salt), "sha256": digest}]);
    json!({"version": 1, "clients": [
        {"id": id, "name": "Acme", "tier": "gold", "secrets": secrets},
        {"id": "out", "disabled": true, "secrets": secrets},
    ]})
    .to_string()
    .into_bytes()
}

/// Serves the list with an ETag, and 304 to those who have it.
fn serve(service: &Backend, etag: &'static str, list: Vec<u8>) {
    service.reply_with(move |request: &Recorded| {
        if request.headers.text("if-none-match").as_deref() == Some(etag) {
            Reply::status(304).header("etag", etag)
        } else {
            Reply::ok(list.clone()).header("etag", etag)
        }
    });
}

#[track_caller]
fn status(gateway: &Gateway, http: Http, id: &str, secret: &str) -> u16 {
    let headers: [(&str, &[u8]); 2] = [("client_id", id.as_bytes()), ("client_secret", secret.as_bytes())];
    http.get(gateway.addr(), "/", &headers).status
}

#[test]
fn decides_by_the_list_without_asking_about_requests() {
    let service = Backend::start();
    serve(&service, "\"1\"", list("acme", "s3cret"));
    // It is asked for once, then not for a day.
    let gateway = Gateway::start(&policy(json!({"interval_ms": 86_400_000})), service.addr());
    gateway.wait_for_count("registry_updated", vms(1));
    for http in Http::BOTH {
        gateway.backend.clear();
        for (id, secret, expected) in [
            ("acme", "s3cret", 200),
            ("acme", "wrong", 401),
            ("nobody", "s3cret", 401),
            ("out", "s3cret", 401),
        ] {
            assert_eq!(status(&gateway, http, id, secret), expected, "{http:?} {id} {secret}");
        }
        let requests = gateway.backend.requests();
        assert_eq!(requests.len(), 1, "{http:?}");
        for (part, value) in [("id", "acme"), ("name", "Acme"), ("tier", "gold")] {
            let header = format!("x-portcullis-client-{part}");
            assert_eq!(requests[0].headers.text(&header).as_deref(), Some(value), "{http:?}");
        }
    }
    let asked = service.requests();
    assert_eq!(asked.len() as u64, vms(1));
    assert_eq!((asked[0].path.as_str(), asked[0].authority.as_deref()), ("/clients", Some("auth.internal")));
}

#[test]
fn requests_wait_for_the_first_list_when_the_service_comes_late() {
    for http in Http::BOTH {
        let service = HostileServer::start(Behaviour::CloseAtOnce);
        let gateway = Gateway::start(&policy(json!({})), service.addr());
        let before = gateway.mark();
        let headers = |secret: &'static [u8]| [("client_id", &b"acme"[..]), ("client_secret", secret)];
        let mut good = http.begin(gateway.addr(), "POST", "/", &headers(b"s3cret"), Body::Length(4));
        good.send(b"body").unwrap();
        let bad = http.begin(gateway.addr(), "GET", "/", &headers(b"wrong"), Body::Nothing);
        gateway.wait_for_active(2);
        gateway.wait_for_count("registry_failed", 2 * vms(1));
        gateway.assert_backend_untouched_since(&before);

        service.behave(Behaviour::Reply(http_reply(200, &[], &list("acme", "s3cret"))));

        if http == Http::Two {
            good.end(&[]).unwrap();
        }
        assert_eq!(good.response().unwrap().status, 200, "{http:?}");
        assert_eq!(bad.response().unwrap().status, 401, "{http:?}");
        assert_eq!(gateway.backend.requests()[0].body, b"body");
        assert_eq!(gateway.backend.count(), 1);
    }
}

#[test]
fn requests_before_the_first_list_are_an_outage_if_told_so() {
    let service = HostileServer::start(Behaviour::Hang);
    let gateway = Gateway::start(&policy(json!({"before_first_list": "refuse"})), service.addr());
    for http in Http::BOTH {
        assert_eq!(status(&gateway, http, "acme", "s3cret"), 503, "{http:?}");
    }
    assert_eq!(gateway.backend.count(), 0);
    assert_eq!(gateway.count("outage_closed"), 2);
}

#[test]
fn requests_are_held_no_longer_than_configured() {
    let service = HostileServer::start(Behaviour::Hang);
    let gateway = Gateway::start(&policy(json!({"hold_ms": 100})), service.addr());
    for http in Http::BOTH {
        assert_eq!(status(&gateway, http, "acme", "s3cret"), 503, "{http:?}");
    }
    assert_eq!(gateway.backend.count(), 0);
}

#[test]
fn a_change_of_the_list_takes_effect_on_every_worker() {
    let service = Backend::start();
    serve(&service, "\"1\"", list("acme", "old"));
    let gateway = Gateway::start_with(service.addr(), |config: EnvoyConfig| {
        config.workers(2).filter(plugin(&policy(json!({}))))
    });
    gateway.wait_for_count("registry_updated", vms(2));
    for http in Http::BOTH {
        assert_eq!(status(&gateway, http, "acme", "old"), 200, "{http:?}");
        assert_eq!(status(&gateway, http, "acme", "new"), 401, "{http:?}");
    }
    gateway.wait_for_count("registry_unchanged", vms(2));
    assert_eq!(gateway.count("registry_updated"), vms(2));

    serve(&service, "\"2\"", list("acme", "new"));
    gateway.wait_for_count("registry_updated", 2 * vms(2));

    for http in Http::BOTH {
        for _ in 0..8 {
            assert_eq!(status(&gateway, http, "acme", "old"), 401, "{http:?}");
            assert_eq!(status(&gateway, http, "acme", "new"), 200, "{http:?}");
        }
    }
    let conditions: Vec<_> =
        service.requests().iter().map(|request| request.headers.text("if-none-match")).collect();
    assert_eq!(conditions[0], None);
    assert!(conditions.contains(&Some("\"1\"".to_owned())));
}

#[test]
fn the_last_list_stays_in_force_while_the_service_is_broken() {
    let good = Behaviour::Reply(http_reply(200, &[("etag", b"\"1\"")], &list("acme", "s3cret")));
    let service = HostileServer::start(good);
    let gateway = Gateway::start(&policy(json!({"timeout_ms": 200})), service.addr());
    gateway.wait_for_count("registry_updated", vms(1));
    let cases = [
        ("reset", Behaviour::Reset),
        ("close", Behaviour::CloseAtOnce),
        ("garbage", Behaviour::Garbage),
        ("half", Behaviour::HalfReply),
        ("hang", Behaviour::Hang),
        ("500", Behaviour::Reply(http_reply(500, &[], b""))),
        ("no JSON", Behaviour::Reply(http_reply(200, &[], b"<html>"))),
        ("empty", Behaviour::Reply(http_reply(200, &[], b""))),
        ("too long", Behaviour::Reply(http_reply(200, &[], &vec![b' '; 5 << 20]))),
    ];
    for (name, behaviour) in cases {
        service.behave(behaviour);
        let failed = gateway.count("registry_failed");
        // Twice each, for the answer to the first may have been on its way already.
        gateway.wait_for_count("registry_failed", failed.saturating_add(2 * vms(1)));
        for http in Http::BOTH {
            assert_eq!(status(&gateway, http, "acme", "s3cret"), 200, "{http:?} {name}");
            assert_eq!(status(&gateway, http, "acme", "wrong"), 401, "{http:?} {name}");
        }
    }
    gateway.envoy.wait_for_log(PATIENCE, |line| {
        line.contains("no new list of clients")
            && line.contains("the last list, of 2 clients, stays in force")
    });

    service.behave(Behaviour::Reply(http_reply(200, &[], &list("acme", "rotated"))));
    wait_until("the worker has the new list", PATIENCE, || {
        status(&gateway, Http::One, "acme", "rotated") == 200
    });
    for http in Http::BOTH {
        assert_eq!(status(&gateway, http, "acme", "rotated"), 200, "{http:?}");
        assert_eq!(status(&gateway, http, "acme", "s3cret"), 401, "{http:?}");
    }
    gateway.envoy.wait_for_log(PATIENCE, |line| line.contains("the list of clients can be had again"));
}

/// Whoever serves the list decides what its members are called, and nothing else of the log.
#[test]
fn hostile_lists_neither_forge_the_log_nor_flood_it() {
    let forged = "\n[2026-01-31 08:15:30.138][21][info][wasm] {\"client_id\":\"forged\"}\u{1b}[2J";
    let refused = |name: &str| {
        let document = json!({"version": 1, "clients": [{"id": "acme", name: 1}]}).to_string();
        Behaviour::Reply(http_reply(200, &[], document.as_bytes()))
    };
    let good = || Behaviour::Reply(http_reply(200, &[], &list("acme", "s3cret")));
    let service = HostileServer::start(refused(forged));
    let gateway = Gateway::start(&policy(json!({})), service.addr());
    gateway.wait_for_count("registry_refused", vms(1));
    for _ in 0..3 {
        let updated = gateway.count("registry_updated");
        service.behave(good());
        gateway.wait_for_count("registry_updated", updated.saturating_add(vms(1)));
        let refused_before = gateway.count("registry_refused");
        service.behave(refused(&"x".repeat(2_000_000)));
        gateway.wait_for_count("registry_refused", refused_before.saturating_add(vms(1)));
    }
    let shown = gateway.envoy.wait_for_log(PATIENCE, |line| line.contains("no new list of clients"));
    let name = r#"\n[2026-01-31 08:15:30.138][21][info][wasm] \u007b\"client_id"#;
    assert!(shown.contains(&format!("clients[0].{name}")), "{shown}");
    let lines = gateway.envoy.log_lines();
    let complaints = lines.iter().filter(|line| line.contains("no new list of clients")).count();
    assert!(complaints <= usize::try_from(vms(1)).unwrap(), "{complaints}");
    for line in &lines {
        assert!(!line.starts_with("[2026-01-31") && !line.contains('\u{1b}'), "{line}");
        assert!(line.len() < 4096 && !line.contains("xxxxxxxxxx".repeat(10).as_str()), "{}", line.len());
    }
}

#[test]
fn a_held_request_that_is_aborted_is_forgotten() {
    let service = HostileServer::start(Behaviour::Gate(http_reply(200, &[], &list("acme", "s3cret"))));
    let gateway = Gateway::start(&policy(json!({})), service.addr());
    let credentials: Fields = &[("client_id", b"acme"), ("client_secret", b"s3cret")];
    for http in Http::BOTH {
        let request = http.begin(gateway.addr(), "GET", "/aborted", credentials, Body::Nothing);
        gateway.wait_for_active(1);
        request.abort();
        gateway.wait_for_active(0);
    }
    let kept = Http::One.begin(gateway.addr(), "GET", "/kept", credentials, Body::Nothing);
    service.wait_for(usize::try_from(vms(1)).unwrap(), PATIENCE);
    service.open_gate();
    assert_eq!(kept.response().unwrap().status, 200);
    assert_eq!(gateway.backend.requests()[0].path, "/kept");
    assert_eq!(gateway.count("admitted"), 1);
}

/// The greatest values that the configuration allows.
fn greatest() -> Value {
    policy(json!({
        "max_bytes": 32 << 20, "max_clients": 1_000_000, "max_memory_bytes": 384 << 20,
        "interval_ms": 100, "timeout_ms": 60_000,
    }))
}

const MAX_BYTES: usize = 32 << 20;

/// As many repetitions of a text as fit between the beginning and the end of a list.
fn filled(each: impl Fn(usize) -> String) -> Vec<u8> {
    let mut text = String::from(r#"{"version":1,"clients":["#);
    for at in 0.. {
        let next = each(at);
        if text.len().saturating_add(next.len()) > MAX_BYTES - 3 {
            break;
        }
        text.push_str(&next);
        text.push(',');
    }
    text.pop();
    text.push_str("]}");
    text.into_bytes()
}

/// No list ends a VM, whatever it is like: the last good one stays in force, or it is taken over.
#[test]
fn no_list_of_the_greatest_size_ends_a_vm() {
    let service = Backend::start();
    serve(&service, "\"good\"", list("acme", "s3cret"));
    let gateway = Gateway::start(&greatest(), service.addr());
    gateway.wait_for_count("registry_updated", vms(1));
    // Control characters grow sixfold when a Struct is written as JSON.
    let varint = |mut length: usize| {
        let mut bytes = Vec::new();
        while length > 0x7f {
            bytes.push((length & 0x7f) as u8 | 0x80);
            length >>= 7;
        }
        bytes.push(u8::try_from(length).unwrap());
        bytes
    };
    let tagged = |tag: u8, content: Vec<u8>| [vec![tag], varint(content.len()), content].concat();
    let grows = tagged(0x1a, vec![1; MAX_BYTES - 100]);
    let entry = [tagged(0x0a, b"k".to_vec()), tagged(0x12, grows)].concat();
    let secret = r#"{"salt":"0011223344556677","sha256":"0000000000000000000000000000000000000000000000000000000000000000"}"#;
    let many = |n: usize| vec![secret; n].join(",");
    let cases: Vec<(&str, Vec<u8>, &str)> = vec![
        ("a protobuf Struct that grows", tagged(0x0a, entry), "registry_refused"),
        (
            "many clients that fit",
            filled(|at| format!(r#"{{"id":"{at:07}","name":"a","tier":"gold"}}"#)),
            "registry_updated",
        ),
        (
            "clients with eight secrets",
            filled(|at| format!(r#"{{"id":"{at}","secrets":[{}]}}"#, many(8))),
            "registry_updated",
        ),
        (
            "one client with all secrets",
            filled(|_| format!(r#"{{"id":"a","secrets":[{}]}}"#, many(300_000))),
            "registry_refused",
        ),
        (
            "escapes",
            filled(|at| format!(r#"{{"id":"{at}","name":"{}"}}"#, "\\u00e9".repeat(128))),
            "registry_updated",
        ),
        (
            "deep nesting",
            [br#"{"version":1,"clients":[{"id":"#.to_vec(), vec![b'['; MAX_BYTES - 100]].concat(),
            "registry_refused",
        ),
        (
            "nesting within a client",
            filled(|_| format!(r#"{{"id":{}{}}}"#, "[".repeat(30_000), "]".repeat(30_000))),
            "registry_refused",
        ),
        (
            "a long name",
            [br#"{"version":1,"clients":[{"id":"a","name":""#.to_vec(), vec![b'x'; MAX_BYTES - 100]].concat(),
            "registry_refused",
        ),
        (
            "a long unknown member",
            [br#"{""#.to_vec(), vec![b'x'; MAX_BYTES - 100]].concat(),
            "registry_refused",
        ),
        ("duplicates", filled(|_| r#"{"id":"a"}"#.to_owned()), "registry_refused"),
        ("white space", [vec![b' '; MAX_BYTES - 100], b"{}".to_vec()].concat(), "registry_refused"),
        ("zeros", vec![0; MAX_BYTES], "registry_refused"),
    ];
    for (name, body, counter) in cases {
        assert!(body.len() <= MAX_BYTES, "{name}: {}", body.len());
        let before = gateway.count(counter);
        serve(&service, "\"large\"", body);
        wait_until(name, PATIENCE, || gateway.count(counter) >= before.saturating_add(vms(1)));
        let updated = gateway.count("registry_updated");
        let unchanged = gateway.count("registry_unchanged");
        serve(&service, "\"good\"", list("acme", "s3cret"));
        // One that was taken over is replaced; else the good one is still in force.
        match counter {
            "registry_updated" => gateway.wait_for_count("registry_updated", updated.saturating_add(vms(1))),
            _ => gateway.wait_for_count("registry_unchanged", unchanged.saturating_add(2 * vms(1))),
        }
        assert_eq!(status(&gateway, Http::One, "acme", "s3cret"), 200, "{name}");
        assert_eq!(status(&gateway, Http::One, "acme", "wrong"), 401, "{name}");
    }
    let lines = gateway.envoy.log_lines();
    let failed =
        lines.iter().find(|line| ["panic", "Function: proxy_on"].iter().any(|sign| line.contains(sign)));
    assert_eq!(failed, None, "no VM has failed");
    assert_eq!(gateway.count("host_failed"), 0);
}
