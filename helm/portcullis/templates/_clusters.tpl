{{- /* Envoy's clusters: one for each upstream, and one for its own administration. */}}

{{- define "portcullis.clusters" -}}
{{- $root := . -}}
{{- range $name, $upstream := .Values.upstreams }}
{{- $types := dict "dns" "STRICT_DNS" "logical-dns" "LOGICAL_DNS" "static" "STATIC" }}
{{- $discovery := $upstream.discovery | default (include "portcullis.isAddress" $upstream.host | empty | ternary "dns" "static") }}
- name: {{ $name }}
  type: {{ get $types $discovery }}
  {{- if ne $discovery "static" }}
  dns_lookup_family: {{ $upstream.dnsFamily | default "V4_PREFERRED" }}
  {{- end }}
  connect_timeout: {{ $upstream.connectTimeout | default "1s" }}
  lb_policy: {{ $upstream.balancing | default "LEAST_REQUEST" }}
  per_connection_buffer_limit_bytes: {{ include "portcullis.bufferLimit" $root }}
  {{- $limits := $upstream.limits | default dict }}
  circuit_breakers:
    thresholds:
    - max_connections: {{ $limits.connections | default 1024 | int64 }}
      max_pending_requests: {{ $limits.pending | default 1024 | int64 }}
      max_requests: {{ $limits.requests | default 1024 | int64 }}
      max_retries: {{ $limits.retries | default 3 | int64 }}
  {{- include "portcullis.upstreamHttp" (dict "name" $name "upstream" $upstream) | nindent 2 }}
  {{- with $upstream.healthCheck }}
  health_checks:
  - timeout: 1s
    interval: {{ .interval | default "5s" }}
    unhealthy_threshold: 3
    healthy_threshold: 1
    http_health_check: { path: {{ .path | quote }}, codec_client_type: {{ eq ($upstream.protocol | default "http1") "http2" | ternary "HTTP2" "HTTP1" }} }
  {{- end }}
  {{- with $upstream.tls }}
  {{- include "portcullis.upstreamTls" (dict "name" $name "upstream" $upstream) | nindent 2 }}
  {{- end }}
  load_assignment:
    cluster_name: {{ $name }}
    endpoints:
    - lb_endpoints:
      - endpoint:
          address:
            socket_address: { address: {{ $upstream.host | quote }}, port_value: {{ int $upstream.port }} }
{{- end }}
{{- if eq .Values.topology "sidecar" }}
- name: app
  type: STATIC
  connect_timeout: 1s
  per_connection_buffer_limit_bytes: {{ include "portcullis.bufferLimit" . }}
  circuit_breakers:
    thresholds:
    - { max_connections: 1024, max_pending_requests: 1024, max_requests: 1024, max_retries: 3 }
  load_assignment:
    cluster_name: app
    endpoints:
    - lb_endpoints:
      - endpoint:
          address:
            socket_address: { address: 127.0.0.1, port_value: {{ include "portcullis.appPort" . }} }
{{- end }}
- name: portcullis-admin
  type: STATIC
  connect_timeout: 1s
  load_assignment:
    cluster_name: portcullis-admin
    endpoints:
    - lb_endpoints:
      - endpoint:
          address:
            socket_address: { address: 127.0.0.1, port_value: 9901 }
{{- end }}

{{- /* How requests go to an upstream: the protocol, and a credential that Envoy adds where no policy sees it. */}}
{{- define "portcullis.upstreamHttp" -}}
typed_extension_protocol_options:
  envoy.extensions.upstreams.http.v3.HttpProtocolOptions:
    "@type": type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions
    explicit_http_config:
      {{ eq (.upstream.protocol | default "http1") "http2" | ternary "http2_protocol_options" "http_protocol_options" }}: {}
    {{- if .upstream.credential }}
    http_filters:
    - name: envoy.filters.http.credential_injector
      typed_config:
        "@type": type.googleapis.com/envoy.extensions.filters.http.credential_injector.v3.CredentialInjector
        overwrite: true
        credential:
          name: envoy.http.injected_credentials.generic
          typed_config:
            "@type": type.googleapis.com/envoy.extensions.http.injected_credentials.generic.v3.Generic
            header: {{ .upstream.credential.header | default "authorization" }}
            credential:
              name: {{ .name }}-credential
              sds_config:
                path_config_source:
                  path: /etc/portcullis/envoy/{{ .name }}-credential.yaml
                resource_api_version: V3
    - name: envoy.filters.http.upstream_codec
      typed_config:
        "@type": type.googleapis.com/envoy.extensions.filters.http.upstream_codec.v3.UpstreamCodec
    {{- end }}
{{- end }}

{{- /* "yes" for an IP address: the schema leaves nothing else that looks like one. */}}
{{- define "portcullis.isAddress" -}}
{{- if regexMatch `^([0-9]+\.){3}[0-9]+$|:` . -}}yes{{- end -}}
{{- end }}

{{- /* An address cannot be asked for by SNI (RFC 6066, section 3); the certificate has it as an address, not as a name. */}}
{{- define "portcullis.upstreamTls" -}}
{{- $tls := .upstream.tls -}}
{{- $name := $tls.sni | default .upstream.host -}}
{{- $isAddress := include "portcullis.isAddress" $name -}}
transport_socket:
  name: envoy.transport_sockets.tls
  typed_config:
    "@type": type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext
    {{- if not $isAddress }}
    sni: {{ $name | quote }}
    {{- end }}
    common_tls_context:
      tls_params: { tls_minimum_protocol_version: TLSv1_2 }
      {{- if eq (.upstream.protocol | default "http1") "http2" }}
      alpn_protocols: [h2]
      {{- end }}
      {{- if $tls.clientSecretName }}
      tls_certificate_sds_secret_configs:
      - name: {{ $tls.clientSecretName }}
        sds_config:
          path_config_source: { path: /etc/portcullis/envoy/certificate-{{ $tls.clientSecretName }}.yaml }
          resource_api_version: V3
      {{- end }}
      combined_validation_context:
        default_validation_context:
          match_typed_subject_alt_names:
          - { san_type: {{ empty $isAddress | ternary "DNS" "IP_ADDRESS" }}, matcher: { exact: {{ $name | quote }} } }
        validation_context_sds_secret_config:
          name: {{ $tls.caSecretName }}
          sds_config:
            path_config_source: { path: /etc/portcullis/envoy/ca-{{ $tls.caSecretName }}.yaml }
            resource_api_version: V3
{{- end }}
