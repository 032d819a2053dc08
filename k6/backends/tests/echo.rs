//! The echo service, spoken to over HTTP/1.1, HTTP/2 and bare TCP.

mod support;

use std::time::{Duration, Instant};

use hyper::{StatusCode, Version};
use serde_json::{Value, json};

use support::Backend;

const ALPHABET: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

fn assert_is_filler(body: &[u8], size: usize) {
    assert_eq!(body.len(), size);
    assert!(body.iter().zip(ALPHABET.iter().cycle()).all(|(found, expected)| found == expected));
}

#[tokio::test]
async fn describes_a_request_without_a_body() {
    let echo = Backend::echo(&[]);
    let reply = echo.send("DELETE", "/a/b%20c?x=1&y", &[("x-one", "1"), ("x-two", "2")], "").await;

    assert_eq!(reply.status, StatusCode::OK);
    assert_eq!(reply.header("content-type"), Some("application/json"));
    let mut described = reply.json();
    let headers = described["headers"].take();
    assert_eq!(
        described,
        json!({"method": "DELETE", "path": "/a/b%20c", "query": "x=1&y", "version": "HTTP/1.1", "headers": null})
    );
    for header in [json!(["x-one", "1"]), json!(["x-two", "2"]), json!(["host", echo.address.to_string()])] {
        assert!(headers.as_array().is_some_and(|all| all.contains(&header)), "{header} in {headers}");
    }
}

#[tokio::test]
async fn describes_a_missing_query_as_null() {
    let echo = Backend::echo(&[]);
    assert_eq!(echo.get("/").await.json()["query"], Value::Null);
    assert_eq!(echo.get("/?").await.json()["query"], json!(""));
}

#[test]
fn escapes_header_bytes_that_are_not_utf8() {
    let echo = Backend::echo(&[]);
    let mut raw = echo.raw();
    raw.write(b"GET / HTTP/1.1\r\nhost: e\r\nx-odd: a\xffb\r\nconnection: close\r\n\r\n");
    let reply = raw.read_to_end().expect("a reply");
    assert!(reply.contains(r#"["x-odd","a\\xffb"]"#), "{reply}");
}

#[tokio::test]
async fn describes_an_http2_request_with_its_authority() {
    let echo = Backend::echo(&[]);
    let reply = echo.h2().await.send("GET", "/two", &[], "").await.expect("a reply");

    assert_eq!(reply.version, Version::HTTP_2);
    let described = reply.json();
    assert_eq!(described["version"], "HTTP/2");
    assert_eq!(described["path"], "/two");
    assert_eq!(described["headers"][0], json!([":authority", echo.address.to_string()]));
}

#[tokio::test]
async fn echoes_a_body_with_its_content_type() {
    let echo = Backend::echo(&[]);
    let headers = [("content-type", "text/xml; charset=utf-8"), ("content-encoding", "identity")];

    for reply in [
        echo.send("POST", "/", &headers, "<a/>").await,
        echo.h2().await.send("PUT", "/", &headers, "<a/>").await.expect("a reply"),
    ] {
        assert_eq!(reply.status, StatusCode::OK);
        assert_eq!(reply.text(), "<a/>");
        assert_eq!(reply.header("content-type"), Some("text/xml; charset=utf-8"));
        assert_eq!(reply.header("content-encoding"), Some("identity"));
        assert_eq!(reply.header("content-length"), Some("4"));
    }
}

#[test]
fn echoes_each_piece_of_a_body_as_it_arrives() {
    let echo = Backend::echo(&[]);
    let mut raw = echo.raw();
    raw.write("POST / HTTP/1.1\r\nhost: e\r\ntransfer-encoding: chunked\r\n\r\n5\r\nfirst\r\n");
    // The request is not over: only a reply that streams can have this piece in it.
    raw.read_until("first");
    raw.write("6\r\nsecond\r\n0\r\n\r\n");
    raw.read_until("second");
}

#[tokio::test]
async fn replies_with_filler_of_the_size_asked_for() {
    let echo = Backend::echo(&[]);
    let (mut h1, mut h2) = (echo.h1().await, echo.h2().await);
    for size in [0, 1, 1000, 65_536, 65_537, 5_000_000] {
        let path = format!("/?size={size}");
        for reply in [
            h1.send("GET", &path, &[], "").await.expect("a reply"),
            h2.send("GET", &path, &[], "").await.expect("a reply"),
        ] {
            assert_is_filler(&reply.body, size);
        }
    }
}

#[tokio::test]
async fn keeps_the_connection_after_a_body_that_was_not_echoed() {
    let echo = Backend::echo(&[]);
    let mut h1 = echo.h1().await;
    for path in ["/?size=3", "/?size=x", "/?size=3"] {
        let body = vec![b'x'; 1_000_000];
        let reply = h1.send("POST", path, &[], body).await.expect("a reply on the same connection");
        assert!(reply.body.starts_with(b"ABC") || reply.status == StatusCode::BAD_REQUEST);
    }
}

#[tokio::test]
async fn delays_a_reply() {
    let echo = Backend::echo(&[]);
    let start = Instant::now();
    assert_eq!(echo.get("/?delay_ms=150").await.status, StatusCode::OK);
    assert!(start.elapsed() >= Duration::from_millis(150), "{:?}", start.elapsed());
}

#[tokio::test]
async fn replies_with_the_status_asked_for() {
    let echo = Backend::echo(&[]);
    let reply = echo.get("/?status=503&size=4").await;
    assert_eq!((reply.status, reply.text()), (StatusCode::SERVICE_UNAVAILABLE, "ABCD"));
    assert_eq!(echo.get("/?status=404").await.json()["query"], "status=404");
}

#[tokio::test]
async fn a_status_without_content_has_none() {
    let echo = Backend::echo(&[]);
    for status in [StatusCode::NO_CONTENT, StatusCode::NOT_MODIFIED] {
        let path = format!("/?size=9&trailers=true&status={}", status.as_u16());
        for reply in
            [echo.get(&path).await, echo.h2().await.send("GET", &path, &[], "").await.expect("a reply")]
        {
            assert_eq!((reply.status, reply.body.len()), (status, 0));
            assert_eq!(reply.trailers, None);
        }
    }
}

#[tokio::test]
async fn sends_trailers_over_http2() {
    let echo = Backend::echo(&[]);
    for (path, sent) in
        [("/?trailers=true&size=10", ""), ("/?trailers=true", "body"), ("/?trailers=true", "")]
    {
        let reply = echo.h2().await.send("POST", path, &[], sent).await.expect("a reply");
        let trailers = reply.trailers.as_ref().expect("trailers");
        assert_eq!(trailers["x-echo-trailer"], "end", "{path} {sent}");
        assert!(!reply.body.is_empty());
    }
}

#[tokio::test]
async fn sends_trailers_over_http1_to_a_peer_that_takes_them() {
    let echo = Backend::echo(&[]);
    let reply = echo.send("GET", "/?trailers=true&size=10", &[("te", "trailers")], "").await;
    assert_eq!(reply.header("transfer-encoding"), Some("chunked"));
    assert_eq!(reply.header("trailer"), Some("x-echo-trailer"));
    assert_eq!(reply.trailers.expect("trailers")["x-echo-trailer"], "end");

    let reply = echo.get("/?trailers=true&size=10").await;
    assert_is_filler(&reply.body, 10);
    assert_eq!(reply.trailers, None);
}

#[test]
fn returns_request_trailers_together_with_its_own() {
    let echo = Backend::echo(&[]);
    let mut raw = echo.raw();
    raw.write(
        "POST /?trailers=true HTTP/1.1\r\nhost: e\r\nte: trailers\r\ntrailer: x-mine\r\n\
         transfer-encoding: chunked\r\nconnection: close\r\n\r\n2\r\nhi\r\n0\r\nx-mine: 1\r\n\r\n",
    );
    let reply = raw.read_to_end().expect("a reply");
    assert!(reply.contains("\r\n2\r\nhi\r\n0\r\n"), "{reply}");
    for trailer in ["x-mine: 1\r\n", "x-echo-trailer: end\r\n"] {
        assert!(reply.to_lowercase().contains(trailer), "{trailer} in {reply}");
    }
}

#[tokio::test]
async fn head_has_the_headers_of_get_and_no_content() {
    let echo = Backend::echo(&[]);
    let (mut h1, mut h2) = (echo.h1().await, echo.h2().await);
    for _ in 0..2 {
        for reply in [
            h1.send("HEAD", "/?size=70000", &[], "").await.expect("a reply"),
            h2.send("HEAD", "/?size=70000", &[], "").await.expect("a reply"),
        ] {
            assert_eq!(reply.header("content-length"), Some("70000"));
            assert_eq!(reply.body.len(), 0);
        }
    }
}

#[test]
fn asks_for_a_body_that_waits_for_100_continue() {
    let echo = Backend::echo(&[]);
    let mut raw = echo.raw();
    raw.write("POST / HTTP/1.1\r\nhost: e\r\ncontent-length: 4\r\nexpect: 100-continue\r\nconnection: close\r\n\r\n");
    assert_eq!(raw.read_until("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
    raw.write("body");
    let reply = raw.read_to_end().expect("a reply");
    assert!(reply.starts_with("HTTP/1.1 200 OK\r\n") && reply.ends_with("\r\n\r\nbody"), "{reply}");
}

#[tokio::test]
async fn refuses_directions_it_cannot_follow() {
    let echo = Backend::echo(&[]);
    let mut h1 = echo.h1().await;
    for (query, message) in [
        ("size=x", "query parameter size=x: expected a number of bytes from 0 to 67108864\n"),
        ("size=67108865", "query parameter size=67108865: expected a number of bytes from 0 to 67108864\n"),
        ("delay_ms=60001", "query parameter delay_ms=60001: expected milliseconds from 0 to 60000\n"),
        ("status=99", "query parameter status=99: expected a final status from 200 to 599\n"),
        ("trailers=1", "query parameter trailers=1: expected true or false\n"),
        ("stream=1", "query parameter stream=1: expected true or false\n"),
    ] {
        let reply = h1.send("GET", &format!("/?{query}"), &[], "").await.expect("a reply");
        assert_eq!((reply.status, reply.text()), (StatusCode::BAD_REQUEST, message));
    }
}

#[tokio::test]
async fn flags_hold_where_the_query_says_nothing() {
    let echo = Backend::echo(&["--size", "5", "--delay-ms", "500", "--threads", "2"]);

    let start = Instant::now();
    assert_eq!(echo.send("POST", "/", &[], "not echoed").await.text(), "ABCDE");
    assert!(start.elapsed() >= Duration::from_millis(500), "{:?}", start.elapsed());

    let start = Instant::now();
    assert_eq!(echo.get("/?size=2&delay_ms=0").await.text(), "AB");
    assert!(start.elapsed() < Duration::from_millis(500), "{:?}", start.elapsed());
}

#[tokio::test]
async fn describes_a_request_with_a_body_if_asked_to() {
    let echo = Backend::echo(&[]);
    let reply = echo.send("POST", "/?describe=true", &[("content-type", "text/xml")], "<a/>").await;
    let described = reply.json();
    assert_eq!(reply.header("content-type"), Some("application/json"));
    assert_eq!(described["method"], "POST");
    // printf '<a/>' | sha256sum
    let sha256 = "29114363f749a0226b6988dda3ca2492a954117ab6b5f382706c20300dabc079";
    assert_eq!(described["body"], json!({"bytes": 4, "sha256": sha256}));
}

#[tokio::test]
async fn withholds_the_length_of_a_body_that_streams() {
    let echo = Backend::echo(&[]);
    for (path, sent, size) in [("/?size=200000&stream=true", "", 200_000), ("/?stream=true", "body", 4)] {
        let reply = echo.send("POST", path, &[], sent).await;
        assert_eq!(reply.header("content-length"), None, "{path}");
        assert_eq!(reply.header("transfer-encoding"), Some("chunked"), "{path}");
        assert_eq!(reply.body.len(), size, "{path}");
    }
}

#[tokio::test]
async fn counts_the_bytes_of_a_body_that_is_not_echoed() {
    let echo = Backend::echo(&[]);
    let received = |reply: support::Reply| reply.header("x-echo-received").map(str::to_owned);
    assert_eq!(received(echo.send("POST", "/?size=1", &[], "0123456789").await), Some("10".to_owned()));
    assert_eq!(received(echo.get("/?size=1").await), None, "there was no body");
    assert_eq!(received(echo.send("POST", "/", &[], "0123456789").await), None, "the reply has the body");
}

#[tokio::test]
async fn returns_the_tag_of_a_request() {
    let echo = Backend::echo(&[]);
    for (path, status) in [("/?size=1", 200), ("/", 200), ("/?size=x", 400)] {
        let reply = echo.send("GET", path, &[("x-echo-tag", "7-1")], "").await;
        assert_eq!((reply.status.as_u16(), reply.header("x-echo-tag")), (status, Some("7-1")), "{path}");
    }
    assert_eq!(echo.get("/").await.header("x-echo-tag"), None);
}

#[tokio::test]
async fn answers_with_a_wrong_body_if_told_to() {
    let echo = Backend::echo(&["--fault", "wrong-body"]);
    for (path, sent, expected) in [("/?size=5", "", "@BCDE"), ("/", "<a/>", "=a/>")] {
        for reply in [
            echo.send("POST", path, &[], sent).await,
            echo.h2().await.send("POST", path, &[], sent).await.expect("a reply"),
        ] {
            assert_eq!(reply.text(), expected);
            assert_eq!(reply.header("content-length"), Some(expected.len().to_string().as_str()));
        }
    }
    let reply = echo.get("/?size=200000").await;
    assert_eq!(reply.body[0], b'@');
    assert_eq!(
        reply.body.iter().zip(ALPHABET.iter().cycle()).filter(|(found, proper)| found != proper).count(),
        1
    );
}

#[tokio::test]
async fn answers_without_a_content_type_if_told_to() {
    let reply = Backend::echo(&["--fault", "dropped-header"]).get("/?size=5").await;
    assert_eq!((reply.status.as_u16(), reply.text(), reply.header("content-type")), (200, "ABCDE", None));
}

#[tokio::test]
async fn answers_with_a_wrong_status_if_told_to() {
    let reply = Backend::echo(&["--fault", "wrong-status"]).get("/?size=5").await;
    assert_eq!((reply.status.as_u16(), reply.text()), (201, "ABCDE"));
}

#[tokio::test]
async fn answers_late_if_told_to() {
    let echo = Backend::echo(&["--fault", "slow"]);
    let start = Instant::now();
    assert_eq!(echo.get("/?size=5").await.text(), "ABCDE");
    assert!(start.elapsed() >= Duration::from_secs(3), "{:?}", start.elapsed());
}

#[tokio::test]
async fn faults_befall_every_nth_request() {
    let echo = Backend::echo(&["--fault", "wrong-status", "--fault-every", "3"]);
    let mut statuses = Vec::new();
    for _ in 0..6 {
        statuses.push(echo.get("/").await.status.as_u16());
    }
    assert_eq!(statuses, [200, 200, 201, 200, 200, 201]);
}
