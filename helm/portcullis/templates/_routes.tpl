{{- /* Envoy's route table. */}}

{{- define "portcullis.routes" -}}
name: routes
# Clients name the port in Host where it is not their scheme's own.
ignore_port_in_host_matching: true
{{- with include "portcullis.vary" . }}
# The response depends on these headers. Without this a shared cache in front could serve one client's response to others.
response_headers_to_add:
- header: { key: vary, value: {{ . | quote }} }
  append_action: APPEND_IF_EXISTS_OR_ADD
{{- end }}
{{- if eq .Values.topology "sidecar" }}
virtual_hosts:
- name: app
  domains: ["*"]
  routes:
  - match: { prefix: / }
    route: { cluster: app, timeout: 15s, idle_timeout: 15s }
{{- else if .Values.routes }}
virtual_hosts:
{{- $root := . }}
{{- range $at, $entry := .Values.routes }}
- name: routes-{{ $at }}
  domains: {{ toJson $entry.hosts }}
  routes:
  {{- range $rule := $entry.rules }}
  - {{ include "portcullis.route" (dict "root" $root "rule" $rule) | nindent 4 | trim }}
  {{- end }}
{{- end }}
{{- end }}
{{- end }}

{{- define "portcullis.route" -}}
{{- $rule := .rule -}}
match:
  {{- $path := $rule.path | default "/" }}
  {{- if eq ($rule.pathMatch | default "prefix") "exact" }}
  path: {{ $path | quote }}
  {{- else if eq $path "/" }}
  prefix: /
  {{- else }}
  path_separated_prefix: {{ $path | quote }}
  {{- end }}
  {{- with $rule.route }}
  headers:
  - { name: {{ include "portcullis.routeHeader" $.root }}, string_match: { exact: {{ . | quote }} } }
  {{- end }}
route:
  cluster: {{ $rule.upstream }}
  timeout: {{ $rule.timeout | default "15s" }}
  idle_timeout: {{ $rule.idleTimeout | default "15s" }}
  {{- with $rule.rewritePrefix }}
  {{- if eq ($rule.pathMatch | default "prefix") "exact" }}
  prefix_rewrite: {{ . | quote }}
  {{- else if eq $path "/" }}
  prefix_rewrite: {{ printf "%s/" (trimSuffix "/" .) | quote }}
  {{- else if eq . "/" }}
  # To put a slash in the place of the prefix would double the one behind it.
  regex_rewrite: { pattern: { regex: {{ printf "^%s/?" (regexQuoteMeta $path) | quote }} }, substitution: / }
  {{- else }}
  prefix_rewrite: {{ trimSuffix "/" . | quote }}
  {{- end }}
  {{- end }}
  {{- with $rule.rewriteHost }}
  host_rewrite_literal: {{ . | quote }}
  {{- end }}
  {{- with $rule.retries }}
  retry_policy:
    retry_on: {{ .on | default "connect-failure,refused-stream,reset-before-request" | quote }}
    num_retries: {{ int .attempts }}
  {{- end }}
{{- end }}
