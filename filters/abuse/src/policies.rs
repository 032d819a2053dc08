//! The chain that hostile traffic meets: every policy, with every kind of look at a message.

use serde_json::{Value, json};

/// The client whom the auth service of a [`Gateway`](super::Gateway) knows.
pub const CLIENT: &str = "acme";
/// The only secret that it takes for wrong.
pub const WRONG: &str = "wrong";
/// Credentials that are good.
pub const GOOD: [(&str, &[u8]); 2] = [("client_id", b"acme"), ("client_secret", b"s3cret")];

/// What stands before the result of the chain's stylesheet, and behind it.
pub const WRAPPING: (&str, &str) = ("<wrapped>", "</wrapped>");

/// All policies: clients are asked for their credentials but below `/public` and for CORS preflight requests; requests
/// are counted by all that can be; routed by headers, query, JSON and XML; XML is wrapped into another element, in both
/// directions; and everything is logged.
pub fn everything() -> Vec<Value> {
    vec![client_id(), rate_limit(), content_router(), xslt_transform(), access_log()]
}

/// Policies that read every body of XML or JSON, and pass nothing of it that they cannot read.
pub fn reading_bodies() -> Vec<Value> {
    let mut router = content_router();
    router["content-router"]["undecided"] = json!({"content_type": "pass"});
    vec![client_id(), router, xslt_transform()]
}

/// client-id, which asks the cluster `auth` about each request.
pub fn client_id() -> Value {
    client_id_with(json!({}))
}

/// The same with these members added, or put in place of others.
///
/// # Panics
/// When `members` is not an object.
pub fn client_id_with(members: Value) -> Value {
    let mut document = json!({
        "auth": {"per-request": {
            "cluster": "auth", "timeout_ms": 60_000, "retries": 0, "identity": {"tier": "x-client-tier"},
        }},
        "scope": {"exempt": [{"path_prefix": "/public"}], "cors_preflight": "exempt"},
    });
    let Value::Object(members) = members else { panic!("an object") };
    document.as_object_mut().expect("an object").extend(members);
    json!({"client-id": document})
}

/// rate-limit, by everything that a request can be counted by, with more quota than a test uses.
pub fn rate_limit() -> Value {
    json!({"rate-limit": {
        "name": "all",
        "key": ["client-id", "method", "path", "host", {"source-address": {"trusted_hops": 0}},
            {"header": {"name": "x-api-key"}}, {"query": {"name": "k"}}],
        "limits": [{"max": 1_000_000, "period_ms": 3_600_000}],
        "store": {"slots": 65536},
        "headers": "mule",
    }})
}

/// content-router, by everything that a request can be routed by.
pub fn content_router() -> Value {
    let pass = ["no_body", "content_type", "encoded", "multipart"];
    let undecided: serde_json::Map<_, _> =
        pass.iter().map(|name| ((*name).to_owned(), json!("pass"))).collect();
    json!({"content-router": {
        "rules": [
            {"name": "named", "when": {"header": {"name": "x-to", "value": {"matches": "[a-z]+"}}}, "then": {"route": "named"}},
            {"name": "asked", "when": {"query": {"name": "to", "value": {"matches": "[a-z]+"}}}, "then": {"route": "asked"}},
            {"name": "ordered", "when": {"all": [{"method": ["POST"]}, {"xpath": {"expression": "/order/@to"}}]}, "then": {"route": "ordered"}},
            {"name": "document", "when": {"all": [{"method": ["POST"]}, {"json": {"pointer": "/to", "value": {"matches": "[a-z]+"}}}]}, "then": {"route": "document"}},
        ],
        "default": {"route": "other"},
        "undecided": undecided,
    }})
}

/// xslt-transform, which wraps XML into another element, in both directions.
pub fn xslt_transform() -> Value {
    let (before, after) = WRAPPING;
    let stylesheet = format!(
        "<xsl:stylesheet version='1.0' xmlns:xsl='http://www.w3.org/1999/XSL/Transform'>\
         <xsl:output omit-xml-declaration='yes'/>\
         <xsl:template match='/'>{before}<xsl:copy-of select='node()'/>{after}</xsl:template></xsl:stylesheet>"
    );
    let is_xml = json!({"media-type": {"matches": "(application|text)/xml"}});
    let transformation = json!({"stylesheet": {"inline": stylesheet}, "when": is_xml});
    json!({"xslt-transform": {"request": transformation, "response": transformation}})
}

/// access-log, with everything that it can take from a message, in one JSON object.
pub fn access_log() -> Value {
    json!({"access-log": {
        "query": "keep",
        "capture": {"request": {}, "response": {}},
        "format": {"json": {
            "mark": "abuse",
            "method": "%REQ(:METHOD)%",
            "path": "%REQ(:PATH)%",
            "received": "%PORTCULLIS(RECEIVED_PATH)%",
            "authority": "%REQ(:AUTHORITY)%",
            "agent": "%REQ(USER-AGENT)%",
            "referer": "%REQ(REFERER)%",
            "request_id": "%REQ(X-REQUEST-ID)%",
            "plain": "%REQ(X-PLAIN)%",
            "to": "%REQ(X-TO)%",
            "content_type": "%REQ(CONTENT-TYPE)%",
            "action": "%REQ(SOAPACTION)%",
            "forwarded": "%REQ(X-FORWARDED-FOR)%",
            "location": "%RESP(LOCATION)%",
            "said": "%RESP(X-SAID)%",
            "trailer": "%TRAILER(X-SAID)%",
            "status": "%RESPONSE_CODE%",
            "details": "%RESPONSE_CODE_DETAILS%",
            "client": "%PORTCULLIS(CLIENT_ID)%",
            "tier": "%PORTCULLIS(CLIENT_TIER)%",
            "outcomes": "%PORTCULLIS(OUTCOMES)%",
            "request": "%PORTCULLIS(REQUEST_BODY)%",
            "response": "%PORTCULLIS(RESPONSE_BODY)%",
        }},
    }})
}
