//! The collector: what it takes, what it shows, and how it fails on demand.

#![allow(clippy::expect_used, reason = "a test helper fails by panicking")]

mod support;

use std::io::ErrorKind;
use std::time::{Duration, Instant};

use hyper::StatusCode;
use serde_json::{Value, json};

use support::{Backend, Reply, is_reset};

const JSON: (&str, &str) = ("content-type", "application/json");

/// A request with records of these bodies.
fn request(bodies: &[&str]) -> String {
    let records: Vec<Value> = bodies.iter().map(|body| json!({"body": {"stringValue": body}})).collect();
    json!({"resourceLogs": [{"scopeLogs": [{"logRecords": records}]}]}).to_string()
}

async fn send(collector: &Backend, body: String) -> Reply {
    collector.h1().await.send("POST", "/v1/logs", &[JSON], body).await.expect("a reply")
}

async fn set(collector: &Backend, fault: &'static str) {
    let reply = collector.send("POST", "/faults", &[], fault).await;
    assert_eq!(reply.status, StatusCode::OK, "{}", reply.text());
}

async fn stats(collector: &Backend) -> Value {
    collector.get("/stats").await.json()
}

/// The bodies of the records that it shows.
async fn bodies(collector: &Backend) -> Vec<String> {
    let records = collector.get("/records").await.json();
    let body = |record: &Value| record["body"]["stringValue"].as_str().expect("text").to_owned();
    records.as_array().expect("a list").iter().map(body).collect()
}

#[tokio::test]
async fn takes_records_and_shows_them_in_order_until_told_to_forget() {
    let collector = Backend::collector();
    let reply = send(&collector, request(&["a", "b"])).await;
    assert_eq!((reply.status, reply.text()), (StatusCode::OK, "{}"));
    assert_eq!(reply.header("content-type"), Some("application/json"));
    let mut h2 = collector.h2().await;
    let headers = [("content-type", "application/json; charset=utf-8")];
    assert_eq!(h2.send("POST", "/v1/logs", &headers, request(&["c"])).await.expect("a reply").status, 200);

    assert_eq!(bodies(&collector).await, ["a", "b", "c"]);
    let expected = json!({"requests": 2, "invalid": 0, "faulted": 0, "records": 3, "rejected": 0});
    assert_eq!(stats(&collector).await, expected);

    assert_eq!(collector.send("DELETE", "/records", &[], "").await.status, StatusCode::OK);
    assert!(bodies(&collector).await.is_empty());
    assert_eq!(stats(&collector).await["requests"], 0);
}

#[tokio::test]
async fn refuses_what_is_not_as_the_protocol_has_it_and_says_where() {
    let collector = Backend::collector();
    let wrong = request(&["a"]).replace("stringValue", "string_value");
    let reply = send(&collector, wrong).await;
    assert_eq!(reply.status, StatusCode::BAD_REQUEST);
    let message = reply.json()["message"].as_str().expect("text").to_owned();
    assert!(message.starts_with("logRecords[0].body"), "{message}");
    assert!(collector.complaint().contains(&message));

    let body = request(&["a"]);
    let mut h1 = collector.h1().await;
    let reply = h1.send("POST", "/v1/logs", &[("content-type", "application/x-protobuf")], body).await;
    assert_eq!(reply.expect("a reply").status, StatusCode::UNSUPPORTED_MEDIA_TYPE);
    let huge = request(&[&"x".repeat(20 << 20)]);
    assert_eq!(send(&collector, huge).await.status, StatusCode::PAYLOAD_TOO_LARGE);

    let expected = json!({"requests": 3, "invalid": 3, "faulted": 0, "records": 0, "rejected": 0});
    assert_eq!(stats(&collector).await, expected);
}

#[tokio::test]
async fn keeps_the_latest_records_only() {
    let collector = Backend::collector();
    let numbers: Vec<String> = (0..10_010).map(|number| number.to_string()).collect();
    let bodies_sent: Vec<&str> = numbers.iter().map(String::as_str).collect();
    send(&collector, request(&bodies_sent)).await;
    assert_eq!(bodies(&collector).await, numbers[10..]);
    assert_eq!(stats(&collector).await["records"], 10_010);
}

#[tokio::test]
async fn fails_on_demand_with_a_status_and_a_pause() {
    let collector = Backend::collector();
    set(&collector, r#"{"kind": "status", "status": 429, "retry_after": "7"}"#).await;
    let reply = send(&collector, request(&["a"])).await;
    assert_eq!((reply.status, reply.header("retry-after")), (StatusCode::TOO_MANY_REQUESTS, Some("7")));
    assert_eq!(collector.get("/faults").await.json()["status"], 429);

    assert_eq!(collector.send("DELETE", "/faults", &[], "").await.json(), json!({"kind": "none"}));
    assert_eq!(send(&collector, request(&["b"])).await.status, StatusCode::OK);
    assert_eq!(bodies(&collector).await, ["b"]);
    assert_eq!(stats(&collector).await["faulted"], 1);
}

#[tokio::test]
async fn rejects_a_part_on_demand() {
    let collector = Backend::collector();
    set(&collector, r#"{"kind": "partial", "rejected": 2}"#).await;
    for (sent, kept) in [(&["a", "b", "c"][..], 1), (&["d"], 0)] {
        let reply = send(&collector, request(sent)).await;
        assert_eq!(reply.status, StatusCode::OK);
        let rejected = (sent.len() - kept).to_string();
        assert_eq!(reply.json()["partialSuccess"]["rejectedLogRecords"], rejected);
    }
    assert_eq!(bodies(&collector).await, ["a"]);
    assert_eq!(stats(&collector).await["rejected"], 3);
}

#[tokio::test]
async fn is_late_on_demand() {
    let collector = Backend::collector();
    set(&collector, r#"{"kind": "delay", "delay_ms": 150}"#).await;
    let start = Instant::now();
    assert_eq!(send(&collector, request(&["a"])).await.status, StatusCode::OK);
    assert!(start.elapsed() >= Duration::from_millis(150));
}

#[tokio::test]
async fn says_nothing_on_demand_and_goes_on_for_others() {
    let collector = Backend::collector();
    set(&collector, r#"{"kind": "hang"}"#).await;
    let mut h1 = collector.h1().await;
    let unanswered =
        tokio::spawn(async move { h1.send("POST", "/v1/logs", &[JSON], request(&["a"])).await.is_ok() });
    while stats(&collector).await["faulted"] == 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert!(!unanswered.is_finished());
}

#[tokio::test]
async fn breaks_connections_on_demand() {
    let collector = Backend::collector();
    set(&collector, r#"{"kind": "reset"}"#).await;
    let mut raw = collector.raw();
    raw.write("POST /v1/logs HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\n\r\n{}");
    assert_eq!(raw.read_to_end().expect_err("a reset").kind(), ErrorKind::ConnectionReset);
    let error = collector.h2().await.send("POST", "/v1/logs", &[JSON], "{}").await.expect_err("no reply");
    assert!(is_reset(&error), "{error:?}");

    set(&collector, r#"{"kind": "garbage"}"#).await;
    let mut raw = collector.raw();
    raw.write("POST /v1/logs HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\n\r\n{}");
    assert!(raw.read_to_end().expect("bytes").contains("this is not HTTP"));
}

#[tokio::test]
async fn answers_other_requests_as_http_wants_it() {
    let collector = Backend::collector();
    assert_eq!(collector.get("/").await.status, StatusCode::NOT_FOUND);
    for (method, path, allowed) in [
        ("GET", "/v1/logs", "POST"),
        ("POST", "/records", "GET, HEAD, DELETE"),
        ("PUT", "/stats", "GET, HEAD"),
    ] {
        let reply = collector.send(method, path, &[], "").await;
        assert_eq!((reply.status, reply.header("allow")), (StatusCode::METHOD_NOT_ALLOWED, Some(allowed)));
    }
    let reply = collector.send("POST", "/faults", &[], r#"{"kind": "fire"}"#).await;
    assert_eq!(reply.status, StatusCode::BAD_REQUEST);
}
