//! The values that parameters of stylesheets get.

use portcullis_client_id::ClientId;
use portcullis_policy::{Chain, Direction};
use portcullis_testkit::inprocess::Worker;
use portcullis_xslt_transform::XsltTransform;
use serde_json::{Value, json};

use crate::support::*;

/// Writes its parameters.
fn telling(parameters: &Value) -> Value {
    let names: Vec<_> = parameters.as_object().unwrap().keys().cloned().collect();
    let declared: String = names
        .iter()
        .map(|name| match name.strip_prefix("{urn:n}") {
            Some(local) => format!("<xsl:param name='n:{local}' xmlns:n='urn:n' select=\"'default'\"/>"),
            None => format!("<xsl:param name='{name}' select=\"'default'\"/>"),
        })
        .collect();
    let told: String = names
        .iter()
        .map(|name| match name.strip_prefix("{urn:n}") {
            Some(local) => format!("<xsl:value-of select='$n:{local}' xmlns:n='urn:n'/>"),
            None => format!("<xsl:value-of select='${name}'/>"),
        })
        .collect::<Vec<_>>()
        .join("|");
    let stylesheet = inline(&format!(
        "<xsl:output method='text'/>{declared}<xsl:template match='/'>{told}</xsl:template>"
    ));
    json!({"stylesheet": stylesheet, "parameters": parameters})
}

#[test]
fn values_come_from_headers_the_query_and_the_configuration() {
    let parameters = json!({
        "a-text": {"text": "t<"}, "b-number": {"number": 1.5}, "c-true": {"boolean": true},
        "d-header": {"header": "X-Partner"}, "e-none": {"header": "x-none"}, "f-query": {"query": "q"},
        "g-bad": {"query": "bad"}, "h-request": {"request-header": "x-partner"}, "{urn:n}named": {"text": "n"},
    });
    let mut worker = worker(&both(&telling(&parameters)));
    let request = [(":path", "/?q=a+b&q=c&bad=%00"), ("x-partner", "one"), ("x-partner", "two")];
    let headers = [XML, &request].concat();
    assert_eq!(
        send(&mut worker, Direction::Request, &headers, "<a/>"),
        passed("t<|1.5|true|one, two|default|a b|default|one, two|n")
    );
    let id = worker.open();
    worker.request_headers(id, [&[(":method", "GET")], &request[..]].concat(), true);
    worker.response_headers(
        id,
        [(":status", "200"), ("content-type", "text/xml"), ("x-partner", "up")],
        false,
    );
    worker.body(id, Direction::Response, b"<a/>", true);
    assert_eq!(
        worker.host.passed_body(id, Direction::Response),
        b"t<|1.5|true|up|default|a b|default|one, two|n"
    );
}

#[test]
fn the_client_is_the_one_that_client_id_has_established_and_nobody_else() {
    let parameters = json!({"a": "client-id", "b": "client-name", "c": "client-tier"});
    let config = both(&telling(&parameters));
    let mut alone = worker(&config);
    let forged = [("content-type", "text/xml"), ("x-portcullis-client-id", "forged")];
    assert_eq!(send(&mut alone, Direction::Request, &forged, "<a/>"), passed("default|default|default"));

    let auth = json!({"auth": {"per-request": {"cluster": "auth", "identity": {"tier": "x-tier"}}}});
    let chain = Chain::new()
        .then_configured::<ClientId>(auth.to_string().as_bytes())
        .unwrap()
        .then_configured::<XsltTransform>(config.to_string().as_bytes())
        .unwrap();
    let mut worker = Worker::start(chain).unwrap();
    let headers = [&forged[..], &[("client_id", "acme"), ("client_secret", "s")]].concat();
    let sent = begin(&mut worker, Direction::Request, &headers);
    worker.body(sent.id, Direction::Request, b"<a", false);
    worker.answer(worker.pending_call().token, 200, &[("x-tier", "gold")], b"");
    assert_eq!(fared(&worker, &sent), Fared::Held);
    worker.body(sent.id, Direction::Request, b"/>", true);
    assert_eq!(fared(&worker, &sent), passed("acme|default|gold"));
    // The response's transformation knows the client, too.
    worker.response_headers(sent.id, [(":status", "200"), ("content-type", "text/xml")], false);
    worker.body(sent.id, Direction::Response, b"<a/>", true);
    assert_eq!(worker.host.passed_body(sent.id, Direction::Response), b"acme|default|gold");
}

#[test]
fn no_client_makes_up_what_only_policies_of_the_suite_say() {
    let parameters = json!({"a": {"request-header": "x-portcullis-client-tier"}});
    let forged = [("content-type", "text/xml"), ("x_portcullis-client-tier", "gold")];
    let mut of_requests = worker(&json!({"request": telling(&parameters)}));
    assert_eq!(send(&mut of_requests, Direction::Request, &forged, "<a/>"), passed("default"));
    let mut of_responses = worker(&json!({"response": telling(&parameters)}));
    let id = of_responses.open();
    of_responses.request_headers(id, [&[(":method", "GET"), (":path", "/")], &forged[..]].concat(), true);
    of_responses.response_headers(id, [(":status", "200"), ("content-type", "text/xml")], false);
    of_responses.body(id, Direction::Response, b"<a/>", true);
    assert_eq!(of_responses.host.passed_body(id, Direction::Response), b"default");
}
