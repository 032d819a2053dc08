//! What the client and the log are told.

use portcullis_policy::outcome_property;
use serde_json::{Value, json};

use crate::support::*;

fn recorded(config: &Value, headers: &[(&str, &str)]) -> String {
    let mut worker = worker(config);
    let id = begin(&mut worker, headers, true);
    let outcome = worker.host.property_of(id, &[&outcome_property("content-router")]).unwrap();
    String::from_utf8(outcome).unwrap()
}

#[test]
fn the_outcome_is_written_down() {
    let rule = |then: Value| json!({"rules": [{"when": {"header": {"name": "x"}}, "then": then}]});
    let route = rule(json!({"route": "a"}));
    for (config, headers, expected) in [
        (route.clone(), &[("x", "")][..], "content-router:passed:rule"),
        (rule(json!("pass")), &[("x", "")], "content-router:passed:rule"),
        (rule(json!({"reply": {"status": 403}})), &[("x", "")], "content-router:rejected:rule"),
        (route.clone(), &[], "content-router:rejected:default"),
        (with(route.clone(), json!({"default": "pass"})), &[], "content-router:passed:default"),
        (
            with(rules(&[json!({"operation": {"name": "a"}})]), json!({"undecided": {"no_body": "refuse"}})),
            &[],
            "content-router:rejected:no-body",
        ),
        (
            with(rules(&[json!({"operation": {"name": "a"}})]), json!({"undecided": {"no_body": "pass"}})),
            &[],
            "content-router:failed-open:no-body",
        ),
    ] {
        assert_eq!(recorded(&config, headers), expected, "{config}");
    }
}

#[test]
fn refusals_speak_the_client_s_language_and_say_what_is_configured() {
    let config = json!({"rules": [{"when": {"header": {"name": "x"}}, "then":
        {"reply": {"status": 403, "title": "Closed", "detail": "Not <here>."}}}]});
    let mut worker = worker(&config);
    let id = begin(&mut worker, &[("x", "")], true);
    let problem: Value = serde_json::from_slice(&worker.reply(id).body).unwrap();
    assert_eq!(problem["title"], "Closed");
    assert_eq!(problem["detail"], "Not <here>.");
    assert_eq!(worker.reply(id).code_details, "content_router_rule");

    let id = begin(&mut worker, &[SOAP_11, &[("x", "")]].concat(), true);
    let fault = String::from_utf8(worker.reply(id).body).unwrap();
    assert!(fault.contains(":Client<") && fault.contains("Not &lt;here&gt;."), "{fault}");

    let id = begin(&mut worker, &[SOAP_12, &[("x", "")]].concat(), true);
    let fault = String::from_utf8(worker.reply(id).body).unwrap();
    assert!(fault.contains(":Sender<"), "{fault}");
}

#[test]
fn an_encoded_body_is_refused_with_what_would_be_taken() {
    let mut worker = worker(&rules(&[json!({"operation": {"name": "a"}})]));
    let id = begin(&mut worker, &[("content-type", "text/xml"), ("content-encoding", "br")], false);
    let reply = worker.reply(id);
    assert_eq!(reply.status, 415);
    assert!(reply.headers.contains(&("accept-encoding", b"identity".to_vec())));
}

#[test]
fn rules_are_counted_by_their_names() {
    let config = json!({"rules": [
        {"name": "eu", "when": {"header": {"name": "x"}}, "then": {"route": "a"}},
        {"when": {"method": ["POST"]}, "then": "pass"},
    ]});
    let mut worker = worker(&config);
    bare(&mut worker, &[("x", "")]);
    bare(&mut worker, &[]);
    bare(&mut worker, &[]);
    assert_eq!((count(&worker, "eu.matched"), count(&worker, "rule-2.matched")), (1, 2));
}
