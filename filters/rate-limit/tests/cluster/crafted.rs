//! Services that answer what no good service would, or what the reference service does not.

use std::net::SocketAddr;
use std::time::Duration;

use portcullis_testkit::envoy::{
    Backend, Behaviour, ClosedPort, Cluster, EnvoyConfig, HostileServer, PATIENCE, Recorded, Reply,
    WasmPlugin, h1, http_reply, wait_until,
};
use serde_json::json;

use crate::support::{Gateway, Http, policy};
use crate::wire::{OK, OVER_LIMIT, field, framed, header, response};

/// A gRPC answer with this body.
fn grpc(body: &[u8], status: &str) -> Reply {
    Reply::ok(body.to_vec()).header("content-type", "application/grpc").trailer("grpc-status", status)
}

/// A gRPC answer with this message.
fn message(message: &[u8]) -> Reply {
    grpc(&framed(message), "0")
}

/// Gateways that treat an outage in each way that differs from the service's word.
fn closed_and_open(service: SocketAddr, timeout_ms: u32) -> [Gateway; 2] {
    ["closed", "open"].map(|on_outage| {
        Gateway::start(&policy(json!({"on_outage": on_outage, "timeout_ms": timeout_ms})), service)
    })
}

/// Asserts that one request is an outage for both, counted as `counter`.
#[track_caller]
fn assert_outage([closed, open]: &[Gateway; 2], counter: &str, case: &str) {
    for http in Http::BOTH {
        for (gateway, expected) in [(closed, 503), (open, 200)] {
            let (counted, passed) = (gateway.count(counter), gateway.backend.count());
            assert_eq!(gateway.get(http, "tenant").status, expected, "{http:?} {case}");
            let counted = gateway.count(counter).checked_sub(counted);
            assert_eq!(counted, Some(1), "{http:?} {case} {counter}");
            assert_eq!(gateway.backend.count() > passed, expected == 200, "{http:?} {case}");
        }
    }
}

#[test]
fn the_call_is_what_a_grpc_service_expects() {
    let service = Backend::replying(message(&response(OK, &[])));
    let gateway =
        Gateway::start(&policy(json!({"timeout_ms": 1500, "authority": "limits.test"})), service.addr());
    assert_eq!(gateway.get(Http::One, "acme").status, 200);

    let Recorded { method, path, authority, version, headers, body, .. } = &service.requests()[0];
    assert_eq!((method.as_str(), format!("{version:?}").as_str()), ("POST", "HTTP/2.0"));
    assert_eq!(path, "/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit");
    assert_eq!(authority.as_deref(), Some("limits.test"));
    for (name, value) in [("content-type", "application/grpc"), ("te", "trailers"), ("grpc-timeout", "1500m")]
    {
        assert_eq!(headers.text(name).as_deref(), Some(value), "{name}");
    }
    let entry = [field(1, b"header_x-tenant"), field(2, b"acme")].concat();
    let request = [field(1, b"test"), field(2, &field(1, &entry))].concat();
    assert_eq!(body, &[&[0, 0, 0, 0, u8::try_from(request.len()).unwrap()][..], &request].concat());
}

#[test]
fn an_answer_that_makes_no_sense_is_an_outage() {
    let service = Backend::start();
    let gateways = closed_and_open(service.addr(), 30_000);
    let ok = response(OK, &[]);
    let framed = framed(&ok);
    let cases = [
        ("no gRPC", Reply::ok("<html>"), "service_nonsense"),
        ("no status", Reply::ok(framed.clone()), "service_nonsense"),
        ("no message", grpc(b"", "0"), "service_nonsense"),
        ("half a prefix", grpc(b"\0\0", "0"), "service_nonsense"),
        ("half a message", grpc(&framed[..6], "0"), "service_nonsense"),
        ("two messages", grpc(&[&framed[..], &framed].concat(), "0"), "service_nonsense"),
        ("compressed", grpc(&[&[1, 0, 0, 0, 2][..], &ok].concat(), "0"), "service_nonsense"),
        ("no protobuf", message(b"\xff\xff\xff"), "service_nonsense"),
        ("no code", message(b""), "service_nonsense"),
        ("unknown code", message(&response(0, &[])), "service_nonsense"),
        ("a code of the future", message(&response(9, &[])), "service_nonsense"),
        ("too long", message(&vec![0; 100_000]), "service_nonsense"),
        ("an error behind a good message", grpc(&framed, "13"), "service_error"),
        ("an error alone", Reply::ok("").header("grpc-status", "2"), "service_error"),
        ("unavailable", Reply::ok("").header("grpc-status", "14"), "service_unavailable"),
        ("deadline exceeded", Reply::ok("").header("grpc-status", "4"), "service_timeout"),
        ("404", Reply::status(404), "service_error"),
        ("503", Reply::status(503), "service_unavailable"),
    ];
    for (case, reply, counter) in cases {
        service.reply(reply);
        assert_outage(&gateways, counter, case);
    }
    service.reply(message(&ok));
    for gateway in &gateways {
        assert_eq!(gateway.get(Http::Two, "tenant").status, 200);
        assert_eq!(gateway.count("service_ok"), 1);
    }
}

#[test]
fn a_service_that_is_slow_is_an_outage_when_the_time_is_up() {
    let service = Backend::replying(message(&response(OK, &[])).delay(Duration::from_secs(600)));
    let gateways = closed_and_open(service.addr(), 200);
    assert_outage(&gateways, "service_timeout", "slow");
}

#[test]
fn a_connection_that_breaks_is_an_outage() {
    let service = HostileServer::start(Behaviour::Reset);
    let gateways = closed_and_open(service.addr(), 30_000);
    for (case, behaviour) in [
        ("reset", Behaviour::Reset),
        ("close", Behaviour::CloseAtOnce),
        ("garbage", Behaviour::Garbage),
        ("HTTP/1.1", Behaviour::Reply(http_reply(200, &[], b"OK"))),
    ] {
        service.behave(behaviour);
        assert_outage(&gateways, "service_unavailable", case);
    }
}

#[test]
fn a_service_that_is_down_is_an_outage() {
    let port = ClosedPort::reserve();
    assert_outage(&closed_and_open(port.addr(), 30_000), "service_unavailable", "down");
}

#[test]
fn a_cluster_that_envoy_does_not_know_is_an_outage() {
    let port = ClosedPort::reserve();
    let gateways = ["closed", "open"]
        .map(|on_outage| policy(json!({"cluster": "unknown", "on_outage": on_outage})))
        .map(|policy| Gateway::start(&policy, port.addr()));
    assert_outage(&gateways, "service_unreachable", "unknown");
    assert_eq!(gateways[0].count("service_calls"), 0);
}

/// Envoy gives up on such calls at once, in the call to it. Whoever sends many requests can fill the breaker, and so opens
/// nothing.
#[test]
fn a_cluster_that_cannot_take_the_call_is_overload() {
    let service = Backend::replying(message(&response(OK, &[])));
    let breaker =
        |max_requests: u32| json!({"circuit_breakers": {"thresholds": [{"max_requests": max_requests}]}});
    let nowhere = json!({"static_resources": {"clusters": [{
        "name": "limits",
        "type": "STATIC",
        "connect_timeout": "1s",
        "load_assignment": {"cluster_name": "limits", "endpoints": []},
    }]}});
    for (case, config) in [
        (
            "circuit breaker",
            EnvoyConfig::new().cluster(Cluster::http2("limits", service.addr()).merge(breaker(0))),
        ),
        ("no endpoint", EnvoyConfig::new().merge_bootstrap(nowhere)),
    ] {
        let gateways = ["closed", "open"]
            .map(|on_outage| Gateway::start_with(&policy(json!({"on_outage": on_outage})), config.clone()));
        for gateway in &gateways {
            for http in Http::BOTH {
                assert_eq!(gateway.get(http, "tenant").status, 503, "{http:?} {case}");
            }
            let counts = ["calls", "overload", "unavailable", "unreachable"]
                .map(|name| gateway.count(&format!("service_{name}")));
            assert_eq!(counts, [2, 2, 0, 0], "{case}");
            assert_eq!(gateway.backend.count(), 0, "{case}");
        }
    }
    assert_eq!(service.count(), 0);
}

/// While another call occupies the cluster.
#[test]
fn a_call_that_the_circuit_breaker_stops_is_overload() {
    let service = Backend::replying(message(&response(OK, &[])).delay(Duration::from_secs(600)));
    let breaker = json!({"circuit_breakers": {"thresholds": [{"max_requests": 1}]}});
    let gateway = Gateway::start_with(
        &policy(json!({"on_outage": "open", "timeout_ms": 60_000})),
        EnvoyConfig::new().cluster(Cluster::http2("limits", service.addr()).merge(breaker)),
    );
    let mut held = h1::Connection::open(gateway.envoy.addr());
    held.send("GET", "/", &[("x-tenant", b"a")], b"").unwrap();
    wait_until("the service is asked", PATIENCE, || service.count() == 1);
    assert_eq!(gateway.get(Http::One, "b").status, 503);
    assert_eq!([gateway.count("service_overload"), gateway.count("service_calls")], [1, 2]);
    assert_eq!(service.count(), 1);
}

/// The answer comes all the same, and finds nobody.
#[test]
fn a_request_that_envoy_gives_up_on_while_it_waits_leaves_nothing_behind() {
    let service = Backend::replying(message(&response(OK, &[])).delay(Duration::from_secs(2)));
    let config = EnvoyConfig::new()
        .cluster(Cluster::http2("limits", service.addr()))
        .merge_connection_manager(json!({"request_timeout": "0.2s"}));
    let policy = policy(json!({"on_outage": "closed", "max_waiting": 1}));
    let gateway = Gateway::start_with(&policy, config);
    for round in 1..=2 {
        let mut connection = h1::Connection::open(gateway.envoy.addr());
        // The rest of the body never comes.
        let head = h1::head("POST", "/", &[("x-tenant", b"a")], 5);
        connection.send_raw(&head).unwrap();
        connection.send_raw(b"b").unwrap();
        assert_eq!(connection.read_response().unwrap().status, 408);
        wait_until("the service's answer", PATIENCE, || gateway.count("service_ok") == round);
    }
    for counter in ["host_failed", "failed_closed", "failed_open", "service_overload", "admitted"] {
        assert_eq!(gateway.count(counter), 0, "{counter}");
    }
    // There is room for another one.
    service.reply(message(&response(OK, &[])));
    wait_until("a request passes", PATIENCE, || gateway.get(Http::Two, "a").status == 200);
}

/// The gateway has client-id in a filter of its own.
#[test]
fn the_service_is_told_who_calls_and_of_which_tier() {
    let auth = Backend::start();
    auth.reply_with(|request| match request.headers.text("authorization").as_deref() {
        // acme:s3cret
        Some("Basic YWNtZTpzM2NyZXQ=") => Reply::status(200).header("x-client-tier", "gold"),
        _ => Reply::status(200),
    });
    let service = Backend::replying(message(&response(OK, &[])));
    let client_id = json!({
        "auth": {"per-request": {"cluster": "auth", "identity": {"tier": "x-client-tier"}}},
    });
    let mut policy = policy(json!({"tier_entry": "tier", "entry_keys": {"client_id": "client"}}));
    policy["key"] = json!(["client-id"]);
    let gateway = Gateway::start_with(
        &policy,
        EnvoyConfig::new()
            .cluster(Cluster::http2("limits", service.addr()))
            .cluster(Cluster::http1("auth", auth.addr()))
            .filter(WasmPlugin::module("client-id").json_configuration(&client_id)),
    );
    let entry =
        |key: &str, value: &str| field(1, &[field(1, key.as_bytes()), field(2, value.as_bytes())].concat());
    for (secret, entries) in [
        ("s3cret", vec![entry("tier", "gold"), entry("client", "acme")]),
        ("another", vec![entry("client", "acme")]),
    ] {
        service.clear();
        let headers: [(&str, &[u8]); 2] = [("client_id", b"acme"), ("client_secret", secret.as_bytes())];
        assert_eq!(h1::request(gateway.envoy.addr(), "GET", "/", &headers, b"").status, 200);
        let request = [field(1, b"test"), field(2, &entries.concat())].concat();
        assert_eq!(service.requests()[0].body[5..], request, "{secret}");
    }
}

/// A mistake that Envoy cannot see.
#[test]
fn a_cluster_that_speaks_http_1_is_an_outage() {
    let service = Backend::replying(message(&response(OK, &[])));
    let gateways =
        ["closed", "open"].map(|on_outage| policy(json!({"on_outage": on_outage}))).map(|policy| {
            Gateway::start_with(&policy, EnvoyConfig::new().cluster(Cluster::http1("limits", service.addr())))
        });
    assert_outage(&gateways, "service_nonsense", "HTTP/1.1");
}

#[test]
fn headers_that_the_service_wants_added_reach_client_and_upstream() {
    let headers = [
        field(3, &header("X-Told-Client", "a")),
        field(3, &header("X-Told-Client", "b")),
        field(3, &header(":status", "418")),
        field(3, &header("x-portcullis-told", "1")),
        field(3, &header("content-length", "1")),
        field(4, &header("X-Told-Upstream", "c")),
        field(4, &header(":path", "/admin")),
        field(4, &header("x-portcullis-client-id", "root")),
        field(4, &header("x-envoy-original-path", "/admin")),
        field(4, &header("authorization", "root")),
    ];
    let service = Backend::start();
    let permitted = json!({"request_headers": ["x-told-upstream"], "response_headers": ["x-told-client"]});
    let gateway = Gateway::start(&policy(permitted), service.addr());
    for http in Http::BOTH {
        for (code, status) in [(OK, 200), (OVER_LIMIT, 429)] {
            service.reply(message(&response(code, &headers)));
            gateway.backend.clear();
            let response = gateway.get(http, "acme");

            assert_eq!(response.status, status, "{http:?}");
            assert_eq!(response.headers.all("x-told-client"), [b"a", b"b"], "{http:?} {status}");
            assert!(!response.headers.contains("x-portcullis-told"), "{http:?} {status}");
            let upstream = gateway.backend.requests();
            assert_eq!(upstream.len(), usize::from(status == 200));
            if let Some(request) = upstream.first() {
                assert_eq!(request.path, "/");
                assert_eq!(request.headers.text("x-told-upstream").as_deref(), Some("c"));
                for name in ["x-portcullis-client-id", "x-envoy-original-path", "authorization"] {
                    assert!(!request.headers.contains(name), "{http:?} {name}");
                }
            }
        }
    }
    // Seven of each answer.
    assert_eq!(gateway.count("service_headers_refused"), 4 * 7);
}

#[test]
fn a_refusal_has_the_body_that_the_service_gives() {
    let fields = [field(5, b"<p>Slow down"), field(3, &header("content-type", "text/html"))];
    let service = Backend::replying(message(&response(OVER_LIMIT, &fields)));
    let gateway = Gateway::start(&policy(json!({})), service.addr());
    for http in Http::BOTH {
        let response = gateway.get(http, "acme");
        assert_eq!((response.status, response.body.as_slice()), (429, &b"<p>Slow down"[..]));
        assert_eq!(response.headers.all("content-type"), [b"text/html"]);
        assert!(response.headers.contains("retry-after"), "{response:?}");
    }
}
