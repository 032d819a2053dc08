//! Messages that cannot be transformed.

use portcullis_policy::Direction;
use portcullis_policy::host::Level;
use serde_json::{Value, json};

use crate::support::*;

/// What cannot be transformed: the headers and the body, what it is called, and what a request is refused with.
type Case = (&'static [(&'static str, &'static str)], &'static str, &'static str, u16);

const CASES: &[Case] = &[
    (&[("content-type", "application/json")], "{}", "content_type", 415),
    (&[], "<a/>", "content_type", 415),
    (&[("content-type", "text/xml; charset=ebcdic")], "<a/>", "content_type", 415),
    (&[("content-type", "text/xml")], "<?xml version='1.0' encoding='ebcdic'?><a/>", "content_type", 415),
    (&[("content-type", "text/xml"), ("content-encoding", "gzip")], "<a/>", "encoded", 415),
    (&[("content-type", "multipart/related; type=\"text/xml\"")], "--", "multipart", 415),
    (&[("content-type", "text/xml"), ("content-range", "bytes 0-9/99")], "<a/>", "partial", 400),
    (&[("content-type", "text/xml"), ("content-length", "1048577")], "<a/>", "too_large", 413),
    (&[("content-type", "text/xml")], "<a>", "malformed", 400),
    (&[("content-type", "text/xml")], "no markup", "malformed", 400),
    (&[("content-type", "text/xml")], "<!DOCTYPE a><a/>", "malformed", 400),
    (&[("content-type", "text/xml")], "<fail/>", "stylesheet", 500),
];

fn config(on_error: &Value) -> Value {
    let stylesheet = inline(
        "<xsl:template match='/'><xsl:if test='/fail'><xsl:message terminate='yes'>refused</xsl:message></xsl:if>\
         <b/></xsl:template>",
    );
    both(&json!({"stylesheet": stylesheet, "on_error": on_error}))
}

#[test]
fn requests_are_refused_as_what_is_wrong_with_them_and_responses_with_502() {
    for at in BOTH {
        for (headers, body, name, status) in CASES {
            let mut worker = worker(&config(&json!({})));
            let (fared, sent) = send_pieces(&mut worker, at, headers, &[body.as_bytes()], End::Body);
            let expected = if at == Direction::Request { *status } else { 502 };
            assert_eq!(fared, Fared::Refused(expected), "{at:?} {name} {body}");
            assert_eq!(count(&worker, &format!("{}.{name}", word(at))), 1, "{name}");
            let reason = format!("{}-{}", word(at), name.replace('_', "-"));
            let outcome = outcome(&worker, &sent).unwrap();
            assert!(outcome.ends_with(&format!(":{reason}")), "{outcome}");
            let reply = worker.reply(sent.id);
            let infix = if at == Direction::Request { "" } else { "response_" };
            assert_eq!(reply.code_details, format!("xslt_transform_{infix}{name}"));
        }
    }
}

#[test]
fn what_cannot_be_transformed_passes_as_it_came_where_that_is_configured() {
    for at in BOTH {
        for (headers, body, name, _) in CASES {
            let mut worker = worker(&config(&json!({*name: "pass"})));
            for end in [End::Body, End::Trailers] {
                let pieces: Vec<_> = body.as_bytes().chunks(3).collect();
                let (fared, sent) = send_pieces(&mut worker, at, headers, &pieces, end);
                assert_eq!(fared, passed(body), "{at:?} {name} {body}");
                let outcome = outcome(&worker, &sent).unwrap();
                assert!(outcome.starts_with("xslt-transform:failed-open:"), "{outcome}");
            }
            assert_eq!(count(&worker, &format!("{}.{name}", word(at))), 2);
        }
    }
}

#[test]
fn a_body_that_turns_out_too_large_is_refused_or_passes_whole() {
    let limits = json!({"limits": {"max_bytes": 1024}});
    let body = format!("<a>{}</a>", "x".repeat(2000));
    let pieces: Vec<_> = body.as_bytes().chunks(100).collect();
    for (action, expected) in [("refuse", None), ("pass", Some(body.clone()))] {
        let config = with(config(&json!({"too_large": action})), limits.clone());
        let mut worker = worker(&config);
        for at in BOTH {
            let status = if at == Direction::Request { 413 } else { 502 };
            let expected = expected.clone().map_or(Fared::Refused(status), Fared::Passed);
            assert_eq!(send_pieces(&mut worker, at, XML, &pieces, End::Body).0, expected);
        }
    }
}

#[test]
fn soap_callers_get_faults() {
    let mut worker = worker(&config(&json!({})));
    let (_, sent) = send_pieces(&mut worker, Direction::Request, SOAP, &[b"<a>"], End::Body);
    let reply = worker.reply(sent.id);
    assert!(String::from_utf8(reply.body).unwrap().contains("<faultcode>soapenv:Client</faultcode>"));

    let id = worker.open();
    let request = [&[(":method", "POST"), (":path", "/")], SOAP].concat();
    worker.request_headers(id, request, true);
    worker.response_headers(id, [(":status", "200"), ("content-type", "text/xml")], false);
    worker.body(id, Direction::Response, b"<a>", true);
    let reply = worker.reply(id);
    assert_eq!(reply.status, 502);
    assert!(String::from_utf8(reply.body).unwrap().contains("<faultcode>soapenv:Server</faultcode>"));
}

#[test]
fn the_log_says_once_a_minute_where_a_stylesheet_failed_and_nothing_of_the_message() {
    let mut worker = worker(&config(&json!({})));
    for _ in 0..3 {
        send(&mut worker, Direction::Request, XML, "<fail>hidden</fail>");
    }
    let lines = worker.log_lines(Level::Warn);
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(
        lines[0].contains("request's stylesheet failed: 1:") && !lines[0].contains("hidden"),
        "{lines:?}"
    );
    worker.advance(std::time::Duration::from_secs(61));
    send(&mut worker, Direction::Request, XML, "<fail/>");
    assert_eq!(worker.log_lines(Level::Warn).len(), 2);
}

#[test]
fn messages_of_a_stylesheet_are_lines_of_the_log_few_and_without_line_ends() {
    let stylesheet = inline(
        "<xsl:template match='/'><xsl:for-each select='//a'><xsl:message>one&#10;two <xsl:value-of select='.'/>\
         </xsl:message></xsl:for-each><b/></xsl:template>",
    );
    let mut worker = worker(&json!({"request": {"stylesheet": stylesheet}}));
    send(&mut worker, Direction::Request, XML, &format!("<x>{}</x>", "<a>&#13;&#10;forged</a>".repeat(100)));
    let lines = worker.log_lines(Level::Info);
    assert_eq!(lines.len(), 8, "{lines:?}");
    assert!(lines.iter().all(|line| line == "xslt-transform: xsl:message: one two   forged"), "{lines:?}");
}

#[test]
fn each_limit_ends_a_transformation_with_an_error() {
    let recursion =
        inline("<xsl:template match='/' name='deep'><x><xsl:call-template name='deep'/></x></xsl:template>");
    let many = inline(
        "<xsl:template match='/'><x><xsl:for-each select='//a'><xsl:for-each select='//a'><xsl:value-of select='count(//a)'/>\
         </xsl:for-each></xsl:for-each></x></xsl:template>",
    );
    let growing = inline(
        "<xsl:template match='/'><x><xsl:for-each select='//a'><xsl:copy-of select='/'/></xsl:for-each></x></xsl:template>",
    );
    let list = format!("<r>{}</r>", "<a/>".repeat(300));
    let deep = format!("{}{}", "<a>".repeat(200), "</a>".repeat(200));
    for (stylesheet, limits, body, status) in [
        (&recursion, json!({}), "<a/>", 500),
        (&many, json!({"max_steps": 100_000}), list.as_str(), 500),
        (&growing, json!({"max_output_bytes": 10_000}), &list, 500),
        (&growing, json!({}), &list, 500),
        (&many, json!({"max_depth": 100}), &deep, 400),
        (&many, json!({"max_nodes": 1000}), &format!("<r>{}</r>", "<a/>".repeat(1000)), 400),
    ] {
        let mut worker = worker(&json!({"request": {"stylesheet": stylesheet}, "limits": limits}));
        let fared = send(&mut worker, Direction::Request, XML, body);
        assert_eq!(fared, Fared::Refused(status), "{limits} {stylesheet}");
        assert_eq!(send(&mut worker, Direction::Request, XML, "<a>"), Fared::Refused(400), "it goes on");
    }
}

/// Envoy sends a request that it redirects through its filters once more, with the body that they have made of it.
#[test]
fn a_request_that_envoy_has_redirected_is_not_transformed_twice() {
    let headers = [XML, &[("x-envoy-original-url", "http://shop.test/orders")]].concat();
    let mut refusing = worker(&config(&json!({})));
    assert_eq!(send(&mut refusing, Direction::Request, &headers, "<a/>"), Fared::Refused(500));
    assert_eq!(count(&refusing, "request.redirected"), 1);
    let mut passing = worker(&config(&json!({"redirected": "pass"})));
    assert_eq!(send(&mut passing, Direction::Request, &headers, "<a/>"), passed("<a/>"));
    assert!(
        matches!(send(&mut passing, Direction::Request, XML, "<a/>"), Fared::Passed(body) if body.contains("<b/>"))
    );
}
