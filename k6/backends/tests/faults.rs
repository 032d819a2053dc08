//! Faults on demand: each on fresh connections, on connections kept alive, and on HTTP/2.

mod support;

use std::io::ErrorKind;
use std::path::Path;
use std::time::{Duration, Instant};

use hyper::StatusCode;
use serde_json::json;

use support::{Backend, is_reset};

const HUGE: usize = 100 * 1024 * 1024;
const ACME: (&str, &str) = ("authorization", "Basic YWNtZTphY21lLXNlY3JldC0x");

fn auth() -> Backend {
    Backend::auth(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/clients.example.json")))
}

async fn set(auth: &Backend, fault: &'static str) {
    let reply = auth.send("POST", "/faults", &[], fault).await;
    assert_eq!(reply.status, StatusCode::OK, "{}", reply.text());
}

#[tokio::test]
async fn shows_sets_and_clears_the_fault() {
    let auth = auth();
    assert_eq!(auth.get("/faults").await.json(), json!({"kind": "none"}));

    for (posted, shown) in [
        (r#"{"kind": "status"}"#, json!({"kind": "status", "status": 500})),
        (r#"{"kind": "delay", "delay_ms": 7}"#, json!({"kind": "delay", "delay_ms": 7})),
        (r#"{"kind": "reset", "status": 500, "delay_ms": 3000}"#, json!({"kind": "reset"})),
    ] {
        set(&auth, posted).await;
        assert_eq!(auth.get("/faults").await.json(), shown);
    }

    assert_eq!(auth.send("DELETE", "/faults", &[], "").await.status, StatusCode::OK);
    assert_eq!(auth.get("/faults").await.json(), json!({"kind": "none"}));
    assert_eq!(auth.get("/clients").await.status, StatusCode::OK);
}

#[tokio::test]
async fn refuses_a_fault_it_cannot_bring_about_and_keeps_the_one_in_force() {
    let auth = auth();
    set(&auth, r#"{"kind": "status", "status": 429}"#).await;
    for (posted, message) in [
        (r#"{"kind": "fire"}"#, "unknown variant `fire`"),
        (r#"{"kind": "status", "code": 500}"#, "unknown field `code`"),
        (r#"{"kind": "delay", "delay_ms": 60001}"#, "delay_ms: expected milliseconds from 0 to 60000"),
    ] {
        let reply = auth.send("POST", "/faults", &[], posted).await;
        assert_eq!(reply.status, StatusCode::BAD_REQUEST);
        assert!(reply.text().contains(message), "{}", reply.text());
    }
    assert_eq!(auth.get("/faults").await.json(), json!({"kind": "status", "status": 429}));
}

#[tokio::test]
async fn status_replaces_the_proper_reply() {
    let auth = auth();
    set(&auth, r#"{"kind": "status", "status": 503}"#).await;
    let reply = auth.send("GET", "/verify", &[ACME], "").await;
    assert_eq!(reply.status, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(reply.header("x-client-name"), None);
    assert_eq!(auth.get("/clients").await.status, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(auth.get("/stats").await.json(), json!({"verify": 1, "clients": 1, "not_modified": 0}));
}

#[tokio::test]
async fn delay_answers_properly_but_late() {
    let auth = auth();
    set(&auth, r#"{"kind": "delay", "delay_ms": 150}"#).await;
    for path in ["/verify", "/clients"] {
        let start = Instant::now();
        let reply = auth.send("GET", path, &[ACME], "").await;
        assert!(start.elapsed() >= Duration::from_millis(150), "{path}: {:?}", start.elapsed());
        assert_eq!(reply.status, StatusCode::OK, "{path}");
    }
}

#[tokio::test]
async fn huge_sends_more_than_anybody_wants() {
    let auth = auth();
    set(&auth, r#"{"kind": "huge"}"#).await;
    for reply in
        [auth.get("/verify").await, auth.h2().await.send("GET", "/clients", &[], "").await.expect("a reply")]
    {
        assert_eq!(reply.status, StatusCode::OK);
        assert_eq!(reply.header("content-length"), None, "the size must come as a surprise");
        assert_eq!(reply.body.len(), HUGE);
    }
}

#[tokio::test]
async fn reset_ends_fresh_connections_without_a_reply() {
    let auth = auth();
    set(&auth, r#"{"kind": "reset"}"#).await;
    for request in [
        "GET /verify HTTP/1.1\r\nhost: a\r\n\r\n",
        "POST /verify HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\n\r\nhi",
        "GET /clients HTTP/1.1\r\nhost: a\r\n\r\n",
    ] {
        let mut raw = auth.raw();
        raw.write(request);
        let error = raw.read_to_end().expect_err("a reset, not a FIN");
        assert_eq!(error.kind(), ErrorKind::ConnectionReset, "{request}");
    }
}

#[tokio::test]
async fn reset_ends_connections_kept_alive() {
    let auth = auth();
    let mut raw = auth.raw();
    raw.write("GET /stats HTTP/1.1\r\nhost: a\r\n\r\n");
    raw.read_until("}");

    set(&auth, r#"{"kind": "reset"}"#).await;
    raw.write("GET /verify HTTP/1.1\r\nhost: a\r\n\r\n");

    assert_eq!(raw.read_to_end().expect_err("a reset").kind(), ErrorKind::ConnectionReset);
}

#[tokio::test]
async fn reset_ends_http2_connections() {
    let auth = auth();
    let mut h2 = auth.h2().await;
    assert_eq!(h2.send("GET", "/verify", &[ACME], "").await.expect("a reply").status, StatusCode::OK);

    set(&auth, r#"{"kind": "reset"}"#).await;
    let error = h2.send("GET", "/verify", &[ACME], "").await.expect_err("no reply");

    assert!(is_reset(&error), "{error:?}");
}

#[tokio::test]
async fn garbage_is_not_http() {
    let auth = auth();
    let mut kept_alive = auth.raw();
    kept_alive.write("GET /stats HTTP/1.1\r\nhost: a\r\n\r\n");
    kept_alive.read_until("}");

    set(&auth, r#"{"kind": "garbage"}"#).await;
    for mut raw in [kept_alive, auth.raw()] {
        raw.write("GET /verify HTTP/1.1\r\nhost: a\r\n\r\n");
        let reply = raw.read_to_end().expect("bytes, then a FIN");
        assert!(reply.contains("this is not HTTP") && !reply.contains("HTTP/"), "{reply}");
    }
}

#[tokio::test]
async fn garbage_breaks_http_clients() {
    let auth = auth();
    set(&auth, r#"{"kind": "garbage"}"#).await;

    let error = auth.h1().await.send("GET", "/clients", &[], "").await.expect_err("no reply");
    assert!(error.is_parse(), "{error:?}");
    auth.h2().await.send("GET", "/clients", &[], "").await.expect_err("no reply");
}

#[tokio::test]
async fn faults_leave_the_way_to_clear_them_open() {
    let auth = auth();
    for fault in [r#"{"kind": "reset"}"#, r#"{"kind": "garbage"}"#, r#"{"kind": "huge"}"#] {
        set(&auth, fault).await;
        assert_eq!(auth.get("/stats").await.status, StatusCode::OK);
        assert_eq!(auth.send("DELETE", "/faults", &[], "").await.status, StatusCode::OK);
        assert_eq!(auth.send("GET", "/verify", &[ACME], "").await.status, StatusCode::OK);
    }
}
