//! Requests whose end two readers see at two places, and bodies that become longer or shorter on the way.

use portcullis_abuse::policies::{GOOD, WRAPPING, everything};
use portcullis_abuse::raw2::{self, Answer};
use portcullis_abuse::{Gateway, Message};
use portcullis_testkit::envoy::{ClientError, Http, h1, h2, http_reply};
use serde_json::json;

fn wrapped(document: &str) -> String {
    format!("{}{document}{}", WRAPPING.0, WRAPPING.1)
}

/// All policies, in an Envoy that closes connections as soon as it waits for something: a message that it takes to be
/// whole is answered before, and one that it takes to be broken off would be waited for otherwise.
fn impatient() -> Gateway {
    Gateway::start_with(&everything(), |config| {
        config.merge_connection_manager(
            json!({"request_timeout": "0.3s", "common_http_protocol_options": {"idle_timeout": "0.05s"}}),
        )
    })
}

/// Sends these bytes, and gives the statuses of all answers until the connection is closed.
fn send(gateway: &Gateway, bytes: &[u8]) -> Vec<u16> {
    let mut connection = h1::Connection::open(gateway.addr());
    let _ = connection.send_raw(bytes);
    let mut statuses = Vec::new();
    loop {
        match connection.read_response() {
            Ok(response) => statuses.push(response.status),
            Err(ClientError::Timeout) => panic!("no answer to {}", bytes.escape_ascii()),
            Err(_) => return statuses,
        }
    }
}

fn head(lines: &str) -> Vec<u8> {
    format!("POST /first HTTP/1.1\r\nhost: gateway.test\r\nclient_id: acme\r\nclient_secret: s3cret\r\n{lines}\r\n").into_bytes()
}

const SMUGGLED: &[u8] =
    b"GET /smuggled HTTP/1.1\r\nhost: gateway.test\r\nx-portcullis-client-id: root\r\n\r\n";

/// Whatever Envoy makes of the framing, a second request in the body of the first is either a request of its own, and
/// refused for want of credentials, or a part of the body, or nothing at all.
#[test]
fn a_request_within_a_body_never_reaches_the_upstream_as_a_request() {
    let gateway = impatient();
    let inner = String::from_utf8_lossy(SMUGGLED).into_owned();
    let length = inner.len();
    for (content_type, lead) in [("text/plain", ""), ("text/xml", "<a/>"), ("application/json", "{}")] {
        let chunk = |text: &str| format!("{:x}\r\n{text}\r\n", text.len());
        let (n, m) = (lead.len(), lead.len() + length);
        for (framing, body) in [
            // CL.TE and TE.CL, and both in either order.
            (
                format!("content-length: {}\r\ntransfer-encoding: chunked\r\n", 5 + length),
                format!("0\r\n\r\n{inner}"),
            ),
            (
                format!("transfer-encoding: chunked\r\ncontent-length: {n}\r\n"),
                format!("{}0\r\n\r\n{inner}", chunk(lead)),
            ),
            (
                format!("transfer-encoding: chunked\r\ncontent-length: {m}\r\n"),
                format!("{}{}0\r\n\r\n", chunk(lead), chunk(&inner)),
            ),
            (
                "content-length: 4\r\ntransfer-encoding: chunked\r\n".into(),
                format!("{}0\r\n\r\n", chunk(&inner)),
            ),
            // TE.TE: one of them does not know what it is.
            ("transfer-encoding: xchunked\r\n".into(), format!("0\r\n\r\n{inner}")),
            (
                "transfer-encoding: chunked\r\ntransfer-encoding: identity\r\n".into(),
                format!("0\r\n\r\n{inner}"),
            ),
            ("transfer-encoding: chunked, identity\r\n".into(), format!("0\r\n\r\n{inner}")),
            ("transfer-encoding: identity\r\n".into(), format!("0\r\n\r\n{inner}")),
            ("transfer-encoding: gzip, chunked\r\n".into(), format!("0\r\n\r\n{inner}")),
            ("transfer-encoding:\tchunked\r\n".into(), format!("0\r\n\r\n{inner}")),
            ("transfer-encoding : chunked\r\n".into(), format!("0\r\n\r\n{inner}")),
            (" transfer-encoding: chunked\r\n".into(), format!("0\r\n\r\n{inner}")),
            ("x: y\r\n transfer-encoding: chunked\r\n".into(), format!("0\r\n\r\n{inner}")),
            ("transfer-encoding: \"chunked\"\r\n".into(), format!("0\r\n\r\n{inner}")),
            ("transfer-encoding: chunked\x0b\r\n".into(), format!("0\r\n\r\n{inner}")),
            ("transfer_encoding: chunked\r\n".into(), format!("0\r\n\r\n{inner}")),
            ("x: y\ntransfer-encoding: chunked\r\n".into(), format!("0\r\n\r\n{inner}")),
            ("x: y\rtransfer-encoding: chunked\r\n".into(), format!("0\r\n\r\n{inner}")),
            // Lengths that are none, or two.
            (format!("content-length: {n}\r\ncontent-length: {m}\r\n"), format!("{lead}{inner}")),
            (format!("content-length: {m}\r\ncontent-length: {n}\r\n"), format!("{lead}{inner}")),
            (format!("content-length: {n}, {m}\r\n"), format!("{lead}{inner}")),
            (format!("content-length: +{n}\r\n"), format!("{lead}{inner}")),
            (format!("content-length: -{n}\r\n"), format!("{lead}{inner}")),
            (format!("content-length: 0x{n:x}\r\n"), format!("{lead}{inner}")),
            (format!("content-length: {n} 0\r\n"), format!("{lead}{inner}")),
            (format!("content-length: {n}.0\r\n"), format!("{lead}{inner}")),
            ("content-length: 18446744073709551616\r\n".into(), format!("{lead}{inner}")),
            ("content-length: \r\n".into(), format!("{lead}{inner}")),
            (format!("content_length: {m}\r\n"), format!("{lead}{inner}")),
            (format!("content-length : {n}\r\n"), format!("{lead}{inner}")),
            // Nothing wrong with these: what follows is a request of its own.
            (format!("content-length: {n}\r\n"), format!("{lead}{inner}")),
            ("transfer-encoding: chunked\r\n".into(), format!("{}0\r\n\r\n{inner}", chunk(lead))),
            ("transfer-encoding: ChUnKeD\r\n".into(), format!("{}0\r\n\r\n{inner}", chunk(lead))),
            // Chunks.
            ("transfer-encoding: chunked\r\n".into(), format!("0;a=b\r\n\r\n{inner}")),
            ("transfer-encoding: chunked\r\n".into(), format!("0;\nxx\r\n\r\n{inner}")),
            ("transfer-encoding: chunked\r\n".into(), format!("0\n\n{inner}")),
            ("transfer-encoding: chunked\r\n".into(), format!("0\r\r{inner}")),
            ("transfer-encoding: chunked\r\n".into(), format!("0x0\r\n\r\n{inner}")),
            ("transfer-encoding: chunked\r\n".into(), format!(" 0\r\n\r\n{inner}")),
            ("transfer-encoding: chunked\r\n".into(), format!("-1\r\n\r\n{inner}")),
            ("transfer-encoding: chunked\r\n".into(), format!("FFFFFFFFFFFFFFFFF\r\n{inner}")),
            (
                "transfer-encoding: chunked\r\n".into(),
                format!("100000000{n:08x}\r\n{lead}\r\n0\r\n\r\n{inner}"),
            ),
            (
                "transfer-encoding: chunked\r\n".into(),
                format!("{:x}\r\n{lead}xx\r\n0\r\n\r\n{inner}", n.max(1)),
            ),
            (
                "transfer-encoding: chunked\r\n".into(),
                format!("{}0\r\ncontent-length: {length}\r\n\r\n{inner}", chunk(lead)),
            ),
            (
                "transfer-encoding: chunked\r\n".into(),
                format!("{}0\r\ntransfer-encoding: chunked\r\n\r\n{inner}", chunk(lead)),
            ),
            ("transfer-encoding: chunked\r\n".into(), format!("{}0\r\n{inner}\r\n{inner}", chunk(lead))),
        ] {
            let bytes =
                [head(&format!("content-type: {content_type}\r\n{framing}")), body.into_bytes()].concat();
            let statuses = send(&gateway, &bytes);
            let messages = gateway.upstream.take();
            let what = || format!("{} {statuses:?} {messages:?}", bytes.escape_ascii());
            assert!(messages.len() < 2, "{}", what());
            assert!(messages.iter().all(|message| message.path() == "/first"), "{}", what());
            assert!(messages.iter().all(is_acme), "{}", what());
            // One answer for the first request, and one, which is no success, for what Envoy takes for the second.
            assert!(statuses.len() < 3 && statuses.iter().skip(1).all(|status| *status >= 400), "{}", what());
            assert_eq!(
                messages.len(),
                statuses.iter().filter(|status| **status == 200).count(),
                "{}",
                what()
            );
        }
    }
    gateway.assert_sound();
}

fn is_acme(message: &Message) -> bool {
    let told = message.of_the_suite();
    told.iter().filter(|(name, _)| name == "x-portcullis-client-id").all(|(_, value)| value == "acme")
}

/// Extensions of chunks are Envoy's to read. None of them comes to the upstream.
#[test]
fn chunk_extensions_do_not_reach_the_upstream() {
    let gateway = impatient();
    for (content_type, expected) in [("text/plain", "<a/>".to_owned()), ("text/xml", wrapped("<a/>"))] {
        let bytes = [
            head(&format!("content-type: {content_type}\r\ntransfer-encoding: chunked\r\n")),
            b"2;a=b;c=\"d;e\"\r\n<a\r\n02\r\n/>\r\n0;z\r\nx-said: 1\r\n\r\n".to_vec(),
        ]
        .concat();
        assert_eq!(send(&gateway, &bytes), [200], "{content_type}");
        let message = gateway.upstream.take_one();
        assert_eq!(message.body, expected.as_bytes());
        assert_eq!(message.trailers, [(b"x-said".to_vec(), b"1".to_vec())]);
    }
    gateway.assert_sound();
}

/// A transformed message has one length: that of the new body, or none and chunks. What comes behind it on the same
/// connection is the next message.
#[test]
fn transformed_bodies_keep_connections_in_step() {
    let gateway = Gateway::start(&everything());
    gateway.upstream.reply_with(|message| {
        let answer = format!("<seen path='{}'/>", message.path());
        http_reply(200, &[("content-type", b"text/xml")], answer.as_bytes())
    });
    let mut connection = h1::Connection::open(gateway.addr());
    let mut sent = Vec::new();
    for at in 0..40 {
        let document = format!("<a>{}</a>", "x".repeat(at * 97));
        let content_type = if at % 3 == 0 { "text/plain" } else { "text/xml" };
        let path = format!("/{at}");
        let headers = [&GOOD[..], &[("content-type", content_type.as_bytes())]].concat();
        if at % 2 == 0 {
            connection.send("POST", &path, &headers, document.as_bytes()).unwrap();
        } else {
            let headers = [&headers[..], &[("transfer-encoding", b"chunked")]].concat();
            connection.send_raw(&h1::head("POST", &path, &headers, 0)).unwrap();
            for piece in document.as_bytes().chunks(100) {
                connection.send_chunk(piece).unwrap();
            }
            connection.end_chunks(&[("x-said", path.as_bytes())]).unwrap();
        }
        sent.push((path, if at % 3 == 0 { document } else { wrapped(&document) }));
    }
    for (path, _) in &sent {
        let response = connection.read_response().unwrap();
        assert_eq!((response.status, response.text()), (200, wrapped(&format!("<seen path=\"{path}\"/>"))));
    }
    let got: Vec<_> = gateway
        .upstream
        .take()
        .iter()
        .map(|message| (message.path(), String::from_utf8_lossy(&message.body).into_owned()))
        .collect();
    assert_eq!(got, sent);
    gateway.assert_sound();
}

/// Over HTTP/2 the frames say where a body ends. What the fields say of it besides must agree, or mean nothing.
#[test]
fn http_2_cannot_smuggle_what_http_1_would_take_for_framing() {
    let gateway = Gateway::start(&everything());
    let body: &[u8] = b"0\r\n\r\nGET /smuggled HTTP/1.1\r\nhost: x\r\n\r\n";
    let length = body.len().to_string();
    let credentials: [(&[u8], &[u8]); 2] = [(b"client_id", b"acme"), (b"client_secret", b"s3cret")];
    let crlf = b"1\r\ntransfer-encoding: chunked";
    let lf = b"1\ntransfer-encoding: chunked";
    for fields in [
        &[(&b"content-length"[..], &b"0"[..])][..],
        &[(b"content-length", b"1")],
        &[(b"content-length", b"99999")],
        &[(b"content-length", b"1"), (b"content-length", length.as_bytes())],
        &[(b"content-length", b"+39")],
        &[(b"transfer-encoding", b"chunked")],
        &[(b"transfer-encoding", b"chunked"), (b"content-length", length.as_bytes())],
        &[(b"connection", b"keep-alive, transfer-encoding")],
        &[(b"x-plain", crlf)],
        &[(b"x-plain", lf)],
        &[(b"x-plain", b"1\0transfer-encoding: chunked")],
        &[(b"x: y\r\ntransfer-encoding", b"chunked")],
        &[(b"x\ny", b"chunked")],
        &[(b"transfer-encoding: chunked\r\nx", b"1")],
        &[(b"host", b"other.test")],
        &[(b":authority", b"other.test")],
        &[(b":path", b"/smuggled")],
        &[(b"x-plain", b"1"), (b":path", b"/smuggled")],
        &[(b":path ", b"/smuggled")],
        &[(b"Transfer-Encoding", b"chunked")],
        &[(b"upgrade", b"h2c"), (b"http2-settings", b"AAMAAABkAAQAAP__")],
        &[(b"expect", b"100-continue")],
        &[(b"te", b"chunked")],
        &[(b"trailer", b"content-length, transfer-encoding")],
    ] {
        for content_type in [&b"text/plain"[..], b"application/octet-stream"] {
            let fields = [&credentials[..], &[(b"content-type", content_type)], fields].concat();
            for (path, method) in [
                (&b"/first"[..], &b"POST"[..]),
                (b"/first", b"GET"),
                (b"/first HTTP/1.1\r\nx: y", b"POST"),
                (b"/first", b"POST /smuggled"),
            ] {
                let answer =
                    raw2::request(gateway.addr(), &raw2::block(method, path, &fields), Some(body), &[]);
                let messages = gateway.upstream.take();
                let what = || format!("{fields:?} {path:?} {answer:?} {messages:?}");
                assert!(messages.len() < 2, "{}", what());
                for message in &messages {
                    // A length that is too small is found out when more than that has come.
                    assert!(message.path() == "/first" && body.starts_with(&message.body), "{}", what());
                    assert!(is_acme(message), "{}", what());
                }
                assert!(
                    answer != Answer::Status(200) || messages.iter().any(|message| message.body == body),
                    "{}",
                    what()
                );
            }
        }
    }
    gateway.assert_sound();
}

/// Trailers come when the head has gone: they must not change what it has said.
#[test]
fn trailers_that_would_frame_the_message_change_nothing() {
    let gateway = Gateway::start(&everything());
    for trailer in [
        "content-length: 0",
        "content-length: 999",
        "transfer-encoding: chunked",
        "host: other.test",
        "connection: close",
        "client_id: root",
        "x-to: there",
        "content-type: application/json",
        "x-portcullis-client-id: root",
        "x-said: 1",
    ] {
        let (name, value) = trailer.split_once(": ").unwrap();
        for (content_type, expected) in [("text/plain", "<a/>".to_owned()), ("text/xml", wrapped("<a/>"))] {
            let lines = format!("content-type: {content_type}\r\ntransfer-encoding: chunked\r\n");
            let bytes = [head(&lines), format!("4\r\n<a/>\r\n0\r\n{trailer}\r\n\r\n").into_bytes()].concat();
            let mut connection = h1::Connection::open(gateway.addr());
            let _ = connection.send_raw(&bytes);
            let one = connection.read_response().map_or(0, |response| response.status);
            let fields: [(&[u8], &[u8]); 3] = [
                (b"client_id", b"acme"),
                (b"client_secret", b"s3cret"),
                (b"content-type", content_type.as_bytes()),
            ];
            let trailers: raw2::Block = &[(name.as_bytes(), value.as_bytes())];
            let two = raw2::request(
                gateway.addr(),
                &raw2::block(b"POST", b"/first", &fields),
                Some(b"<a/>"),
                trailers,
            );
            let messages = gateway.upstream.take();
            let passed = usize::from(one == 200) + usize::from(two == Answer::Status(200));
            assert!(messages.len() >= passed && messages.len() <= 2, "{trailer} {one} {two:?} {messages:?}");
            for message in messages {
                assert_eq!(message.body, expected.as_bytes(), "{trailer} {content_type}");
                assert_eq!(message.text("host").as_deref(), Some("gateway.test"), "{trailer}");
                assert!(
                    is_acme(&message) && message.all("content-length").is_empty(),
                    "{trailer} {message:?}"
                );
                assert_eq!(message.trailers_of_the_suite(), [], "{trailer}");
            }
        }
    }
    gateway.assert_sound();
}

/// An upstream that says one length and sends another: the client gets what is whole, or nothing that looks so.
#[test]
fn a_hostile_upstream_cannot_put_a_response_into_another() {
    let gateway = impatient();
    let inner = "HTTP/1.1 200 OK\r\nx-smuggled: 1\r\ncontent-length: 0\r\n\r\n";
    for content_type in ["text/plain", "text/xml"] {
        for framing in [
            "content-length: 4\r\n\r\n<a/>".to_owned(),
            "content-length: 4\r\ncontent-length: 4\r\n\r\n<a/>".into(),
            "content-length: 4\r\ncontent-length: 60\r\n\r\n<a/>".into(),
            "content-length: 4\r\ntransfer-encoding: chunked\r\n\r\n4\r\n<a/>\r\n0\r\n\r\n".into(),
            "transfer-encoding: chunked\r\n\r\n4;x=y\r\n<a/>\r\n0\r\n\r\n".into(),
            "transfer-encoding: chunked\r\n\r\n4\r\n<a/>\r\n0\r\ncontent-length: 9\r\n\r\n".into(),
            "transfer-encoding: identity, chunked\r\n\r\n4\r\n<a/>\r\n0\r\n\r\n".into(),
            "connection: close\r\ntransfer-encoding: chunked\r\n\r\nfffffffff\r\n<a/>\r\n0\r\n\r\n".into(),
            "connection: close\r\ncontent-length: 999\r\n\r\n<a/>".into(),
            "content-length: +4\r\n\r\n<a/>".into(),
            "content-length: 4\r\nx: y\r\n x-smuggled: 1\r\n\r\n<a/>".into(),
        ] {
            let reply = format!("HTTP/1.1 200 OK\r\ncontent-type: {content_type}\r\n{framing}{inner}");
            gateway.upstream.reply_with(move |_| reply.clone().into_bytes());
            for http in Http::BOTH {
                for path in ["/1", "/2"] {
                    let response = match http {
                        Http::One => h1::try_request(gateway.addr(), "GET", path, &GOOD, b""),
                        Http::Two => {
                            h2::Connection::open(gateway.addr()).try_request("GET", path, &GOOD, &[], &[])
                        }
                    };
                    let Ok(response) = response else { continue };
                    assert!(!response.headers.contains("x-smuggled"), "{framing:?} {http:?} {response:?}");
                    let whole = if content_type == "text/xml" { wrapped("<a/>") } else { "<a/>".to_owned() };
                    assert!(
                        response.status >= 500 || response.text() == whole,
                        "{framing:?} {http:?} {response:?}"
                    );
                }
            }
        }
    }
    gateway.upstream.reply_with(|_| http_reply(200, &[], b""));
    gateway.assert_sound();
}
