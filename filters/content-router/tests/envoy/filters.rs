//! The policy beside client-id: in filters of their own, in either order, and in one chain.

use portcullis_testkit::envoy::{Backend, Cluster, Envoy, EnvoyConfig, FailurePolicy, Reply, WasmPlugin};
use serde_json::{Value, json};

use crate::support::*;

fn client_id_config() -> Value {
    json!({"auth": {"per-request": {"cluster": "auth"}}, "cache": {"entries": 0}})
}

fn client_id() -> WasmPlugin {
    WasmPlugin::module("client-id")
        .json_configuration(&client_id_config())
        .failure_policy(FailurePolicy::FailClosed)
}

/// `acme` goes to blue by its identity, who else buys stocks goes to green.
fn by_client() -> Value {
    json!({"default": {"route": "other"}, "rules": [
        {"when": {"header": {"name": "x-portcullis-client-id", "value": {"exact": "acme"}}}, "then": {"route": "blue"}},
        {"when": {"operation": {"namespace": "http://services.samples/xsd", "name": "buyStocks"}}, "then": {"route": "green"}},
    ]})
}

fn gateway() -> WasmPlugin {
    let document = json!({"policies": [{"client-id": client_id_config()}, {"content-router": by_client()}]});
    WasmPlugin::module("gateway")
        .json_configuration(&document)
        .allow_on_headers_stop_iteration(true)
        .failure_policy(FailurePolicy::FailClosed)
}

const FORGED: Fields = &[
    ("x-portcullis-client-id", b"acme"),
    ("x_portcullis_client_id", b"acme"),
    ("x-portcullis-route", b"blue"),
    ("x_portcullis_route", b"blue"),
];

/// Where a call of `client` goes, and what its upstream reads of the suite's headers.
fn call(gateway: &Gateway, http: Http, client: &'static [u8]) -> (usize, Vec<(String, String)>) {
    gateway.clear();
    let credentials: Fields = &[("client_id", client), ("client_secret", b"s3cret")];
    let headers = [SOAP, FORGED, credentials].concat();
    let response = http.request(gateway.addr(), "POST", "/", &headers, &envelope("x", 20_000));
    assert_eq!(response.status, 200, "{}", response.text());
    let place = gateway.counts().iter().position(|count| *count == 1).expect("one request");
    let backend = [&gateway.blue, &gateway.green, &gateway.other][place];
    let request = backend.requests().remove(0);
    assert_eq!(request.body, envelope("x", 20_000));
    let fields = request.headers.iter().filter(|(name, _)| name.contains("portcullis"));
    let mut fields: Vec<_> =
        fields.map(|(name, value)| (name.to_owned(), String::from_utf8_lossy(value).into_owned())).collect();
    fields.sort();
    (place, fields)
}

fn start(auth: &Backend, filters: impl FnOnce(EnvoyConfig) -> EnvoyConfig) -> Gateway {
    Gateway::start_with(|config| filters(config.cluster(Cluster::http1("auth", auth.addr()))))
}

fn of(client: &str, route: &str) -> Vec<(String, String)> {
    let field = |name: &str, value: &str| (format!("x-portcullis-{name}"), value.to_owned());
    vec![field("client-id", client), field("route", route)]
}

#[test]
fn a_router_behind_client_id_routes_by_the_identity_and_keeps_it() {
    let auth = Backend::replying(Reply::status(200));
    let separate = start(&auth, |config| config.filter(client_id()).filter(plugin(&by_client(), Flag::True)));
    let chain = start(&auth, |config| config.filter(gateway()));
    for gateway in [separate, chain] {
        for http in Http::BOTH {
            assert_eq!(call(&gateway, http, b"acme"), (0, of("acme", "blue")), "{http:?}");
            assert_eq!(call(&gateway, http, b"evil"), (1, of("evil", "green")), "{http:?}");
        }
    }
}

#[test]
fn a_router_before_client_id_knows_no_identity_and_its_route_stays() {
    let auth = Backend::replying(Reply::status(200));
    let gateway = start(&auth, |config| config.filter(plugin(&by_client(), Flag::True)).filter(client_id()));
    for http in Http::BOTH {
        for client in ["acme", "evil"] {
            let (place, fields) = call(&gateway, http, client.as_bytes());
            assert_eq!((place, fields), (1, of(client, "green")), "{http:?} {client}");
        }
    }
}

/// client-id holds the headers by itself, and then the router needs the body, which Envoy does not deliver.
#[test]
fn a_chain_without_the_flag_refuses_what_needs_a_body_and_nothing_else() {
    let auth = Backend::replying(Reply::status(200));
    let document = json!({"policies": [{"client-id": client_id_config()}, {"content-router": by_client()}]});
    let plugin =
        WasmPlugin::module("gateway").json_configuration(&document).failure_policy(FailurePolicy::FailClosed);
    let gateway = start(&auth, |config| config.filter(plugin));
    for http in Http::BOTH {
        assert_eq!(call(&gateway, http, b"acme"), (0, of("acme", "blue")), "{http:?}");
        gateway.clear();
        let credentials: Fields = &[("client_id", b"evil"), ("client_secret", b"s3cret")];
        let headers = [SOAP, credentials].concat();
        let response = http.request(gateway.addr(), "POST", "/", &headers, &envelope("x", 1000));
        assert_eq!(response.status, 500, "{http:?}");
        assert_eq!(gateway.counts(), [0, 0, 0]);
    }
}

/// The list of capabilities of the configurations that stand for themselves is enough.
#[test]
fn needs_no_more_than_the_configurations_that_stand_for_themselves_grant() {
    for (scenario, flag) in [("soap-routing", Flag::True), ("transport-routing", Flag::Absent)] {
        let path =
            portcullis_testkit::envoy::workspace_root().join(format!("envoy-config/{scenario}/envoy.yaml"));
        let text = std::fs::read_to_string(path).expect("the configuration");
        let (_, list) = text.split_once("allowed_capabilities:").expect("a list of capabilities");
        let allowed: Vec<&str> = list
            .lines()
            .map_while(|line| match line.trim().strip_suffix(": {}") {
                Some(name) => Some(Some(name)),
                None if line.trim().is_empty() || line.trim().starts_with('#') => Some(None),
                None => None,
            })
            .flatten()
            .collect();
        let policy = match flag {
            Flag::True => by_soap_header(),
            _ => json!({"rules": [{"when": {"header": {"name": "soapaction"}}, "then": {"route": "blue"}}]}),
        };
        let gateway = Gateway::start_with(|config| {
            config.filter(plugin(&policy, flag).capabilities(allowed.iter().copied()))
        });
        for http in Http::BOTH {
            assert_eq!(http.request(gateway.addr(), "POST", "/", SOAP, &envelope("blue", 0)).status, 200);
        }
        assert_eq!(gateway.counts(), [2, 0, 0], "{scenario}");
    }
}

#[test]
fn a_plugin_without_a_tick_is_refused_if_rules_need_bodies() {
    let backend = Backend::start();
    let plugin = plugin(&by_soap_header(), Flag::True).capabilities([
        "proxy_on_configure",
        "proxy_on_context_create",
        "proxy_on_vm_start",
        "proxy_log",
        "proxy_get_current_time_nanoseconds",
        "proxy_get_buffer_bytes",
    ]);
    let config = EnvoyConfig::new().cluster(Cluster::http1("backend", backend.addr())).filter(plugin);
    let error = Envoy::try_start(&config).err().expect("Envoy refuses");
    assert!(error.log.contains("tick"), "{error}");
}
