{{- /* Envoy's listeners: for requests, with TLS and without, and for probes and metrics. */}}

{{- /* What the port without TLS does. */}}
{{- define "portcullis.plaintext" -}}
{{- if ne .Values.listener.plaintext "auto" -}}
{{- .Values.listener.plaintext -}}
{{- else -}}
{{- .Values.listener.tls.secretNames | empty | ternary "serve" "redirect" -}}
{{- end -}}
{{- end }}

{{- define "portcullis.listeners" -}}
{{- if ne (include "portcullis.plaintext" .) "off" }}
{{ include "portcullis.listener" (dict "root" . "name" "http" "port" 10000) }}
{{- end }}
{{- if .Values.listener.tls.secretNames }}
{{ include "portcullis.listener" (dict "root" . "name" "https" "port" 10443) }}
{{- end }}
- name: health
  address:
    {{- include "portcullis.anyAddress" (dict "root" . "port" 9902) | nindent 4 }}
  # Under pressure Envoy refuses requests; if it refused probes too, all pods would be restarted at once.
  ignore_global_conn_limit: true
  bypass_overload_manager: true
  filter_chains:
  - filters:
    - name: envoy.filters.network.http_connection_manager
      typed_config:
        "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
        stat_prefix: health
        # Who sends a probe has no business with x-envoy-* headers.
        use_remote_address: true
        request_headers_timeout: 5s
        http_filters:
        - name: envoy.filters.http.router
          typed_config:
            "@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router
        route_config:
          name: health
          virtual_hosts:
          - name: health
            domains: ["*"]
            routes:
            - match: { path: /ready, headers: [{ name: ":method", string_match: { exact: GET } }] }
              route: { cluster: portcullis-admin, timeout: 5s }
            # Envoy is alive as long as its main thread answers, ready or draining.
            - match: { path: /live, headers: [{ name: ":method", string_match: { exact: GET } }] }
              route: { cluster: portcullis-admin, prefix_rewrite: /hot_restart_version, timeout: 5s }
            - match: { path: /metrics, headers: [{ name: ":method", string_match: { exact: GET } }] }
              route: { cluster: portcullis-admin, prefix_rewrite: /stats/prometheus, timeout: 10s }
{{- end }}

{{- /* All addresses of the pod: a dict of `root` and `port`. */}}
{{- define "portcullis.anyAddress" -}}
{{- $family := .root.Values.listener.ipFamily -}}
{{- if eq $family "IPv4" -}}
socket_address: { address: 0.0.0.0, port_value: {{ .port }} }
{{- else -}}
socket_address: { address: "::", port_value: {{ .port }} {{ if eq $family "dual" }}, ipv4_compat: true {{ end }}}
{{- end -}}
{{- end }}

{{- define "portcullis.listener" -}}
{{- $values := .root.Values -}}
- name: {{ .name }}
  address:
    {{- include "portcullis.anyAddress" . | nindent 4 }}
  per_connection_buffer_limit_bytes: {{ include "portcullis.bufferLimit" .root }}
  {{- if or (eq $values.listener.proxyProtocol "required") (eq .name "https") }}
  listener_filters:
  {{- end }}
  {{- if eq $values.listener.proxyProtocol "required" }}
  - name: envoy.filters.listener.proxy_protocol
    typed_config:
      "@type": type.googleapis.com/envoy.extensions.filters.listener.proxy_protocol.v3.ProxyProtocol
  {{- end }}
  {{- if eq .name "https" }}
  - name: envoy.filters.listener.tls_inspector
    typed_config:
      "@type": type.googleapis.com/envoy.extensions.filters.listener.tls_inspector.v3.TlsInspector
  {{- end }}
  filter_chains:
  - filters:
    - name: envoy.filters.network.http_connection_manager
      typed_config:
        {{- include "portcullis.connectionManager" . | nindent 8 }}
    {{- if eq .name "https" }}
    {{- include "portcullis.downstreamTls" .root | nindent 4 }}
    {{- end }}
{{- end }}

{{- define "portcullis.downstreamTls" -}}
{{- $tls := .Values.listener.tls -}}
transport_socket_connect_timeout: 10s
transport_socket:
  name: envoy.transport_sockets.tls
  typed_config:
    "@type": type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext
    require_client_certificate: {{ not (empty $tls.clientCaSecretName) }}
    common_tls_context:
      alpn_protocols: [h2, http/1.1]
      tls_params: { tls_minimum_protocol_version: {{ $tls.minimumVersion }} }
      tls_certificate_sds_secret_configs:
      {{- range $tls.secretNames }}
      - name: {{ . }}
        sds_config:
          path_config_source: { path: /etc/portcullis/envoy/certificate-{{ . }}.yaml }
          resource_api_version: V3
      {{- end }}
      {{- with $tls.clientCaSecretName }}
      validation_context_sds_secret_config:
        name: {{ . }}
        sds_config:
          path_config_source: { path: /etc/portcullis/envoy/ca-{{ . }}.yaml }
          resource_api_version: V3
      {{- end }}
{{- end }}

{{- /* The hardening is Envoy's advice for edge proxies; envoy-config/gateway says why each field is there. */}}
{{- define "portcullis.connectionManager" -}}
{{- $values := .root.Values -}}
{{- $redirect := and (eq .name "http") (eq (include "portcullis.plaintext" .root) "redirect") -}}
"@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
stat_prefix: {{ .name }}
server_name: portcullis
server_header_transformation: OVERWRITE
use_remote_address: true
xff_num_trusted_hops: {{ int $values.listener.trustedHops }}
normalize_path: true
merge_slashes: true
path_with_escaped_slashes_action: UNESCAPE_AND_REDIRECT
common_http_protocol_options:
  # A connection without a request takes one of those that there may be.
  idle_timeout: 60s
  max_headers_count: 100
  headers_with_underscores_action: {{ $values.listener.headersWithUnderscores }}
http2_protocol_options:
  max_concurrent_streams: 100
  # Over HTTP/2 this, not the connection's buffer, bounds what is held of a request.
  initial_stream_window_size: {{ include "portcullis.streamWindow" .root }}
  initial_connection_window_size: {{ max 1048576 (include "portcullis.streamWindow" .root | int64) }}
max_request_headers_kb: 32
request_headers_timeout: 10s
request_timeout: {{ $values.listener.requestTimeout }}
stream_idle_timeout: {{ $values.listener.streamIdleTimeout }}
# A client that takes nothing of a response cannot keep it, and its request, open.
stream_flush_timeout: 10s
{{- if not $redirect }}
{{- with include "portcullis.earlyHeaderMutation" .root }}
# Before Envoy chooses a route, which it does before any filter runs.
{{ . }}
{{- end }}
{{- end }}
http_filters:
{{- if not $redirect }}
- {{ include "portcullis.plugin" .root | nindent 2 | trim }}
{{- end }}
- name: envoy.filters.http.router
  typed_config:
    "@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router
route_config:
  {{- if $redirect }}
  name: redirect
  virtual_hosts:
  - name: redirect
    domains: ["*"]
    routes:
    - match: { prefix: / }
      redirect:
        https_redirect: true
        {{- /* A port in Host stays otherwise, unless it is 80. */}}
        {{- if or (ne (int $values.service.tlsPort) 443) (ne (int $values.service.port) 80) }}
        port_redirect: {{ int $values.service.tlsPort }}
        {{- end }}
  {{- else }}
  {{- include "portcullis.routes" .root | nindent 2 }}
  {{- end }}
{{- end }}
