{{- /* Envoy's whole configuration. Its parameter is the chart's root. */}}
{{- define "portcullis.envoyConfig" -}}
{{- $memory := include "portcullis.memoryBytes" . | int64 -}}
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

# What V8 needed to compile the module goes back to the system, and what a flood has left behind: above the soft limit, free
# pages are given back at once.
memory_allocator_manager:
  bytes_to_release: 8388608
  memory_release_interval: 1s
  soft_memory_limit_bytes: {{ div $memory 2 }}

overload_manager:
  # Short: in a flood the heap grows by hundreds of megabytes a second.
  refresh_interval: 0.05s
  resource_monitors:
  # Envoy's own heap, beside the limit of the container. What is above the thresholds below is for the policies' VMs and for
  # what comes in between two looks.
  - name: envoy.resource_monitors.fixed_heap
    typed_config:
      "@type": type.googleapis.com/envoy.extensions.resource_monitors.fixed_heap.v3.FixedHeapConfig
      max_heap_size_bytes: {{ $memory }}
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
  # Responses that a client does not take are given up sooner, and idle connections closed.
  - name: envoy.overload_actions.reduce_timeouts
    typed_config:
      "@type": type.googleapis.com/envoy.config.overload.v3.ScaleTimersOverloadActionConfig
      timer_scale_factors:
      - { timer: HTTP_DOWNSTREAM_CONNECTION_IDLE, min_timeout: 2s }
      - { timer: HTTP_DOWNSTREAM_STREAM_FLUSH, min_timeout: 1s }
    triggers:
    - name: envoy.resource_monitors.fixed_heap
      scaled: { scaling_threshold: 0.3, saturation_threshold: 0.5 }
  - name: envoy.overload_actions.shrink_heap
    triggers:
    - name: envoy.resource_monitors.fixed_heap
      threshold: { value: 0.5 }
    - name: envoy.resource_monitors.cgroup_memory
      threshold: { value: 0.9 }
  # Refusing requests frees nothing that is held already, by bodies that do not go on: those that hold most are reset
  # first, the more of them the worse it is.
  - name: envoy.overload_actions.reset_high_memory_stream
    triggers:
    - name: envoy.resource_monitors.fixed_heap
      scaled: { scaling_threshold: 0.55, saturation_threshold: 0.7 }
    - name: envoy.resource_monitors.cgroup_memory
      scaled: { scaling_threshold: 0.92, saturation_threshold: 0.98 }
  - name: envoy.overload_actions.stop_accepting_requests
    triggers:
    - name: envoy.resource_monitors.fixed_heap
      threshold: { value: 0.6 }
    - name: envoy.resource_monitors.cgroup_memory
      threshold: { value: 0.95 }
  # A refused request still holds its headers for as long as the client does not take the reply. So a connection that sends
  # more requests now is closed with all that it holds.
  loadshed_points:
  - name: envoy.load_shed_points.http2_server_go_away_and_close_on_dispatch
    triggers:
    - name: envoy.resource_monitors.fixed_heap
      threshold: { value: 0.5 }

layered_runtime:
  layers:
  - name: static
    static_layer:
      # Answers to the policies' own calls are held whole, whatever a policy reads of them: 32 MiB each by default.
      http.async_response_buffer_limit: {{ include "portcullis.answerLimit" . }}
{{- end }}
