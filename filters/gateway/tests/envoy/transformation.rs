//! A chain that routes, transforms and logs.

use std::time::Duration;

use portcullis_testkit::envoy::{Body, Http, Reply};
use serde_json::{Value, json};

use crate::support::{Chain, credentials};

/// Renames an element and tells who has called.
fn renaming(from: &str, to: &str) -> Value {
    let sheet = format!(
        "<xsl:stylesheet version='1.0' xmlns:xsl='http://www.w3.org/1999/XSL/Transform'>\
         <xsl:output omit-xml-declaration='yes'/><xsl:param name='client'/>\
         <xsl:template match='/{from}'><{to} client='{{$client}}'><xsl:copy-of select='*'/></{to}></xsl:template>\
         </xsl:stylesheet>"
    );
    json!({"stylesheet": {"inline": sheet}, "parameters": {"client": "client-id"}})
}

fn policies() -> [Value; 4] {
    let rule = |root: &str| json!({"when": {"xpath": {"expression": format!("/{root}/k")}}, "then": {"route": root}});
    [
        json!({"client-id": {"auth": {"per-request": {"cluster": "auth"}}}}),
        json!({"content-router": {"rules": [rule("order"), rule("redro")]}}),
        json!({"xslt-transform": {"request": renaming("order", "redro"), "response": renaming("redro", "order")}}),
        json!({"access-log": {}}),
    ]
}

#[test]
fn a_message_is_routed_by_what_came_and_logged_with_the_bytes_of_either_side() {
    let chain = Chain::start_reading_bodies(&policies());
    chain.backend.reply_with(|request| Reply::ok(request.body.clone()).header("content-type", "text/xml"));
    let body = format!("<order>{}</order>", "<k>text</k>".repeat(5000));
    for (at, http) in Http::BOTH.into_iter().enumerate() {
        let headers = [&credentials("acme")[..], &[("content-type", b"text/xml")]].concat();
        let response = http.request(chain.addr(), "POST", "/", &headers, body.as_bytes());
        assert_eq!(response.status, 200, "{response:?}");
        let expected = body.replacen("<order>", "<order client=\"acme\">", 1);
        assert!(response.text() == expected);

        let received = chain.backend.requests().pop().unwrap();
        assert_eq!(received.headers.text("x-portcullis-route").as_deref(), Some("order"));
        assert!(received.body.starts_with(b"<redro client=\"acme\"><k>text</k>"));
        // The client over HTTP/2 has announced no length.
        let length = received.headers.text("content-length");
        assert_eq!(length.is_some(), http == Http::One);
        assert!(length.is_none_or(|length| length == received.body.len().to_string()));

        let line = chain.line(at);
        assert_eq!(line["bytes_in"], body.len(), "{line}");
        assert_eq!(line["bytes_out"], expected.len(), "{line}");
        assert_eq!(
            line["outcomes"],
            json!([
                "client-id:passed:admitted",
                "content-router:passed:rule",
                "xslt-transform:passed:request-transformed",
                "xslt-transform:passed:response-transformed"
            ])
        );
    }
}

/// What a policy of the chain answers is not the upstream's, and stays as it is.
#[test]
fn refusals_of_other_policies_are_not_transformed() {
    let chain = Chain::start_reading_bodies(&policies());
    for http in Http::BOTH {
        let soap: [(&str, &[u8]); 2] = [("content-type", b"text/xml"), ("soapaction", b"a")];
        let response = http.request(chain.addr(), "POST", "/", &soap, b"<order/>");
        assert_eq!(response.status, 401);
        assert!(response.text().contains(":Fault>"), "{response:?}");

        let headers = [&credentials("acme")[..], &soap].concat();
        let response = http.request(chain.addr(), "POST", "/", &headers, b"<no-envelope/>");
        assert_eq!(response.status, 400);
        assert!(response.text().contains(":Fault>"), "{response:?}");
    }
    assert_eq!(chain.backend.count(), 0);
}

/// A policy that waits holds a message until it is woken, and the transformation behind it gets all of it then: body,
/// trailers and end, however they have come meanwhile.
#[test]
fn a_message_that_has_waited_is_transformed_to_its_end() {
    let emptying = "<xsl:stylesheet version='1.0' xmlns:xsl='http://www.w3.org/1999/XSL/Transform'>\
        <xsl:output omit-xml-declaration='yes'/>\
        <xsl:template match='/order'><redro/></xsl:template>\
        <xsl:template match='/nothing'/></xsl:stylesheet>";
    let chain = Chain::start_reading_bodies(&[
        json!({"client-id": {"auth": {"per-request": {"cluster": "auth"}}}}),
        json!({"xslt-transform": {"request": {"stylesheet": {"inline": emptying}}}}),
    ]);
    chain.auth.reply(Reply::status(200).delay(Duration::from_millis(300)));
    let headers = [&credentials("acme")[..], &[("content-type", b"text/xml")]].concat();
    for http in Http::BOTH {
        for (body, expected) in [("<order><k/></order>", "<redro/>"), ("<nothing/>", "")] {
            for trailers in [&[][..], &[("x-checked", &b"1"[..])]] {
                chain.backend.clear();
                let mut request = http.begin(chain.addr(), "POST", "/", &headers, Body::Chunked);
                // All of it is there before the client is known.
                let (head, tail) = body.as_bytes().split_at(4);
                request.send(head).unwrap();
                request.send(tail).unwrap();
                request.end(trailers).unwrap();
                let response = request.response().unwrap();
                assert_eq!(response.status, 200, "{http:?} {body} {trailers:?} {response:?}");
                let received = chain.backend.requests().pop().unwrap();
                assert_eq!(received.body, expected.as_bytes(), "{http:?} {body} {trailers:?}");
            }
        }
    }
}
