//! [`EnvoyConfig`] as the messages that Envoy reads.

use std::net::SocketAddr;
use std::path::Path;

use serde_json::{Value, json};

use super::config::{Cluster, Delivery, EnvoyConfig, merge};

/// The files through which Envoy takes its listeners and clusters.
pub(super) struct XdsPaths<'a> {
    pub(super) listeners: &'a Path,
    pub(super) clusters: &'a Path,
}

impl EnvoyConfig {
    /// The bootstrap. The admin interface takes a free port.
    pub(super) fn render_bootstrap(&self, xds: &XdsPaths<'_>) -> Value {
        let mut bootstrap = json!({
            "node": { "id": "portcullis-testkit", "cluster": "portcullis-testkit" },
            "admin": { "address": socket_address(SocketAddr::from(([127, 0, 0, 1], 0))) },
        });
        let source =
            |path: &Path| json!({ "path_config_source": { "path": path }, "resource_api_version": "V3" });
        merge(
            &mut bootstrap,
            match self.delivery {
                Delivery::Bootstrap => json!({
                    "static_resources": {
                        "listeners": [self.render_listener(0)],
                        "clusters": self.render_clusters(),
                    },
                }),
                Delivery::Files => json!({
                    "dynamic_resources": {
                        "lds_config": source(xds.listeners),
                        "cds_config": source(xds.clusters),
                    },
                }),
            },
        );
        merge(&mut bootstrap, self.bootstrap.clone());
        bootstrap
    }

    /// The contents of the LDS file. The revision makes each push differ from the one before.
    pub(super) fn render_lds(&self, revision: u64) -> Value {
        let mut listener = self.render_listener(revision);
        listener["@type"] = json!("type.googleapis.com/envoy.config.listener.v3.Listener");
        json!({ "version_info": revision.to_string(), "resources": [listener] })
    }

    /// The contents of the CDS file.
    pub(super) fn render_cds(&self) -> Value {
        let mut clusters = self.render_clusters();
        for cluster in &mut clusters {
            cluster["@type"] = json!("type.googleapis.com/envoy.config.cluster.v3.Cluster");
        }
        json!({ "resources": clusters })
    }

    fn render_listener(&self, revision: u64) -> Value {
        let mut listener = json!({
            "name": "ingress",
            "stat_prefix": "ingress",
            "address": socket_address(SocketAddr::from(([127, 0, 0, 1], 0))),
            "filter_chains": [{
                // In the filter chain, so that an update is one of the filter chain, as Istio's mostly are.
                "metadata": { "filter_metadata": { "portcullis.testkit": { "revision": revision } } },
                "filters": [{
                    "name": "envoy.filters.network.http_connection_manager",
                    "typed_config": self.render_connection_manager(),
                }],
            }],
        });
        merge(&mut listener, self.listener.clone());
        listener
    }

    fn render_connection_manager(&self) -> Value {
        let mut filters = self.filters.clone();
        filters.push(json!({
            "name": "envoy.filters.http.router",
            "typed_config": { "@type": "type.googleapis.com/envoy.extensions.filters.http.router.v3.Router" },
        }));
        let mut manager = json!({
            "@type": "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
            "stat_prefix": "ingress",
            "codec_type": "AUTO",
            "http_protocol_options": { "enable_trailers": self.http1_trailers },
            "access_log": self.access_loggers,
            "http_filters": filters,
            "route_config": {
                "name": "routes",
                "virtual_hosts": [{ "name": "all", "domains": ["*"], "routes": self.render_routes() }],
            },
        });
        merge(&mut manager, self.connection_manager.clone());
        manager
    }

    fn render_routes(&self) -> Vec<Value> {
        if !self.routes.is_empty() {
            return self.routes.clone();
        }
        let Some(cluster) = self.clusters.first() else {
            return vec![json!({ "match": { "prefix": "/" }, "direct_response": { "status": 404 } })];
        };
        let mut action = json!({ "cluster": cluster.name });
        if let Some(timeout) = self.route_timeout {
            action["timeout"] = json!(format!("{:.3}s", timeout.as_secs_f64()));
        }
        vec![json!({ "match": { "prefix": "/" }, "route": action })]
    }

    fn render_clusters(&self) -> Vec<Value> {
        self.clusters.iter().map(|cluster| self.render_cluster(cluster)).collect()
    }

    fn render_cluster(&self, cluster: &Cluster) -> Value {
        let protocol = if cluster.http2 {
            json!({ "http2_protocol_options": {} })
        } else {
            json!({ "http_protocol_options": { "enable_trailers": self.http1_trailers } })
        };
        let mut rendered = json!({
            "name": cluster.name,
            "type": "STATIC",
            "load_assignment": {
                "cluster_name": cluster.name,
                "endpoints": [{
                    "lb_endpoints": [{ "endpoint": { "address": socket_address(cluster.addr) } }],
                }],
            },
            "typed_extension_protocol_options": {
                "envoy.extensions.upstreams.http.v3.HttpProtocolOptions": {
                    "@type": "type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions",
                    "explicit_http_config": protocol,
                },
            },
        });
        merge(&mut rendered, cluster.patch.clone());
        rendered
    }
}

fn socket_address(addr: SocketAddr) -> Value {
    json!({ "socket_address": { "address": addr.ip().to_string(), "port_value": addr.port() } })
}
