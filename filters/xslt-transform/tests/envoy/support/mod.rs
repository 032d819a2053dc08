//! What the tests in Envoy have in common.

#[path = "../../shared/orders.rs"]
mod orders;

use std::net::SocketAddr;

use portcullis_testkit::envoy::{
    Backend, Cluster, Envoy, EnvoyConfig, FailurePolicy, Recorded, Reply, Response, WasmPlugin,
};
use serde_json::{Value, json};

pub(crate) use orders::*;
pub(crate) use portcullis_testkit::envoy::{Body, Fields, Http};

/// Whether Envoy is told to deliver bodies while headers are held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flag {
    True,
    Absent,
}

pub(crate) const XML: Fields = &[("content-type", b"text/xml")];
pub(crate) const SOAP: Fields = &[("content-type", b"text/xml"), ("soapaction", b"\"urn:buyStocks\"")];

/// A stylesheet with this content, `xsl` being the prefix of XSLT.
pub(crate) fn inline(content: &str) -> Value {
    let sheet = format!(
        "<xsl:stylesheet version=\"1.0\" xmlns:xsl=\"http://www.w3.org/1999/XSL/Transform\">{content}</xsl:stylesheet>"
    );
    json!({"inline": sheet})
}

/// A stylesheet that turns `a` into `b` and back.
pub(crate) fn swap() -> Value {
    inline(
        "<xsl:output omit-xml-declaration='yes'/>\
         <xsl:template match='@*|node()'><xsl:copy><xsl:apply-templates select='@*|node()'/></xsl:copy></xsl:template>\
         <xsl:template match='a'><b><xsl:apply-templates select='@*|node()'/></b></xsl:template>\
         <xsl:template match='b'><a><xsl:apply-templates select='@*|node()'/></a></xsl:template>",
    )
}

pub(crate) fn both(transformation: &Value) -> Value {
    json!({"request": transformation, "response": transformation})
}

/// The module with this configuration.
pub(crate) fn plugin(policy: &Value, flag: Flag) -> WasmPlugin {
    let plugin = WasmPlugin::module("xslt-transform")
        .json_configuration(policy)
        .failure_policy(FailurePolicy::FailClosed);
    match flag {
        Flag::Absent => plugin,
        Flag::True => plugin.allow_on_headers_stop_iteration(true),
    }
}

/// A running Envoy and its backend, which sends back what it gets unless it is told otherwise.
pub(crate) struct Gateway {
    pub(crate) envoy: Envoy,
    pub(crate) backend: Backend,
}

impl Gateway {
    /// Starts Envoy with the policy as its only filter.
    #[track_caller]
    pub(crate) fn start(policy: &Value) -> Self {
        Self::start_with(|config| config.filter(plugin(policy, Flag::True)))
    }

    #[track_caller]
    pub(crate) fn start_with(change: impl FnOnce(EnvoyConfig) -> EnvoyConfig) -> Self {
        Self::to(Http::One, change)
    }

    /// Starts Envoy with a backend that speaks this version of HTTP.
    #[track_caller]
    pub(crate) fn to(upstream: Http, change: impl FnOnce(EnvoyConfig) -> EnvoyConfig) -> Self {
        let backend = Backend::start();
        backend.reply_with(echo);
        let cluster = match upstream {
            Http::One => Cluster::http1("echo", backend.addr()),
            Http::Two => Cluster::http2("echo", backend.addr()),
        };
        let config = EnvoyConfig::new()
            .cluster(cluster)
            .http1_trailers()
            .route(json!({"match": {"prefix": "/"}, "route": {"cluster": "echo", "timeout": "0s"}}));
        Self { envoy: Envoy::start(&change(config)), backend }
    }

    pub(crate) fn addr(&self) -> SocketAddr {
        self.envoy.addr()
    }

    /// A counter of the policy.
    #[track_caller]
    pub(crate) fn count(&self, name: &str) -> u64 {
        self.envoy.counter(&format!("wasmcustom.portcullis.xslt_transform.{name}"))
    }

    #[track_caller]
    pub(crate) fn post(&self, http: Http, headers: Fields, body: &[u8]) -> Response {
        http.request(self.addr(), "POST", "/", headers, body)
    }

    /// The only request that the backend has had since this was last asked.
    #[track_caller]
    pub(crate) fn received(&self) -> Recorded {
        let requests = self.backend.requests();
        assert_eq!(requests.len(), 1);
        self.backend.clear();
        requests.into_iter().next().unwrap()
    }

    /// No VM has failed.
    #[track_caller]
    pub(crate) fn assert_sound(&self) {
        let lines = self.envoy.log_lines();
        let failed = lines.iter().find(|line| line.contains("panic") || line.contains("Function: proxy_on"));
        assert_eq!(failed, None);
    }
}

/// The body that came, with its content type.
pub(crate) fn echo(request: &Recorded) -> Reply {
    let content_type = request.headers.get("content-type").unwrap_or(b"text/plain").to_vec();
    Reply::ok(request.body.clone()).header("content-type", content_type)
}
