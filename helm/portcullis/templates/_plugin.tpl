{{- /* The Wasm filter, as an entry of `http_filters`. Its parameter is the chart's root. */}}
{{- define "portcullis.plugin" -}}
name: portcullis
typed_config:
  "@type": type.googleapis.com/envoy.extensions.filters.http.wasm.v3.Wasm
  config:
    name: gateway
    configuration:
      "@type": type.googleapis.com/google.protobuf.Struct
      value:
        {{- include "portcullis.document" . | nindent 8 }}
    # Without it no policy could read a body before it decides.
    allow_on_headers_stop_iteration: {{ not (empty (include "portcullis.readsBodies" .)) }}
    # A worker whose VM has failed starts it anew; its requests get 503 until then.
    failure_policy: FAIL_RELOAD
    reload_config:
      backoff: { base_interval: 0.5s, max_interval: 10s }
    vm_config:
      vm_id: gateway
      runtime: envoy.wasm.runtime.v8
      code:
        local: { filename: {{ include "portcullis.modulePath" . }} }
      # What the module may call, and what Envoy calls in the module: the list is made from the module itself.
      capability_restriction_config:
        allowed_capabilities:
          {{- range (.Files.Get "files/capabilities.json" | fromJson).gateway }}
          {{ . }}: {}
          {{- end }}
{{- end }}

{{- define "portcullis.modulePath" -}}
/opt/portcullis/gateway.wasm
{{- end }}
