//! What requests are counted by, as Envoy gives it.

use std::net::TcpStream;

use portcullis_testkit::envoy::{Cluster, Envoy, EnvoyConfig, h1};
use serde_json::{Value, json};

use crate::support::*;

/// One request for each key.
fn once_per(key: Value) -> Value {
    json!({"key": key, "limits": [{"max": 1, "period_ms": 3_600_000}]})
}

#[test]
fn counts_by_headers() {
    for http in Http::BOTH {
        let gateway = Gateway::start(&once_per(json!([{"header": {"name": "X-Tenant"}}])));
        for (headers, expected) in [
            (&[("X-Tenant", &b"a"[..])][..], true),
            (&[("x-tenant", b"b")], true),
            (&[("x-tenant", b"a")], false),
            (&[("x-tenant", b"a"), ("x-tenant", b"1")], true),
            (&[("x-tenant", b"a"), ("x-tenant", b"2")], false),
            (&[("x-tenant", b"3"), ("x-tenant", b"a")], false),
            (&[], true),
            (&[], false),
        ] {
            assert_eq!(gateway.passes(http, headers), expected, "{http:?} {headers:?}");
        }
    }
}

#[test]
fn counts_by_query_parameters_paths_methods_and_hosts() {
    for (key, requests) in [
        (
            json!([{"query": {"name": "k"}}]),
            [
                ("GET", "/?k=a", "h.test", true),
                ("GET", "/b?k=%61", "h.test", false),
                ("GET", "/?k=b", "h.test", true),
            ],
        ),
        (
            json!(["path"]),
            [
                ("GET", "/a?x", "h.test", true),
                ("GET", "/a?y", "h.test", false),
                ("GET", "/b", "h.test", true),
            ],
        ),
        (
            json!(["method"]),
            [("GET", "/", "h.test", true), ("GET", "/a", "h.test", false), ("PUT", "/", "h.test", true)],
        ),
        (
            json!(["host"]),
            [("GET", "/", "h.test", true), ("GET", "/", "H.test:80", false), ("GET", "/", "i.test", true)],
        ),
    ] {
        for http in Http::BOTH {
            let gateway = Gateway::start(&once_per(key.clone()));
            for (method, path, host, expected) in requests {
                let response = http.request(gateway.addr(), method, path, &[("host", host.as_bytes())]);
                let status = if expected { 200 } else { 429 };
                assert_eq!(response.status, status, "{key} {http:?} {method} {host}{path}");
            }
        }
    }
}

/// A request from this address of the local machine; all of 127.0.0.0/8 is.
fn get_from(address: [u8; 4], gateway: &Gateway, forwarded_for: Option<&str>) -> u16 {
    use socket2::{Domain, SockAddr, Socket, Type};
    use std::io::{Read, Write};
    use std::net::SocketAddr;

    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
    socket.bind(&SockAddr::from(SocketAddr::from((address, 0)))).unwrap();
    socket.connect(&SockAddr::from(gateway.addr())).unwrap();
    let mut stream = TcpStream::from(socket);
    let fields: Vec<(&str, &[u8])> = forwarded_for
        .iter()
        .map(|value| ("x-forwarded-for", value.as_bytes()))
        .chain([("connection", &b"close"[..])])
        .collect();
    stream.write_all(&h1::head("GET", "/", &fields, 0)).unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).unwrap();
    response.split(' ').nth(1).unwrap().parse().unwrap()
}

fn trusting(hops: u32) -> impl FnOnce(EnvoyConfig) -> EnvoyConfig {
    let key = json!([{"source-address": {}}]);
    move |config| {
        config
            .filter(plugin(&once_per(key)))
            .merge_connection_manager(json!({"use_remote_address": true, "xff_num_trusted_hops": hops}))
    }
}

#[test]
fn counts_by_the_address_of_the_connection() {
    let gateway = Gateway::start_with(trusting(0));
    for (address, forwarded_for, expected) in [
        ([127, 0, 0, 1], None, 200),
        ([127, 0, 0, 1], Some("192.0.2.1"), 429),
        ([127, 0, 0, 2], Some("192.0.2.1"), 200),
        ([127, 0, 0, 2], None, 429),
    ] {
        assert_eq!(get_from(address, &gateway, forwarded_for), expected, "{address:?} {forwarded_for:?}");
    }
}

/// With `trusted_hops` the policy takes from X-Forwarded-For what Envoy itself would with `xff_num_trusted_hops`.
#[test]
fn takes_the_address_of_a_trusted_hop_as_envoy_does() {
    let by_policy = |config: EnvoyConfig| {
        let key = json!([{"source-address": {"trusted_hops": 1}}]);
        config.filter(plugin(&once_per(key))).merge_connection_manager(json!({"use_remote_address": true}))
    };
    let gateways = [Gateway::start_with(trusting(1)), Gateway::start_with(by_policy)];
    for (forwarded_for, expected) in [
        (Some("192.0.2.1"), 200),
        (Some("6.6.6.6, 192.0.2.1"), 429),
        (Some("192.0.2.2"), 200),
        (Some("2001:db8::1"), 200),
        (Some("2001:db8::2"), 429),
        // No address there: the connection's.
        (None, 200),
        (Some("nonsense"), 429),
        (Some("6.6.6.6,"), 429),
    ] {
        for (at, gateway) in gateways.iter().enumerate() {
            let status = get_from([127, 0, 0, 1], gateway, forwarded_for);
            assert_eq!(status, expected, "{} {forwarded_for:?}", ["Envoy", "policy"][at]);
        }
    }
}

/// An Envoy that does not take the connection's address for the client's appends nothing to X-Forwarded-For, so that there
/// is one trusted hop less to pass over. With one proxy in front none is left: the client's is the last entry, which Envoy
/// itself takes.
#[test]
fn passes_over_one_hop_less_where_envoy_appends_none() {
    let own = |trusted_hops: u32| {
        move |config: EnvoyConfig| {
            let key = json!([{"source-address": {"trusted_hops": trusted_hops}}]);
            config
                .filter(plugin(&once_per(key)))
                .merge_connection_manager(json!({"use_remote_address": false}))
        }
    };
    // A client's own entry, the client's address, and that of the first of two proxies.
    for (trusted_hops, behind) in [(0, ""), (1, ", 192.0.2.77")] {
        let gateway = Gateway::start_with(own(trusted_hops));
        for (client, expected) in
            [("192.0.2.1", 200), ("6.6.6.6, 192.0.2.1", 429), ("7.7.7.7, 192.0.2.1", 429), ("192.0.2.2", 200)]
        {
            let status = get_from([127, 0, 0, 1], &gateway, Some(&format!("{client}{behind}")));
            assert_eq!(status, expected, "{trusted_hops}: {client}");
        }
    }
    // With one hop too many a client says itself what it is counted by.
    let gateway = Gateway::start_with(own(1));
    for fresh in ["6.6.6.6", "7.7.7.7"] {
        assert_eq!(get_from([127, 0, 0, 1], &gateway, Some(&format!("{fresh}, 192.0.2.1"))), 200);
    }
}

/// Envoy joins the values of some headers that it knows before a filter sees them: to the policy that is one value, and
/// not an ambiguous one.
#[test]
fn sees_headers_that_envoy_joins_as_one_value() {
    for http in Http::BOTH {
        let policy = once_per(json!([{"header": {"name": "cache-control"}}]));
        let gateway = Gateway::start(&policy);
        let twice = |second| gateway.passes(http, &[("cache-control", b"a"), ("cache-control", second)]);
        assert_eq!(
            [b"1", b"2", b"1"].map(|second: &[u8; 1]| twice(&second[..])),
            [true, true, false],
            "{http:?}"
        );
    }
}

/// Behind client-id in one chain.
#[test]
fn counts_in_a_filter_behind_client_id() {
    use portcullis_testkit::envoy::{Backend, Reply, WasmPlugin};
    let (auth, backend) = (Backend::replying(Reply::status(200).header("x-tier", "gold")), Backend::start());
    let client_id = json!({
        "auth": {"per-request": {"cluster": "auth", "timeout_ms": 60_000, "identity": {"tier": "x-tier"}}},
        "secret": "optional",
    });
    let mut policy = once_per(json!(["client-id"]));
    policy["tiers"] = json!({"gold": {"limits": [{"max": 2, "period_ms": 3_600_000}]}});
    let envoy = Envoy::start(
        &config(&backend)
            .cluster(Cluster::http1("auth", auth.addr()))
            .filter(WasmPlugin::module("client-id").json_configuration(&client_id))
            .filter(plugin(&policy)),
    );
    for (client, expected) in [("acme", 200), ("acme", 200), ("acme", 429), ("bolt", 200)] {
        let response = Http::One.get(envoy.addr(), &[("client_id", client.as_bytes())]);
        assert_eq!(response.status, expected, "{client}");
    }
}
