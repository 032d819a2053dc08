//! What is measured.

mod native;
mod ours;
mod transforming;

use std::net::SocketAddr;

use portcullis_testkit::envoy::{Cluster, EnvoyConfig, WasmPlugin, workspace_root};
use serde_json::json;

pub use self::transforming::transforming;
use crate::gateway::Config;

/// A proxy with something in its chain of filters.
pub struct Variant {
    pub name: &'static str,
    pub title: &'static str,
    /// The variant that has nothing in the chain, with which this one is compared; the one that has nothing names
    /// itself.
    pub over: &'static str,
    pub takes: Takes,
    pub returns: Returns,
    pub config: Config,
}

/// What a variant answers well.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Takes {
    Anything,
    /// Messages alone, for it routes by what they say.
    Messages,
}

/// What becomes of replies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Returns {
    AsSent,
    Transformed,
}

/// The servers that every variant can reach.
#[derive(Clone, Copy)]
pub struct Peers {
    pub echo: SocketAddr,
    pub auth: SocketAddr,
    pub collector: SocketAddr,
}

/// Every variant, the baseline first.
pub fn all(peers: Peers) -> Vec<Variant> {
    let bare = || {
        EnvoyConfig::new()
            .cluster(Cluster::http1("echo", peers.echo))
            .cluster(Cluster::http1("auth", peers.auth))
            .cluster(Cluster::http1("collector", peers.collector))
            .workers(1)
            .argument("--log-path")
            .argument("/dev/null")
    };
    let with = |policies: &[WasmPlugin]| policies.iter().cloned().fold(bare(), EnvoyConfig::filter);
    let sdk = |name| WasmPlugin::at(name, workspace_root().join(format!("dist/bench/{name}.wasm")));
    let taking = |takes, name, title, config| {
        let config = Config::Envoy(Box::new(config));
        Variant { name, title, over: "bare", takes, returns: Returns::AsSent, config }
    };
    let variant = |name, title, config| taking(Takes::Anything, name, title, config);
    let routing = |name, title, config| taking(Takes::Messages, name, title, config);
    let alone = |name, title, policy: &ours::Policy| variant(name, title, with(&[policy.alone()]));

    let (client_id, counted) = (ours::client_id(), ours::rate_limit(json!({})));
    let announced = ours::rate_limit(json!({"headers": "mule"}));
    let leased = ours::rate_limit(json!({"store": {"precision": {"leased": {"batch": 100}}}}));
    let log = ours::access_log(json!({}));
    let log_to_state = ours::access_log(json!({"sinks": [{"filter-state": {}}]}));
    let log_to_collector = ours::access_log(json!({"sinks": [{"otlp": {"cluster": "collector"}}]}));
    let log_few = ours::access_log(json!({"format": {"json": {
        "time": "%START_TIME%", "method": "%REQ(:METHOD)%", "path": "%REQ(:PATH)%",
        "status": "%RESPONSE_CODE%", "client": "%PORTCULLIS(CLIENT_ID)%", "outcomes": "%PORTCULLIS(OUTCOMES)%",
    }}}));

    vec![
        variant("bare", "bare Envoy", bare()),
        variant(
            "bare-headers",
            "bare Envoy, adding three constant response headers",
            bare().merge_connection_manager(native::constant_headers()),
        ),
        variant("sdk-no-op", "no-op, raw SDK", bare().filter(sdk("sdk-no-op"))),
        variant("sdk-headers", "three constant response headers, raw SDK", bare().filter(sdk("sdk-headers"))),
        variant("no-op", "no-op, ours", bare().filter(ours::no_op())),
        alone("client-id", "client-id, cached", &client_id),
        alone("rate-limit", "rate-limit", &counted),
        alone("rate-limit-headers", "rate-limit with headers", &announced),
        alone("rate-limit-leased", "rate-limit, leased", &leased),
        alone("access-log", "access-log to Envoy's log", &log),
        alone("access-log-few", "access-log to Envoy's log, six fields", &log_few),
        variant(
            "access-log-granted",
            "access-log to Envoy's log, granted the log callback alone",
            with(&[ours::granting(log.alone(), "log")]),
        ),
        variant(
            "access-log-state",
            "access-log to filter state, with the native logger that prints it",
            with(&[log_to_state.alone()]).merge_connection_manager(native::state_log()),
        ),
        alone("access-log-otlp", "access-log to a collector", &log_to_collector),
        variant(
            "three-filters",
            "client-id, rate-limit and access-log, three filters",
            with(&[client_id.alone(), counted.alone(), log.alone()]),
        ),
        variant(
            "chain",
            "client-id, rate-limit and access-log, one chain",
            with(&[ours::chain(&[&client_id, &counted, &log])]),
        ),
        variant(
            "chain-headers",
            "the same with headers",
            with(&[ours::chain(&[&client_id, &announced, &log])]),
        ),
        variant(
            "chain-lean",
            "the same chain, leased, with a log of six fields",
            with(&[ours::chain(&[&client_id, &leased, &log_few])]),
        ),
        variant(
            "chain-granted",
            "the chain without headers, granted the callbacks that it needs",
            with(&[ours::granting(
                ours::chain(&[&client_id, &counted, &log]),
                "request_headers request_body request_trailers http_call_response tick log",
            )]),
        ),
        variant(
            "chain-no-log",
            "client-id and rate-limit, one chain",
            with(&[ours::chain(&[&client_id, &counted])]),
        ),
        variant(
            "chain-native-log",
            "the same, and a native JSON access log that prints what they report",
            with(&[ours::chain(&[&client_id, &counted])]).merge_connection_manager(native::report_log()),
        ),
        routing(
            "transport-routing",
            "content-router, by an HTTP header",
            with_routes(with(&[ours::transport_routing().alone()]), ours::routes()),
        ),
        routing(
            "soap-routing",
            "content-router, by a SOAP header block",
            with_routes(with(&[ours::holding(ours::soap_routing().alone())]), ours::routes()),
        ),
        routing(
            "chain-soap-routing",
            "client-id, rate-limit and content-router by a SOAP header block, one chain",
            with_routes(
                with(&[ours::holding(ours::chain(&[&client_id, &counted, &ours::soap_routing()]))]),
                ours::routes(),
            ),
        ),
        routing(
            "native-transport-routing",
            "Envoy's route table, by an HTTP header",
            with_routes(bare(), native::header_routes()),
        ),
        variant(
            "native-rate-limit",
            "native local_ratelimit",
            bare().native_filter(native::local_rate_limit(&json!({}))),
        ),
        variant(
            "native-rate-limit-headers",
            "native local_ratelimit with headers",
            bare().native_filter(native::local_rate_limit(
                &json!({"enable_x_ratelimit_headers": "DRAFT_VERSION_03"}),
            )),
        ),
        variant(
            "native-ext-authz",
            "native ext_authz over HTTP",
            bare().native_filter(native::ext_authz(peers.auth)),
        ),
        variant("native-log", "native JSON access log", bare().merge_connection_manager(native::json_log())),
        variant(
            "native-three",
            "native ext_authz, local_ratelimit and JSON access log",
            bare()
                .native_filter(native::ext_authz(peers.auth))
                .native_filter(native::local_rate_limit(&json!({})))
                .merge_connection_manager(native::json_log()),
        ),
    ]
}

/// With these routes in place of the one that takes everything.
fn with_routes(config: EnvoyConfig, routes: impl IntoIterator<Item = serde_json::Value>) -> EnvoyConfig {
    routes.into_iter().fold(config, EnvoyConfig::route)
}
