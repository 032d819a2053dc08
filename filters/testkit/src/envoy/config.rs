//! What an Envoy under test shall run.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};

use super::container::Container;
use super::paths::{module_path, workspace_root};
use super::plugin::WasmPlugin;

/// How the configuration of listeners and clusters reaches Envoy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// In the bootstrap; it stays as it is.
    Bootstrap,
    /// Through LDS and CDS files that Envoy watches; see [`Envoy::push`](super::Envoy::push).
    Files,
}

/// Which of several processes an Envoy is that take over from one another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Generation {
    /// Nobody comes after it.
    Only,
    /// The first.
    First,
    /// A later one, of the processes with this base id.
    Later { base_id: String, epoch: u32 },
}

/// An upstream cluster with one endpoint.
#[derive(Clone, Debug)]
pub struct Cluster {
    pub(super) name: String,
    pub(super) addr: SocketAddr,
    pub(super) http2: bool,
    pub(super) patch: Value,
}

impl Cluster {
    /// A cluster that speaks HTTP/1.1.
    pub fn http1(name: &str, addr: SocketAddr) -> Self {
        Self { name: name.to_owned(), addr, http2: false, patch: json!({}) }
    }

    /// A cluster that speaks HTTP/2 with prior knowledge, as gRPC needs it.
    pub fn http2(name: &str, addr: SocketAddr) -> Self {
        Self { http2: true, ..Self::http1(name, addr) }
    }

    /// Merges `patch` into the `Cluster` message: objects by field, lists by appending.
    #[must_use]
    pub fn merge(mut self, patch: Value) -> Self {
        merge(&mut self.patch, patch);
        self
    }
}

/// A text access log of Envoy's own.
#[derive(Clone, Debug)]
pub enum AccessLog {
    /// To standard output, where [`Envoy::stdout_lines`](super::Envoy::stdout_lines) finds it. The format is
    /// a format string; the line ending is added.
    Stdout(String),
    /// To this file, with this format string; the line ending is added.
    File(PathBuf, String),
}

/// What an Envoy under test shall run: one HTTP listener on a free port of 127.0.0.1, its filters and routes,
/// and clusters. Each method returns the configuration, changed.
///
/// The listener takes HTTP/1.1 and HTTP/2 (prior knowledge) alike. Without a route of its own everything goes
/// to the first cluster.
#[derive(Clone, Debug)]
pub struct EnvoyConfig {
    pub(super) clusters: Vec<Cluster>,
    pub(super) filters: Vec<Value>,
    pub(super) routes: Vec<Value>,
    pub(super) access_loggers: Vec<Value>,
    pub(super) concurrency: u32,
    pub(super) delivery: Delivery,
    pub(super) http1_trailers: bool,
    pub(super) route_timeout: Option<Duration>,
    pub(super) log_level: String,
    pub(super) component_log_level: Option<String>,
    pub(super) arguments: Vec<String>,
    pub(super) generation: Generation,
    pub(super) bootstrap: Value,
    pub(super) listener: Value,
    pub(super) connection_manager: Value,
    pub(super) text: Option<String>,
    pub(super) container: Option<PathBuf>,
}

impl Default for EnvoyConfig {
    fn default() -> Self {
        Self {
            clusters: Vec::new(),
            filters: Vec::new(),
            routes: Vec::new(),
            access_loggers: Vec::new(),
            concurrency: 1,
            delivery: Delivery::Bootstrap,
            http1_trailers: false,
            route_timeout: None,
            log_level: "info".to_owned(),
            component_log_level: None,
            arguments: Vec::new(),
            generation: Generation::Only,
            bootstrap: json!({}),
            listener: json!({}),
            connection_manager: json!({}),
            text: None,
            container: None,
        }
    }
}

impl EnvoyConfig {
    /// A listener without filters, one worker, no clusters.
    pub fn new() -> Self {
        Self::default()
    }

    /// A whole bootstrap, as YAML: what is said of listeners, clusters and filters besides is ignored. Admin interface and
    /// first listener should have port 0.
    pub fn of_text(bootstrap: &str) -> Self {
        Self { text: Some(bootstrap.to_owned()), ..Self::default() }
    }

    /// The text of an example of `envoy-config`, for [`of_text`](Self::of_text): with the modules of the build, on free ports,
    /// and with these servers on this machine in place of those on the ports that the example names.
    ///
    /// # Panics
    /// When the example cannot be read, or names no such port.
    #[track_caller]
    pub fn example(name: &str, peers: &[(u16, SocketAddr)]) -> String {
        let path = workspace_root().join("envoy-config").join(name).join("envoy.yaml");
        let text =
            std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let modules = module_path("gateway");
        let modules = modules.parent().expect("the folder of modules").display();
        [(9901, 0), (10000, 0)]
            .into_iter()
            .chain(peers.iter().map(|(port, peer)| (*port, peer.port())))
            .fold(text, |text, (port, free)| {
                let named = format!("port_value: {port} ");
                assert!(text.contains(&named), "{name}: {named}");
                text.replace(&named, &format!("port_value: {free} "))
            })
            .replace("filename: dist/", &format!("filename: {modules}/"))
    }

    /// Has Envoy run in this container, with as many open files as 10,000 connections need.
    #[must_use]
    pub fn within(mut self, container: &Container) -> Self {
        self.container = Some(container.folder().to_owned());
        self
    }

    /// Adds a cluster.
    #[must_use]
    pub fn cluster(mut self, cluster: Cluster) -> Self {
        self.clusters.push(cluster);
        self
    }

    /// Adds a Wasm filter behind the filters so far; the router always comes last.
    #[must_use]
    pub fn filter(self, plugin: WasmPlugin) -> Self {
        let filter = plugin.as_http_filter();
        self.native_filter(filter)
    }

    /// Adds any filter, given as an entry of `http_filters`.
    #[must_use]
    pub fn native_filter(mut self, filter: Value) -> Self {
        self.filters.push(filter);
        self
    }

    /// Adds a route, given as an entry of `virtual_hosts.routes`. The first that matches wins.
    #[must_use]
    pub fn route(mut self, route: Value) -> Self {
        self.routes.push(route);
        self
    }

    /// Adds an access log of Envoy's own.
    #[must_use]
    pub fn access_log(mut self, log: AccessLog) -> Self {
        let (kind, path, format) = match log {
            AccessLog::Stdout(format) => ("stream.v3.StdoutAccessLog", None, format),
            AccessLog::File(path, format) => ("file.v3.FileAccessLog", Some(path), format),
        };
        let mut config = json!({
            "@type": format!("type.googleapis.com/envoy.extensions.access_loggers.{kind}"),
            "log_format": { "text_format_source": { "inline_string": format!("{format}\n") } },
        });
        if let Some(path) = path {
            config["path"] = json!(path);
        }
        self.access_loggers.push(json!({ "name": "text", "typed_config": config }));
        self
    }

    /// Adds a Wasm access logger (`envoy.access_loggers.wasm`).
    #[must_use]
    pub fn wasm_access_log(mut self, plugin: WasmPlugin) -> Self {
        self.access_loggers.push(plugin.as_access_logger());
        self
    }

    /// Sets the number of worker threads; one if never called.
    #[must_use]
    pub fn workers(mut self, workers: u32) -> Self {
        self.concurrency = workers;
        self
    }

    /// Says how listeners and clusters reach Envoy; in the bootstrap if never called.
    #[must_use]
    pub fn delivery(mut self, delivery: Delivery) -> Self {
        self.delivery = delivery;
        self
    }

    /// Lets trailers through over HTTP/1.1, downstream and upstream. Over HTTP/2 they always pass.
    #[must_use]
    pub fn http1_trailers(mut self) -> Self {
        self.http1_trailers = true;
        self
    }

    /// Sets the timeout of the default route; Envoy's own default (15 s) if never called.
    #[must_use]
    pub fn route_timeout(mut self, timeout: Duration) -> Self {
        self.route_timeout = Some(timeout);
        self
    }

    /// Sets the buffer limit of the listener's connections in bytes: the cap on a body that a filter buffers.
    #[must_use]
    pub fn buffer_limit(self, bytes: u32) -> Self {
        self.merge_listener(json!({ "per_connection_buffer_limit_bytes": bytes }))
    }

    /// Sets Envoy's log level; `info` if never called.
    #[must_use]
    pub fn log_level(mut self, level: &str) -> Self {
        self.log_level = level.to_owned();
        self
    }

    /// Sets the log level of single components, such as `wasm:debug,http:trace`.
    #[must_use]
    pub fn component_log_level(mut self, levels: &str) -> Self {
        self.component_log_level = Some(levels.to_owned());
        self
    }

    /// Adds an argument to Envoy's command line.
    #[must_use]
    pub fn argument(mut self, argument: &str) -> Self {
        self.arguments.push(argument.to_owned());
        self
    }

    /// Lets another Envoy take over while this one runs: see [`Envoy::successor`](super::Envoy::successor).
    #[must_use]
    pub fn hot_restart(mut self) -> Self {
        self.generation = Generation::First;
        self
    }

    /// Merges `patch` into the bootstrap: objects by field, lists by appending.
    #[must_use]
    pub fn merge_bootstrap(mut self, patch: Value) -> Self {
        merge(&mut self.bootstrap, patch);
        self
    }

    /// Merges `patch` into the `Listener` message: objects by field, lists by appending.
    #[must_use]
    pub fn merge_listener(mut self, patch: Value) -> Self {
        merge(&mut self.listener, patch);
        self
    }

    /// Merges `patch` into the `HttpConnectionManager` message: objects by field, lists by appending.
    #[must_use]
    pub fn merge_connection_manager(mut self, patch: Value) -> Self {
        merge(&mut self.connection_manager, patch);
        self
    }
}

/// Merges `patch` into `target`: objects field by field, lists by appending, anything else by replacing.
pub(super) fn merge(target: &mut Value, patch: Value) {
    match (target, patch) {
        (Value::Object(target), Value::Object(patch)) => {
            for (name, value) in patch {
                merge(target.entry(name).or_insert(Value::Null), value);
            }
        }
        (Value::Array(target), Value::Array(patch)) => target.extend(patch),
        (target, patch) => *target = patch,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merges_objects_by_field_and_lists_by_appending() {
        let mut target = json!({ "a": { "b": 1, "c": 2 }, "list": [1] });
        merge(&mut target, json!({ "a": { "b": 3 }, "list": [2], "new": true }));
        assert_eq!(target, json!({ "a": { "b": 3, "c": 2 }, "list": [1, 2], "new": true }));
    }
}
