//! What a refused client is told.

use portcullis_testkit::inprocess::Worker;
use serde_json::{Value, json};

use crate::support::*;

fn refused(rejection: Value, headers: &[(&str, &str)]) -> (Worker, portcullis_policy::ExchangeId) {
    let mut worker = worker(&two_a_minute(json!({"rejection": rejection, "name": "shop"})));
    for _ in 0..2 {
        assert!(passes(&mut worker, &[]));
    }
    let id = get(&mut worker, headers);
    (worker, id)
}

#[test]
fn names_the_problem_and_the_limits_that_refuse() {
    let (worker, id) = refused(json!({}), &[]);
    assert_eq!(status(&worker, id), 429);
    assert_eq!(reply_header(&worker, id, "content-type").as_deref(), Some("application/problem+json"));
    assert_eq!(reply_header(&worker, id, "retry-after").as_deref(), Some("60"));
    let problem: Value = serde_json::from_slice(&worker.reply(id).body).unwrap();
    assert_eq!(
        problem,
        json!({
            "type": "https://iana.org/assignments/http-problem-types#quota-exceeded",
            "title": "Request cannot be satisfied as assigned quota has been exceeded",
            "status": 429,
            "violated-policies": ["shop"],
        })
    );
}

#[test]
fn answers_with_another_status_if_told_to() {
    let (worker, id) = refused(json!({"status": 503}), &[]);
    assert_eq!(status(&worker, id), 503);
    let problem: Value = serde_json::from_slice(&worker.reply(id).body).unwrap();
    assert_eq!(problem["status"], 503);
}

#[test]
fn answers_with_another_body_if_told_to() {
    for (body, content_type) in [
        (
            json!({"text": "{\"message\":\"API rate limit exceeded\"}", "content_type": "application/json"}),
            "application/json",
        ),
        (json!({"text": ""}), "text/plain; charset=utf-8"),
    ] {
        let (worker, id) = refused(json!({"body": body}), &[]);
        assert_eq!(status(&worker, id), 429);
        assert_eq!(reply_header(&worker, id, "content-type").as_deref(), Some(content_type));
        assert_eq!(reply_header(&worker, id, "retry-after").as_deref(), Some("60"));
        assert_eq!(worker.reply(id).body, body["text"].as_str().unwrap().as_bytes());
    }
}

#[test]
fn answers_a_soap_caller_with_a_fault_whatever_the_body() {
    for rejection in [json!({}), json!({"body": {"text": "no"}})] {
        let soap = [("content-type", "text/xml"), ("soapaction", "urn:order")];
        let (worker, id) = refused(rejection, &soap);
        assert_eq!(status(&worker, id), 429);
        assert_eq!(reply_header(&worker, id, "retry-after").as_deref(), Some("60"));
        let body = String::from_utf8(worker.reply(id).body).unwrap();
        assert!(body.contains("<faultcode>soapenv:Client</faultcode>"), "{body}");
    }
}
