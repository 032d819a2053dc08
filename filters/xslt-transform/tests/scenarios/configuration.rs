//! What is refused with the configuration.

use serde_json::{Value, json};

use crate::support::*;

#[track_caller]
fn refused(config: &Value, expected: &str) {
    let error = chain(config).err().unwrap_or_else(|| panic!("accepted: {config}")).to_string();
    assert!(error.starts_with(expected), "{error}\nexpected: {expected}");
}

fn request(members: Value) -> Value {
    json!({"request": with(json!({"stylesheet": a_to_b()}), members)})
}

#[test]
fn a_field_that_makes_no_sense_is_named() {
    for (config, expected) in [
        (json!({}), "must have `request`, `response`, or both"),
        (json!({"request": {}}), "request: missing field `stylesheet`"),
        (
            json!({"request": {"stylesheet": {"named": "x.xsl"}}}),
            "request.stylesheet.named: must be a name in",
        ),
        (json!({"response": {"stylesheet": {"inline": "<x"}}}), "response.stylesheet.inline: 1:3"),
        (
            json!({"request": {"stylesheet": {"inline": "<x/>"}}}),
            "request.stylesheet.inline: 1:1: <x>: expected xsl:stylesheet",
        ),
        (request(json!({"when": {"status": ["200"]}})), "request.when.status: is for responses"),
        (
            request(json!({"when": {"any": [{"request-header": {"name": "a"}}]}})),
            "request.when.any[0].request-header: is for",
        ),
        (
            request(json!({"when": {"path": {"exact": "orders"}}})),
            "request.when.path.exact: must begin with /",
        ),
        (request(json!({"when": {"host": {"exact": "A"}}})), "request.when.host.exact: must be a host"),
        (request(json!({"when": {"all": []}})), "request.when.all: must have at least one condition"),
        (
            request(json!({"when": {"not": {"header": {"name": "a b"}}}})),
            "request.when.not.header.name: must be a header",
        ),
        (
            request(json!({"when": {"media-type": {"matches": "("}}})),
            "request.when.media-type.matches: must be a regular",
        ),
        (
            json!({"response": {"stylesheet": a_to_b(), "when": {"status": ["2xx", "x"]}}}),
            "response.when.status[1]: must be a status",
        ),
        (request(json!({"result": "message"})), "request.result: must be left out"),
        (request(json!({"content_type": "xml"})), "request.content_type: must be a media type"),
        (request(json!({"content_type": "text/xml\r\n"})), "request.content_type: must be a media type"),
        (
            request(json!({"content_type": "text/xml\r\n\r\n<a>"})),
            "request.content_type: must be a media type",
        ),
        (
            request(json!({"content_type": "text/xml; charset=utf-16"})),
            "request.content_type: must have the charset utf-8",
        ),
        (
            request(json!({"parameters": {"p": {"text": "a"}}})),
            "request.parameters.p: must be a parameter that",
        ),
        (
            request(json!({"parameters": {"p": {"header": "a b"}}})),
            "request.parameters.p.header: must be a header name",
        ),
        (
            request(json!({"parameters": {"p": {"query": ""}}})),
            "request.parameters.p.query: must not be empty",
        ),
        (
            request(json!({"parameters": {"p": {"text": "\u{1}"}}})),
            "request.parameters.p.text: must have characters",
        ),
        (request(json!({"on_error": {"malformed": "ignore"}})), "request.on_error.malformed:"),
        (
            with(request(json!({})), json!({"limits": {"max_bytes": 1}})),
            "limits.max_bytes: must be from 1024",
        ),
        (
            with(request(json!({})), json!({"limits": {"max_depth": 2000}})),
            "limits.max_depth: must be from 4 to 1024",
        ),
        (
            with(request(json!({})), json!({"stylesheets": {"/etc/passwd": ""}})),
            "stylesheets: must have names that",
        ),
        (
            with(request(json!({})), json!({"stylesheets": {"a/../b": ""}})),
            "stylesheets: must have names that",
        ),
    ] {
        refused(&config, expected);
    }
}

#[test]
fn stylesheets_that_cannot_be_put_into_envelopes_are_refused_there() {
    let text = inline("<xsl:output method='text'/>");
    let declared = inline("<xsl:output doctype-system='a.dtd'/>");
    for stylesheet in [text, declared] {
        let transformation = json!({"stylesheet": stylesheet, "source": "operation"});
        refused(
            &json!({"request": transformation}),
            "request.stylesheet: must write XML without a document type",
        );
        let whole = with(transformation, json!({"result": "message"}));
        assert!(chain(&json!({"request": whole})).is_ok());
    }
}

#[test]
fn what_a_stylesheet_includes_is_looked_up_by_paths_relative_to_its_name() {
    let entry = sheet("<xsl:include href='parts/names.xsl'/><xsl:import href='nothing.xsl'/>");
    let fine = |main: &str| {
        json!({
            "stylesheets": {
                "orders/main.xsl": sheet("<xsl:include href='parts/names.xsl'/>"),
                "orders/parts/names.xsl": sheet("<xsl:include href='../../common.xsl'/>"),
                "common.xsl": sheet("<xsl:template match='/'><c/></xsl:template>"),
            },
            "request": {"stylesheet": {"named": main}},
        })
    };
    let mut worker = worker(&fine("orders/main.xsl"));
    let Fared::Passed(result) = send(&mut worker, portcullis_policy::Direction::Request, XML, "<a/>") else {
        panic!()
    };
    assert!(result.ends_with("<c/>"), "{result}");

    let broken = json!({
        "stylesheets": {"orders/main.xsl": entry, "orders/parts/names.xsl": sheet("")},
        "request": {"stylesheet": {"named": "orders/main.xsl"}},
    });
    refused(&broken, "request.stylesheet.named: orders/main.xsl:1:");
    let outside = with(
        fine("common.xsl"),
        json!({"request": {"stylesheet": {"inline": sheet("<xsl:include href='https://a.test/b.xsl'/>")}}}),
    );
    refused(&outside, "request.stylesheet.inline: 1:");
}
