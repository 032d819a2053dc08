//! Proxies that transform replies, and the same proxies when they do not.

use std::net::SocketAddr;

use portcullis_testkit::envoy::{Cluster, EnvoyConfig};
use portcullis_transform_workloads::Sheet;

use super::{Returns, Takes, Variant, ours};
use crate::gateway::Config;
use crate::nginx::NginxConfig;

/// Every variant; each is compared with the same proxy alone.
pub fn transforming(upstream: SocketAddr, sheet: &'static Sheet) -> Vec<Variant> {
    let bare = || {
        EnvoyConfig::new()
            .cluster(Cluster::http1("upstream", upstream))
            .workers(1)
            .argument("--log-path")
            .argument("/dev/null")
    };
    let envoy = |name, title, returns, config| Variant {
        name,
        title,
        over: "bare",
        takes: Takes::Anything,
        returns,
        config: Config::Envoy(Box::new(config)),
    };
    let nginx = |name, title, returns, transformation| Variant {
        name,
        title,
        over: "nginx",
        takes: Takes::Anything,
        returns,
        config: Config::Nginx(NginxConfig { upstream, transformation }),
    };
    let ours = bare().filter(ours::holding(ours::xslt_transform(sheet).alone()));
    vec![
        envoy("bare", "bare Envoy", Returns::AsSent, bare()),
        envoy("xslt-transform", "xslt-transform in Envoy", Returns::Transformed, ours),
        nginx("nginx", "nginx alone", Returns::AsSent, None),
        nginx("nginx-xslt", "nginx with its XSLT module", Returns::Transformed, Some(sheet)),
    ]
}
