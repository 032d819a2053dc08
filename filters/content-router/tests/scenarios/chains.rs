//! The policy beside others, in one chain and as filters of their own.

use portcullis_client_id::ClientId;
use portcullis_content_router::ContentRouter;
use portcullis_policy::{Chain, Direction, ExchangeId, outcome_property};
use portcullis_testkit::inprocess::Worker;
use serde_json::json;

use crate::support::*;

fn client_id(chain: Chain) -> Chain {
    chain.then_configured::<ClientId>(br#"{"auth": {"per-request": {"cluster": "auth"}}}"#).unwrap()
}

/// Routes by the client that another policy has established.
fn by_client(chain: Chain) -> Chain {
    let config = with(
        rules(&[json!({"header": {"name": "x-portcullis-client-id", "value": {"exact": "acme"}}})]),
        json!({"default": {"route": "other"}}),
    );
    chain.then_configured::<ContentRouter>(config.to_string().as_bytes()).unwrap()
}

const FORGED: [(&str, &str); 3] =
    [("x-portcullis-route", "forged"), ("x_portcullis_route", "forged"), ("x-portcullis-client-id", "acme")];

fn call(worker: &mut Worker, client: &str) -> ExchangeId {
    let headers = [&FORGED[..], &[("client_id", client), ("client_secret", "s")]].concat();
    let id = begin(worker, &headers, true);
    worker.answer(worker.pending_call().token, 200, &[], b"");
    id
}

fn suite_headers(worker: &Worker, id: ExchangeId) -> Vec<(String, String)> {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let headers = worker.host.upstream_headers(id);
    let fields = headers.iter().map(|(name, value)| (text(name), text(value)));
    let mut fields: Vec<_> = fields.filter(|(name, _)| name.contains("portcullis")).collect();
    fields.sort();
    fields
}

fn fields(of: &[(&str, &str)]) -> Vec<(String, String)> {
    of.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

#[test]
fn in_a_chain_each_keeps_what_the_other_has_set_in_either_order() {
    for (client, route) in [("acme", "r1"), ("evil", "other")] {
        let mut worker = Worker::start(by_client(client_id(Chain::new()))).unwrap();
        let id = call(&mut worker, client);
        let expected = [("x-portcullis-client-id", client), ("x-portcullis-route", route)];
        assert_eq!(suite_headers(&worker, id), fields(&expected));
    }
    // A router that stands first knows of no client, whatever the client says.
    let mut worker = Worker::start(client_id(by_client(Chain::new()))).unwrap();
    let id = call(&mut worker, "acme");
    let expected = [("x-portcullis-client-id", "acme"), ("x-portcullis-route", "other")];
    assert_eq!(suite_headers(&worker, id), fields(&expected));
}

/// One filter behind another: the second begins with the headers and the filter state that the first has left.
fn behind(first: Chain, second: Chain, client: &str, policy: &str) -> Vec<(String, String)> {
    let mut one = Worker::start(first).unwrap();
    let headers = [&FORGED[..], &[("client_id", client), ("client_secret", "s")]].concat();
    let id = begin(&mut one, &headers, true);
    if policy == "client-id" {
        one.answer(one.pending_call().token, 200, &[], b"");
    }
    let property = outcome_property(policy);
    let outcome = one.host.property_of(id, &[&property]).unwrap();
    let headers = one.host.upstream_headers(id);
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();

    let mut two = Worker::start(second).unwrap();
    let id = two.open();
    two.host.give_property(id, &[&property], &outcome);
    let headers: Vec<_> = headers.iter().map(|(name, value)| (text(name), text(value))).collect();
    two.request_headers(id, headers, true);
    if policy == "content-router" {
        two.answer(two.pending_call().token, 200, &[], b"");
    }
    suite_headers(&two, id)
}

#[test]
fn as_filters_of_their_own_each_keeps_what_the_other_has_set_in_either_order() {
    assert_eq!(
        behind(client_id(Chain::new()), by_client(Chain::new()), "acme", "client-id"),
        fields(&[("x-portcullis-client-id", "acme"), ("x-portcullis-route", "r1")])
    );
    assert_eq!(
        behind(by_client(Chain::new()), client_id(Chain::new()), "evil", "content-router"),
        fields(&[("x-portcullis-client-id", "evil"), ("x-portcullis-route", "other")])
    );
}

#[test]
fn a_body_that_came_while_the_client_was_being_verified_is_looked_at_then() {
    let config = rules(&[json!({"operation": {"name": "a"}})]);
    let chain =
        client_id(Chain::new()).then_configured::<ContentRouter>(config.to_string().as_bytes()).unwrap();
    let mut worker = Worker::start(chain).unwrap();
    let headers = [SOAP_11, &[("client_id", "acme"), ("client_secret", "s")]].concat();
    let id = begin(&mut worker, &headers, false);
    let body = soap_11("", "<a/>");
    let (head, tail) = body.as_bytes().split_at(50);
    worker.body(id, Direction::Request, head, false);
    worker.answer(worker.pending_call().token, 200, &[], b"");
    assert_eq!(fared(&worker, id), Fared::Held);
    worker.body(id, Direction::Request, tail, true);
    assert_eq!(fared(&worker, id), to("r1"));
    assert_eq!(worker.host.passed_body(id, Direction::Request), body.as_bytes());
}

#[test]
fn two_routers_of_a_chain_set_a_header_each_or_the_later_one_decides() {
    let router = |chain: Chain, header: &str, route: &str| {
        let rule = json!({"when": {"method": ["POST"]}, "then": {"route": route}});
        let config = json!({"header": header, "rules": [rule], "default": "pass"});
        chain.then_configured::<ContentRouter>(config.to_string().as_bytes()).unwrap()
    };
    for (first, second, expected) in [
        (
            "x-portcullis-route-region",
            "x-backend",
            [("x-portcullis-route-region", "a"), ("x-backend", "b")].as_slice(),
        ),
        ("x-backend", "x-backend", [("x-backend", "b")].as_slice()),
    ] {
        let mut worker = Worker::start(router(router(Chain::new(), first, "a"), second, "b")).unwrap();
        let id = begin(&mut worker, &[(first, "forged"), (second, "forged")], true);
        let headers = worker.host.upstream_headers(id);
        for (name, route) in expected {
            assert_eq!(headers.all(name).collect::<Vec<_>>(), [route.as_bytes()], "{name}");
        }
    }
}
