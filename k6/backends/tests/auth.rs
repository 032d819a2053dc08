//! The authenticator: verdicts, the registry as a resource, and edits while it runs.

mod support;

use std::fs::File;
use std::path::Path;
use std::time::{Duration, SystemTime};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hyper::StatusCode;
use serde_json::json;

use support::{Backend, Reply, file};

fn example() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/clients.example.json"))
}

async fn verify(auth: &Backend, credentials: &str) -> Reply {
    let authorization = format!("Basic {}", STANDARD.encode(credentials));
    auth.send("GET", "/verify", &[("authorization", &authorization)], "").await
}

#[tokio::test]
async fn admits_clients_under_every_secret_they_have() {
    let auth = Backend::auth(example());
    for (credentials, name, tier) in [
        ("acme:acme-secret-1", "Acme Ltd", "gold"),
        ("globex:globex-secret-1", "Globex", "silver"),
        ("globex:globex-secret-2", "Globex", "silver"),
    ] {
        let reply = verify(&auth, credentials).await;
        assert_eq!(reply.status, StatusCode::OK, "{credentials}");
        assert_eq!(reply.header("x-client-name"), Some(name));
        assert_eq!(reply.header("x-client-tier"), Some(tier));
    }
}

#[tokio::test]
async fn takes_the_path_that_a_forward_auth_peer_appends() {
    let auth = Backend::auth(example());
    let authorization = format!("Basic {}", STANDARD.encode("acme:acme-secret-1"));
    for (path, status) in [("/verify/a/b?c", StatusCode::OK), ("/verified", StatusCode::NOT_FOUND)] {
        let reply = auth.send("GET", path, &[("authorization", &authorization)], "").await;
        assert_eq!(reply.status, status, "{path}");
    }
}

#[tokio::test]
async fn refuses_everyone_else_alike() {
    let auth = Backend::auth(example());
    let mut replies = vec![auth.get("/verify").await];
    for credentials in ["acme:wrong", "acme:", "acme", "nobody:acme-secret-1", ":", "initech:wrong"] {
        replies.push(verify(&auth, credentials).await);
    }
    for reply in replies {
        assert_eq!(reply.status, StatusCode::UNAUTHORIZED);
        assert_eq!(reply.header("www-authenticate"), Some(r#"Basic realm="auth""#));
        assert_eq!(reply.header("x-client-name"), None);
        assert_eq!(reply.text(), "unknown client or wrong secret\n");
    }
}

#[tokio::test]
async fn turns_a_disabled_client_away() {
    let auth = Backend::auth(example());
    let reply = verify(&auth, "initech:initech-secret-1").await;
    assert_eq!(reply.status, StatusCode::FORBIDDEN);
    assert_eq!(reply.header("x-client-name"), None);
}

#[tokio::test]
async fn admits_a_client_without_secrets_by_its_id() {
    let clients = file("without-secrets", r#"{"version": 1, "clients": [{"id": "open"}]}"#);
    let auth = Backend::auth(&clients);
    let reply = verify(&auth, "open:").await;
    assert_eq!(reply.status, StatusCode::OK);
    assert_eq!((reply.header("x-client-name"), reply.header("x-client-tier")), (None, None));
    assert_eq!(verify(&auth, "open:something").await.status, StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn verifies_whatever_the_method_and_the_protocol() {
    let auth = Backend::auth(example());
    let authorization = format!("Basic {}", STANDARD.encode("acme:acme-secret-1"));
    let headers = [("authorization", authorization.as_str())];
    let (mut h1, mut h2) = (auth.h1().await, auth.h2().await);
    for (method, body) in [("GET", ""), ("HEAD", ""), ("POST", "a body"), ("PUT", ""), ("OPTIONS", "")] {
        for reply in [
            h1.send(method, "/verify", &headers, body).await.expect("a reply"),
            h2.send(method, "/verify", &headers, body).await.expect("a reply"),
        ] {
            assert_eq!(reply.status, StatusCode::OK, "{method}");
            assert_eq!(reply.header("x-client-tier"), Some("gold"), "{method}");
        }
    }
}

#[tokio::test]
async fn publishes_the_document_as_it_is_written() {
    let auth = Backend::auth(example());
    let document = std::fs::read(example()).expect("the example");
    let reply = auth.get("/clients").await;
    assert_eq!(reply.status, StatusCode::OK);
    assert_eq!(reply.header("content-type"), Some("application/json"));
    assert_eq!(reply.body, document);

    let head = auth.send("HEAD", "/clients", &[], "").await;
    assert_eq!(head.header("etag"), reply.header("etag"));
    assert_eq!(head.header("content-length"), Some(document.len().to_string().as_str()));
}

#[tokio::test]
async fn answers_304_to_who_has_the_document() {
    let auth = Backend::auth(example());
    let etag = auth.get("/clients").await.header("etag").expect("an etag").to_owned();
    assert!(etag.starts_with('"'), "strong: {etag}");

    for (if_none_match, expected) in [
        (etag.clone(), StatusCode::NOT_MODIFIED),
        (format!("\"other\", W/{etag}"), StatusCode::NOT_MODIFIED),
        ("*".to_owned(), StatusCode::NOT_MODIFIED),
        ("\"other\"".to_owned(), StatusCode::OK),
    ] {
        let reply = auth.send("GET", "/clients", &[("if-none-match", &if_none_match)], "").await;
        assert_eq!(reply.status, expected, "{if_none_match}");
        assert_eq!(reply.header("etag"), Some(etag.as_str()));
        assert_eq!(reply.body.is_empty(), expected == StatusCode::NOT_MODIFIED);
    }
    assert_eq!(auth.get("/stats").await.json(), json!({"verify": 0, "clients": 5, "not_modified": 3}));

    let head =
        auth.h2().await.send("HEAD", "/clients", &[("if-none-match", &etag)], "").await.expect("a reply");
    assert_eq!((head.status, head.header("content-length")), (StatusCode::NOT_MODIFIED, None));
}

#[tokio::test]
async fn counts_what_it_was_asked() {
    let auth = Backend::auth(example());
    verify(&auth, "acme:acme-secret-1").await;
    verify(&auth, "acme:wrong").await;
    auth.get("/clients").await;
    assert_eq!(auth.get("/stats").await.json(), json!({"verify": 2, "clients": 1, "not_modified": 0}));
}

#[tokio::test]
async fn an_edit_holds_from_the_next_request() {
    let clients = file("edited", r#"{"version": 1, "clients": [{"id": "old"}]}"#);
    let auth = Backend::auth(&clients);
    let etag = auth.get("/clients").await.header("etag").expect("an etag").to_owned();
    assert_eq!(verify(&auth, "old:").await.status, StatusCode::OK);

    file("edited", r#"{"version": 1, "clients": [{"id": "newer"}]}"#);

    assert_eq!(verify(&auth, "old:").await.status, StatusCode::UNAUTHORIZED);
    assert_eq!(verify(&auth, "newer:").await.status, StatusCode::OK);
    let reply = auth.send("GET", "/clients", &[("if-none-match", &etag)], "").await;
    assert_eq!(reply.status, StatusCode::OK);
    assert_ne!(reply.header("etag"), Some(etag.as_str()));
}

#[tokio::test]
async fn notices_an_edit_that_keeps_the_length() {
    let clients = file("same-length", r#"{"version": 1, "clients": [{"id": "one"}]}"#);
    let auth = Backend::auth(&clients);
    assert_eq!(verify(&auth, "one:").await.status, StatusCode::OK);

    file("same-length", r#"{"version": 1, "clients": [{"id": "two"}]}"#);
    // Two writes within one tick of the file system's clock would otherwise look the same.
    let later = SystemTime::now() + Duration::from_secs(5);
    File::options().write(true).open(&clients).and_then(|file| file.set_modified(later)).expect("a new time");

    assert_eq!(verify(&auth, "two:").await.status, StatusCode::OK);
}

#[tokio::test]
async fn a_bad_edit_keeps_the_old_clients_and_is_reported_once() {
    let clients = file("bad-edit", r#"{"version": 1, "clients": [{"id": "kept"}]}"#);
    let auth = Backend::auth(&clients);

    file("bad-edit", r#"{"version": 1, "clients": [{"id": "kept"}"#);
    for _ in 0..3 {
        assert_eq!(verify(&auth, "kept:").await.status, StatusCode::OK);
    }
    let complaint = auth.complaint();
    assert!(complaint.contains("bad-edit.json") && complaint.contains("EOF"), "{complaint}");
    assert!(complaint.ends_with("the clients read before stay in force"), "{complaint}");

    std::fs::remove_file(&clients).expect("the file is removed");
    assert_eq!(verify(&auth, "kept:").await.status, StatusCode::OK);
    assert!(auth.complaint().contains("No such file"), "once for the edit, then for the removal");

    file("bad-edit", r#"{"version": 1, "clients": [{"id": "mended"}]}"#);
    assert_eq!(verify(&auth, "mended:").await.status, StatusCode::OK);
    assert_eq!(auth.complaints_so_far(), Vec::<String>::new());
}

#[tokio::test]
async fn has_nothing_else_to_offer() {
    let auth = Backend::auth(example());
    assert_eq!(auth.get("/").await.status, StatusCode::NOT_FOUND);
    for path in ["/clients", "/stats", "/faults"] {
        let reply = auth.send("PUT", path, &[], "").await;
        assert_eq!(reply.status, StatusCode::METHOD_NOT_ALLOWED, "{path}");
        assert!(reply.header("allow").is_some_and(|allow| allow.starts_with("GET, HEAD")), "{path}");
    }
}
