//! The shipped example in as much memory as it is fitted to.

use std::net::SocketAddr;

use portcullis_abuse::policies::GOOD;
use portcullis_testkit::envoy::{Backend, Container, Envoy, EnvoyConfig, Reply, h1};
use serde_json::{Value, json};

pub const MIB: u64 = 1 << 20;
/// The chart's default, and what the examples are fitted to.
pub const CONTAINER: u64 = 512 * MIB;

/// Envoy with the settings of envoy-config/gateway in a container, with its upstream and an auth service that takes all
/// credentials.
pub struct Contained {
    pub envoy: Envoy,
    pub container: Container,
    pub upstream: Backend,
    pub auth: Backend,
}

impl Contained {
    /// Starts it with what `change` makes of the example. `None` where no container can be made, which is said.
    #[track_caller]
    pub fn start(change: impl FnOnce(&mut Value)) -> Option<Self> {
        let container = match Container::with_memory(CONTAINER) {
            Ok(container) => container,
            Err(error) => {
                eprintln!("SKIPPED: no container can be made: {error}");
                return None;
            }
        };
        let (upstream, auth) = (Backend::start(), Backend::start());
        auth.reply(Reply::status(200));
        let mut bootstrap = example(&upstream, &auth);
        change(&mut bootstrap);
        let config = EnvoyConfig::of_text(&bootstrap.to_string()).within(&container);
        Some(Self { envoy: Envoy::start(&config), container, upstream, auth })
    }

    pub fn addr(&self) -> SocketAddr {
        self.envoy.addr()
    }

    /// What becomes of a good request that comes now.
    pub fn status(&self, path: &str) -> Option<u16> {
        h1::try_request(self.addr(), "GET", path, &GOOD, b"").ok().map(|response| response.status)
    }

    /// A counter of the policies, by its name behind `wasmcustom.portcullis.`; 0 before it is there.
    pub fn counter(&self, name: &str) -> u64 {
        self.envoy.stat(&format!("wasmcustom.portcullis.{name}")).unwrap_or(0)
    }

    /// How many requests Envoy has under way.
    pub fn active(&self) -> u64 {
        self.envoy.counter("http.ingress.downstream_rq_active")
    }

    /// Asserts that Envoy runs, and that no VM of it has failed.
    #[track_caller]
    pub fn assert_no_vm_died(&self) {
        assert!(self.envoy.is_running());
        assert_no_vm_died(&self.envoy);
    }
}

/// Asserts that no VM of this Envoy has failed, nor any policy for want of its host.
#[track_caller]
pub fn assert_no_vm_died(envoy: &Envoy) {
    let lines = envoy.log_lines();
    let died = lines.iter().find(|line| {
        ["memory allocation", "panic", "Function: proxy_on", "[critical]"]
            .iter()
            .any(|sign| line.contains(sign))
    });
    assert_eq!(died, None);
    for (name, value) in envoy.stats() {
        let failure = ["vm_reload", "host_failed", "store_corrupt"].iter().any(|kind| name.contains(kind));
        assert!(!(failure && value > 0), "{name}: {value}");
    }
}

/// The shipped example with all policies, on free ports, in front of these peers.
pub fn example(upstream: &Backend, auth: &Backend) -> Value {
    let text = EnvoyConfig::example("gateway", &[(8081, upstream.addr()), (8082, auth.addr())]);
    serde_yaml_ng::from_str(&text).unwrap()
}

const ENDPOINT: &str =
    "/load_assignment/endpoints/0/lb_endpoints/0/endpoint/address/socket_address/port_value";
pub const LISTENER: &str = "/static_resources/listeners/0";
pub const MANAGER: &str = "/static_resources/listeners/0/filter_chains/0/filters/0/typed_config";
pub const PLUGIN: &str =
    "/static_resources/listeners/0/filter_chains/0/filters/0/typed_config/http_filters/0/typed_config/config";

/// Puts a value in the place of another, which is returned.
#[track_caller]
pub fn set(bootstrap: &mut Value, pointer: &str, value: Value) -> Value {
    let place = bootstrap.pointer_mut(pointer).unwrap_or_else(|| panic!("{pointer}"));
    std::mem::replace(place, value)
}

/// Gives the gateway this configuration, and lets its policies read bodies as envoy-config/xslt-transform does.
pub fn configure(bootstrap: &mut Value, document: Value) {
    set(bootstrap, &format!("{PLUGIN}/configuration/value"), document);
    set(bootstrap, &format!("{PLUGIN}/allow_on_headers_stop_iteration"), json!(true));
    set(bootstrap, &format!("{LISTENER}/per_connection_buffer_limit_bytes"), json!(MIB));
}

/// Adds a cluster like that of the auth service.
pub fn add_cluster(bootstrap: &mut Value, name: &str, addr: SocketAddr, http2: bool) {
    let clusters = bootstrap.pointer_mut("/static_resources/clusters").and_then(Value::as_array_mut).unwrap();
    let mut cluster = clusters[1].clone();
    cluster["name"] = json!(name);
    cluster["load_assignment"]["cluster_name"] = json!(name);
    set(&mut cluster, ENDPOINT, json!(addr.port()));
    if http2 {
        cluster["typed_extension_protocol_options"] = json!({
            "envoy.extensions.upstreams.http.v3.HttpProtocolOptions": {
                "@type": "type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions",
                "explicit_http_config": {"http2_protocol_options": {}},
            },
        });
    }
    clusters.push(cluster);
}
