//! The modules, their configurations, and one run through everything that a host can call.

use std::path::Path;
use std::sync::OnceLock;

use portcullis_testkit::vm::{
    Action, CallReply, EndOfStream, Exchange, HeaderMap, MapType, Module, Script, StreamAction, Trap, Vm,
};
use serde_json::{Value, json};

/// The module of this name in `dist/`.
pub(crate) fn module(name: &str) -> &'static Module {
    static MODULES: [(&str, OnceLock<Module>); 7] = [
        ("no-op", OnceLock::new()),
        ("client-id", OnceLock::new()),
        ("rate-limit", OnceLock::new()),
        ("content-router", OnceLock::new()),
        ("xslt-transform", OnceLock::new()),
        ("access-log", OnceLock::new()),
        ("gateway", OnceLock::new()),
    ];
    let (_, module) = MODULES.iter().find(|(known, _)| *known == name).expect("a module of the suite");
    module.get_or_init(|| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../dist/{name}.wasm"));
        Module::from_file(&path)
            .unwrap_or_else(|error| panic!("{}: {error}; run `make build`", path.display()))
    })
}

pub(crate) fn per_request() -> Value {
    json!({"auth": {"per-request": {"cluster": "auth", "identity": {"tier": "x-client-tier"}}},
        "cache": {"shared_slots": 16}})
}

pub(crate) fn registry() -> Value {
    json!({"auth": {"registry": {"cluster": "auth"}}})
}

/// Two limits that are counted here, for the client or for want of one, and told in the most elaborate headers.
pub(crate) fn rate_limit() -> Value {
    json!({"key": ["client-id", {"source-address": {"trusted_hops": 1}}], "headers": "kong",
        "limits": [{"max": 2, "period_ms": 1000}, {"max": 9, "period_ms": 60_000}]})
}

/// Limits that a service counts, with local ones for its outages.
pub(crate) fn rate_limit_service() -> Value {
    let mut config = rate_limit();
    config["service"] = json!({"cluster": "limits", "domain": "d"});
    config
}

/// A rule that the headers decide, and rules that take every kind of look into bodies, the whole of them included.
pub(crate) fn content_router() -> Value {
    json!({"default": {"route": "other"}, "undecided": {"content_type": "pass"}, "body": {"xpath": "buffered"},
    "rules": [
        {"when": {"header": {"name": "x-to"}}, "then": {"route": "named"}},
        {"when": {"soap-header": {"namespace": "urn:a", "name": "to", "value": {"matches": "[a-z]+"}}}, "then": {"route": "soap"}},
        {"when": {"json": {"pointer": "/a"}}, "then": {"route": "json"}},
        {"when": {"xpath": {"expression": "count(//a) > 3"}}, "then": {"route": "large"}},
    ]})
}

/// Both messages of an exchange become others, by all that is known of them; requests by what stands in an envelope, if
/// they are any.
pub(crate) fn xslt_transform() -> Value {
    let stylesheet = "<xsl:stylesheet version='1.0' xmlns:xsl='http://www.w3.org/1999/XSL/Transform'>\
        <xsl:param name='client'/><xsl:param name='x'/><xsl:template match='/'><b client='{$client}' x='{$x}'>\
        <xsl:message>told</xsl:message><xsl:copy-of select='*'/></b></xsl:template></xsl:stylesheet>";
    let parameters = json!({"client": "client-id", "x": {"query": "x"}});
    let transformation = json!({"stylesheet": {"named": "a.xsl"}, "parameters": parameters, "content_type": "application/xml"});
    json!({"stylesheets": {"a.xsl": stylesheet}, "request": transformation, "response": transformation})
}

/// Lines at every opportunity, with everything that costs host calls, to every sink.
pub(crate) fn access_log() -> Value {
    json!({"phases": ["request", "response", "end"], "capture": {"request": {}, "response": {}},
        "sinks": ["envoy-log", {"filter-state": {}}, {"otlp": {"cluster": "collector"}}]})
}

/// Every module with every kind of configuration that it takes.
pub(crate) fn subjects() -> Vec<(&'static str, Value)> {
    let gateway = |client_id: Value, rate_limit: Value| {
        json!({"policies": [{"client-id": client_id}, {"rate-limit": rate_limit},
            {"content-router": content_router()}, {"xslt-transform": xslt_transform()}, {"access-log": access_log()}]})
    };
    vec![
        ("no-op", json!({})),
        ("client-id", per_request()),
        ("client-id", registry()),
        ("rate-limit", rate_limit()),
        ("rate-limit", rate_limit_service()),
        (
            "content-router",
            json!({"default": "pass", "rules": [{"when": {"header": {"name": "x"}}, "then": "pass"}]}),
        ),
        ("content-router", content_router()),
        ("xslt-transform", xslt_transform()),
        ("access-log", json!({})),
        ("access-log", access_log()),
        ("gateway", gateway(per_request(), rate_limit())),
        ("gateway", gateway(registry(), rate_limit_service())),
    ]
}

pub(crate) fn request(id: &str, secret: &str) -> Exchange {
    Exchange::default().with_map(
        MapType::RequestHeaders,
        [
            (":method", "POST"),
            (":path", "/a?x=1"),
            (":authority", "example.test"),
            ("client_id", id),
            ("client_secret", secret),
            ("content-type", "text/xml"),
            ("x-portcullis-client-id", "root"),
        ],
    )
}

/// What has become of a request.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    /// A callback let it go on, or the module resumed it.
    pub(crate) went_on: bool,
}

/// Takes a request, and whatever follows from it, through every callback; the auth service answers `status`.
pub(crate) fn drive(vm: &mut Vm, exchange: Exchange, status: &str) -> Result<Outcome, Trap> {
    let mut outcome = Outcome::default();
    let id = vm.create_exchange_with(exchange)?;
    let mut note = |action: Action| outcome.went_on |= action == Action::Continue;
    if vm.configured() {
        note(vm.request_headers(id, EndOfStream::No)?);
    }
    if !vm.stopped_by_local_response() {
        note(vm.request_body(id, b"<a/>", EndOfStream::No)?);
    }
    if !vm.stopped_by_local_response() {
        note(vm.request_trailers(id)?);
    }
    answer_calls(vm, status)?;
    vm.tick()?;
    outcome.went_on |=
        vm.record().stream_actions.iter().any(|(_, action)| matches!(action, StreamAction::Continue(_)));
    if outcome.went_on {
        let headers = vm.exchange_mut(id).map_mut(MapType::ResponseHeaders);
        headers.add(":status", "200");
        headers.add("content-type", "text/xml");
        vm.response_headers(id, EndOfStream::No)?;
        vm.response_body(id, b"<a/>", EndOfStream::No)?;
        vm.response_trailers(id)?;
    }
    vm.finish(id)?;
    Ok(outcome)
}

fn answer_calls(vm: &mut Vm, status: &str) -> Result<(), Trap> {
    let tokens: Vec<u32> = vm.record().http_calls.iter().map(|call| call.token).collect();
    for (at, token) in tokens.into_iter().enumerate() {
        let headers = HeaderMap::from([(":status", status), ("x-client-tier", "gold"), ("etag", "\"1\"")]);
        match at % 3 {
            0 => vm.http_call_response(token, CallReply { headers, ..CallReply::default() })?,
            1 => vm.http_call_failure(token)?,
            _ => vm.http_call_sizes(token, 7, 1 << 20, 3)?,
        }
    }
    Ok(())
}

pub(crate) fn start(name: &str, config: &Value, script: impl FnOnce(&mut Script)) -> Result<Vm, Trap> {
    let mut settings = Script::configured(config.to_string());
    script(&mut settings);
    Vm::start(module(name), settings)
}
