//! A Wasm plugin, as Envoy's `PluginConfig` describes it.

use std::path::PathBuf;

use serde_json::{Map, Value, json};

use super::paths::module_path;

/// What Envoy does when the VM of a plugin has failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailurePolicy {
    /// Every request is refused for good.
    FailClosed,
    /// The plugin is left out.
    FailOpen,
    /// The VM is started anew; requests are refused until it runs.
    FailReload,
}

/// A Wasm module with its configuration: an HTTP filter or an access logger.
#[derive(Clone, Debug)]
pub struct WasmPlugin {
    name: String,
    module: PathBuf,
    root_id: Option<String>,
    vm_id: Option<String>,
    configuration: Option<Value>,
    allow_on_headers_stop_iteration: Option<bool>,
    failure_policy: Option<FailurePolicy>,
    capabilities: Option<Vec<String>>,
}

impl WasmPlugin {
    /// The built module `dist/<name>.wasm`, under its own name.
    ///
    /// # Panics
    /// When the module has not been built.
    pub fn module(name: &str) -> Self {
        Self::at(name, module_path(name))
    }

    /// The module at `path`.
    pub fn at(name: &str, path: impl Into<PathBuf>) -> Self {
        Self {
            name: name.to_owned(),
            module: path.into(),
            root_id: None,
            vm_id: None,
            configuration: None,
            allow_on_headers_stop_iteration: None,
            failure_policy: None,
            capabilities: None,
        }
    }

    /// Configures the plugin with a `google.protobuf.StringValue`: this text reaches it byte for byte.
    #[must_use]
    pub fn text_configuration(mut self, text: impl Into<String>) -> Self {
        self.configuration = Some(json!({
            "@type": "type.googleapis.com/google.protobuf.StringValue",
            "value": text.into(),
        }));
        self
    }

    /// Configures the plugin with the text of this JSON value; see [`WasmPlugin::text_configuration`].
    #[must_use]
    pub fn json_configuration(self, value: &Value) -> Self {
        self.text_configuration(value.to_string())
    }

    /// Configures the plugin with a `google.protobuf.Struct`. Whatever the documentation of `PluginConfig` says
    /// of JSON, Envoy 1.40 hands the plugin the serialized message (`MessageUtil::anyToBytes`).
    #[must_use]
    pub fn struct_configuration(mut self, object: Value) -> Self {
        self.configuration = Some(json!({
            "@type": "type.googleapis.com/google.protobuf.Struct",
            "value": object,
        }));
        self
    }

    /// Sets `root_id`, which tells apart plugins in one VM.
    #[must_use]
    pub fn root_id(mut self, id: &str) -> Self {
        self.root_id = Some(id.to_owned());
        self
    }

    /// Sets `vm_id`, the name under which VMs share data. Plugins with the same id and module share a VM.
    #[must_use]
    pub fn vm_id(mut self, id: &str) -> Self {
        self.vm_id = Some(id.to_owned());
        self
    }

    /// Says whether a filter that pauses on headers still gets the body; Envoy's default if never called.
    #[must_use]
    pub fn allow_on_headers_stop_iteration(mut self, allow: bool) -> Self {
        self.allow_on_headers_stop_iteration = Some(allow);
        self
    }

    /// Says what happens when the VM has failed; Envoy's default if never called.
    #[must_use]
    pub fn failure_policy(mut self, policy: FailurePolicy) -> Self {
        self.failure_policy = Some(policy);
        self
    }

    /// Allows the module these host functions and callbacks only; all if never called.
    #[must_use]
    pub fn capabilities<'a>(mut self, allowed: impl IntoIterator<Item = &'a str>) -> Self {
        self.capabilities = Some(allowed.into_iter().map(str::to_owned).collect());
        self
    }

    /// As an entry of `http_filters`.
    pub(super) fn as_http_filter(&self) -> Value {
        json!({
            "name": self.name,
            "typed_config": {
                "@type": "type.googleapis.com/envoy.extensions.filters.http.wasm.v3.Wasm",
                "config": self.plugin_config(),
            },
        })
    }

    /// As an entry of `access_log`.
    pub(super) fn as_access_logger(&self) -> Value {
        json!({
            "name": self.name,
            "typed_config": {
                "@type": "type.googleapis.com/envoy.extensions.access_loggers.wasm.v3.WasmAccessLog",
                "config": self.plugin_config(),
            },
        })
    }

    fn plugin_config(&self) -> Value {
        let mut vm = json!({
            "runtime": "envoy.wasm.runtime.v8",
            "code": { "local": { "filename": self.module } },
        });
        let mut plugin = json!({ "name": self.name });
        if let Some(id) = &self.vm_id {
            vm["vm_id"] = json!(id);
        }
        if let Some(id) = &self.root_id {
            plugin["root_id"] = json!(id);
        }
        if let Some(configuration) = &self.configuration {
            plugin["configuration"] = configuration.clone();
        }
        if let Some(allow) = self.allow_on_headers_stop_iteration {
            plugin["allow_on_headers_stop_iteration"] = json!(allow);
        }
        if let Some(policy) = self.failure_policy {
            plugin["failure_policy"] = json!(match policy {
                FailurePolicy::FailClosed => "FAIL_CLOSED",
                FailurePolicy::FailOpen => "FAIL_OPEN",
                FailurePolicy::FailReload => "FAIL_RELOAD",
            });
        }
        if let Some(allowed) = &self.capabilities {
            let allowed: Map<_, _> = allowed.iter().map(|name| (name.clone(), json!({}))).collect();
            vm["capability_restriction_config"] = json!({ "allowed_capabilities": allowed });
        }
        plugin["vm_config"] = vm;
        plugin
    }
}
