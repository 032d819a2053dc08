//! Configurations that are refused, and what is said of them.

use serde_json::{Value, json};

use crate::support::*;

fn refused(config: &Value) -> String {
    chain(config).err().unwrap_or_else(|| panic!("taken: {config}")).to_string()
}

fn when(condition: Value) -> Value {
    rules(&[condition])
}

#[test]
fn refuses_what_makes_no_sense_and_names_the_field() {
    let fine = || rules(&[json!({"method": ["GET"]})]);
    let text = |test: Value| when(json!({"path": test}));
    for (config, expected) in [
        (json!({"rules": []}), "rules: must be 1 to 256 rules"),
        (json!({}), "missing field `rules`"),
        (with(fine(), json!({"header": "X-Route"})), "header: must be a header name in lower case"),
        (with(fine(), json!({"header": ":path"})), "header: must be a header name"),
        (with(fine(), json!({"header": "content-length"})), "header: must be a header that has no meaning"),
        (with(fine(), json!({"header": "x-portcullis-client-id"})), "header: is reserved"),
        (with(fine(), json!({"header": "x_portcullis_route"})), "header: is reserved"),
        (with(fine(), json!({"default": {"route": "a b"}})), "default.route: must be 1 to 256"),
        (with(fine(), json!({"default": {"route": ""}})), "default.route: must be 1 to 256"),
        (
            with(fine(), json!({"default": {"reply": {"status": 200}}})),
            "default.reply.status: must be from 400 to 599",
        ),
        (
            with(fine(), json!({"default": {"reply": {"status": 404, "detail": "a\nb"}}})),
            "default.reply.detail: must be 1 to 1024 bytes",
        ),
        (with(fine(), json!({"body": {"max_bytes": 10}})), "body.max_bytes: must be from 1024 to"),
        (with(fine(), json!({"namespaces": {"a": ""}})), "namespaces: must be namespaces by prefix"),
        (
            with(fine(), json!({"namespaces": {"a b": "urn:a"}})),
            "namespaces: must have prefixes that are names",
        ),
        (
            with(fine(), json!({"namespaces": {"a:b": "urn:a"}})),
            "namespaces: must have prefixes that are names",
        ),
        (
            with(fine(), json!({"namespaces": {"1": "urn:a"}})),
            "namespaces: must have prefixes that are names",
        ),
        (with(fine(), json!({"namespaces": {"xml": "urn:a"}})), "namespaces: must not have the prefixes xml"),
        (
            with(fine(), json!({"namespaces": {"xmlns": "urn:a"}})),
            "namespaces: must not have the prefixes xml",
        ),
        (when(json!({"host": {"exact": "Shop.Test"}})), "rules[0].when.host.exact: must be a host as it is"),
        (
            when(json!({"host": {"exact": "shop.test:80"}})),
            "rules[0].when.host.exact: must be a host as it is",
        ),
        (text(json!({"exact": "/a?b"})), "rules[0].when.path.exact: must begin with / and have no query"),
        (text(json!({"prefix": "/a#b"})), "rules[0].when.path.prefix: must begin with / and have no query"),
        (
            when(json!({"all": [{"not": {"path": {"exact": "a"}}}]})),
            "rules[0].when.all[0].not.path.exact: must begin with /",
        ),
        (when(json!({"all": []})), "rules[0].when.all: must have at least one condition"),
        (when(json!({"any": [{"not": {"all": []}}]})), "rules[0].when.any[0].not.all: must have"),
        (when(json!({"header": {"name": "a b"}})), "rules[0].when.header.name: must be a header name"),
        (when(json!({"header": {"name": ":path"}})), "rules[0].when.header.name: must be a header name"),
        (when(json!({"method": []})), "rules[0].when.method: must name at least one method"),
        (when(json!({"method": ["GET", "A B"]})), "rules[0].when.method[1]: must be an HTTP method"),
        (when(json!({"query": {"name": ""}})), "rules[0].when.query.name: must not be empty"),
        (text(json!({"prefix": ""})), "rules[0].when.path.prefix: must not be empty"),
        (
            text(json!({"matches": "("})),
            "rules[0].when.path.matches: must be a regular expression: unclosed group",
        ),
        (
            when(json!({"header": {"name": "a", "value": {"matches": "["}}})),
            "rules[0].when.header.value.matches: must",
        ),
        (
            text(json!({"number": {"at_least": 5}})),
            "rules[0].when.path.number: cannot be: no path is a number",
        ),
        (
            when(json!({"header": {"name": "a", "value": {"number": {}}}})),
            "rules[0].when.header.value.number: must have `at_least`",
        ),
        (
            when(json!({"query": {"name": "a", "value": {"number": {"at_least": 5, "less_than": 5}}}})),
            "rules[0].when.query.value.number: must have bounds with a number between them",
        ),
        (
            when(json!({"json": {"pointer": "/a", "value": {"number": {"at_most": 0.1234567890123456}}}})),
            "rules[0].when.json.value.number.at_most: must be a number of at most 15 digits",
        ),
        (when(json!({"json": {"pointer": "", "value": {"number": {"at_least": "5"}}}})), "rules[0].when"),
        (when(json!({"operation": {"name": "a:b"}})), "rules[0].when.operation.name: must be the local name"),
        (
            when(json!({"soap-header": {"name": "a/b"}})),
            "rules[0].when.soap-header.name: must be the local name",
        ),
        (when(json!({"xpath": {"expression": "/a["}})), "rules[0].when.xpath.expression: is no XPath 1.0"),
        (when(json!({"xpath": {"expression": "/p:a"}})), "rules[0].when.xpath.expression: is no XPath 1.0"),
        (
            when(json!({"json": {"pointer": "a"}})),
            "rules[0].when.json.pointer: must be empty or begin with /",
        ),
        (when(json!({"jsn": {}})), "rules[0].when"),
    ] {
        assert!(refused(&config).starts_with(expected), "{config}: {}", refused(&config));
    }
}

#[test]
fn refuses_names_that_are_none_or_taken() {
    let rule = |name: &str| json!({"name": name, "when": {"method": ["GET"]}, "then": "pass"});
    let named = |names: &[&str]| json!({"rules": names.iter().map(|name| rule(name)).collect::<Vec<_>>()});
    assert!(refused(&named(&["A"])).starts_with("rules[0].name: must be 1 to 32"));
    let taken = |config: &Value, which: &str| {
        assert_eq!(refused(config), format!("rules[1].name: is another rule's name already: {which}"));
    };
    taken(&named(&["a", "a"]), "rules[0] has it");
    let mut second_by_default = named(&["rule-2", "x"]);
    second_by_default["rules"][1].as_object_mut().unwrap().remove("name");
    taken(&second_by_default, "rules[0] has been given the name that this one has by its place");
    let mut first_by_default = named(&["x", "rule-1"]);
    first_by_default["rules"][0].as_object_mut().unwrap().remove("name");
    taken(&first_by_default, "rules[0] has it by its place");
}

#[test]
fn an_expression_that_needs_the_whole_body_must_be_permitted_it() {
    let config = when(json!({"xpath": {"expression": "//a"}}));
    let error = refused(&config);
    assert!(error.starts_with("rules[0].when.xpath.expression: "), "{error}");
    assert!(error.contains("`//`") && error.contains("`body.xpath: buffered`"), "{error}");
    assert!(chain(&with(config, json!({"body": {"xpath": "buffered"}}))).is_ok());
}

#[test]
fn takes_as_many_rules_as_it_says() {
    let condition = json!({"method": ["GET"]});
    assert!(chain(&rules(&vec![condition.clone(); 256])).is_ok());
    assert!(refused(&rules(&vec![condition; 257])).starts_with("rules: must be 1 to 256"));
}

#[test]
fn a_route_is_not_put_into_a_header_that_means_something_else() {
    let named = |header: &str| with(rules(&[json!({"method": ["GET"]})]), json!({"header": header}));
    for header in [
        "x-envoy-retry-on",
        "x-envoy-original-path",
        "x_envoy_retry_on",
        "x-forwarded-for",
        "x-forwarded-host",
        "content-type",
        "content-encoding",
        "content_length",
        "x.forwarded~for",
        "transfer'encoding",
        "keep-alive",
        "proxy-connection",
        "proxy-authorization",
        "te",
        "trailer",
        "transfer-encoding",
        "connection",
        "upgrade",
        "host",
        "expect",
        "authorization",
        "cookie",
        "soapaction",
        "grpc-timeout",
        "x-request-id",
        "traceparent",
    ] {
        let error = refused(&named(header));
        assert!(
            error.starts_with("header: must be a header that has no meaning of its own"),
            "{header}: {error}"
        );
    }
    for header in [":path", ":authority", ":method"] {
        assert!(
            refused(&named(header)).starts_with("header: must be a header name in lower case"),
            "{header}"
        );
    }
    for header in ["x-route", "x-backend", "route", "x-portcullis-route-a", "teller", "hostname"] {
        assert!(chain(&named(header)).is_ok(), "{header}");
    }
}
