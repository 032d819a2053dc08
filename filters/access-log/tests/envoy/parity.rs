//! Our lines beside those of Envoy's own access logger with the same format.

use portcullis_testkit::envoy::{
    AccessLog, Backend, Behaviour, ClosedPort, Cluster, Envoy, EnvoyConfig, HostileServer, PATIENCE, Reply,
    WasmPlugin, h1, h2, wait_for,
};
use serde_json::{Value, json};

use crate::support::marked;

/// What ours begins with, so that it is found in Envoy's log.
const MARK: &str = "@line@ ";

/// Every operator that has one right answer. Durations, and times of writing, have two.
const OPERATORS: &[&str] = &[
    "%START_TIME%",
    "%START_TIME(%Y/%m/%dT%H:%M:%S%z %s %f %1f %3f %6f %9f)%",
    "%START_TIME(%a %A %b %B %d %e %j %y %I %p %u %w %F %T %R %D %Z %Ez %E3S %E6f)%",
    "%PROTOCOL%",
    "%RESPONSE_CODE%",
    "%RESPONSE_CODE_DETAILS%",
    "%RESPONSE_CODE_DETAILS(ALLOW_WHITESPACES)%",
    "%RESPONSE_FLAGS%",
    "%RESPONSE_FLAGS_LONG%",
    "%BYTES_RECEIVED%",
    "%BYTES_SENT%",
    "%REQUEST_HEADERS_BYTES%",
    "%RESPONSE_HEADERS_BYTES%",
    "%RESPONSE_TRAILERS_BYTES%",
    "%REQ(:METHOD)%",
    "%REQ(:PATH)%",
    "%REQ(X-ENVOY-ORIGINAL-PATH?:PATH):6%",
    "%REQ(X-REQUEST-ID)%",
    "%REQ(X-TWICE)%",
    "%REQ(X-NONE)%",
    "%REQ(X-NONE?USER-AGENT):3%",
    "%REQ(X-NONE?X-NONE-EITHER)%",
    "%REQ(X-NONE?)%",
    "%REQ(X-TWICE):0%",
    "%REQ(:AUTHORITY)%",
    "%RESP(CONTENT-TYPE)%",
    "%RESP(X-NONE?SERVER):100%",
    "%RESP(X-ENVOY-UPSTREAM-SERVICE-TIME?:STATUS)%",
    "%TRAILER(GRPC-STATUS)%",
    "%TRAILER(X-NONE?GRPC-MESSAGE):4%",
    "%GRPC_STATUS%",
    "%GRPC_STATUS(SNAKE_STRING)%",
    "%GRPC_STATUS(NUMBER)%",
    "%GRPC_STATUS_NUMBER%",
    "%UPSTREAM_HOST%",
    "%UPSTREAM_CLUSTER%",
    "%UPSTREAM_CLUSTER_RAW%",
    "%UPSTREAM_LOCAL_ADDRESS%",
    "%UPSTREAM_LOCAL_ADDRESS_WITHOUT_PORT%",
    "%UPSTREAM_TRANSPORT_FAILURE_REASON%",
    "%UPSTREAM_REQUEST_ATTEMPT_COUNT%",
    "%UPSTREAM_CONNECTION_POOL_READY_DURATION%",
    "%UPSTREAM_TLS_VERSION%",
    "%UPSTREAM_PEER_SUBJECT%",
    "%DOWNSTREAM_REMOTE_ADDRESS%",
    "%DOWNSTREAM_REMOTE_ADDRESS_WITHOUT_PORT%",
    "%DOWNSTREAM_REMOTE_PORT%",
    "%DOWNSTREAM_LOCAL_ADDRESS%",
    "%DOWNSTREAM_LOCAL_ADDRESS_WITHOUT_PORT%",
    "%DOWNSTREAM_LOCAL_PORT%",
    "%DOWNSTREAM_TLS_VERSION%",
    "%DOWNSTREAM_PEER_SUBJECT%",
    "%DOWNSTREAM_LOCAL_SUBJECT%",
    "%DOWNSTREAM_PEER_FINGERPRINT_256%",
    "%DOWNSTREAM_TRANSPORT_FAILURE_REASON%",
    "%CONNECTION_ID%",
    "%CONNECTION_TERMINATION_DETAILS%",
    "%REQUESTED_SERVER_NAME%",
    "%ROUTE_NAME%",
    "%FILTER_CHAIN_NAME%",
    "%FILTER_STATE(test.state:PLAIN)%",
    "%FILTER_STATE(test.state:PLAIN):3%",
    "%FILTER_STATE(test.none:PLAIN)%",
    "%DYNAMIC_METADATA(test.filter:text)%",
    "%DYNAMIC_METADATA(test.filter:nested:number)%",
    "%DYNAMIC_METADATA(test.filter:nested:half)%",
    "%DYNAMIC_METADATA(test.filter:flag)%",
    "%DYNAMIC_METADATA(test.filter:list)%",
    "%DYNAMIC_METADATA(test.filter:none)%",
    "%DYNAMIC_METADATA(test.none)%",
    "100%%",
];

/// The policy behind filters that set state and metadata.
fn beside_envoy_s_own(config: EnvoyConfig, format: &Value, empty_values: &str) -> EnvoyConfig {
    let document = configuration(format, empty_values);
    with_state(config).filter(WasmPlugin::module("access-log").json_configuration(&document))
}

fn configuration(format: &Value, empty_values: &str) -> Value {
    json!({"format": format, "empty_values": empty_values, "query": "keep"})
}

/// Filters that set state and metadata.
fn with_state(config: EnvoyConfig) -> EnvoyConfig {
    let state = json!({
        "name": "state",
        "typed_config": {
            "@type": "type.googleapis.com/envoy.extensions.filters.http.set_filter_state.v3.Config",
            "on_request_headers": [{
                "object_key": "test.state",
                "factory_key": "envoy.string",
                "format_string": {"text_format_source": {"inline_string": "from-%REQ(:METHOD)%"}},
            }],
        },
    });
    let metadata = json!({
        "name": "metadata",
        "typed_config": {
            "@type": "type.googleapis.com/envoy.extensions.filters.http.set_metadata.v3.Config",
            "metadata": [{
                "metadata_namespace": "test.filter",
                "value": {
                    "text": "a text", "flag": true, "list": [1, "two"],
                    "nested": {"number": 42, "half": 0.5},
                },
            }],
        },
    });
    config.native_filter(state).native_filter(metadata)
}

/// The text format, with one operator on each line so that a difference is easy to see; lines are joined by ` | `.
fn text_format() -> String {
    OPERATORS.join(" | ")
}

fn text(config: EnvoyConfig) -> EnvoyConfig {
    let format = text_format();
    beside_envoy_s_own(config, &json!({"text": format!("{MARK}{format}")}), "shown")
        .access_log(AccessLog::Stdout(format!("{MARK}{format}")))
}

/// Waits for the line at this place in both logs and holds one against the other, operator by operator.
#[track_caller]
fn assert_same(envoy: &Envoy, at: usize) -> Vec<String> {
    let ours = wait_for("our line", PATIENCE, || marked(envoy, MARK).into_iter().nth(at));
    let envoys = wait_for("Envoy's line", PATIENCE, || {
        let lines = envoy.stdout_lines();
        lines.iter().filter_map(|line| line.strip_prefix(MARK)).nth(at).map(str::to_owned)
    });
    let parts = |line: &str| line.split(" | ").map(str::to_owned).collect::<Vec<_>>();
    let differences: Vec<_> = OPERATORS
        .iter()
        .zip(parts(&ours).iter().zip(&parts(&envoys)))
        .filter(|(_, (ours, envoys))| ours != envoys)
        .map(|(operator, (ours, envoys))| format!("{operator}: ours {ours:?}, Envoy's {envoys:?}"))
        .collect();
    assert!(differences.is_empty(), "{differences:#?}");
    assert_eq!(ours, envoys);
    parts(&ours)
}

/// What an operator gave in a line.
fn value<'a>(line: &'a [String], operator: &str) -> &'a str {
    let at = OPERATORS.iter().position(|known| *known == operator).expect("an operator of the list");
    &line[at]
}

#[test]
fn is_the_same_for_exchanges_with_an_upstream() {
    let backend = Backend::replying(Reply::ok("hello").header("content-type", "text/plain"));
    let config = EnvoyConfig::new().cluster(Cluster::http1("backend", backend.addr())).route(json!({
        "name": "everything",
        "match": {"prefix": "/"},
        "route": {"cluster": "backend", "prefix_rewrite": "/rewritten/"},
    }));
    let envoy = Envoy::start(&text(config));
    let headers: [(&str, &[u8]); 3] = [("x-twice", b"one"), ("x-twice", b"two"), ("user-agent", b"test")];
    assert_eq!(h1::request(envoy.addr(), "GET", "/a?b=c&d", &headers, b"").status, 200);
    let line = assert_same(&envoy, 0);
    for (operator, expected) in [
        ("%PROTOCOL%", "HTTP/1.1"),
        ("%RESPONSE_CODE_DETAILS%", "via_upstream"),
        ("%REQ(:PATH)%", "/rewritten/a?b=c&d"),
        ("%REQ(X-ENVOY-ORIGINAL-PATH?:PATH):6%", "/a?b=c"),
        ("%REQ(X-TWICE)%", "one"),
        ("%REQ(X-NONE?USER-AGENT):3%", "tes"),
        ("%REQ(X-NONE)%", "-"),
        ("%BYTES_SENT%", "5"),
        ("%ROUTE_NAME%", "everything"),
        ("%UPSTREAM_CLUSTER%", "backend"),
        ("%FILTER_STATE(test.state:PLAIN)%", "from-GET"),
        ("%DYNAMIC_METADATA(test.filter:text)%", "a text"),
        ("%DYNAMIC_METADATA(test.filter:nested:number)%", "42"),
        ("%DYNAMIC_METADATA(test.filter:list)%", r#"[1,"two"]"#),
        ("100%%", "100%"),
    ] {
        assert_eq!(value(&line, operator), expected, "{operator}");
    }
    assert_eq!(value(&line, "%UPSTREAM_HOST%"), backend.addr().to_string());

    assert_eq!(h1::request(envoy.addr(), "POST", "/", &[], b"12345").status, 200);
    assert_eq!(value(&assert_same(&envoy, 1), "%BYTES_RECEIVED%"), "5");

    let chunked: &[u8] =
        b"POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n4\r\ndefg\r\n0\r\n\r\n";
    let mut connection = h1::Connection::open(envoy.addr());
    connection.send_raw(chunked).unwrap();
    assert_eq!(connection.read_response().unwrap().status, 200);
    assert_eq!(value(&assert_same(&envoy, 2), "%BYTES_RECEIVED%"), "7");

    assert_eq!(h2::get(envoy.addr(), "/h2?x=1").status, 200);
    assert_eq!(value(&assert_same(&envoy, 3), "%PROTOCOL%"), "HTTP/2");
}

#[test]
fn is_the_same_for_exchanges_without_an_upstream() {
    let backend = Backend::start();
    let config = EnvoyConfig::new()
        .cluster(Cluster::http1("backend", backend.addr()))
        .route(json!({"match": {"prefix": "/direct"}, "direct_response": {"status": 418}}))
        .route(json!({"match": {"prefix": "/nowhere"}, "route": {"cluster": "gone"}}))
        .route(json!({"match": {"prefix": "/moved"}, "redirect": {"path_redirect": "/elsewhere"}}))
        .merge_connection_manager(json!({"route_config": {"validate_clusters": false}}));
    let envoy = Envoy::start(&text(config));
    for (at, (path, status, flags)) in
        [("/direct", 418, "-"), ("/none", 404, "NR"), ("/nowhere", 503, "NC"), ("/moved?a=b", 301, "-")]
            .into_iter()
            .enumerate()
    {
        assert_eq!(h1::get(envoy.addr(), path).status, status, "{path}");
        assert_eq!(value(&assert_same(&envoy, at), "%RESPONSE_FLAGS%"), flags, "{path}");
    }
    let mut connection = h1::Connection::open(envoy.addr());
    connection.send_raw(b"GET / HTTP/1.1\r\nhost: a\r\ncontent-length: x\r\n\r\n").unwrap();
    assert_eq!(connection.read_response().unwrap().status, 400);
    let line = assert_same(&envoy, 4);
    assert_eq!(value(&line, "%RESPONSE_FLAGS_LONG%"), "DownstreamProtocolError");
    assert_eq!(value(&line, "%REQ(:METHOD)%"), "-");
    assert_eq!(backend.count(), 0);
}

#[test]
fn is_the_same_for_requests_that_a_policy_refused() {
    let (backend, auth) = (Backend::start(), Backend::replying(Reply::status(401)));
    let format = text_format();
    let document = json!({"policies": [
        {"client-id": {"auth": {"per-request": {"cluster": "auth"}}}},
        {"access-log": configuration(&json!({"text": format!("{MARK}{format}")}), "shown")},
    ]});
    let config = EnvoyConfig::new()
        .cluster(Cluster::http1("backend", backend.addr()))
        .cluster(Cluster::http1("auth", auth.addr()));
    let config = with_state(config)
        .filter(WasmPlugin::module("gateway").json_configuration(&document))
        .access_log(AccessLog::Stdout(format!("{MARK}{format}")));
    let envoy = Envoy::start(&config);
    // One that is refused at once, and one that was held while the auth service was asked.
    assert_eq!(h1::request(envoy.addr(), "POST", "/a?b", &[], b"12345").status, 401);
    assert_eq!(value(&assert_same(&envoy, 0), "%RESPONSE_CODE_DETAILS%"), "client_id_missing");
    let wrong: [(&str, &[u8]); 2] = [("client_id", b"acme"), ("client_secret", b"wrong")];
    assert_eq!(h1::request(envoy.addr(), "GET", "/a", &wrong, b"").status, 401);
    let line = assert_same(&envoy, 1);
    assert_eq!(value(&line, "%RESPONSE_CODE_DETAILS%"), "client_id_invalid");
    assert_eq!(value(&line, "%UPSTREAM_HOST%"), "-");
    assert_eq!(backend.count(), 0);
}

#[test]
fn is_the_same_when_the_upstream_or_the_client_breaks_off() {
    let nobody = ClosedPort::reserve();
    let config = EnvoyConfig::new().cluster(Cluster::http1("b", nobody.addr()));
    let envoy = Envoy::start(&text(config));
    assert_eq!(h1::get(envoy.addr(), "/").status, 503);
    assert_eq!(value(&assert_same(&envoy, 0), "%RESPONSE_FLAGS%"), "UF");

    let resetting = HostileServer::start(Behaviour::Reset);
    let config = EnvoyConfig::new().cluster(Cluster::http1("b", resetting.addr()));
    let envoy = Envoy::start(&text(config));
    assert_eq!(h1::get(envoy.addr(), "/").status, 503);
    assert_eq!(value(&assert_same(&envoy, 0), "%RESPONSE_CODE%"), "503");

    let hanging = HostileServer::start(Behaviour::Hang);
    let config = EnvoyConfig::new().cluster(Cluster::http1("b", hanging.addr()));
    let envoy = Envoy::start(&text(config));
    let mut connection = h1::Connection::open(envoy.addr());
    connection.send("GET", "/", &[], b"").unwrap();
    hanging.wait_for(1, PATIENCE);
    connection.abort();
    let line = assert_same(&envoy, 0);
    assert_eq!((value(&line, "%RESPONSE_CODE%"), value(&line, "%RESPONSE_FLAGS%")), ("0", "DC"));
}

#[test]
fn is_the_same_for_grpc() {
    let backend = Backend::start();
    let envoy = Envoy::start(&text(EnvoyConfig::new().cluster(Cluster::http2("backend", backend.addr()))));
    let grpc: [(&str, &[u8]); 2] = [("content-type", b"application/grpc"), ("te", b"trailers")];
    for (at, (status, message, expected)) in
        [("5", "not here", "NotFound"), ("0", "", "OK"), ("99", "own", "99")].into_iter().enumerate()
    {
        let mut reply =
            Reply::ok("x").header("content-type", "application/grpc").trailer("grpc-status", status);
        if !message.is_empty() {
            reply = reply.trailer("grpc-message", message);
        }
        backend.reply(reply);
        assert_eq!(h2::request(envoy.addr(), "POST", "/s/m", &grpc, &[b"12345"], &[]).status, 200);
        let line = assert_same(&envoy, at);
        assert_eq!(value(&line, "%GRPC_STATUS%"), expected);
        assert_eq!(value(&line, "%TRAILER(GRPC-STATUS)%"), status);
    }
}

/// The JSON logger of Envoy's own, to standard output.
fn json_logger(format: &Value, omits: bool) -> Value {
    json!({"access_log": [{
        "name": "json",
        "typed_config": {
            "@type": "type.googleapis.com/envoy.extensions.access_loggers.stream.v3.StdoutAccessLog",
            "log_format": {"json_format": format, "omit_empty_values": omits},
        },
    }]})
}

#[test]
fn is_the_same_in_json() {
    let format = json!({
        "z": "%RESPONSE_CODE%",
        "a": "%REQ(X-NONE)%",
        "mixed": "%PROTOCOL% and %REQ(X-NONE)% at 100%%",
        "text": "plain \"quoted\" \\ é",
        "number": 2,
        "half": 0.5,
        "flag": true,
        "nothing": null,
        "nested": {"code": "%RESPONSE_CODE%", "path": "%REQ(:PATH)%", "list": ["%BYTES_SENT%", "x", 1, "%REQ(X-NONE)%"]},
        "gone": {"a": "%REQ(X-NONE)%", "b": {"c": "%REQ(X-NONE)%"}},
        "empty": {},
        "empty list": [],
        "flags": "%RESPONSE_FLAGS%",
        "quoted": "%REQ(X-QUOTED)%",
        "metadata": "%DYNAMIC_METADATA(test.filter:nested)%",
        "time": "%START_TIME(%s)%",
        "port": "%DOWNSTREAM_LOCAL_PORT%",
    });
    for (omit, empty_values) in [(false, "shown"), (true, "omitted")] {
        let backend = Backend::replying(Reply::ok("hello"));
        let config = EnvoyConfig::new().cluster(Cluster::http1("backend", backend.addr()));
        let config = beside_envoy_s_own(config, &json!({"json": format}), empty_values)
            .merge_connection_manager(json_logger(&format, omit));
        let envoy = Envoy::start(&config);
        let headers: [(&str, &[u8]); 1] = [("x-quoted", b"a \"b\" \\c")];
        assert_eq!(h1::request(envoy.addr(), "GET", "/a?b", &headers, b"").status, 200);
        let envoys = wait_for("Envoy's line", PATIENCE, || envoy.stdout_lines().into_iter().next());
        let ours = wait_for("our line", PATIENCE, || {
            marked(&envoy, "wasm log access-log: ").into_iter().find(|line| line.starts_with('{'))
        });
        assert_eq!(ours, envoys);
    }
}
