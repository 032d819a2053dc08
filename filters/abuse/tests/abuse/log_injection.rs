//! Lines of the log that a client or an upstream would like to write, in every field that is logged.

use portcullis_abuse::Gateway;
use portcullis_abuse::policies::{GOOD, client_id, everything};
use portcullis_abuse::raw2::{self, Answer};
use portcullis_testkit::envoy::{AccessLog, Http, PATIENCE, http_reply, wait_for, wait_until};
use serde_json::json;

/// What ends a line somewhere, ends a text, moves a terminal's cursor, turns text around, or is no text at all.
const PAYLOADS: &[&[u8]] = &[
    b"\r\n{\"mark\":\"abuse\",\"forged\":true}",
    b"\n[2026-01-01 00:00:00.000][1][info][wasm] wasm log gateway: {\"mark\":\"abuse\",\"forged\":true}",
    b"\r{\"mark\":\"abuse\"}",
    b"\",\"forged\":true,\"x\":\"",
    b"\\\",\"forged\":true,\"x\":\"\\",
    b"\\",
    b"\x1b[2J\x1b[31m",
    b"\x9b2J",
    b"\x07\x08\x0c\x0b\x00",
    b"\x7f",
    b"\xff\xfe\xc3\xc3(",
    b"\xed\xa0\x80\xf4\x90\x80\x80",
    "\u{85}\u{2028}{\"mark\":\"abuse\",\"forged\":true}\u{2029}".as_bytes(),
    "\u{202e}\u{2066}\u{200b}\u{feff}\u{e0001}".as_bytes(),
    b"%REQ(AUTHORIZATION)% %s %n ${jndi:ldap://x/a} {{7*7}}",
    b"<script>alert(1)</script>",
];

/// What must not be in a line as it is: control characters of either set, separators of lines, what turns text around
/// or cannot be seen.
fn is_plain(line: &str) -> bool {
    !line.chars().any(|character| {
        character.is_control()
            || matches!(character, '\u{2028}' | '\u{2029}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
                | '\u{2060}'..='\u{2069}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
    })
}

/// Each request that was answered has one line in Envoy's log, which is one line of JSON, and nothing else does.
#[track_caller]
fn assert_lines(gateway: &Gateway, expected: usize) {
    wait_until("a line for each request", PATIENCE, || gateway.lines().len() >= expected);
    let lines = gateway.lines();
    assert_eq!(lines.len(), expected);
    assert!(lines.iter().all(|line| line.get("forged").is_none()), "{lines:?}");
    let raw = gateway.envoy.log_lines();
    for line in raw.iter().filter(|line| line.contains("abuse") || line.contains("forged")) {
        assert!(line.starts_with('[') && line.contains("wasm log gateway: {"), "{line:?}");
        assert!(is_plain(line), "{line:?}");
    }
}

/// Over HTTP/2 any byte can be put on the wire; what Envoy lets through is the log's to make harmless.
#[test]
fn no_field_of_a_request_breaks_a_line() {
    let gateway = Gateway::start(&everything());
    let credentials: [(&[u8], &[u8]); 2] = [(b"client_id", b"acme"), (b"client_secret", b"s3cret")];
    let mut answered = 0;
    for payload in PAYLOADS {
        // Without what HTTP itself refuses, too, so that the rest of it is looked at.
        let lawful: Vec<u8> =
            payload.iter().copied().filter(|byte| !matches!(byte, 0..=8 | 10..=31 | 127)).collect();
        for payload in [payload.to_vec(), lawful] {
            for name in [
                "user-agent",
                "referer",
                "x-request-id",
                "x-plain",
                "x-to",
                "soapaction",
                "x-forwarded-for",
                "x-api-key",
            ] {
                let fields = [&credentials[..], &[(name.as_bytes(), &payload)]].concat();
                let answer = raw2::request(gateway.addr(), &raw2::block(b"GET", b"/", &fields), None, &[]);
                answered += usize::from(matches!(answer, Answer::Status(_)));
            }
            for path in
                [[b"/", &payload[..]].concat(), [b"/?k=", &payload[..]].concat(), percent_encoded(&payload)]
            {
                let answer =
                    raw2::request(gateway.addr(), &raw2::block(b"GET", &path, &credentials), None, &[]);
                answered += usize::from(matches!(answer, Answer::Status(_)));
            }
            let method = [b"G", &payload[..]].concat();
            let block = raw2::block(&method, b"/", &credentials);
            answered +=
                usize::from(matches!(raw2::request(gateway.addr(), &block, None, &[]), Answer::Status(_)));
            let block: Vec<(&[u8], &[u8])> = [
                (&b":method"[..], &b"GET"[..]),
                (b":scheme", b"http"),
                (b":authority", &payload),
                (b":path", b"/"),
            ]
            .into_iter()
            .chain(credentials)
            .collect();
            answered +=
                usize::from(matches!(raw2::request(gateway.addr(), &block, None, &[]), Answer::Status(_)));
        }
    }
    assert!(answered > 100, "{answered} requests were answered");
    // Those that Envoy has refused before any filter saw them may have lines too.
    wait_until("a line for each request", PATIENCE, || gateway.lines().len() >= answered);
    let lines = gateway.lines().len();
    assert_lines(&gateway, lines);
    gateway.assert_sound();
}

fn percent_encoded(payload: &[u8]) -> Vec<u8> {
    payload.iter().fold(b"/".to_vec(), |path, byte| [path, format!("%{byte:02x}").into_bytes()].concat())
}

/// Identifiers that the gateway has decoded itself are logged as what they are, or not at all.
#[test]
fn no_credential_breaks_a_line() {
    let gateway = Gateway::start(&everything());
    for (at, payload) in PAYLOADS.iter().enumerate() {
        let encoded: String = payload.iter().map(|byte| format!("%{byte:02x}")).collect();
        let path = format!("/?client_id={encoded}&client_secret=s");
        let status = Http::One.get(gateway.addr(), &path, &[]).status;
        let line = gateway.line(at);
        assert_eq!(line["status"], status, "{line}");
        // The credentials are out of the path whatever became of the request.
        assert_eq!((&line["path"], line["client"].is_null()), (&json!("/"), status != 200), "{line}");
    }
    assert_lines(&gateway, PAYLOADS.len());
    gateway.assert_sound();
}

#[test]
fn no_body_breaks_a_line() {
    let gateway = Gateway::start(&everything());
    let mut sent = 0;
    for payload in PAYLOADS {
        for (content_type, body) in [
            ("application/json", payload.to_vec()),
            ("application/json", [b"{\"a\":\"", &payload[..], b"\"}"].concat()),
            ("application/x-www-form-urlencoded", [b"a=", &payload[..], b"&b=2"].concat()),
        ] {
            let reply = http_reply(200, &[("content-type", content_type.as_bytes())], &body);
            gateway.upstream.reply_with(move |_| reply.clone());
            for http in Http::BOTH {
                let headers = [&GOOD[..], &[("content-type", content_type.as_bytes())]].concat();
                http.request(gateway.addr(), "PUT", "/", &headers, &body);
                sent += 1;
            }
        }
    }
    assert_lines(&gateway, sent);
    gateway.upstream.reply_with(|_| http_reply(200, &[], b""));
    gateway.assert_sound();
}

/// A hostile upstream writes no line either: neither by a header, nor by a trailer.
#[test]
fn no_field_of_a_response_breaks_a_line() {
    let gateway = Gateway::start(&everything());
    let mut sent = 0;
    for payload in PAYLOADS {
        let lawful: Vec<u8> = payload.iter().copied().filter(|byte| !matches!(byte, 0 | 10 | 13)).collect();
        for (head, trailer) in [(&lawful, &b"1"[..]), (&b"1".to_vec(), &lawful)] {
            let mut reply = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n".to_vec();
            for name in ["location", "x-said"] {
                reply.extend([name.as_bytes(), b": ", head, b"\r\n"].concat());
            }
            reply.extend([&b"\r\n1\r\na\r\n0\r\nx-said: "[..], trailer, b"\r\n\r\n"].concat());
            gateway.upstream.reply_with(move |_| reply.clone());
            for http in Http::BOTH {
                // Envoy refuses some: 502 or a response that breaks off.
                match http {
                    Http::One => drop(portcullis_testkit::envoy::h1::try_request(
                        gateway.addr(),
                        "GET",
                        "/",
                        &GOOD,
                        b"",
                    )),
                    Http::Two => {
                        drop(portcullis_testkit::envoy::h2::Connection::open(gateway.addr()).try_request(
                            "GET",
                            "/",
                            &GOOD,
                            &[],
                            &[],
                        ))
                    }
                }
                sent += 1;
            }
        }
    }
    assert_lines(&gateway, sent);
    gateway.upstream.reply_with(|_| http_reply(200, &[], b""));
    gateway.assert_sound();
}

/// The text of a document, by way of `xsl:message`, and a warning about a stylesheet that fails.
#[test]
fn no_message_of_a_stylesheet_breaks_a_line() {
    let template = "<xsl:template match='/'><xsl:message><xsl:value-of select='.'/></xsl:message>\
        <xsl:if test='/fail'><xsl:message terminate='yes'><xsl:value-of select='.'/></xsl:message></xsl:if><b/></xsl:template>";
    let stylesheet = format!(
        "<xsl:stylesheet version='1.0' xmlns:xsl='http://www.w3.org/1999/XSL/Transform'>{template}</xsl:stylesheet>"
    );
    let policy = json!({"xslt-transform": {"request": {"stylesheet": {"inline": stylesheet}}}});
    let gateway = Gateway::start(&[policy]);
    let mut sent = 0;
    for payload in PAYLOADS.iter().filter_map(|payload| std::str::from_utf8(payload).ok()) {
        let text: String =
            payload.chars().filter(|text| *text == '\n' || *text == '\r' || !text.is_control()).collect();
        let escaped =
            text.replace('&', "&amp;").replace('<', "&lt;").replace('\r', "&#13;").replace('\n', "&#10;");
        for root in ["a", "fail"] {
            let body = format!("<{root}>{escaped}</{root}>");
            let response = Http::One.request(
                gateway.addr(),
                "POST",
                "/",
                &[("content-type", b"text/xml")],
                body.as_bytes(),
            );
            assert_eq!(response.status, if root == "a" { 200 } else { 500 }, "{body}");
            sent += 1;
        }
    }
    let told = || {
        gateway.envoy.log_lines().iter().filter(|line| line.contains("xslt-transform: xsl:message: ")).count()
    };
    wait_until("a message for each", PATIENCE, || told() >= sent);
    for line in gateway.envoy.log_lines() {
        assert!(!line.contains("forged") || line.contains("wasm log gateway: xslt-transform: "), "{line:?}");
        let is_ours = line.contains("xslt-transform: ");
        assert!(!is_ours || !line.chars().any(char::is_control), "{line:?}");
    }
}

/// By way of filter state into Envoy's own access log, which escapes nothing itself.
#[test]
fn no_line_in_envoys_own_log_is_broken() {
    let access_log = json!({"access-log": {"sinks": [{"filter-state": {}}], "query": "keep",
        "format": {"text": "@ %REQ(:PATH)% %REQ(X-PLAIN)% %PORTCULLIS(CLIENT_ID)% @"}}});
    let gateway = Gateway::start_with(&[client_id(), access_log], |config| {
        config.access_log(AccessLog::Stdout("%FILTER_STATE(wasm.portcullis.access_log:PLAIN)%".to_owned()))
    });
    for (at, payload) in PAYLOADS.iter().enumerate() {
        let encoded: String = payload.iter().map(|byte| format!("%{byte:02x}")).collect();
        let lawful: Vec<u8> =
            payload.iter().copied().filter(|byte| !matches!(byte, 0..=8 | 10..=31 | 127)).collect();
        let path = format!("/{encoded}?client_id={encoded}&client_secret=s&a={encoded}");
        Http::One.get(gateway.addr(), &path, &[("x-plain", &lawful)]);
        let line = wait_for("a line", PATIENCE, || gateway.envoy.stdout_lines().into_iter().nth(at));
        assert!(line.starts_with("@ ") && line.ends_with(" @") && is_plain(&line), "{line:?}");
    }
    assert_eq!(gateway.envoy.stdout_lines().len(), PAYLOADS.len());
}
