{{- /* Envoy's whole configuration. Its parameter is the chart's root. */}}
{{- define "portcullis.envoyConfig" -}}
admin:
  address:
    # Not to be reached from outside the pod; the listener `health` shows what may be seen.
    socket_address: { address: 127.0.0.1, port_value: 9901 }

static_resources:
  listeners:
  {{- include "portcullis.listeners" . | trim | nindent 2 }}

  clusters:
  {{- include "portcullis.clusters" . | trim | nindent 2 }}

# Labels for Prometheus: portcullis_admitted{portcullis_policy="rate_limit",portcullis_name="per-client"}.
stats_config:
  stats_tags:
  - tag_name: portcullis_policy
    regex: '^wasmcustom\.portcullis\.(([a-z0-9_]+)\.)'
  - tag_name: portcullis_name
    regex: '^wasmcustom\.portcullis\.[a-z0-9_]+\.(([a-z0-9_-]+)\.)[a-z0-9_]+$'

# What V8 needed to compile the module goes back to the system.
memory_allocator_manager:
  bytes_to_release: 8388608
  memory_release_interval: 1s

overload_manager:
  refresh_interval: 0.25s
  resource_monitors:
  # The memory of the container, V8's included, as its limit counts it.
  - name: envoy.resource_monitors.cgroup_memory
    typed_config:
      "@type": type.googleapis.com/envoy.extensions.resource_monitors.cgroup_memory.v3.CgroupMemoryConfig
  - name: envoy.resource_monitors.global_downstream_max_connections
    typed_config:
      "@type": type.googleapis.com/envoy.extensions.resource_monitors.downstream_connections.v3.DownstreamConnectionsConfig
      max_active_downstream_connections: {{ int64 .Values.envoy.maxConnections }}
  # What streams hold in buffers is counted for those that hold 64 KiB or more.
  buffer_factory_config: { minimum_account_to_track_power_of_two: 16 }
  actions:
  - name: envoy.overload_actions.shrink_heap
    triggers:
    - name: envoy.resource_monitors.cgroup_memory
      threshold: { value: 0.9 }
  # Refusing requests frees nothing that is held already, by bodies that do not go on: those that hold most are reset
  # first, the more of them the worse it is.
  - name: envoy.overload_actions.reset_high_memory_stream
    triggers:
    - name: envoy.resource_monitors.cgroup_memory
      scaled: { scaling_threshold: 0.92, saturation_threshold: 0.98 }
  - name: envoy.overload_actions.stop_accepting_requests
    triggers:
    - name: envoy.resource_monitors.cgroup_memory
      threshold: { value: 0.95 }
{{- end }}
