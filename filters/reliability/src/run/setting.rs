//! Configurations of Envoy: cells of the same one share a process.

use std::net::SocketAddr;
use std::time::Duration;

use portcullis_testkit::envoy::{AccessLog, Cluster, EnvoyConfig, FailurePolicy, WasmPlugin};
use serde_json::{Value, json};

use super::messages::renaming;
use crate::axes::{Dependency, Failure, Mode, Pace, Subject};
use crate::cells::Cell;

/// Longer than any answer takes that is expected: the longest that the policies allow.
const PATIENT_MS: u32 = 60_000;
/// For a service that never answers.
const IMPATIENT_MS: u32 = 300;

/// The header by which a request names the upstream that it shall meet.
pub(super) const UPSTREAM: &str = "x-matrix-upstream";

/// What an Envoy is started with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Setting {
    subject: Subject,
    mode: Mode,
    workers: u32,
    /// The service that is given little time: so nothing depends on time where an answer comes.
    impatient_of: Option<Dependency>,
}

/// Where everything is.
pub(super) struct Addresses {
    pub(super) backend: SocketAddr,
    pub(super) faulty: SocketAddr,
    pub(super) refusing: SocketAddr,
    pub(super) strays: SocketAddr,
    pub(super) auth: SocketAddr,
    pub(super) limits: SocketAddr,
    pub(super) collector: SocketAddr,
}

impl Setting {
    /// What this cell needs.
    pub fn of(cell: &Cell) -> Self {
        let slow = cell.fault.filter(|fault| fault.failure == Failure::Slow).map(|fault| fault.dependency);
        let waits_in_vain = slow != Some(Dependency::Upstream)
            && !(cell.pace == Pace::AbortedMidCallOut && slow == cell.left_during());
        Self {
            subject: cell.subject,
            mode: cell.mode,
            workers: cell.workers,
            impatient_of: slow.filter(|_| waits_in_vain),
        }
    }

    /// In a few words.
    pub fn name(&self) -> String {
        let impatient = self.impatient_of.map_or("nothing", Dependency::name);
        let Self { subject, mode, workers, .. } = self;
        format!("{} {} {workers} impatient of {impatient}", subject.name(), mode.name())
    }

    pub(super) fn envoy(&self, at: &Addresses) -> EnvoyConfig {
        let outcome = match self.subject {
            Subject::Gateway | Subject::AccessLog => "-".to_owned(),
            policy => format!("%FILTER_STATE(wasm.portcullis.{}.outcome:PLAIN)%", policy.name()),
        };
        let config = EnvoyConfig::new()
            .workers(self.workers)
            .http1_trailers()
            .cluster(Cluster::http1("backend", at.backend))
            .cluster(Cluster::http1("faulty", at.faulty))
            .cluster(Cluster::http1("refusing", at.refusing))
            .cluster(Cluster::http1("strays", at.strays))
            .cluster(Cluster::http1("auth", at.auth))
            .cluster(Cluster::http2("limits", at.limits))
            .cluster(Cluster::http1("collector", at.collector))
            .access_log(AccessLog::Stdout(format!(
                "cell|%REQ(:PATH)%|%RESPONSE_CODE%|{outcome}|%RESPONSE_CODE_DETAILS%"
            )))
            .merge_connection_manager(json!({
                "upgrade_configs": [{"upgrade_type": "websocket"}],
                "http2_protocol_options": {"allow_connect": true},
            }))
            .filter(self.plugin());
        self.routes().into_iter().fold(config, EnvoyConfig::route)
    }

    /// By what the request says of its upstream; where content-router routes, only with a route of its.
    fn routes(&self) -> Vec<Value> {
        let routed = self.subject.has(Subject::ContentRouter);
        let route = |upstream: Option<&str>, cluster: &str, timeout: Duration| {
            let mut headers = Vec::new();
            if let Some(upstream) = upstream {
                headers.push(json!({"name": UPSTREAM, "string_match": {"exact": upstream}}));
            }
            if routed {
                headers.push(json!({"name": "x-portcullis-route", "present_match": true}));
            }
            let timeout = format!("{:.1}s", timeout.as_secs_f64());
            json!({
                "match": {"prefix": "/", "headers": headers},
                "route": {"cluster": cluster, "timeout": timeout},
            })
        };
        let never = Duration::ZERO;
        vec![
            route(Some("refusing"), "refusing", never),
            route(Some("slow"), "faulty", Duration::from_millis(u64::from(IMPATIENT_MS))),
            route(Some("faulty"), "faulty", never),
            route(None, "backend", never),
            json!({"match": {"prefix": "/"}, "route": {"cluster": "strays"}}),
        ]
    }

    fn plugin(&self) -> WasmPlugin {
        let documents: Vec<Value> = self
            .subject
            .policies()
            .iter()
            .map(|policy| json!({policy.name(): self.document(*policy)}))
            .collect();
        let document = match self.subject {
            Subject::Gateway => json!({"policies": documents}),
            policy => documents[0][policy.name()].clone(),
        };
        let plugin = WasmPlugin::module(self.subject.name())
            .json_configuration(&document)
            .vm_id("matrix")
            .failure_policy(FailurePolicy::FailReload);
        if self.subject.has(Subject::ContentRouter) || self.subject.has(Subject::XsltTransform) {
            plugin.allow_on_headers_stop_iteration(true)
        } else {
            plugin
        }
    }

    /// A policy's own document.
    fn document(&self, policy: Subject) -> Value {
        let timeout_ms = |dependency: Dependency| {
            if self.impatient_of == Some(dependency) { IMPATIENT_MS } else { PATIENT_MS }
        };
        match policy {
            Subject::ClientId => json!({
                "auth": {"per-request": {
                    "cluster": "auth", "timeout_ms": timeout_ms(Dependency::Auth), "retries": 0,
                }},
                "on_outage": self.mode.name(),
            }),
            Subject::RateLimit => {
                let alone = json!([{"header": {"name": "x-tenant"}}]);
                let key = if self.subject == Subject::Gateway { json!(["client-id"]) } else { alone };
                json!({
                    "key": key,
                    "limits": [{"max": 2, "period_ms": 31_536_000_000_u64}],
                    "service": {
                        "cluster": "limits", "domain": "matrix", "on_outage": self.mode.name(),
                        "timeout_ms": timeout_ms(Dependency::Limits),
                    },
                })
            }
            Subject::ContentRouter => json!({
                "rules": [{
                    "name": "blue",
                    "when": {"xpath": {"expression": "/order/region", "value": {"exact": "blue"}}},
                    "then": {"route": "blue"},
                }],
                "default": {"route": "other"},
            }),
            Subject::XsltTransform => {
                json!({"request": renaming("order", "redro"), "response": renaming("answer", "rewsna")})
            }
            Subject::AccessLog | Subject::Gateway => json!({
                "sinks": ["envoy-log", {"otlp": {
                    "cluster": "collector", "flush_interval_ms": 100,
                    "timeout_ms": timeout_ms(Dependency::Collector),
                    "retry": {"initial_ms": 100, "max_ms": 200},
                }}],
            }),
        }
    }
}
